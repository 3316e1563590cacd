//! One fixed public division of the rows: candidates are fitted on the first part, and the second part chooses among them.
//!
//! # Algorithm
//! 1. Every fifth row is for validation, in the order of the table: no cell decides.
//! 2. Candidates are fitted privately on the other rows.
//! 3. Each candidate's bounded loss on the validation rows; one of the largest gains by the exponential mechanism.
//!
//! # Guarantee
//! Replacement of one row, for every data set. A row lies in one part. Losses are clipped so that a row moves each
//! candidate's sum by at most its sensitivity (1 for logistic responses, 2 for others); they are whole numbers of `2^-24` and added exactly. So a row of the first part
//! pays for the fits, one of the second for one selection: costs take the maximum ([`crate::accounting::part`]).
//!
//! A row's part follows from its place. In a table that was sorted by a private column, a row with another value stands elsewhere and
//! moves others: the certificate therefore names the order as a condition. Units of several rows are refused: they are
//! numbered as they first appear, which one unit's rows can change for all others.
//!
//! # Why not cross-validation (Cai et al. 2021 §5.2)
//! The paper clips the cross-validation errors and calls their sensitivity `B/n`. But a row is in the training part of all folds
//! but its own, and fits without noise can change with one row as much as they like: the test below has two tables that
//! differ in one row and whose averaged bounded errors differ by `B (k-1)/k`.

use crate::central::start::Start;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::families::{Domain, Family};
use crate::kernels::predict;
use crate::release::{Chosen, Handle, ReleaseSession};

/// Every fifth row validates.
const EVERY: usize = 5;
/// A loss of 1, as a whole number.
const ONE: f64 = 16_777_216.0;
/// Sums of so many losses are whole numbers that double precision holds exactly.
const MOST: usize = 1 << 28;

/// Whether a row is in the second part.
pub(crate) fn validates(row: usize) -> bool {
    row % EVERY == EVERY - 1
}

/// How many of `rows` rows are in the first part.
pub(crate) fn first_part(rows: usize) -> usize {
    rows - rows / EVERY
}

/// Refuses tables too small to divide, or too large for exact sums. The number of rows is public.
pub(crate) fn require_divisible(rows: usize) -> Result<()> {
    if (4 * EVERY..=MOST).contains(&rows) {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "{rows} rows: a private choice by validation needs at least {} and at most {MOST}; give the parameter itself",
        4 * EVERY
    )))
}

/// Refuses units of several rows.
pub(crate) fn require_rows(data: &Dataset) -> Result<()> {
    match data.unit_name() {
        None => Ok(()),
        Some(unit) => Err(Error::Conflict(format!(
            "`{unit}` is protected with all of its rows: a private choice by validation divides rows, which would part a unit's; \
             give the parameter itself"
        ))),
    }
}

/// Bounded losses of fitted candidates.
pub(crate) struct Judge<'a> {
    pub family: &'a Family,
    /// Where every predictor starts, and how large a residual is, both released.
    pub start: Start,
}

