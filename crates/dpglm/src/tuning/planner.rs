//! How accurate will a fit be? Simulation with the real estimators, and a law fitted to it.
//!
//! # Algorithm
//! 1. Draw a table of the declared shape, fit it with the product's own method, and take the squared l2 error; many times.
//! 2. Fit `error = a/n + b/(n mu)^2` to simulated points: sampling error, and noise, where `mu` is the Gaussian that the budget
//!    buys. It is the papers' rate with both constants fitted.
//! 3. Read the law backwards for the rows or the epsilon of a wanted error, simulate there, fit again, and repeat.
//!
//! No private table is read: the tables are drawn from a model that the user describes.
//!
//! # Data models
//! * mean: normal rows of standard deviation sigma; means uniform on half of the columns' range (on s columns, at least one sigma
//!   from zero; zero elsewhere).
//! * linear, logistic and Poisson: features uniform on (-1, 1), coefficients uniform on the unit sphere (of s columns); normal errors of
//!   standard deviation sigma; counts of a given mean where all features are zero, with an intercept whose error does not count.

use crate::accounting::gaussian::largest_mu;
use crate::central::{Glm, Prepared, Privacy, PrivateMean, SelectRefine, SparseMean};
use crate::data::{Dataset, Design, Shape};
use crate::error::{Error, Parameter, Result, require_positive};
use crate::estimators::dense::{Likelihood, Regression};
use crate::families::Family;
use crate::noise::RandomSource;
use crate::numeric::first_on_log_scale;
use crate::privacy::Budget;
use crate::release::Estimator;
use crate::theory::{self, Setting};

/// What is to be estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlannedModel {
    /// Means of columns that lie between public bounds.
    Mean {
        /// The bounds of every column.
        range: (f64, f64),
    },
    /// Linear regression of a response between public bounds, on features in [-1, 1].
    Linear {
        /// The bounds of the response.
        target: (f64, f64),
    },
    /// Logistic regression on features in [-1, 1].
    Logistic,
    /// Poisson regression of counts between public bounds, with an intercept, on features in [-1, 1].
    Poisson {
        /// The bounds of the response.
        target: (f64, f64),
        /// The mean count where all features are zero.
        level: f64,
    },
}

/// A planning problem: all but the rows and epsilon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// What is to be estimated.
    pub model: PlannedModel,
    /// Columns.
    pub columns: usize,
    /// Columns that matter, if few do and nobody knows which.
    pub sparsity: Option<usize>,
    /// The budget's delta.
    pub delta: f64,
    /// The standard deviation of rows (mean) or errors (linear).
    pub sigma: f64,
}

/// Simulated errors at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Rows.
    pub rows: usize,
    /// The budget's epsilon.
    pub epsilon: f64,
    /// The mean squared l2 error.
    pub error: f64,
    /// Its standard error over the runs.
    pub standard_error: f64,
}

/// The fitted law `sampling/n + noise/(n mu)^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// The constant a.
    pub sampling: f64,
    /// The constant b.
    pub noise: f64,
    delta: f64,
}

impl Problem {
    /// Refuses shapes that cannot be simulated.
    pub fn validate(&self) -> Result<()> {
        require_positive(Parameter::Sigma, self.sigma, "the standard deviation of rows or errors")?;
        Budget::new(1.0, self.delta)?;
        if let PlannedModel::Poisson { target: (low, high), level } = self.model {
            require_positive(Parameter::MeanCount, level, "the mean count where all features are zero")?;
            if !(low..=high).contains(&level) {
                return Err(Error::OutOfRange {
                    parameter: Parameter::MeanCount,
                    range: "within the target's bounds",
                    value: level.to_string(),
                    remedy: "counts beyond the bounds are not counted: widen them, or plan for rarer counts",
                });
            }
        }
        if self.columns == 0 || self.sparsity.is_some_and(|s| s == 0 || s > self.columns) {
            return Err(Error::Conflict(format!(
                "{} columns of which {} matter: there must be at least 1, and no more matter than there are",
                self.columns,
                self.sparsity.unwrap_or(self.columns)
            )));
        }
        Ok(())
    }

    /// How many columns matter.
    fn size(&self) -> usize {
        self.sparsity.unwrap_or(self.columns)
    }

    /// Columns of ones in a simulated table: an intercept, if there is one.
    fn constant(&self) -> usize {
        usize::from(matches!(self.model, PlannedModel::Poisson { .. }))
    }

