//! Generalized linear models by noisy preconditioned gradient descent with iterate averaging.
//!
//! # Algorithm (after Cai et al. 2020 Algorithm 1)
//! 1. Plan: every release and its share of the budget, from n, d and the budget alone.
//! 2. Where to start, and how large a score may be ([`super::start`]).
//! 3. The coordinates in which rows are measured from here on ([`super::coordinates`]), and R, the median of the units'
//!    sizes (l2 norm of a row, or the sum of the norms of a unit's rows), by a private quantile. Each unit's rows are
//!    weighted by `min(1, R / size)`.
//! 4. The weighted second moments of the features, once, with Gaussian noise: the preconditioner.
//! 5. Steps of noisy gradient descent with momentum from there on a small share: burn-in. Then the scale again.
//! 6. If intervals are asked for: the slope of the mean score, which is also a better preconditioner.
//! 7. Many steps on the largest share; the estimate is the average of their iterates.
//! 8. If intervals are asked for: the second moment of the score, for standard errors ([`super::interval`]).
//!
//! # Guarantee
//! Replacement of one unit (row), for every data set. Per unit, the gradient is a sum of `weight * score * row` with
//! `sum of weight * norm(row) <= R` and `|score| <= cap`, both enforced on the computed numbers, so a replacement
//! moves the mean gradient by at most `2 cap R / n`, plus the bounded error of summation. The moment matrix of a unit is
//! positive semi-definite of trace at most `1.5 R^2`, so a replacement moves it by at most `sqrt(2) 1.5 R^2 / n` in
//! Frobenius norm.
//!
//! # Why private
//! Quantiles are selections, the rest are Gaussian releases, each of which may depend on the ones before; the accountant
//! composes them. Everything else is a function of what was released.
//!
//! # Differs from the paper
//! Scores are bounded without bias ([`crate::families`]) in place of `R + c_1` assumed; sensitivity `2C/n` in place of 4; exact
//! composition; T and the steps do not depend on unknown curvature; rows are clipped, not assumed short.

use super::coordinates::Coordinates;
use super::descent::{Descent, Drive, Phase};
use super::interval::{Interval, Passage, descent_error, intervals, require_level};
use super::moments::{self, Conditioner, Moments, TRACE};
use super::start::Start;
use super::weighting::{self, Weighting};
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::data::Shape;
use crate::data::range::{require_interval, require_magnitude, require_penalty};
use crate::error::{Error, Parameter, Result};
use crate::families::{BoundedScore, Domain, Family};
use crate::kernels::predict;
use crate::release::{
    CalibratedPlan, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};
use nalgebra::DMatrix;

