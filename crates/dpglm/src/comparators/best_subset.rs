//! Sparse linear and logistic regression by a private choice among whole sets of columns.
//!
//! # Algorithm (after Prastakos, Behdin and Mazumder 2025)
//! 1. Clamp entries and responses. For a real response: the cap on its residuals, public or a private quantile.
//! 2. Unless all columns are candidates: m of them by one-shot Gumbel noise (`central::screening`): as many as leave at most 20,000 sets of s of them.
//! 3. One of these sets S, by the exponential mechanism: its score is minus `f(S) = min_b sum_i (y_i - x_iS . b)^2 + n r |b|^2`, the residual sum of
//!    squares of a ridge regression on the set; labels are measured from 1/2.
//! 4. The coefficients on the set, by objective perturbation ([`super::two_stage`] steps 3 and 4).
//!
//! # Guarantee
//! Replacement of one row, (epsilon, delta), for every data set: m selections, one selection, and what [`super::two_stage`] proves.
//!
//! # Why private
//! Let entries be within c of zero and responses within k (labels within 1/2 of a half), and let g be f without one row. The minimum g is reached at b with
//! `|b| <= |y| max_v v / (v^2 + n r) <= k sqrt(n) / (2 sqrt(n r)) = k / (2 sqrt r)`, v over singular values. With the row back, f is at least g
//! and at most what b costs: `0 <= f - g <= (k + c sqrt(s) k / (2 sqrt r))^2`. So replacing a row moves every `f(S)` by at most this D, up or
//! down: one selection of sensitivity D, whatever m columns the choice is among. `r = s c^2 / 16`, so `D = 9 k^2`.
//!
//! Entries and responses are rounded to whole multiples of a `2^-20`th of their bounds, row by row, and their products added as whole
//! numbers: moments are exact. Cholesky's factor of the ridged moments, whose condition number is at most `1 + s c^2 / r = 17`, and the
//! solve err by less than `100 s^2 17 2^-52` of the sum of squares, which is at most `n k^2`: twice that is added to D.
//!
//! # Differs from the paper
//! It finds the sets of smallest loss among all columns by a mixed-integer solver, and gives all others the score of the last one found. Its promise rests
//! on the solver's proof of optimality, and the time that takes depends on private rows. Here candidates are chosen privately first, and all sets
//! of them are tried: the work is public and nothing rests on a solver. Coefficients are released too.
//!
//! # References
//! Prastakos, Behdin and Mazumder, *Differentially private high-dimensional variable selection via integer programming*, 2025.

use super::two_stage::TwoStage;
use crate::central::Fit;
use crate::central::screening::{require_sparsity, select_support};
use crate::data::boxed::Boxed;
use crate::data::{Dataset, Design, Shape};
use crate::error::{Parameter, Result, require_nonzero};
use crate::privacy::Adjacency;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession,
    require_shape,
};
use nalgebra::{DMatrix, DVector};

const CANDIDATES: Handle<Chosen> = Handle::new("candidate columns");
const SET: Handle<Chosen> = Handle::new("set of columns");
/// Sets that are tried, at most, unless all columns are one.
const MOST_SETS: u64 = 20_000;
/// Candidates beyond s, at most: all products of two are computed.
const MOST_MORE: usize = 256;
/// The shares of candidates and set in what objective perturbation leaves.
const SHARES: (f64, f64) = (0.6, 0.3);
/// Entries and responses are whole multiples of this part of their bounds.
const WHOLE: f64 = 1_048_576.0;
/// The ridge, as a share of `s c^2`.
const RIDGE: f64 = 1.0 / 16.0;

/// Sparse regression on the best of many sets of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct BestSubset {
    stage: TwoStage,
    most_sets: u64,
}

impl BestSubset {
    /// Linear regression with `sparsity` coefficients that are not zero: responses in the public interval `target`, features
    /// within `entry` of zero.
    pub fn linear(target: (f64, f64), entry: f64, sparsity: usize) -> Result<Self> {
        Ok(Self { stage: TwoStage::linear(target, entry, sparsity)?, most_sets: MOST_SETS })
    }

    /// Logistic regression with `sparsity` coefficients that are not zero: responses 0 or 1, features within `entry` of zero.
    pub fn logistic(entry: f64, sparsity: usize) -> Result<Self> {
        Ok(Self { stage: TwoStage::logistic(entry, sparsity)?, most_sets: MOST_SETS })
    }