    /// The squared norm of what is to be found, on average.
    pub fn signal(&self) -> f64 {
        match self.model {
            PlannedModel::Mean { range } => {
                let half = 0.25 * (range.1 - range.0);
                self.size() as f64 * half * half / 3.0
            }
            _ => 1.0,
        }
    }

    /// Calibrates the estimator once, for as many simulated tables as wanted.
    pub fn simulator(&self, rows: usize, epsilon: f64) -> Result<Simulator> {
        self.validate()?;
        let privacy = Privacy::Budget(Budget::new(epsilon, self.delta)?);
        let d = self.columns;
        let wide = Shape::new(d + self.constant(), rows);
        let sparse = |model: Glm, s: usize| -> Result<Ready> {
            Ok(Ready::Sparse(SelectRefine::new(model, s)?.prepare(wide, privacy)?))
        };
        let dense = |model: Regression| -> Result<Ready> {
            Ok(Ready::Regression(Box::new(model.prepare(wide, privacy)?)))
        };
        let ready = match (self.model, self.sparsity) {
            // Columns of one range are those of `mean --feature-bounds`.
            (PlannedModel::Mean { range }, None) => {
                Ready::Mean(PrivateMean::new(vec![range; d])?.prepare(Shape::new(d, rows), privacy)?)
            }
            (PlannedModel::Mean { range }, Some(s)) => {
                Ready::SparseMean(SparseMean::new(vec![range; d], s)?.prepare(Shape::new(d, rows), privacy)?)
            }
            (PlannedModel::Linear { target }, Some(s)) => sparse(Glm::new(Family::gaussian(), target)?, s)?,
            (PlannedModel::Logistic, Some(s)) => sparse(Glm::new(Family::logistic(), (0.0, 1.0))?, s)?,
            (PlannedModel::Poisson { target, .. }, Some(s)) => {
                sparse(Glm::new(Family::poisson(), target)?.with_intercept(), s)?
            }
            (PlannedModel::Linear { target: (low, high) }, None) => {
                dense(Regression::new(Likelihood::gaussian(low, high))?)?
            }
            (PlannedModel::Logistic, None) => dense(Regression::new(Likelihood::logistic())?)?,
            (PlannedModel::Poisson { target: (low, high), .. }, None) => {
                dense(Regression::new(Likelihood::poisson(low, high))?.with_intercept())?
            }
        };
        Ok(Simulator { problem: *self, rows, ready })
    }

    /// Whether a regression of all columns, an intercept beside them, will have intervals: a public rule of rows, columns and budget. `None`
    /// for other problems.
    pub fn determines_any(&self, rows: usize, epsilon: f64) -> Result<Option<bool>> {
        let likelihood = match (self.model, self.sparsity) {
            (PlannedModel::Linear { target: (low, high) }, None) => Likelihood::gaussian(low, high),
            (PlannedModel::Logistic, None) => Likelihood::logistic(),
            (PlannedModel::Poisson { target: (low, high), .. }, None) => Likelihood::poisson(low, high),
            _ => return Ok(None),
        };
        let privacy = Privacy::Budget(Budget::new(epsilon, self.delta)?);
        let model = Regression::new(likelihood)?.with_intercept().intervals(0.95)?;
        Ok(Some(model.prepare(Shape::new(self.columns + 1, rows), privacy)?.determines_any()))
    }

    /// The mean error of many fits.
    pub fn summary(&self, rows: usize, epsilon: f64, errors: &[f64]) -> Point {
        let m = errors.len() as f64;
        let error = errors.iter().sum::<f64>() / m.max(1.0);
        let square: f64 = errors.iter().map(|e| (e - error).powi(2)).sum();
        let standard_error = (square / (m - 1.0).max(1.0) / m.max(1.0)).sqrt();
        Point { rows, epsilon, error, standard_error }
    }

    /// The setting that rates speak of.
    pub fn setting(&self, rows: usize, epsilon: f64) -> Result<Setting> {
        let is_counted = matches!(self.model, PlannedModel::Logistic | PlannedModel::Poisson { .. });
        let sigma = if is_counted { 1.0 } else { self.sigma };
        Setting::new(rows as f64, self.columns as f64, self.size() as f64, epsilon, self.delta, sigma)
    }