/// A private generalized linear model with one linear predictor.
#[derive(Debug, Clone, PartialEq)]
pub struct Glm {
    pub(crate) family: Family,
    pub(crate) target: (f64, f64),
    pub(crate) intercept: bool,
    ridge: f64,
    radius: Option<f64>,
    level: Option<f64>,
    /// Also find rough standard errors, from what is released anyway.
    rough: bool,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// One coefficient per column of the design.
    pub coefficients: Vec<f64>,
    /// Their confidence intervals, if asked for.
    pub intervals: Option<Vec<Interval>>,
    /// The covariance of the coefficients, row-major, if intervals were asked for.
    pub covariance: Option<Vec<f64>>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

const MOMENTS: Handle<Vector> = Handle::new("moments of the features");
const BURN_IN_GRADIENTS: Handle<Vector> = Handle::new("burn-in gradients");
const GRADIENTS: Handle<Vector> = Handle::new("gradients");
const SLOPE: Handle<Vector> = Handle::new("slope of the score");
pub(super) const SCORES: Handle<Vector> = Handle::new("second moment of the score");

pub(super) const BURN_IN: Phase = Phase { what: BURN_IN_GRADIENTS, steps: 20, length: 0.5 };
pub(super) const AVERAGED: Phase = Phase { what: GRADIENTS, steps: 80, length: 0.5 };

impl Glm {
    /// A model whose response lies in the public interval `target` (0 and 1 for a binary one).
    pub fn new(family: Family, target: (f64, f64)) -> Result<Self> {
        family.require_one_predictor()?;
        let (low, high) =
            require_interval(Parameter::TargetBounds, target, "declare the public range of the response")?;
        if matches!(family.domain(), Domain::Positive | Domain::Nonnegative) {
            return Err(Error::Conflict(format!(
                "{} is a family of amounts, whose residuals grow with their mean: use method likelihood",
                family.name()
            )));
        }
        if family.domain() == Domain::Count && !(low >= 0.0 && high >= 1.0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::TargetBounds,
                range: "from at least 0 to at least 1 for a count",
                value: format!("[{low}, {high}]"),
                remedy: "declare the smallest and the largest count a row may have",
            });
        }
        Ok(Self { family, target, intercept: false, ridge: 0.0, radius: None, level: None, rough: false })
    }

    /// The design's first column is constant 1: its coefficient is the intercept.
    pub fn with_intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    /// Adds `ridge/2 * norm(coefficients)^2` to the mean loss (the intercept is not penalised).
    pub fn ridge(mut self, ridge: f64) -> Result<Self> {
        self.ridge = require_penalty(Parameter::Ridge, ridge)?;
        Ok(self)
    }

    /// Keeps the coefficients in the l2 ball of this radius. The intercept of a real response counts from the middle of the
    /// response's bounds.
    pub fn radius(mut self, radius: f64) -> Result<Self> {
        self.radius = Some(require_magnitude(
            Parameter::Radius,
            radius,
            "give the largest l2 norm of the coefficients",
        )?);
        Ok(self)
    }

    /// Also gives confidence intervals of this level (0.95), paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = Some(require_level(level)?);
        Ok(self)
    }

    /// The same without intervals.
    pub(crate) fn without_intervals(mut self) -> Self {
        self.level = None;
        self
    }

    /// Also finds rough standard errors.
    pub(crate) fn with_rough_errors(mut self) -> Self {
        self.rough = true;
        self
    }

    /// Every release, with its share of the budget. Public quantities only.
    pub(crate) fn plan(&self, columns: usize, units: usize, privacy: Privacy) -> Result<Vec<PlannedRelease>> {
        let mut plan = self.start_planned(units, privacy)?;
        plan.extend(weighting::planned(columns, self.intercept, units, privacy)?);
        let wanted = moments_share(columns, units, privacy);
        plan.push(MOMENTS.planned(wanted.clamp(0.01, 0.10), 1));
        if self.level.is_some() {
            plan.push(SLOPE.planned((20.0 * wanted).clamp(0.04, 0.15), 1));
            plan.push(SCORES.planned((4.0 * wanted).clamp(0.04, 0.15), 1));
        }
        push_gradients(&mut plan);
        Ok(plan)
    }

    /// Whether exposures mean something: they multiply the mean of counts.
    pub(crate) fn takes_exposures(&self) -> bool {
        self.family.takes_exposures()
    }
}

