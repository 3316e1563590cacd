//! Private Frank-Wolfe for sparse rows: a step looks only at the rows that the chosen column occurs in.
//!
//! # Algorithm (after Khanna, Lu and Raff 2023)
//! 1. Clamp entries and responses. For a real response: the cap on its residuals, public or a private quantile. The gradient at zero.
//! 2. T steps, T planned from public numbers. Step t: the vertex of the l1 ball, `+-radius e_j`, along which the gradient falls most, by the
//!    exponential mechanism; move to it by `2/(t+2)`. The predictors of all rows shrink by one common factor, kept apart. The rows
//!    with an entry in column j get a new predictor and score, and the gradient loses what they added before and gains what they add now.
//!    After 1, 2, 4, 8, ... steps all rows are looked at anew.
//!
//! # Guarantee
//! Replacement of one unit, for every data set: T selections of sensitivity `2 cap c`, for entries within c of zero, scores within
//! `cap`, and one vote a unit.
//!
//! # Why private
//! A row's score is that of the step at which it was last looked at. Which step that was depends on this row and on the vertices chosen so far,
//! on nothing else. So, given the past, the gradient is a sum of one bounded vector a row, each a function of that row: replacing a unit
//! moves each coordinate by at most `2 cap c`, stale scores or not. Sums are kept as whole multiples of a `2^-30`th of the bound, so taking
//! away what a row added leaves no rounding behind: the sum is exact, whatever the order.
//!
//! # Differs from the paper
//! Rows are all refreshed now and then: the paper lets the scores of rows without the chosen columns stand. Selection by one-shot Gumbel
//! noise over all vertices, whose time grows with d, in place of its sampler of root-d groups; scores and entries are clamped where the paper assumes
//! them bounded; composition by privacy-loss distributions.
//!
//! # References
//! Khanna, Lu and Raff, *Scaling up differentially private LASSO regularized logistic regression via faster Frank-Wolfe iterations*,
//! NeurIPS 2023; Talwar, Thakurta and Zhang, *Nearly optimal private LASSO*, NeurIPS 2015.

use super::frank_wolfe::FrankWolfe;
use crate::central::Fit;
use crate::central::start::counted_means;
use crate::data::{Dataset, Shape};
use crate::error::{Error, Result};
use crate::families::BoundedScore;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession,
    require_shape,
};

const STEPS: Handle<Chosen> = Handle::new("directions of descent");
/// What a row adds to a coordinate, at most, in units of the sums.
const WHOLE: f64 = 1_073_741_824.0;

/// Regression over an l1 ball by private Frank-Wolfe, in time that grows with the entries that are stored.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseFrankWolfe {
    model: FrankWolfe,
}

impl SparseFrankWolfe {
    /// Linear regression: responses in the public interval `target`, features within `entry` of zero, coefficients in the l1
    /// ball of `radius`.
    pub fn linear(target: (f64, f64), entry: f64, radius: f64) -> Result<Self> {
        Ok(Self { model: FrankWolfe::linear(target, entry, radius)? })
    }

    /// Logistic regression: responses 0 or 1, features within `entry` of zero, coefficients in the l1 ball of `radius`.
    pub fn logistic(entry: f64, radius: f64) -> Result<Self> {
        Ok(Self { model: FrankWolfe::logistic(entry, radius)? })
    }

    /// Caps the residuals of a real response at a public number, in place of a private quantile of the responses.
    pub fn residual_cap(self, cap: f64) -> Result<Self> {
        Ok(Self { model: self.model.residual_cap(cap)? })
    }

    /// Takes this many steps in place of the planned number.
    pub fn steps(self, steps: u64) -> Result<Self> {
        Ok(Self { model: self.model.steps(steps)? })
    }
}

/// The rows of every column that is stored, column after column, with their entries.
struct ByColumn {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    entries: Vec<f64>,
}

impl ByColumn {
    fn new(data: &Dataset, bound: f64) -> Result<Self> {
        let design = data.design();
        if u32::try_from(design.rows()).is_err() {
            return Err(Error::Conflict("more rows than four bytes can number: use another method".into()));
        }
        let mut offsets = vec![0; design.columns() + 1];
        let stored = |row: usize| design.stored(row).filter(|(_, x)| *x != 0.0);
        for row in 0..design.rows() {
            stored(row).for_each(|(j, _)| offsets[j + 1] += 1);
        }
        (1..offsets.len()).for_each(|j| offsets[j] += offsets[j - 1]);
        let mut next = offsets.clone();
        let (mut rows, mut entries) = (vec![0; next[design.columns()]], vec![0.0; next[design.columns()]]);
        for row in 0..design.rows() {
            for (j, x) in stored(row) {
                rows[next[j]] = row as u32;
                entries[next[j]] = x.clamp(-bound, bound);
                next[j] += 1;
            }
        }
        Ok(Self { offsets, rows, entries })
    }

