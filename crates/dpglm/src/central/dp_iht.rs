//! Sparse generalized linear models by iterative hard thresholding on noisy gradients.
//!
//! # Algorithm (Wang and Xu 2021 Algorithm 3; DP-IGHT in Wang and Gu 2020)
//! 1. Where to start and how large a score may be ([`super::start`]); the typical length R of the rows, by a private
//!    median, unless a bound on it is public.
//! 2. T times: the whole gradient with Gaussian noise, a step, and all but the s largest coefficients become zero. The step is one over
//!    the curvature that the last two noisy gradients show beyond their noise, within public limits.
//! 3. The last iterate.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A unit's rows are weighted so that their l2 norms sum to at most R, so with
//! scores of at most `cap` the mean gradient moves by at most `2 cap R / n`, plus the bounded error of summation. Cutting
//! off and the lengths of the steps are functions of what was released.
//!
//! # When to prefer it
//! Noise enters every one of the d coordinates, in proportion to R: right for short rows, such as tf-idf rows of length 1,
//! and for s not far below d.
//!
//! # Differs from the paper
//! Gradients are bounded by clipping in place of an assumed Lipschitz constant; the printed constant of the noise is
//! missing there; exact composition.

use super::glm::Glm;
use super::iht::keep_largest;
use super::screening::require_sparsity;
use super::select_refine::SparseFit;
use super::start::Start;
use crate::data::Dataset;
use crate::data::Shape;
use crate::data::range::require_magnitude;
use crate::error::{Parameter, Result, require_nonzero};
use crate::kernels::{Grid, exact_pass, rounding, weighted_row_norms};
use crate::mechanisms::Candidates;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};

const SIZE: Handle<Chosen> = Handle::new("typical length of a row");
const GRADIENTS: Handle<Vector> = Handle::new("gradients");

/// Iterative hard thresholding with Gaussian noise on the gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct DpIht {
    model: Glm,
    sparsity: usize,
    row_norm: Option<f64>,
    steps: u64,
}

impl DpIht {
    /// A model of at most `sparsity` coefficients beside the intercept.
    pub fn new(model: Glm, sparsity: usize) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        Ok(Self { model, sparsity, row_norm: None, steps: 10 })
    }

    /// With a public bound on the l2 norm of a row (of a unit's rows together). Longer ones are shortened.
    pub fn row_norm(mut self, bound: f64) -> Result<Self> {
        self.row_norm =
            Some(require_magnitude(Parameter::RowNorm, bound, "give 1 for rows scaled to length 1")?);
        Ok(self)
    }

    /// With this many steps in place of 10.
    pub fn steps(mut self, steps: u64) -> Result<Self> {
        self.steps = require_nonzero(Parameter::Steps, steps, "ten are usual")?;
        Ok(self)
    }

    fn sizes(columns: usize) -> Result<Candidates> {
        let reach = (columns as f64).sqrt();
        Candidates::positive_geometric(reach * 2f64.powi(-16), reach * 2f64.powi(10), 8)
    }
}

impl Estimator for DpIht {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = SparseFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(self.model.takes_exposures())?;
        require_sparsity(self.sparsity, columns - usize::from(self.model.intercept))?;
        let mut plan = self.model.start_planned(units, privacy)?;
        if self.row_norm.is_none() {
            plan.push(SIZE.planned_quantiles(Self::sizes(columns)?, 1, units, privacy));
        }
        let spent: f64 = plan.iter().map(|line| line.share).sum();
        plan.push(GRADIENTS.planned(1.0 - spent, self.steps));
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let Shape { columns: _, .. } = data.shape();
        let DpIht { model, sparsity, row_norm, steps } = self;
        let (d, n) = (data.design().columns(), data.units() as f64);
        let response = model.admitted(data);
        // Step 1
        let start = model.start(data, &response, &mut session)?;
        let (Start { base, cap }, response) = model.measured(start, &response);
        let score = model.family.bounded(cap)?;
        let norms = weighted_row_norms(data, &vec![0.0; d], &vec![1.0; d]);
        let sizes = data.sum_by_unit(|row| norms[row]);
        let size = match row_norm {
            Some(bound) => *bound,
            None => session.quantile(SIZE, &data.counted(sizes.clone()), DpIht::sizes(d)?, 0.5)?,
        };
        let weights: Vec<f64> = (0..data.design().rows())
            // Less by more than the roundings of sizes, which are within 1e-10, and of quotients.
            .map(|row| data.weight(row) * (size / sizes[data.unit_of(row)]).min(1.0) * (1.0 - 1e-9))
            .collect();
        let bound = score.cap() * size;
        let (grid, root) = (Grid::uniform(d, bound), (d as f64).sqrt());
        // The rounding of a unit's rows, and of the sum and its quotient, on both sides of a pair.
        let error = data.shape().rows_per_unit() * rounding(data.design()) * root / n + 2.0 * f64::EPSILON;
        let sensitivity = 2.0 * bound * (1.0 / n + error);
        let slope = model.family.slope_near(base);
        // The curvature of rows of length R: at most this if all point in one direction; less where it is spread over all columns,
        // as it may be where every entry is stored, or, in sparse rows, whose frequent columns stand out, over as many as there
        // are coefficients. How rows are stored is public.
        let directions = if data.design().can_be_centred() { 0.5 * d as f64 } else { *sparsity as f64 };
        let largest = slope * size * size;
        let smallest = largest / directions.max(1.0);
        // Noise on the coefficients kept, which it may have chosen itself, must not move predictors by more than a full residual
        // would: longer steps would throw the iterates about.
        let deviation = session.noise_per_sensitivity(GRADIENTS) * sensitivity;
        let reach = deviation * (2.0 * *sparsity as f64 * (d as f64 / *sparsity as f64).ln().max(1.0)).sqrt();
        let longest =
            score.cap() / slope * directions.max(1.0).sqrt() / (size * reach.max(f64::MIN_POSITIVE));