impl Estimator for Glm {
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
        shape.require_unweighted(self.takes_exposures())?;
        let calibration = CalibratedPlan::new(self.plan(columns, units, privacy)?, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<Fit> {
        // Step 1
        let response = self.admitted(data);
        // Step 2
        let start = self.start(data, &response, &mut session)?;
        let estimate = self.descend(data, &response, start, &mut session, progress)?;
        Ok(estimate.certified(self.family.provided_for(session.close(data.adjacency()))))
    }
}

/// What a descent found, before the certificate.
pub(crate) struct Estimate {
    pub coefficients: Vec<f64>,
    pub intervals: Option<Vec<Interval>>,
    pub covariance: Option<Vec<f64>>,
    /// Standard errors, rough ones where intervals were not asked for; empty unless either was.
    pub errors: Vec<f64>,
    /// Where columns were measured from.
    pub centres: Vec<f64>,
    /// The standard error of the predictor there, that is, of the first coefficient before the columns' centres entered it.
    pub middle_error: f64,
}

impl Estimate {
    pub(crate) fn certified(self, certificate: Certificate) -> Fit {
        let certificate = certificate
            .enforcing("the rows of a unit are weighted so that their l2 norms sum to at most the released typical size")
            .enforcing("each row's score is bounded");
        let Self { coefficients, intervals, covariance, .. } = self;
        Fit { coefficients, intervals, covariance, certificate }
    }
}

impl Glm {
    /// Steps 3 to 8.
    pub(crate) fn descend(
        &self,
        data: &Dataset,
        response: &[f64],
        start: Start,
        session: &mut ReleaseSession<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Estimate> {
        let model = self;
        let d = data.design().columns();
        let mut done = 0;
        let mut step = || {
            done += 1;
            progress(done, BURN_IN.steps + AVERAGED.steps);
        };

        // Step 3
        let weighting = weighting::release(data, model.intercept, session)?;
        let (Start { base, cap: first_cap }, response) = model.measured(start, response);
        let response = &*response;
        let mut iterate = vec![0.0; d];
        // The link's inverse at a real response's centre is not known; from zero, a few steps find it.
        if model.intercept {
            iterate[0] = base;
        }
        let start = iterate.clone();

        // Step 4. The curvature at the released starting point scales the bound; rows beyond it are shortened.
        let trace = TRACE * weighting.size * weighting.size * model.family.mean_slope(base);
        let curvature =
            |row: usize| weighting.weights[row] * model.family.mean_slope(base + data.offset(row));
        let mut features = moments::release(MOMENTS, data, &weighting, curvature, trace, session)?;
        add_ridge(&mut features.matrix, model.ridge, model.intercept, &weighting.coordinates);
        let unit = 2.0 * weighting.size / data.units() as f64;
        let noise = [BURN_IN, AVERAGED].map(|phase| session.noise_per_sensitivity(phase.what) * unit);
        // The score bends over its cap for real responses, over 1 for the others.
        let bend = |cap: f64| if model.is_real() { cap } else { 1.0 };
        let variance =
            |noise: f64, cap: f64| (noise * cap / bend(cap)).powi(2) / model.family.mean_slope(base);
        let first_drive =
            Drive { phase: BURN_IN, ..features.drive(AVERAGED) }.calmed(variance(noise[0], first_cap));

        // Step 5
        let span = if model.is_real() { 30.0 * model.reach() } else { 60.0 };
        let descent = Descent {
            data,
            weighting: &weighting,
            outputs: 1,
            ridge: model.ridge,
            intercept: model.intercept,
            radius: model.radius,
            start: &start,
            limit: span / weighting.size,
        };
        let mut run = |drive: &Drive,
                       iterate: &mut [f64],
                       score: &BoundedScore<'_>,
                       session: &mut ReleaseSession<'_>| {
            let value = |row: usize, u: &[f64], out: &mut [f64]| {
                out[0] = score.value(u[0] + data.offset(row), response[row]);
            };
            descent.run(drive, iterate, score.cap(), value, session, &mut step)
        };
        let first = model.family.bounded(first_cap)?;
        run(&first_drive, &mut iterate, &first, session)?;
        let predictors = || {
            let mut predictors = vec![0.0; data.design().rows()];
            predict(data.design(), &weighting.coordinates.stored(&iterate), &mut predictors);
            predictors
        };
        let cap = if model.is_real() {
            let predictors = predictors();
            let residual = |row: usize| response[row] - model.family.mean(predictors[row]);
            model.residual_scale(data, residual, session)?
        } else {
            first_cap
        };
        let again = if cap == first_cap { None } else { Some(model.family.bounded(cap)?) };
        let score = again.as_ref().unwrap_or(&first);

        // Step 6
        let scored = Scored { data, response, score, weighting: &weighting };
        let slope = match model.level {
            None => None,
            Some(_) => Some(scored.slope(model, &predictors(), trace, session)?),
        };

        // Step 7
        let drive = slope.as_ref().unwrap_or(&features).drive(AVERAGED).calmed(variance(noise[1], cap));
        let average = run(&drive, &mut iterate, score, session)?;
        let mut coefficients = weighting.coordinates.stored(&average);

        // Step 8
        let mut middle_error = 0.0;
        let covariance = match &slope {
            None if !model.rough => None,
            _ => {
                // In the rows' coordinates columns have a mean square of about 1: enough for rough errors.
                let rough = || DMatrix::identity(d, d) * model.family.mean_slope(base);
                let h = slope.as_ref().map_or_else(rough, Moments::lowered);
                let moved: Vec<f64> = average.iter().zip(&start).map(|(a, b)| a - b).collect();
                let descended = descent_error(
                    &Passage::new(&first_drive, &h, noise[0] * first.cap(), false),
                    &Passage::new(&drive, &h, noise[1] * score.cap(), true),
                    &moved,
                );
                let sampled = match slope {
                    Some(_) => scored.sampling(&coefficients, &h, session)?,
                    None => self.rough_sampling(&h, base, score.cap(), data.units()),
                };
                let mut total = sampled + descended;
                if let Some(slope) = &slope {
                    for j in (0..d).filter(|&j| slope.matrix[(j, j)] < 3.0 * slope.noise) {
                        total[(j, j)] += descent.limit.powi(2);
                    }
                }
                middle_error = total[(0, 0)].sqrt();
                Some(weighting.coordinates.stored_covariance(&total))
            }
        };
        if model.intercept {
            coefficients[0] += model.middle();
        }
        let errors = covariance
            .iter()
            .flat_map(|c| c.diagonal().iter().map(|v| v.sqrt()).collect::<Vec<_>>())
            .collect();
        let covariance = covariance.filter(|_| model.level.is_some());
        let intervals = model
            .level
            .zip(covariance.as_ref())
            .map(|(level, c)| intervals(&coefficients, c.diagonal().iter().copied(), level));
        let covariance = covariance.map(|c| c.as_slice().to_vec());
        let centres = weighting.coordinates.centre().to_vec();
        Ok(Estimate { coefficients, intervals, covariance, errors, centres, middle_error })
    }