    fn of(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[column]..self.offsets[column + 1];
        range.map(|k| (self.rows[k] as usize, self.entries[k]))
    }
}

/// The state between steps.
struct Sums<'a> {
    data: &'a Dataset,
    entry: f64,
    score: &'a BoundedScore<'a>,
    response: &'a [f64],
    /// A row's part in its unit's vote.
    shares: Vec<f64>,
    /// Scores, their shares included, at each row's last look.
    scores: Vec<f64>,
    /// Predictors over the common factor.
    predictors: Vec<f64>,
    factor: f64,
    totals: Vec<i64>,
}

impl Sums<'_> {
    /// What a row with this score adds to a coordinate: at most [`WHOLE`] times its share, rounded.
    fn part(&self, score: f64, x: f64) -> i64 {
        let x = x.clamp(-self.entry, self.entry);
        (score / self.score.cap() * (x / self.entry) * WHOLE).round() as i64
    }

    /// Looks at a row again.
    fn look(&mut self, row: usize) {
        let score = self.score.value(self.factor * self.predictors[row], self.response[row]);
        let (old, new) = (self.scores[row], self.shares[row] * score);
        for (j, x) in self.data.design().stored(row) {
            self.totals[j] += self.part(new, x) - self.part(old, x);
        }
        self.scores[row] = new;
    }
}