        // Step 2
        let mut point = vec![0.0; d];
        let constant = usize::from(model.intercept);
        if model.intercept {
            point[0] = base;
        }
        let mut before: Option<(Vec<f64>, Vec<f64>)> = None;
        for step in 0..*steps {
            let residual = |row: usize, u: &[f64], out: &mut [f64]| {
                out[0] = weights[row] * score.value(u[0] + data.offset(row), response[row]);
            };
            let mut gradient = exact_pass(data.design(), 1, &point, &grid, residual).values();
            gradient.iter_mut().for_each(|g| *g /= n);
            session.vector(GRADIENTS, &mut gradient, sensitivity)?;
            let seen = before.as_ref().and_then(|(p, g)| secant((&point, p), (&gradient, g), deviation));
            let length = (1.0 / seen.unwrap_or(largest).clamp(smallest, largest)).min(longest);
            let mut moved: Vec<f64> = point.iter().zip(&gradient).map(|(b, g)| b - length * g).collect();
            if model.intercept {
                // The constant column has an entry of 1 in every row: its curvature is not spread over others.
                moved[0] = point[0] - length.min(1.0 / slope) * gradient[0];
            }
            before = Some((std::mem::replace(&mut point, moved), gradient));
            keep_largest(&mut point[constant..], *sparsity);
            progress(step + 1, *steps);
        }
        // Step 3
        let support: Vec<usize> = (0..d).filter(|&j| j < constant || point[j] != 0.0).collect();
        if model.intercept {
            point[0] += model.middle();
        }
        let values = support.iter().map(|&j| point[j]).collect();
        let certificate = session
            .close(data.adjacency())
            .enforcing(
                "the rows of a unit are weighted so that their l2 norms sum to at most the stated length",
            )
            .enforcing("each row's score is bounded");
        Ok(SparseFit::plain(support, values, model.family.provided_for(certificate)))
    }
}

/// The curvature along the way from one point to the next that their gradients show beyond two standard deviations of their noise;
/// none if there was no way.
fn secant(points: (&[f64], &[f64]), gradients: (&[f64], &[f64]), deviation: f64) -> Option<f64> {
    let (mut inner, mut square) = (0.0, 0.0);
    for j in 0..points.0.len() {
        let moved = points.0[j] - points.1[j];
        inner += moved * (gradients.0[j] - gradients.1[j]);
        square += moved * moved;
    }
    let noise = 2.0 * (2.0 * square).sqrt() * deviation;
    (square > 0.0).then(|| (inner - noise) / square).filter(|curvature| curvature.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    /// Rows that nearly all point one way, far from evenly spread: steps for evenly spread rows would throw the iterates about.
    #[test]
    fn rows_that_point_one_way_are_fitted() {
        let (n, d) = (20_000, 20);
        let mut rng = RandomSource::insecure_seeded(1);
        let mut uniform = || rng.below(1 << 20) as f64 / f64::from(1 << 20);
        let (mut x, mut y) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
        for _ in 0..n {
            let length = 0.5 + 0.5 * uniform();
            let row: Vec<f64> =
                (0..d).map(|j| if j == 0 { 1.0 } else { length * (0.2 + 0.1 * uniform()) }).collect();
            let u = -2.0 + 8.0 * row[1];
            y.push(f64::from(u8::from(uniform() < Family::logistic().mean(u))));
            x.extend(row);
        }
        let data = Dataset::new(Design::from_f64(n, d, x.clone()).unwrap(), y.clone()).unwrap();
        let loss = |b: &[f64]| -> f64 {
            let predictor = |row: &[f64]| row.iter().zip(b).map(|(x, b)| x * b).sum::<f64>();
            let each = x.chunks_exact(d).zip(&y).map(|(row, y)| {
                let u = predictor(row);
                u.max(0.0) + (-u.abs()).exp().ln_1p() - y * u
            });
            each.sum::<f64>() / n as f64
        };
        let share = y.iter().sum::<f64>() / n as f64;
        let constant = -(share * share.ln() + (1.0 - share) * (1.0 - share).ln());
        let model = Glm::new(Family::logistic(), (0.0, 1.0)).unwrap().with_intercept();
        let privacy = Privacy::Budget(Budget::new(2.0, 1e-6).unwrap());
        for seed in 0..10 {
            let mut rng = RandomSource::insecure_seeded(seed);
            let fit = DpIht::new(model.clone(), 5)
                .unwrap()
                .row_norm(1.5)
                .unwrap()
                .fit(&data, privacy, &mut rng)
                .unwrap();
            let found = loss(&fit.coefficients(d));
            assert!(found < constant + 0.02, "seed {seed}: {found}, the constant alone {constant}");
        }
    }
}
