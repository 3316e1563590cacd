//! Linear regression from perturbed sufficient statistics: one pass over the data.
//!
//! # Algorithm (adaptive ridge as in AdaSSP, Wang 2018)
//! 1. The typical size R of the units and their weights ([`super::glm`]); the response is measured from the middle of its range.
//! 2. Release the weighted moments `X^T W X / n` and `X^T W y / n`, with the same weights.
//! 3. Solve with a ridge that lifts the smallest eigenvalue to what the noise could have moved it by.
//! 4. If intervals are asked for: the second moment of the units' scores at the solution, residuals clipped to half the response's range.
//!    With it, the noise of the moments times the solution, the noise of the products, and what the ridge may have taken
//!    away: `C = S^-1 (V/n + s_p^2 I + (s_m^2/2) (|b|^2 I + b b') + ridge^2 (b b' + Y^2 I)) S^-1`.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A unit's moment matrix has trace at most `1.5 R^2`; its part of `X^T W y`
//! has l2 norm at most `R * Y` with Y half the response's range, so a replacement moves the mean by at most `2 R Y / n`. So has its
//! score with residuals clipped to Y: its outer product has trace at most `(R Y)^2`.
//!
//! # When to prefer it
//! Few columns and many rows, or errors too skewed for a clipped residual: its target is the least-squares solution
//! itself, with rows longer than R weighted down. Its noise grows with the whole range of the response, that of [`super::glm`] with the residuals' only.

use super::glm::{Fit, SCORES, score_moments};
use super::interval::{intervals, require_level};
use super::moments::{self, Conditioner, TRACE};
use super::weighting;
use crate::data::Dataset;
use crate::data::Shape;
use crate::data::range::require_interval;
use crate::error::{Parameter, Result};
use crate::kernels::{Grid, exact_pass, predict};
use crate::release::{
    CalibratedPlan, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector, require_shape,
};
use nalgebra::DMatrix;

const MOMENTS: Handle<Vector> = Handle::new("moments of the features");
const PRODUCTS: Handle<Vector> = Handle::new("products of features and response");

/// Linear regression by perturbed sufficient statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearStatistics {
    target: (f64, f64),
    intercept: bool,
    level: Option<f64>,
}

impl LinearStatistics {
    /// For a response in the public interval `target`.
    pub fn new(target: (f64, f64)) -> Result<Self> {
        let target =
            require_interval(Parameter::TargetBounds, target, "declare the public range of the response")?;
        Ok(Self { target, intercept: false, level: None })
    }

    /// The design's first column is constant 1.
    pub fn with_intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    /// Also gives confidence intervals of this level (0.95), paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = Some(require_level(level)?);
        Ok(self)
    }
}