    /// The papers' rates for this problem: what a method reaches, and what none can beat, with constants of 1.
    pub fn rates(&self, at: &Setting) -> [(&'static str, f64); 2] {
        match (self.model, self.sparsity) {
            (PlannedModel::Mean { .. }, None) => [
                ("Cai et al. 2021 Theorem 3.2", theory::means::dense_upper(at)),
                ("Cai et al. 2021 Theorem 3.1", theory::means::dense_lower(at)),
            ],
            (PlannedModel::Mean { .. }, Some(_)) => [
                ("Cai et al. 2021 Theorem 3.4", theory::means::sparse_upper(at)),
                ("Cai et al. 2021 Theorem 3.3", theory::means::sparse_lower(at)),
            ],
            (PlannedModel::Linear { .. }, None) => [
                ("Cai et al. 2021 Theorem 4.2", theory::linear::dense_upper(at)),
                ("Cai et al. 2021 Theorem 4.1", theory::linear::dense_lower(at)),
            ],
            (PlannedModel::Linear { .. }, Some(_)) => [
                ("Cai et al. 2021 Theorem 4.4", theory::linear::sparse_upper(at)),
                ("Cai et al. 2021 Theorem 4.3", theory::linear::sparse_lower(at)),
            ],
            (PlannedModel::Logistic, None) => [
                ("Cai et al. 2020 Theorem 1", theory::glm::dense_upper_bounded(at)),
                ("Cai et al. 2020 Theorem 5", theory::glm::dense_lower(at)),
            ],
            (PlannedModel::Logistic, Some(_)) => [
                ("Cai et al. 2020 Theorem 3", theory::glm::sparse_upper_bounded(at)),
                ("Cai et al. 2020 Theorem 6", theory::glm::sparse_lower(at)),
            ],
            (PlannedModel::Poisson { .. }, None) => [
                ("Cai et al. 2020 Theorem 1", theory::glm::dense_upper(at)),
                ("Cai et al. 2020 Theorem 5", theory::glm::dense_lower(at)),
            ],
            (PlannedModel::Poisson { .. }, Some(_)) => [
                ("Cai et al. 2020 Theorem 3", theory::glm::sparse_upper(at)),
                ("Cai et al. 2020 Theorem 6", theory::glm::sparse_lower(at)),
            ],
        }
    }

    /// Whether the lower bound's price of privacy exceeds the signal: then, up to a constant, no private method can work.
    pub fn is_hopeless(&self, rows: usize, epsilon: f64) -> Result<bool> {
        let at = self.setting(rows, epsilon)?;
        Ok(at.is_hopeless(at.size(), self.signal()))
    }
}

impl Law {
    /// The law through simulated points, by least squares of relative errors; neither constant is below zero.
    pub fn fit(points: &[Point], delta: f64) -> Self {
        let (mut aa, mut ab, mut bb, mut a, mut b) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for point in points.iter().filter(|p| p.error > 0.0) {
            let (x, z) = terms(point.rows as f64, point.epsilon, delta);
            let (x, z) = (x / point.error, z / point.error);
            (aa, ab, bb, a, b) = (aa + x * x, ab + x * z, bb + z * z, a + x, b + z);
        }
        let determinant = aa * bb - ab * ab;
        let mut law = Self { sampling: 0.0, noise: 0.0, delta };
        if determinant > 1e-9 * aa * bb {
            (law.sampling, law.noise) = ((a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant);
        }
        let positive = |x: f64| x > 0.0;
        if !positive(law.sampling) || law.noise.is_nan() || law.noise < 0.0 {
            // One term explains the points better alone.
            let noise_alone = !positive(law.sampling) && bb > 0.0;
            (law.sampling, law.noise) =
                if noise_alone { (0.0, b / bb) } else { (if aa > 0.0 { a / aa } else { 0.0 }, 0.0) };
        }
        law
    }

    /// The error that the law expects.
    pub fn error(&self, rows: f64, epsilon: f64) -> f64 {
        let (x, z) = terms(rows, epsilon, self.delta);
        self.sampling * x + self.noise * z
    }

    /// The rows at which the error falls to `error`; `None` if they would be more than 10^12.
    pub fn rows(&self, error: f64, epsilon: f64) -> Option<f64> {
        first_on_log_scale((10.0, 1e12), 1e-4, |n| self.error(n, epsilon) <= error)
    }

    /// The epsilon at which the error falls to `error`; `None` if it would be above 100: what is left then is sampling error.
    pub fn epsilon(&self, error: f64, rows: f64) -> Option<f64> {
        first_on_log_scale((1e-3, 100.0), 1e-4, |epsilon| self.error(rows, epsilon) <= error)
    }
}

/// `1/n` and `1/(n mu)^2`.
fn terms(rows: f64, epsilon: f64, delta: f64) -> (f64, f64) {
    (1.0 / rows, (rows * largest_mu(epsilon, delta)).powi(-2))
}

/// An estimator with its noise calibrated, ready for simulated tables.
pub struct Simulator {
    problem: Problem,
    rows: usize,
    ready: Ready,
}

enum Ready {
    Mean(Prepared<PrivateMean>),
    SparseMean(Prepared<SparseMean>),
    Regression(Box<Prepared<Regression>>),
    Sparse(Prepared<SelectRefine>),
}

impl Simulator {
    /// The squared l2 error of one fit to one drawn table.
    pub fn error(&self, seed: u64) -> Result<f64> {
        let mut draw = Draw { rng: RandomSource::insecure_seeded(seed), spare: None };
        let mut noise = RandomSource::insecure_seeded(!seed);
        let (truth, found) = match &self.ready {
            Ready::Mean(prepared) => {
                let (truth, table) = self.rows_about_means(&mut draw)?;
                (truth, prepared.fit(&table, &mut noise)?.means)
            }
            Ready::SparseMean(prepared) => {
                let (truth, table) = self.rows_about_means(&mut draw)?;
                let fit = prepared.fit(&table, &mut noise)?;
                let mut found = vec![0.0; truth.len()];
                fit.support.iter().zip(&fit.fit.means).for_each(|(&j, &m)| found[j] = m);
                (truth, found)
            }
            Ready::Regression(prepared) => {
                let (truth, data) = self.responses(&mut draw)?;
                (truth, prepared.fit(&data, &mut noise)?.coefficients.concat())
            }
            Ready::Sparse(prepared) => {
                let (truth, data) = self.responses(&mut draw)?;
                let found = prepared.fit(&data, &mut noise)?.coefficients(truth.len());
                (truth, found)
            }
        };
        let constant = self.problem.constant();
        let (truth, found) = (&truth[constant..], &found[constant..]);
        Ok(truth.iter().zip(found).map(|(a, b)| (a - b).powi(2)).sum())
    }