    /// The sampling part of the covariance where nothing was released for it: scores vary as much as their slope says, or
    /// as their cap allows.
    fn rough_sampling(&self, slope: &DMatrix<f64>, base: f64, cap: f64, units: usize) -> DMatrix<f64> {
        let variance = match self.family.domain() {
            Domain::Count => 1.0,
            _ => cap * cap / self.family.mean_slope(base),
        };
        Conditioner::new(slope, 1e-12 * slope.trace()).inverse() * (variance / units as f64)
    }
}

/// Private rows with their weights and a bounded score.
struct Scored<'a> {
    data: &'a Dataset,
    response: &'a [f64],
    score: &'a BoundedScore<'a>,
    weighting: &'a Weighting,
}

impl Scored<'_> {
    /// Step 6: the slope of the mean score, the penalty included, at released coefficients with these predictors.
    fn slope(
        &self,
        model: &Glm,
        predictors: &[f64],
        trace: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<Moments> {
        let Self { data, response, score, weighting } = self;
        let at = |row: usize| predictors[row] + data.offset(row);
        let slope_of = |row: usize| {
            // Real responses show which errors lie inside the cap; the others' slopes follow from the model.
            let inside = !model.is_real() || (model.family.mean(at(row)) - response[row]).abs() < score.cap();
            weighting.weights[row] * if inside { score.slope(at(row), 1.0) } else { 0.0 }
        };
        let mut slope = moments::release(SLOPE, data, weighting, slope_of, trace, session)?;
        add_ridge(&mut slope.matrix, model.ridge, model.intercept, &weighting.coordinates);
        Ok(slope)
    }

    /// Step 8: the sampling part of the covariance, given the slope.
    fn sampling(
        &self,
        coefficients: &[f64],
        slope: &DMatrix<f64>,
        session: &mut ReleaseSession<'_>,
    ) -> Result<DMatrix<f64>> {
        let Self { data, response, score, weighting } = self;
        let mut predictors = vec![0.0; data.design().rows()];
        predict(data.design(), coefficients, &mut predictors);
        let value = |row: usize| {
            weighting.weights[row] * score.value(predictors[row] + data.offset(row), response[row])
        };
        let bound = score.cap() * weighting.size;
        let second = score_moments(data, &weighting.coordinates, value, bound, session)?;
        let inverse = Conditioner::new(slope, 1e-12 * slope.trace()).inverse();
        Ok(&inverse * second.lifted(0.0) * &inverse / data.units() as f64)
    }
}

/// The second moment of the units' scores, whose norms are at most `bound`.
pub(super) fn score_moments(
    data: &Dataset,
    coordinates: &Coordinates,
    value: impl Fn(usize) -> f64 + Sync,
    bound: f64,
    session: &mut ReleaseSession<'_>,
) -> Result<Moments> {
    let trace = bound * bound;
    if data.unit_name().is_none() {
        let weight = |row: usize| value(row).powi(2);
        return moments::release_gram(
            SCORES,
            data.design(),
            coordinates,
            weight,
            trace,
            data.shape(),
            session,
        );
    }
    // Several rows a unit: add up each unit's score first.
    let sums = coordinates.score_sums(data, value, bound)?;
    let as_they_are = Coordinates::identity(data.design().columns());
    moments::release_gram(SCORES, &sums, &as_they_are, |_| 1.0, trace, data.shape(), session)
}

/// The share of the budget that the moments of the features deserve. Their noise has spectral norm
/// `sqrt(2d) * 1.5 sqrt(2) R^2 / (n mu)`; 2/5 of the average eigenvalue `R^2 / d` is accurate enough for a
/// preconditioner, and asks for `mu = 7.5 d^1.5 / n`.
pub(super) fn moments_share(columns: usize, units: usize, privacy: Privacy) -> f64 {
    (7.5 * (columns as f64).powf(1.5) / (units as f64 * privacy.mu())).powi(2)
}

/// Closes a plan: burn-in, and all that is left for the averaged steps.
pub(super) fn push_gradients(plan: &mut Vec<PlannedRelease>) {
    plan.push(BURN_IN.what.planned(0.08, BURN_IN.steps));
    let spent: f64 = plan.iter().map(|p| p.share).sum();
    plan.push(AVERAGED.what.planned(1.0 - spent, AVERAGED.steps));
}

/// Adds the curvature of the penalty, which is on the coefficients of the columns as stored.
pub(super) fn add_ridge(matrix: &mut DMatrix<f64>, ridge: f64, intercept: bool, coordinates: &Coordinates) {
    for j in usize::from(intercept)..matrix.nrows() {
        matrix[(j, j)] += ridge * coordinates.penalty(j);
    }
}