impl Estimator for LinearStatistics {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = Fit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        let mut plan = weighting::planned(columns, self.intercept, units, privacy)?;
        let rest = 1.0 - plan.iter().map(|p| p.share).sum::<f64>();
        let scores = if self.level.is_some() { 0.15 * rest } else { 0.0 };
        plan.push(MOMENTS.planned(0.4 * (rest - scores), 1));
        plan.push(PRODUCTS.planned(0.6 * (rest - scores), 1));
        if self.level.is_some() {
            plan.push(SCORES.planned(scores, 1));
        }
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<Fit> {
        let (design, n) = (data.design(), data.units() as f64);
        let d = design.columns();

        // Step 1. With an intercept the response's middle is absorbed by it; without, zero stays where it is.
        let (low, high) = self.target;
        let middle = if self.intercept { low / 2.0 + high / 2.0 } else { 0.0 };
        let reach = (high - middle).abs().max((low - middle).abs());
        let admit = |y: f64| if y.is_nan() { middle } else { y.clamp(low, high) };
        let weighting = weighting::release(data, self.intercept, &mut session)?;
        let weights = moments::shortened(
            data,
            &weighting.norms,
            |row| weighting.weights[row],
            TRACE * weighting.size.powi(2),
        );

        // Step 2
        let trace = TRACE * weighting.size * weighting.size;
        let coordinates = &weighting.coordinates;
        let gram = moments::release_gram(
            MOMENTS,
            design,
            coordinates,
            |row| weights[row],
            trace,
            data.shape(),
            &mut session,
        )?;
        let response = data.response();
        let grid = coordinates.stored_bounds().map(|stored| stored * weighting.size * reach);
        let product =
            |row: usize, _: &[f64], out: &mut [f64]| out[0] = weights[row] * (admit(response[row]) - middle);
        let mut products = exact_pass(design, 1, &vec![0.0; d], &Grid::of_columns(grid), product).values();
        coordinates.map(&mut products);
        products.iter_mut().for_each(|p| *p /= n);
        let sensitivity = weighting.sensitivity(data, reach, 1);
        let products_noise = session.noise_per_sensitivity(PRODUCTS) * sensitivity;
        session.vector(PRODUCTS, &mut products, sensitivity)?;

        // Step 3
        let smallest = gram.matrix.clone().symmetric_eigenvalues().min();
        let lift = (gram.spread - smallest).max(1e-12 * trace);
        let conditioner = Conditioner::new(&gram.matrix, lift);
        let solution = conditioner.apply(products);
        let mut coefficients = coordinates.stored(solution.as_slice());

        // Step 4
        let mut covariance = None;
        if self.level.is_some() {
            let mut predictors = vec![0.0; design.rows()];
            predict(design, &coefficients, &mut predictors);
            let value = |row: usize| {
                let residual = admit(response[row]) - middle - predictors[row];
                // Not a number where predictors overflow: as no residual.
                weights[row] * if residual.is_nan() { 0.0 } else { residual.clamp(-reach, reach) }
            };
            let second = score_moments(data, coordinates, value, reach * weighting.size, &mut session)?;
            let (outer, all) = (&solution * solution.transpose(), DMatrix::identity(d, d));
            let of_moments = (&all * solution.norm_squared() + &outer) * (0.5 * gram.noise.powi(2));
            let of_ridge = (&outer + &all * reach.powi(2)) * lift.powi(2);
            let noise = second.lifted(0.0) / n + &all * products_noise.powi(2) + of_moments + of_ridge;
            let inverse = conditioner.inverse();
            covariance = Some(coordinates.stored_covariance(&(&inverse * noise * &inverse)));
        }
        if self.intercept {
            coefficients[0] += middle;
        }
        let intervals = self
            .level
            .zip(covariance.as_ref())
            .map(|(level, c)| intervals(&coefficients, c.diagonal().iter().copied(), level));
        let covariance = covariance.map(|c| c.as_slice().to_vec());
        let certificate = session
            .close(data.adjacency())
            .enforcing("the rows of a unit are weighted so that their l2 norms sum to at most the released typical size")
            .enforcing("the response is clamped to its declared range");
        Ok(Fit { coefficients, intervals, covariance, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    /// Intervals miss at the nominal rate: 0.05 of 200 runs, within the range that a right rate leaves once in a million times.
    #[test]
    fn intervals_cover() {
        const RUNS: u64 = 200;
        let budget = Privacy::Budget(Budget::new(2.0, 1e-6).unwrap());
        let prepared = LinearStatistics::new((-4.0, 4.0)).unwrap().with_intercept().intervals(0.95).unwrap();
        let prepared = prepared.prepare(Shape::new(3, 4_000), budget).unwrap();
        let (mut missed, mut lengths) = (0, 0.0);
        for run in 0..RUNS {
            let mut rng = RandomSource::insecure_seeded(run);
            let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let mut entries = Vec::new();
            let mut y = Vec::new();
            for _ in 0..4_000 {
                let (x, z) = (2.0 * uniform() - 1.0, 2.0 * uniform() - 1.0);
                // Errors that grow with a column: only the second moment of scores knows them.
                let error = (uniform() + uniform() + uniform() - 1.5) * (1.0 + x);
                entries.extend([1.0, x, z]);
                y.push(0.5 + x - 0.5 * z + error);
            }
            let data = Dataset::new(Design::from_f64(4_000, 3, entries).unwrap(), y).unwrap();
            let fit = prepared.fit(&data, &mut RandomSource::insecure_seeded(1_000 + run)).unwrap();
            let slope = fit.intervals.unwrap()[1];
            missed += u64::from(!(slope.low..=slope.high).contains(&1.0));
            lengths += (slope.high - slope.low) / RUNS as f64;
        }
        assert!((1..=27).contains(&missed), "{missed} of {RUNS}");
        assert!(lengths < 0.5, "{lengths}");
    }
}