impl Judge<'_> {
    fn is_binary(&self) -> bool {
        self.family.domain() == Domain::Binary
    }

    /// What one row can change in any candidate's sum.
    pub(crate) fn sensitivity(&self) -> f64 {
        if self.is_binary() { 1.0 } else { 2.0 }
    }

    /// A row's gain under a candidate: the log-likelihood above that of the start, clipped to half a unit either way; for
    /// other responses minus half the squared residual in units of the released scale, of which up to 2 count.
    fn gain(&self, predictor: f64, offset: f64, y: f64) -> f64 {
        let gain = if self.is_binary() {
            let at = |u: f64| 0.5 * self.family.deviance(u, y);
            (at(self.start.base) - at(predictor)).clamp(-0.5, 0.5)
        } else {
            let residual = (y - self.family.mean(predictor + offset)) / self.start.cap;
            -(0.5 * residual * residual).min(2.0)
        };
        let worst = if self.is_binary() { -0.5 } else { -2.0 };
        if gain.is_nan() { worst } else { gain }
    }

    /// Each candidate's summed gain over the rows of the second part.
    pub(crate) fn scores(&self, data: &Dataset, response: &[f64], candidates: &[Vec<f64>]) -> Vec<f64> {
        let half = 0.5 * self.sensitivity();
        let middle = if self.is_binary() { 0.0 } else { -half };
        let mut predictors = vec![0.0; data.design().rows()];
        candidates
            .iter()
            .map(|candidate| {
                predict(data.design(), candidate, &mut predictors);
                let whole = |row: usize| {
                    let gain = self.gain(predictors[row], data.offset(row), response[row]);
                    // Whole numbers, so that sums are exact; clamped, whatever the weight.
                    ((data.weight(row) * gain - middle).clamp(-half, half) * ONE) as i64
                };
                let judged = (0..data.design().rows()).filter(|&row| validates(row));
                judged.map(whole).sum::<i64>() as f64 / ONE
            })
            .collect()
    }

    /// The place of the chosen candidate.
    pub(crate) fn choose(
        &self,
        what: Handle<Chosen>,
        data: &Dataset,
        response: &[f64],
        candidates: &[Vec<f64>],
        session: &mut ReleaseSession<'_>,
    ) -> Result<usize> {
        let scores = self.scores(data, response, candidates);
        let chosen = session.top(what, &scores, 1, self.sensitivity())?;
        Ok(chosen.first().copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::pairs;
    use crate::data::Design;

    /// No replacement of one row moves any candidate's score by more than the sensitivity, whatever the cells hold.
    #[test]
    fn scores_withstand_neighbours() {
        let mut largest = [0.0_f64; 2];
        for (k, family) in [Family::logistic(), Family::gaussian()].into_iter().enumerate() {
            for pair in pairs(100_000, 3, (0.0, 1.0), 41) {
                let judge = Judge { family: &family, start: Start { base: 0.3, cap: 0.2 } };
                let candidates = [pair.point.clone(), vec![0.0; 3], vec![1e6, -1e6, f64::NAN]];
                let scores = |data: &Dataset| {
                    let response: Vec<f64> = data.response().iter().map(|&y| family.admit(y)).collect();
                    judge.scores(data, &response, &candidates)
                };
                for (a, b) in scores(&pair.left).iter().zip(scores(&pair.right)) {
                    assert!((a - b).abs() <= judge.sensitivity(), "{family:?} {a} {b}");
                    largest[k] = largest[k].max((a - b).abs() / judge.sensitivity());
                }
            }
        }
        // The attack reaches the bound, so a bound of half the size would be caught.
        assert!(largest.iter().all(|share| *share > 0.9), "{largest:?}");
    }

    /// A row of the first part has no influence on the scores of given candidates.
    #[test]
    fn rows_of_the_first_part_do_not_vote() {
        let table = |last: f64| {
            let x: Vec<f64> = (0..20).map(|i| if i == 3 { last } else { f64::from(i) / 20.0 }).collect();
            Dataset::new(Design::from_f64(20, 1, x).unwrap(), vec![1.0; 20]).unwrap()
        };
        let judge = Judge { family: &Family::logistic(), start: Start { base: 0.0, cap: 0.5 } };
        let scores = |data: &Dataset| judge.scores(data, data.response(), &[vec![1.0]]);
        assert!(!validates(3) && validates(4) && first_part(20) == 16);
        assert_eq!(scores(&table(0.0)), scores(&table(1e9)));
        assert_ne!(scores(&table(0.0))[0], 0.0);
    }

    /// The neighbouring pair that breaks cross-validation with fits that are not private: a mean of which one column out of
    /// two is kept. Both columns have mean 1, the first always 1, the second 20 in one row of twenty, so that they tie in
    /// every training part; a thousandth more or less in row 0 decides which is kept in all folds but its own.
    #[test]
    fn one_row_moves_cross_validation_errors_by_far_more_than_its_share() {
        const FOLDS: usize = 5;
        const ROWS: usize = 200;
        const BOUND: f64 = 1.0;
        let table = |first: f64| -> Vec<[f64; 2]> {
            let second = |i: usize| if (i / FOLDS) % 20 == 7 { 20.0 } else { 0.0 };
            (0..ROWS).map(|i| [if i == 0 { first } else { 1.0 }, second(i)]).collect()
        };
        let error = |rows: &[[f64; 2]], fold: usize| -> f64 {
            let part = |own: bool| {
                rows.iter().enumerate().filter(move |(i, _)| (i % FOLDS == fold) == own).map(|(_, row)| row)
            };
            let n = part(false).count() as f64;
            let means = [0, 1].map(|j| part(false).map(|row| row[j]).sum::<f64>() / n);
            let kept = usize::from(means[1] > means[0]);
            let loss = |row: &[f64; 2]| {
                ((row[kept] - means[kept]).powi(2) + row[1 - kept].powi(2)).clamp(0.0, BOUND)
            };
            part(true).map(loss).sum::<f64>() / part(true).count() as f64
        };
        let average = |first: f64| {
            let rows = table(first);
            (0..FOLDS).map(|fold| error(&rows, fold)).sum::<f64>() / FOLDS as f64
        };
        let moved = (average(1.001) - average(0.999)).abs();
        // Four folds of five, and 19 rows of 20 in each: not a two-hundredth.
        assert!(moved > 0.75 * BOUND, "{moved}");
        assert!(moved > 150.0 * BOUND / ROWS as f64);
    }
}