impl Estimator for SparseFrankWolfe {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = u64;
    type Fit = Fit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        let mut plan: Vec<PlannedRelease> =
            self.model.response.planned(units, privacy)?.into_iter().collect();
        let rest = 1.0 - plan.iter().map(|p| p.share).sum::<f64>();
        let steps = self.model.planned_steps(columns, units, privacy);
        plan.push(STEPS.planned(rest, steps));
        Ok(Prepared::new(self.clone(), steps, shape, CalibratedPlan::new(plan, privacy)?))
    }

    fn run(
        &self,
        steps: &u64,
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<Fit> {
        let model = &self.model;
        let (rows, d) = (data.design().rows(), data.design().columns());
        // Step 1
        let response: Vec<f64> = data.response().iter().map(|&y| model.response.admit(y)).collect();
        let cap = model.response.release_cap(&counted_means(data, |row| response[row]), &mut session)?;
        let score = model.response.family.bounded(cap)?;
        let columns = ByColumn::new(data, model.entry)?;
        let of_unit = data.sum_by_unit(|_| 1.0);
        let share = |row: usize| data.weight(row) / of_unit[data.unit_of(row)];
        let mut sums = Sums {
            data,
            entry: model.entry,
            score: &score,
            response: &response,
            shares: (0..rows).map(share).collect(),
            scores: vec![0.0; rows],
            predictors: vec![0.0; rows],
            factor: 1.0,
            totals: vec![0; d],
        };
        (0..rows).for_each(|row| sums.look(row));
        // In units of the sums: the rows' own roundings, those of shares and products, and that of a total as a double. How many rows
        // there are may depend on one unit, how many units there are does not.
        let sensitivity = 2.0 * WHOLE * (1.0 + 1e-9)
            + data.shape().rows_per_unit()
            + 4.0 * f64::EPSILON * data.units() as f64 * WHOLE;

        // Step 2
        let mut coefficients = vec![0.0; d];
        for step in 0..*steps {
            let falls: Vec<f64> =
                sums.totals.iter().map(|&t| -t as f64).chain(sums.totals.iter().map(|&t| t as f64)).collect();
            for vertex in session.top(STEPS, &falls, 1, sensitivity)? {
                let (column, end) = (vertex % d, if vertex < d { model.radius } else { -model.radius });
                let share = 2.0 / (step as f64 + 2.0);
                coefficients.iter_mut().for_each(|b| *b *= 1.0 - share);
                coefficients[column] += share * end;
                // The first step is a whole one, from zero.
                sums.factor *= if step == 0 { 1.0 } else { 1.0 - share };
                for (row, x) in columns.of(column) {
                    sums.predictors[row] += share * end * x / sums.factor;
                    sums.look(row);
                }
                if (step + 1).is_power_of_two() {
                    (0..rows).for_each(|row| sums.look(row));
                }
            }
            progress(step + 1, *steps);
        }
        let certificate = session
            .close(data.adjacency())
            .enforcing(format!("features are clamped to [-{0}, {0}]", model.entry))
            .enforcing("the response is clamped to its declared domain")
            .enforcing("the rows of a unit share one vote of bounded score");
        Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::{Pair, pairs, sparse_linear, sparse_logistic};
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::release::tape::attack;

    fn privacy(epsilon: f64) -> Privacy {
        Privacy::Budget(Budget::new(epsilon, 1e-6).unwrap())
    }

    #[test]
    fn recovers_models_at_a_large_budget() {
        let error = |found: &[f64], truth: &[f64]| {
            let moved: f64 = found.iter().zip(truth).map(|(a, b)| (a - b).powi(2)).sum();
            moved / truth.iter().map(|b| b * b).sum::<f64>()
        };
        let rng = &mut RandomSource::insecure_seeded(3);
        let (data, truth) = sparse_linear(4_000, 40, 1);
        let radius = truth.iter().map(|b| b.abs()).sum();
        let linear = SparseFrankWolfe::linear((-5.0, 5.0), 1.0, radius).unwrap();
        let found = linear.fit(&data, privacy(50.0), rng).unwrap().coefficients;
        assert!(error(&found, &truth) < 0.1, "{}", error(&found, &truth));
        let (data, truth) = sparse_logistic(20_000, 20, 2);
        let radius = truth.iter().map(|b| b.abs()).sum();
        let logistic = SparseFrankWolfe::logistic(1.0, radius).unwrap();
        let found = logistic.fit(&data, privacy(50.0), rng).unwrap().coefficients;
        assert!(error(&found, &truth) < 0.2, "{}", error(&found, &truth));
    }

    /// Dense rows have an entry in every column, so no score is stale: the vertices are those of the plain method.
    #[test]
    fn dense_rows_descend_as_the_plain_method_does() {
        let (data, _) = sparse_logistic(3_000, 12, 5);
        let steps = 30;
        let plain = FrankWolfe::logistic(1.0, 4.0).unwrap().steps(steps).unwrap();
        let fast = SparseFrankWolfe::logistic(1.0, 4.0).unwrap().steps(steps).unwrap();
        let rng = &mut RandomSource::insecure_seeded(1);
        let a = plain.fit(&data, Privacy::None, rng).unwrap().coefficients;
        let b = fast.fit(&data, Privacy::None, rng).unwrap().coefficients;
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }

    /// Sums that were changed step by step are those of a fresh start, to the last unit.
    #[test]
    fn no_rounding_is_left_behind() {
        let (data, _) = sparse_logistic(500, 9, 7);
        let family = crate::families::Family::logistic();
        let score = family.bounded(0.5).unwrap();
        let fresh = |predictors: Vec<f64>| {
            let response = data.response();
            let mut sums = Sums {
                data: &data,
                entry: 0.7,
                score: &score,
                response,
                shares: vec![1.0; 500],
                scores: vec![0.0; 500],
                predictors,
                factor: 1.0,
                totals: vec![0; 9],
            };
            (0..500).for_each(|row| sums.look(row));
            sums
        };
        let mut kept = fresh(vec![0.0; 500]);
        for times in 1..200 {
            for row in (0..500).filter(|row| row % 7 == times % 7) {
                kept.predictors[row] = (row * times % 13) as f64 - 6.0;
                kept.look(row);
            }
        }
        assert_eq!(kept.totals, fresh(kept.predictors.clone()).totals);
    }

    /// Random and adversarial neighbours: no score moves by more than claimed, at any step, and some move by nearly as much.
    #[test]
    fn neighbours_are_withstood() {
        let mut nearest = 0.0_f64;
        for (case, Pair { left, right, .. }) in pairs(150, 4, (0.0, 1.0), 5).into_iter().enumerate() {
            let model = SparseFrankWolfe::logistic(1.0, 3.0).unwrap().steps(6).unwrap();
            let prepared = model.prepare(left.shape(), privacy(1.0)).unwrap();
            let pair = [left, right];
            let tape = attack(|side| {
                let rng = &mut RandomSource::insecure_seeded(case as u64);
                prepared.fit(&pair[usize::from(side)], rng).unwrap();
            });
            assert!(tape.worst.0 <= 1.0, "{} of its claim: {}", tape.worst.0, tape.worst.1);
            nearest = nearest.max(tape.worst.0);
        }
        assert!(nearest > 0.99, "{nearest}");
    }
}
