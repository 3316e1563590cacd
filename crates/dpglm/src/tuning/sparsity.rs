//! Sparse models whose number of coefficients is not known.
//!
//! # Algorithm
//! 1. The first part's rows ([`super::validation`]): where to start; as many columns as there may be coefficients at most, by the
//!    votes of [`crate::central::select_refine`]; and a fit of all of them on a small share of the budget.
//! 2. One nested path: the k columns that are the most standard errors from zero, with their coefficients, for k = 1, 2, 3, 4, 6, 8,
//!    11, 16, ... A function of what was released.
//! 3. The second part's rows: a length of the path, by the exponential mechanism on bounded losses.
//! 4. All rows: the dense fit of [`crate::central::glm`] on that many columns of the path, and half as many more, on the largest
//!    share that columns do not need. A column too many costs little and a column too few much.
//! 5. Unless intervals are asked for: coefficients within 2.75 standard errors of zero become zero.
//!
//! # Guarantee
//! Replacement of one row, for every data set. A row of the first part pays for steps 1 and 4, one of the second for steps 3
//! and 4; both stay within the budget, and the certificate lists both. Sensitivities are those of the methods named.
//!
//! # Differs from the papers
//! Cai et al. 2021 §5.2 cross-validates with fits that are not private, and calls the sensitivity of the averaged error `B/n`, which it is not
//! ([`super::validation`]). Here fits are private, the path is nested so that one fit serves all lengths, and the final fit
//! reads all rows.

use super::validation::{Judge, first_part, require_divisible, require_rows, validates};

use crate::central::choice::{self, Choice};
use crate::central::glm::Glm;
use crate::central::screening::require_sparsity;
use crate::central::select_refine::{CLEAR, SparseFit};
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::Result;
use crate::privacy::Adjacency;
use crate::release::parts::{ALL, FIFTHS, SECOND};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession,
    require_shape,
};

const LENGTH: Handle<Chosen> = Handle::new("number of columns");
/// Shares of the budget of a row of the first part.
const COLUMNS_SHARE: f64 = 0.55;
const PATH_SHARE: f64 = 0.1;

/// A sparse model of an unknown number of coefficients, up to a public largest one.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSparsity {
    model: Glm,
    largest: usize,
}

impl TunedSparsity {
    /// At most `largest` coefficients beside the intercept.
    pub fn new(model: Glm, largest: usize) -> Result<Self> {
        require_sparsity(largest, largest.max(1))?;
        Ok(Self { model: model.with_rough_errors(), largest })
    }

    /// The same with no more coefficients than there are `columns` beside the constant one.
    pub fn up_to(self, columns: usize) -> Result<Self> {
        require_sparsity(columns.min(self.largest), columns)?;
        Ok(Self { largest: self.largest.min(columns), ..self })
    }

    /// The model of the path: without intervals, which only the final fit gives.
    fn path_model(&self) -> Glm {
        self.model.clone().without_intervals()
    }
}

impl Estimator for TunedSparsity {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = SparseFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units: rows, .. } = shape;
        require_shape(columns, rows)?;
        shape.require_unweighted(self.model.takes_exposures())?;
        require_divisible(rows)?;
        let constant = usize::from(self.model.intercept);
        require_sparsity(self.largest, columns - constant)?;
        let width = self.largest + constant;
        let choosing = self.largest < columns - constant;
        let columns_share = if choosing { COLUMNS_SHARE } else { 0.0 };
        let mut first: Vec<PlannedRelease> = self.path_model().plan(width, first_part(rows), privacy)?;
        first.iter_mut().for_each(|line| line.share *= PATH_SHARE);
        if choosing {
            first.extend(choice::planned(columns_share, self.largest));
        }
        let mut all = self.model.plan(width, rows, privacy)?;
        all.iter_mut().for_each(|line| line.share *= 1.0 - PATH_SHARE - columns_share);
        let choice = LENGTH.planned(1.0, 1);
        let calibration = CalibratedPlan::in_parts(FIFTHS, first, vec![choice], all, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let Shape { columns, .. } = data.shape();
        require_rows(data)?;
        let model = &self.model;
        let constant = usize::from(model.intercept);
        let largest = self.largest;
        let response = model.admitted(data);

        // Step 1. The start needs responses only: one column stands for all of them.
        let thin = data.with_columns(&[0])?.with_rows_where(|row| !validates(row))?;
        let path_model = self.path_model();
        let start = path_model.start(&thin, &model.admitted(&thin), &mut session)?;
        let support: Vec<usize> = if largest + constant < columns {
            let all = Choice { columns: largest, signed: false, nonnegative: false };
            choice::choose(model, data, &response, start, all, |row| !validates(row), &mut session)?.support
        } else {
            (0..columns).collect()
        };
        let chosen = data.with_columns(&support)?;
        let train = chosen.with_rows_where(|row| !validates(row))?;
        let path =
            path_model.descend(&train, &model.admitted(&train), start, &mut session, &mut |_, _| {})?;

        // Step 2
        let clearness = |i: usize| path.coefficients[i].abs() / path.errors[i].max(f64::MIN_POSITIVE);
        let mut order: Vec<usize> = (constant..support.len()).collect();
        order.sort_by(|&i, &j| clearness(j).total_cmp(&clearness(i)).then(i.cmp(&j)));
        let lengths = lengths(largest);
        let candidates: Vec<Vec<f64>> = lengths
            .iter()
            .map(|&length| {
                let mut kept = vec![0.0; support.len()];
                (0..constant).chain(order.iter().copied().take(length)).for_each(|i| {
                    kept[i] = path.coefficients[i];
                });
                kept
            })
            .collect();

        // Step 3
        session.enter(SECOND);
        let judge = Judge { family: &model.family, start };
        let place = judge.choose(LENGTH, &chosen, &response, &candidates, &mut session)?;

        // Step 4
        session.enter(ALL);
        let length = lengths.get(place).map_or(largest, |length| (length + length.div_ceil(2)).min(largest));
        let mut kept: Vec<usize> = (0..constant).chain(order.into_iter().take(length)).collect();
        kept.sort_unstable();
        let refined = chosen.with_columns(&kept)?;
        let support: Vec<usize> = kept.into_iter().map(|i| support[i]).collect();
        let start = model.start(&refined, &response, &mut session)?;
        let estimate = model.descend(&refined, &response, start, &mut session, progress)?;
        let errors = estimate.errors.clone();
        let certificate = session
            .close_in_parts(Adjacency::ReplaceRow)
            .enforcing("each row has one vote of bounded score in the choice of columns")
            .enforcing("each row's loss is bounded in the choice of their number");
        let certificate = model.family.provided_for(certificate);
        let mut found = SparseFit { support, fit: estimate.certified(certificate) };

        // Step 5
        if found.fit.intervals.is_none() {
            found.keep(|i, b| i < constant || b.abs() >= CLEAR * errors[i]);
        }
        Ok(found)
    }
}