    /// Caps the residuals of a real response at a public number, in place of a private quantile of the responses.
    pub fn residual_cap(self, cap: f64) -> Result<Self> {
        Ok(Self { stage: self.stage.residual_cap(cap)?, ..self })
    }

    /// Tries at most so many sets in place of 20,000: fewer candidates, and less work.
    pub fn sets(mut self, most: u64) -> Result<Self> {
        self.most_sets = require_nonzero(Parameter::Count, most, "give how many sets may be tried")?;
        Ok(self)
    }

    /// How many candidates there are: the most of which no more sets can be made than are tried, and at least s.
    fn candidates(&self, columns: usize) -> usize {
        let s = self.stage.sparsity;
        (s + 1..=columns.min(s + MOST_MORE)).take_while(|&m| sets(m, s) <= self.most_sets).last().unwrap_or(s)
    }

    /// Step 3: the place of the chosen set in the order of [`Sets`].
    fn choose(
        &self,
        table: &Boxed,
        candidates: &[usize],
        session: &mut ReleaseSession<'_>,
    ) -> Result<Vec<usize>> {
        let s = self.stage.sparsity;
        let response = &self.stage.response;
        // A real response is that of a model without an intercept, as in the other steps; labels are measured from a half, where the logistic
        // function is steepest.
        let (middle, half) = if response.is_real() { (0.0, response.reach()) } else { (0.5, 0.5) };
        let chosen = table.design.select_columns(candidates)?;
        let moments = Moments::new(&chosen, &table.response, (self.stage.entry, middle, half));
        let n = table.design.rows() as f64;
        // In units of k^2 and c^2.
        let ridge = RIDGE * s as f64 * n;
        let scores: Vec<f64> =
            Sets::new(candidates.len(), s).map(|set| moments.explained(&set, ridge)).collect();
        let condition = 1.0 + 1.0 / RIDGE;
        let error = 100.0 * (s * s) as f64 * condition * f64::EPSILON * n;
        let bound = (1.0 + 0.5 / RIDGE.sqrt()).powi(2) * (1.0 + 1e-12) + 2.0 * error;
        let place = session.top(SET, &scores, 1, bound)?.first().copied().unwrap_or(0);
        let set = Sets::new(candidates.len(), s).nth(place).unwrap_or_default();
        Ok(set.into_iter().map(|j| candidates[j]).collect())
    }
}

/// The number of sets of s of m columns, at most one more than is ever tried.
fn sets(m: usize, s: usize) -> u64 {
    (0..s.min(m - s))
        .fold(1_u64, |count, i| (count.saturating_mul((m - i) as u64) / (i as u64 + 1)).min(1_000_000_000))
}

/// All sets of s of m columns, each ascending, in the order of words.
struct Sets {
    next: Option<Vec<usize>>,
    of: usize,
}

impl Sets {
    fn new(of: usize, size: usize) -> Self {
        Self { next: Some((0..size).collect()), of }
    }
}

impl Iterator for Sets {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let set = self.next.take()?;
        let size = set.len();
        if let Some(place) = (0..size).rev().find(|&i| set[i] < self.of - size + i) {
            let mut next = set.clone();
            next[place] += 1;
            (place + 1..size).for_each(|i| next[i] = next[i - 1] + 1);
            self.next = Some(next);
        }
        Some(set)
    }
}

/// The moments of some columns and the response, in units of `c^2` and `c k`.
struct Moments {
    features: DMatrix<f64>,
    response: DVector<f64>,
}

impl Moments {
    fn new(design: &Design, response: &[f64], (entry, middle, half): (f64, f64, f64)) -> Self {
        let m = design.columns();
        let whole = |x: f64| (x.clamp(-1.0, 1.0) * WHOLE).round() as i128;
        let (mut features, mut products) = (vec![0_i128; m * m], vec![0_i128; m]);
        for (row, &y) in response.iter().enumerate() {
            let x: Vec<i128> = design.row(row).map(|x| whole(x / entry)).collect();
            // A row that was dropped is a row of zeros: its response has no part in any product.
            let y = whole((y - middle) / half);
            for j in 0..m {
                products[j] += x[j] * y;
                (0..=j).for_each(|k| features[j * m + k] += x[j] * x[k]);
            }
        }
        let value = |sum: i128| sum as f64 / (WHOLE * WHOLE);
        Self {
            features: DMatrix::from_fn(m, m, |j, k| value(features[j.max(k) * m + j.min(k)])),
            response: DVector::from_fn(m, |j, _| value(products[j])),
        }
    }