    /// Means and rows about them.
    fn rows_about_means(&self, draw: &mut Draw) -> Result<(Vec<f64>, Design)> {
        let Problem { model, columns: d, sparsity, sigma, .. } = self.problem;
        let PlannedModel::Mean { range } = model else {
            return Err(Error::Conflict("means are planned for a model of means".into()));
        };
        let (middle, half) = (0.5 * (range.0 + range.1), 0.25 * (range.1 - range.0));
        let mut truth = vec![if sparsity.is_some() { 0.0 } else { middle }; d];
        for j in draw.support(d, self.problem.size()) {
            let value = half * draw.symmetric();
            // A mean that no method could tell from zero says nothing of the method.
            truth[j] += if sparsity.is_some() { value + sigma * value.signum() } else { value };
        }
        let x: Vec<f64> = (0..self.rows * d).map(|i| truth[i % d] + sigma * draw.normal()).collect();
        Ok((truth, Design::from_f64(self.rows, d, x)?))
    }

    /// Coefficients, features and responses.
    fn responses(&self, draw: &mut Draw) -> Result<(Vec<f64>, Dataset)> {
        let Problem { model, columns: d, sigma, .. } = self.problem;
        let places = draw.support(d, self.problem.size());
        let values: Vec<f64> = places.iter().map(|_| draw.normal()).collect();
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let constant = self.problem.constant();
        let width = d + constant;
        let mut truth = vec![0.0; width];
        if let PlannedModel::Poisson { level, .. } = model {
            truth[0] = level.ln();
        }
        places.iter().zip(&values).for_each(|(&j, v)| truth[constant + j] = v / norm);
        let entry =
            |i: usize, draw: &mut Draw| if i % width < constant { 1.0 } else { draw.symmetric() as f32 };
        let x: Vec<f32> = (0..self.rows * width).map(|i| entry(i, draw)).collect();
        let nonzero: Vec<usize> = (0..constant).chain(places.iter().map(|j| constant + j)).collect();
        let y = x
            .chunks_exact(width)
            .map(|row| {
                let u: f64 = nonzero.iter().map(|&j| f64::from(row[j]) * truth[j]).sum();
                match model {
                    PlannedModel::Logistic => {
                        f64::from(u8::from(0.5 + 0.5 * draw.symmetric() < Family::logistic().mean(u)))
                    }
                    PlannedModel::Poisson { .. } => Family::poisson().simulate(u, sigma, &mut draw.rng),
                    _ => u + sigma * draw.normal(),
                }
            })
            .collect();
        Ok((truth, Dataset::new(Design::from_f32(self.rows, width, x)?, y)?))
    }
}

/// Draws for simulated tables.
struct Draw {
    rng: RandomSource,
    spare: Option<f64>,
}

impl Draw {
    /// Uniform on (-1, 1).
    fn symmetric(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    /// Standard normal, by Marsaglia's polar method: for simulation only, never for privacy.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (self.symmetric(), self.symmetric());
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }

    /// `s` of `d` columns, ascending.
    fn support(&mut self, d: usize, s: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..d).collect();
        let mut chosen: Vec<usize> =
            (0..s.min(d)).map(|_| left.swap_remove(self.rng.below(left.len() as u64) as usize)).collect();
        chosen.sort_unstable();
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(model: PlannedModel, sparsity: Option<usize>) -> Problem {
        Problem { model, columns: 8, sparsity, delta: 1e-6, sigma: 1.0 }
    }

    #[test]
    fn the_law_is_recovered_and_read_backwards() {
        let truth = Law { sampling: 30.0, noise: 500.0, delta: 1e-6 };
        let points: Vec<Point> = [(1_000, 0.3), (4_000, 1.0), (20_000, 0.5)]
            .map(|(rows, epsilon)| {
                let error = truth.error(rows as f64, epsilon);
                Point { rows, epsilon, error, standard_error: 0.0 }
            })
            .to_vec();
        let law = Law::fit(&points, 1e-6);
        assert!((law.sampling / 30.0 - 1.0).abs() < 1e-6 && (law.noise / 500.0 - 1.0).abs() < 1e-6);
        let error = law.error(7_000.0, 0.7);
        assert!((law.rows(error, 0.7).unwrap() / 7_000.0 - 1.0).abs() < 1e-3);
        assert!((law.epsilon(error, 7_000.0).unwrap() / 0.7 - 1.0).abs() < 1e-3);
        assert_eq!(law.epsilon(1e-9, 7_000.0), None);
        // Constants are never negative, whatever the points.
        let odd = [(1_000, 1.0, 0.1), (2_000, 1.0, 0.2)].map(|(rows, epsilon, error)| Point {
            rows,
            epsilon,
            error,
            standard_error: 0.0,
        });
        let law = Law::fit(&odd, 1e-6);
        assert!(law.sampling >= 0.0 && law.noise >= 0.0 && law.error(1e3, 1.0) > 0.0);
    }

    /// More rows make every simulated problem easier, and the same seed gives the same error.
    #[test]
    fn simulations_improve_with_rows() {
        for model in [
            PlannedModel::Mean { range: (-20.0, 20.0) },
            PlannedModel::Linear { target: (-8.0, 8.0) },
            PlannedModel::Logistic,
            PlannedModel::Poisson { target: (0.0, 20.0), level: 2.0 },
        ] {
            for sparsity in [None, Some(2)] {
                let problem = problem(model, sparsity);
                problem.validate().unwrap();
                let mean = |rows: usize| {
                    let simulator = problem.simulator(rows, 1.0).unwrap();
                    (0..3).map(|seed| simulator.error(seed).unwrap()).sum::<f64>()
                };
                assert!(mean(8_000) < mean(400), "{model:?} {sparsity:?}");
                let simulator = problem.simulator(400, 1.0).unwrap();
                let again = [0, 0].map(|seed| simulator.error(seed).unwrap());
                assert_eq!(again[0], again[1]);
                let [upper, lower] = problem.rates(&problem.setting(400, 1.0).unwrap());
                assert!(upper.1 >= lower.1);
            }
        }
    }

    #[test]
    fn intervals_need_rows_and_budget() {
        let dense = problem(PlannedModel::Logistic, None);
        assert_eq!(dense.determines_any(1_000, 0.1).unwrap(), Some(false));
        assert_eq!(dense.determines_any(100_000, 1.0).unwrap(), Some(true));
        assert_eq!(problem(PlannedModel::Logistic, Some(2)).determines_any(1_000, 0.1).unwrap(), None);
    }

    #[test]
    fn hopeless_regimes_are_named() {
        let wide = Problem { columns: 5_000, ..problem(PlannedModel::Logistic, None) };
        assert!(wide.is_hopeless(2_000, 0.5).unwrap() && !wide.is_hopeless(1_000_000, 0.5).unwrap());
        assert!(Problem { columns: 0, ..wide }.validate().is_err());
        assert!(Problem { sparsity: Some(6_000), ..wide }.validate().is_err());
    }
}