/// 1, 2, 3, 4, 6, 8, 11, 16, ..., `largest`: about two to a doubling.
fn lengths(largest: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..)
        .map(|k| 2f64.powf(0.5 * f64::from(k)).round() as usize)
        .take_while(|length| *length < largest)
        .collect();
    all.push(largest);
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Certificate;
    use crate::central::attacks::{sparse_linear, sparse_logistic};
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::privacy::Event;

    fn budget() -> Privacy {
        Privacy::Budget(Budget::new(1.0, 1e-6).unwrap())
    }

    #[test]
    fn lengths_ascend_to_the_largest() {
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(12), [1, 2, 3, 4, 6, 8, 11, 12]);
        assert!(lengths(200).windows(2).all(|w| w[0] < w[1]));
    }

    /// The three coefficients are found without being counted, within the budget, and the certificate shows the division.
    #[test]
    fn three_coefficients_are_found_among_fifty() {
        for (family, (data, truth)) in [
            (Family::logistic(), sparse_logistic(12_000, 50, 3)),
            (Family::gaussian(), sparse_linear(12_000, 50, 4)),
        ] {
            let target = if family == Family::gaussian() { (-6.0, 6.0) } else { (0.0, 1.0) };
            let model = TunedSparsity::new(Glm::new(family.clone(), target).unwrap(), 12).unwrap();
            let mut rng = RandomSource::from_os().unwrap();
            let found = model.fit(&data, budget(), &mut rng).unwrap();
            let all = found.coefficients(50);
            let error: f64 = all.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(error < 0.2, "{family:?} {error}");
            assert!(found.support.len() <= 12);
            let certificate = &found.fit.certificate;
            assert!(certificate.verify().is_ok() && certificate.guarantee().unwrap().epsilon <= 1.0);
            let [fitted, chosen] = certificate.parts() else { panic!("two parts") };
            assert!(fitted.events.iter().any(|e| e.release() == "gradients"));
            assert_eq!(chosen.events.iter().map(Event::release).collect::<Vec<_>>(), [LENGTH.name()]);
        }
    }

    /// What is claimed was fixed before the data was seen: the number that is found changes nothing in it.
    #[test]
    fn the_claim_is_the_same_whatever_is_chosen() {
        let glm = Glm::new(Family::gaussian(), (-6.0, 6.0)).unwrap();
        let prepared = TunedSparsity::new(glm, 8).unwrap().prepare(Shape::new(8, 5_000), budget()).unwrap();
        let (common, parts) = (prepared.common_events().unwrap(), prepared.parts().unwrap());
        let os = RandomSource::from_os().unwrap();
        let planned =
            Certificate::certified_in_parts(Adjacency::ReplaceRow, common, parts, 1e-6, &os).unwrap();
        let found = [0.0, 1.0].map(|rest| {
            let (data, _) = sparse_linear(5_000, 8, 9);
            // One column alone, then all of them.
            let response = (0..5_000).map(|row| {
                let entry = |j: usize| data.design().entry(row, j);
                2.0 * entry(0) + rest * (1..8).map(entry).sum::<f64>()
            });
            let data = Dataset::new(data.design().clone(), response.collect()).unwrap();
            let fit = prepared.fit(&data, &mut RandomSource::from_os().unwrap()).unwrap();
            assert_eq!(fit.fit.certificate.guarantee(), planned.guarantee());
            assert_eq!(fit.fit.certificate.curve(), planned.curve());
            fit.support.len()
        });
        assert!(found[0] < found[1], "{found:?}");
    }

    /// Few columns are all fitted, and the number is still chosen.
    #[test]
    fn narrow_tables_skip_the_choice_of_columns() {
        let (data, truth) = sparse_linear(5_000, 6, 9);
        let model = TunedSparsity::new(Glm::new(Family::gaussian(), (-6.0, 6.0)).unwrap(), 6).unwrap();
        let found = model.fit(&data, budget(), &mut RandomSource::from_os().unwrap()).unwrap();
        let error: f64 = found.coefficients(6).iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(error < 0.1, "{error}");
    }

    #[test]
    fn public_shapes_that_cannot_be_tuned_are_refused() {
        let glm = || Glm::new(Family::logistic(), (0.0, 1.0)).unwrap();
        assert!(TunedSparsity::new(glm(), 0).is_err());
        let model = TunedSparsity::new(glm(), 5).unwrap();
        assert!(model.prepare(Shape::new(4, 1_000), budget()).is_err());
        assert!(model.prepare(Shape::new(50, 12), budget()).unwrap_err().to_string().contains("at least 20"));
    }
}