    /// By how much the ridge regression on a set lowers the sum of squares.
    fn explained(&self, set: &[usize], ridge: f64) -> f64 {
        let s = set.len();
        let lift = |j: usize, k: usize| if j == k { ridge } else { 0.0 };
        let gram = DMatrix::from_fn(s, s, |j, k| self.features[(set[j], set[k])] + lift(j, k));
        let products = DVector::from_fn(s, |j, _| self.response[set[j]]);
        // Ridged moments of whole numbers have a factor; were there none, the set would explain nothing.
        gram.cholesky().map_or(0.0, |factor| products.dot(&factor.solve(&products)))
    }
}

impl Estimator for BestSubset {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = usize;
    type Fit = Fit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        require_sparsity(self.stage.sparsity, columns)?;
        let candidates = self.candidates(columns);
        let mut plan: Vec<PlannedRelease> =
            self.stage.response.planned(units, privacy)?.into_iter().collect();
        let rest = 1.0 - plan.iter().map(|p| p.share).sum::<f64>();
        if candidates < columns {
            plan.push(CANDIDATES.planned(SHARES.0 * rest, candidates as u64));
        }
        plan.push(SET.planned(SHARES.1 * rest, 1));
        plan.push(TwoStage::distance_planned((1.0 - SHARES.0 - SHARES.1) * rest));
        let (fixed, stage) = self.stage.perturbed(privacy)?;
        let calibration = CalibratedPlan::beside(fixed, plan, privacy)?;
        Ok(Prepared::new(Self { stage, ..self.clone() }, candidates, shape, calibration))
    }

    fn run(
        &self,
        candidates: &usize,
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<Fit> {
        let stage = &self.stage;
        // Step 1
        let table = Boxed::new(data, stage.entry, |y| stage.response.admit(y))?;
        let cap = stage.response.release_cap(&data.counted(table.response.clone()), &mut session)?;
        // Step 2
        let score = stage.response.family.bounded(cap)?;
        let columns = data.design().columns();
        let found = match *candidates < columns {
            true => select_support(CANDIDATES, &table, &score, stage.entry, *candidates, &mut session)?,
            false => (0..columns).collect(),
        };
        // Step 3
        let support = self.choose(&table, &found, &mut session)?;
        // Step 4
        let chosen = table.design.select_columns(&support)?;
        let values = stage.perturbed_minimum(&chosen, &table.response, cap, &mut session)?;
        let mut coefficients = vec![0.0; data.design().columns()];
        support.iter().zip(values).for_each(|(&j, b)| coefficients[j] = b);
        let certificate = session
            .close(Adjacency::ReplaceRow)
            .enforcing(format!("features are clamped to [-{0}, {0}]", stage.entry))
            .enforcing("the response is clamped to its declared domain")
            .enforcing("each row's loss has a bounded slope and curvature")
            .enforcing("the distance from the exact minimum is bounded by strong convexity");
        Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::{Pair, pairs, sparse_linear, sparse_logistic};
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    fn ample() -> Privacy {
        Privacy::Budget(Budget::new(50.0, 1e-6).unwrap())
    }

    #[test]
    fn recovers_at_a_large_budget() {
        let rng = &mut RandomSource::insecure_seeded(3);
        let (data, truth) = sparse_linear(4_000, 40, 1);
        let found = BestSubset::linear((-5.0, 5.0), 1.0, 3).unwrap().fit(&data, ample(), rng).unwrap();
        for (found, truth) in found.coefficients.iter().zip(&truth) {
            assert!((found - truth).abs() < 0.1, "{found} {truth}");
        }
        let (data, truth) = sparse_logistic(20_000, 20, 2);
        let found = BestSubset::logistic(1.0, 3).unwrap().fit(&data, ample(), rng).unwrap();
        let same = found.coefficients.iter().zip(&truth).all(|(b, t)| (*b != 0.0) == (*t != 0.0));
        assert!(same, "{:?}", found.coefficients);
    }

    /// Three columns whose sum the response is, each of them alone worth less than a fourth that follows their sum roughly: marginal scores
    /// prefer the fourth, the best set of three is without it.
    #[test]
    fn sets_are_judged_together() {
        let rng = &mut RandomSource::insecure_seeded(4);
        let mut uniform = || crate::central::attacks::uniform(rng);
        let (rows, mut x, mut y) = (6_000, Vec::new(), Vec::new());
        for _ in 0..rows {
            let mut row: Vec<f64> = (0..6).map(|_| uniform()).collect();
            let sum = row[0] + row[1] + row[2];
            row[3] = (0.3 * sum + 0.1 * row[3]).clamp(-1.0, 1.0);
            x.extend(row);
            y.push(sum);
        }
        let data = Dataset::new(Design::from_f64(rows, 6, x).unwrap(), y).unwrap();
        let model = BestSubset::linear((-3.0, 3.0), 1.0, 3).unwrap();
        let found = model.fit(&data, Privacy::None, &mut RandomSource::insecure_seeded(1)).unwrap();
        let support: Vec<usize> = (0..6).filter(|&j| found.coefficients[j] != 0.0).collect();
        assert_eq!(support, [0, 1, 2]);
    }

    /// The set is judged as it is fitted, without an intercept: a column that carries the level of the response is worth more than one that
    /// carries a little of its variation.
    #[test]
    fn sets_are_judged_as_they_are_fitted() {
        let rng = &mut RandomSource::insecure_seeded(5);
        let mut uniform = || crate::central::attacks::uniform(rng);
        let (rows, mut x, mut y) = (4_000, Vec::new(), Vec::new());
        for _ in 0..rows {
            let row = [0.9 + 0.1 * uniform(), uniform()];
            y.push(5.5 * row[0] + 0.5 * row[1]);
            x.extend(row);
        }
        let data = Dataset::new(Design::from_f64(rows, 2, x).unwrap(), y).unwrap();
        let model = BestSubset::linear((0.0, 10.0), 1.0, 1).unwrap();
        let found = model.fit(&data, Privacy::None, &mut RandomSource::insecure_seeded(1)).unwrap();
        assert!(found.coefficients[0] > 4.0 && found.coefficients[1] == 0.0, "{:?}", found.coefficients);
    }

    #[test]
    fn every_set_is_tried_once_and_candidates_keep_to_the_limit() {
        for (m, s) in [(6, 3), (5, 5), (7, 1), (17, 10)] {
            let all: Vec<Vec<usize>> = Sets::new(m, s).collect();
            assert_eq!(all.len() as u64, sets(m, s));
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(all.iter().all(|set| set.windows(2).all(|p| p[0] < p[1]) && set[s - 1] < m));
        }
        let candidates = |s: usize, d: usize| BestSubset::logistic(1.0, s).unwrap().candidates(d);
        assert_eq!((candidates(1, 50), candidates(10, 5_000), candidates(3, 3)), (50, 17, 3));
        assert_eq!((candidates(2, 5_000), candidates(100, 5_000)), (200, 102));
    }

    /// Random and adversarial neighbours: no sum of squares moves by more than claimed; a lone row comes near.
    #[test]
    fn no_neighbour_moves_a_score_by_more_than_claimed() {
        let mut nearest = 0.0_f64;
        let s = 2;
        let bound = (1.0 + 0.5 / RIDGE.sqrt()).powi(2) + 1e-9;
        for Pair { left, right, .. } in pairs(2_000, 4, (0.0, 1.0), 6) {
            let [a, b] = [&left, &right].map(|data| {
                let table =
                    Boxed::new(data, 1.0, |y| if y.is_nan() { 0.0 } else { y.clamp(0.0, 1.0) }).unwrap();
                let ridge = RIDGE * s as f64 * table.design.rows() as f64;
                let squares: f64 = table.response.iter().map(|y| (2.0 * y - 1.0).powi(2)).sum();
                let moments = Moments::new(&table.design, &table.response, (1.0, 0.5, 0.5));
                let of = |set: Vec<usize>| squares - moments.explained(&set, ridge);
                Sets::new(4, s).map(of).collect::<Vec<f64>>()
            });
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() <= bound, "{} > {bound}", (a - b).abs());
                nearest = nearest.max((a - b).abs() / bound);
            }
        }
        assert!(nearest > 0.1, "{nearest}");
    }
}
