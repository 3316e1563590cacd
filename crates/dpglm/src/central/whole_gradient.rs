//! Generalized linear models of many columns and short rows: noise on the whole gradient.
//!
//! # Algorithm
//! 1. Where to start and how large a score may be ([`super::start`]); the length R of the rows, the constant column apart, by a private
//!    median unless a bound on it is public. The constant counts as an entry of `R / 3`.
//! 2. The mean gradient at the start, with Gaussian noise. A step along its 100 largest coordinates and the gradient there: the
//!    curvature that the two show along that way, plus two standard deviations of its noise, sets the length of all
//!    steps.
//! 3. Gradient steps from there; the estimate is the mean of the second half of the iterates.
//! 4. If a sparsity is given: the largest coefficients are kept, once.
//!
//! The number T of gradients grows with `n mu`, from public numbers.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A unit's rows are weighted so that their l2 norms, the constant counted as said, sum to
//! at most `C = sqrt(10)/3 R`; with scores of at most `cap`, one unit moves the mean gradient by at most `2 cap C / n`, plus the bounded
//! error of summation: T Gaussian releases. Lengths of steps, means of iterates and what is kept are functions of what was released.
//!
//! # When to prefer it
//! A row meets the noise of d coordinates as `<noise, x>`, of deviation `sigma |x|`, whatever d is: right for short rows, such as tf-idf
//! text of length 1. Truncation between steps, as [`super::dp_iht`] has it, loses what the kept columns share with the others.
//!
//! # Why the step is measured
//! Rows of length R may have a curvature of `R^2` in one direction, or of a hundredth of it in all, as text has. A step for the former
//! hardly moves the latter, and a step for the latter throws the former about.

use super::glm::Glm;
use super::iht::keep_largest;
use super::screening::require_sparsity;
use super::select_refine::SparseFit;
use super::start::Start;
use crate::data::range::require_magnitude;
use crate::data::{Dataset, Shape};
use crate::error::{Parameter, Result};
use crate::kernels::{Grid, exact_pass, rounding, weighted_row_norms};
use crate::mechanisms::Candidates;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};

const SIZE: Handle<Chosen> = Handle::new("typical length of a row");
const GRADIENTS: Handle<Vector> = Handle::new("gradients");
/// Coordinates along which the curvature is measured.
const PROBED: usize = 100;
/// The constant counts as an entry of this share of R.
const CONSTANT: f64 = 1.0 / 3.0;
/// No curvature below this share of the largest is believed.
const LEAST: f64 = 0.01;

/// A model of all columns, or of the largest, from noisy gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeGradient {
    model: Glm,
    sparsity: Option<usize>,
    row_norm: Option<f64>,
}

impl WholeGradient {
    /// A model of all columns.
    pub fn new(model: Glm) -> Self {
        Self { model, sparsity: None, row_norm: None }
    }

    /// With at most `sparsity` coefficients beside the intercept.
    pub fn sparsity(mut self, sparsity: usize) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        self.sparsity = Some(sparsity);
        Ok(self)
    }

    /// With a public bound on the l2 norm of a row, the constant column apart. Longer ones are shortened.
    pub fn row_norm(mut self, bound: f64) -> Result<Self> {
        self.row_norm =
            Some(require_magnitude(Parameter::RowNorm, bound, "give 1 for rows scaled to length 1")?);
        Ok(self)
    }

    fn sizes(columns: usize) -> Result<Candidates> {
        let reach = (columns as f64).sqrt();
        Candidates::positive_geometric(reach * 2f64.powi(-16), reach * 2f64.powi(10), 8)
    }

    /// The number of gradients: a part of the budget is spent on each that shows something.
    fn gradients(units: usize, privacy: Privacy) -> u64 {
        (units as f64 * privacy.mu() / 400.0).round().clamp(4.0, 100.0) as u64
    }
}

impl Estimator for WholeGradient {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = u64;
    type Fit = SparseFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(self.model.takes_exposures())?;
        if let Some(sparsity) = self.sparsity {
            require_sparsity(sparsity, columns - usize::from(self.model.intercept))?;
        }
        let mut plan = self.model.start_planned(units, privacy)?;
        if self.row_norm.is_none() {
            plan.push(SIZE.planned_quantiles(Self::sizes(columns)?, 1, units, privacy));
        }
        let spent: f64 = plan.iter().map(|line| line.share).sum();
        let gradients = Self::gradients(units, privacy);
        plan.push(GRADIENTS.planned(1.0 - spent, gradients));
        Ok(Prepared::new(self.clone(), gradients, shape, CalibratedPlan::new(plan, privacy)?))
    }

    fn run(
        &self,
        gradients: &u64,
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let Self { model, sparsity, row_norm } = self;
        let (d, n) = (data.design().columns(), data.units() as f64);
        let constant = usize::from(model.intercept);
        let response = model.admitted(data);

        // Step 1
        let start = model.start(data, &response, &mut session)?;
        let (Start { base, cap }, response) = model.measured(start, &response);
        let score = model.family.bounded(cap)?;
        let size = match row_norm {
            Some(bound) => *bound,
            None => {
                let scale: Vec<f64> = (0..d).map(|j| if j < constant { 0.0 } else { 1.0 }).collect();
                let norms = weighted_row_norms(data, &vec![0.0; d], &scale);
                let sizes = data.sum_by_unit(|row| norms[row]);
                session.quantile(SIZE, &data.counted(sizes), Self::sizes(d)?, 0.5)?
            }
        };
        let share = if model.intercept { CONSTANT * size } else { 1.0 };
        let length = if model.intercept { size.hypot(share) } else { size };
        let scale: Vec<f64> = (0..d).map(|j| if j < constant { share } else { 1.0 }).collect();
        let norms = weighted_row_norms(data, &vec![0.0; d], &scale);
        let sizes = data.sum_by_unit(|row| norms[row]);
        let weights: Vec<f64> = (0..data.design().rows())
            // Less by more than the roundings of sizes, which are within 1e-10, and of quotients.
            .map(|row| data.weight(row) * (length / sizes[data.unit_of(row)]).min(1.0) * (1.0 - 1e-9))
            .collect();
        let bound = score.cap() * length;
        let grid = Grid::of_columns(scale.iter().map(|s| bound / s));
        // The rounding of a unit's rows, and of the sum, its quotient and product, on both sides of a pair.
        let error = data.shape().rows_per_unit() * rounding(data.design()) * (d as f64).sqrt() / n
            + 4.0 * f64::EPSILON;
        let sensitivity = 2.0 * bound * (1.0 / n + error);
        let deviation = session.noise_per_sensitivity(GRADIENTS) * sensitivity;
        let mut done = 0;
        let mut gradient = |point: &[f64]| -> Result<Vec<f64>> {
            let residual = |row: usize, u: &[f64], out: &mut [f64]| {
                out[0] = weights[row] * score.value(u[0] + data.offset(row), response[row]);
            };
            let mut gradient = exact_pass(data.design(), 1, point, &grid, residual).values();
            gradient.iter_mut().zip(&scale).for_each(|(g, s)| *g *= s / n);
            session.vector(GRADIENTS, &mut gradient, sensitivity)?;
            gradient.iter_mut().zip(&scale).for_each(|(g, s)| *g /= s);
            done += 1;
            progress(done, *gradients);
            Ok(gradient)
        };

        // Step 2
        let slope = model.family.slope_near(base);
        let largest = slope * size * size;
        let mut point = vec![0.0; d];
        if model.intercept {
            point[0] = base;
        }
        let first = gradient(&point)?;
        let mut way: Vec<f64> = first.iter().map(|g| -4.0 / largest * g).collect();
        way[..constant].fill(0.0);
        if PROBED < d - constant {
            keep_largest(&mut way[constant..], PROBED);
        }
        point.iter_mut().zip(&way).for_each(|(b, w)| *b += w);
        let mut here = gradient(&point)?;
        let (mut inner, mut square) = (0.0, 0.0);
        for (w, (a, b)) in way.iter().zip(here.iter().zip(&first)) {
            inner += w * (a - b);
            square += w * w;
        }
        let curvature = (inner + 2.0 * (2.0 * square).sqrt() * deviation) / square;
        let curvature = if curvature.is_finite() { curvature } else { largest };
        // Noise on a predictor, after all steps, must not be more than half a full score's worth.
        let hidden = 2.0 * slope * deviation * size * (*gradients as f64).sqrt();
        let longest = score.cap() / hidden.max(f64::MIN_POSITIVE);
        let step = (1.0 / curvature.clamp(LEAST * largest, largest)).min(longest);

        // Step 3
        let mut total = vec![0.0; d];
        let averaged = gradients / 2;
        for k in 2..=*gradients {
            for (j, (b, g)) in point.iter_mut().zip(&here).enumerate() {
                // The constant's curvature is known.
                *b -= g * if j < constant { 0.5 / slope } else { step };
            }
            if k > gradients - averaged {
                total.iter_mut().zip(&point).for_each(|(t, b)| *t += b / averaged as f64);
            }
            if k < *gradients {
                here = gradient(&point)?;
            }
        }
        // Step 4
        if let Some(sparsity) = sparsity {
            keep_largest(&mut total[constant..], *sparsity);
        }
        let support: Vec<usize> = (0..d).filter(|&j| j < constant || total[j] != 0.0).collect();
        if model.intercept {
            total[0] += model.middle();
        }
        let values = support.iter().map(|&j| total[j]).collect();
        let certificate = session
            .close(data.adjacency())
            .enforcing(
                "the rows of a unit are weighted so that their l2 norms sum to at most the stated length",
            )
            .enforcing("each row's score is bounded");
        Ok(SparseFit::plain(support, values, model.family.provided_for(certificate)))
    }
}
