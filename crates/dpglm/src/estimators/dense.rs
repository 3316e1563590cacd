//! Regression of any family by few score passes in whitened coordinates.
//!
//! What is estimated is the maximum-likelihood fit of the table within its declared bounds; with sampling weights the weighted fit, the
//! root of `sum of weight * score`. What clipping, weighting and shrinking do
//! to it vanishes as the number of units times epsilon grows, at the rate of the privacy noise.
//!
//! # Algorithm
//! 0. `plan`: every release and its share of the budget, from public facts. Bounds of which a magnitude alone is known are found first
//!    ([`super::bounds`]).
//! 1. `response`: where the response lies.
//! 2. `standardization`: location and scale of each column.
//! 3. `whitening`: products of standard columns, once; coordinates in which they are nearly uncorrelated.
//! 4. `scores`: ten passes, each of which releases the mean weighted score and the mean slope, with shares of the budget that grow by 1.6
//!    from pass to pass. All passes so far give the coefficients for the next, shrunk by a prior whose scales are fitted
//!    (`prior`). Where slopes are steep the intercept follows them (`tilt`).
//! 5. Where the budget allows, at one or two of them the slope matrix.
//! 6. Back to the columns as stored.
//! 7. `inference`: if intervals are asked for, unshrunk estimates with standard errors.
//! 8. If it is asked for, the dispersion: a level that few units' squared distances from their means exceed, and the mean clipped there.
//!
//! The rows are read at most 16 times: moments, norms and products of the columns, norms again, ten score passes, and the slope
//! matrix twice, or for real responses the sizes of scores midway. Units with several rows are read twice in each of five
//! passes instead: 15 times at most. A dispersion reads them twice more.
//!
//! # Guarantee
//! Replacement of one unit (row), for every data set. Entries are clamped to [-1, 1], responses to their domain; each pass has its own
//! bound (`passes`), enforced on the computed numbers, with the rounding of sums charged. A sampling weight is a private number of its row,
//! clamped to its declared bounds. It multiplies the row's score before the score is bounded, so every bound holds for weighted
//! scores; sums are divided by the public number of units, and the mean weight is released and paid for.
//!
//! # Why private
//! Levels are selections, the rest are Gaussian releases, each of which may depend on the ones before; the accountant composes them.
//! Which releases there are is a function of public facts. Everything else is a function of what was released.

#[cfg(test)]
mod added;
#[cfg(test)]
mod attacks;
mod inference;
#[cfg(test)]
mod parts;
mod plan;
mod prior;
mod response;
mod scores;
mod standardization;
#[cfg(test)]
mod tests;
mod tilt;
#[cfg(test)]
mod weighted;
mod whitening;

use super::bounds::regression::RegressionSearch;
use super::bounds::{FoundBounds, Sought};
use crate::accounting::Certificate;
use crate::central::interval::{Interval, require_level};
use crate::data::range::{require_magnitude, require_penalty};
use crate::data::{Dataset, Shape};
use crate::error::{Error, Parameter, Result};
use crate::families::Domain;
pub use crate::families::Likelihood;
use crate::noise::RandomSource;
use crate::numeric::normal_quantile;
use crate::passes::{PrivateRows, ResponseView, Rows, Table};
use crate::release::{
    CalibratedPlan, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector, require_shape,
};
use inference::Inferred;
use plan::Plan;
use response::Response;
use scores::Passes;

/// A private regression on bounded columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    likelihood: Likelihood,
    intercept: bool,
    ridge: f64,
    radius: Option<f64>,
    level: Option<f64>,
    dispersion: bool,
    search: Option<Box<RegressionSearch>>,
}

/// A fitted regression.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionFit {
    /// One coefficient per column of the design; one such block for each class after the first.
    pub coefficients: Vec<Vec<f64>>,
    /// Unshrunk estimates with their intervals, if asked for: of each block.
    pub inference: Option<Vec<Inference>>,
    /// The dispersion, if it was asked for: the mean of `(y - mean)^2 / variance(mean)`, n over n less the columns times.
    pub dispersion: Option<f64>,
    /// The bounds that were found, if any: coefficients of these columns belong to the column as scaled by them
    /// ([`FoundBounds::scaling`]).
    pub bounds: Option<FoundBounds>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// What can be said of the likelihood's own coefficients of one block, one of each per column of the design.
///
/// The coefficients of a fit are shrunk where noise hides them: they predict better. Intervals belong to these estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// The unshrunk coefficients.
    pub estimates: Vec<f64>,
    /// Their intervals, sampling and privacy noise together; none where the budget is too small for any.
    pub intervals: Option<Vec<Interval>>,
    /// Whether the budget determines the coefficient; if not its interval is what a prior leaves, and says nothing.
    pub determined: Vec<bool>,
    /// The covariance of the estimates, row-major, if there are intervals.
    pub covariance: Option<Vec<f64>>,
}

impl Regression {
    /// A regression of this kind of response, without an intercept.
    pub fn new(likelihood: Likelihood) -> Result<Self> {
        likelihood.validate()?;
        if likelihood.domain() == Domain::Real && !likelihood.is_linear() {
            return Err(Error::Conflict(
                "this method takes real responses with a linear mean alone: use gradient descent for other means".into(),
            ));
        }
        Ok(Self {
            likelihood,
            intercept: false,
            ridge: 0.0,
            radius: None,
            level: None,
            dispersion: false,
            search: None,
        })
    }

    /// The design's first column is constant 1: its coefficient is the intercept.
    pub fn with_intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    /// Adds `ridge/2 * norm(coefficients)^2` to the mean loss (intercepts are not penalised).
    pub fn ridge(mut self, ridge: f64) -> Result<Self> {
        self.ridge = require_penalty(Parameter::Ridge, ridge)?;
        Ok(self)
    }

    /// Keeps the coefficients, intercepts left out, in the l2 ball of this radius.
    pub fn radius(mut self, radius: f64) -> Result<Self> {
        self.radius =
            Some(require_magnitude(Parameter::Radius, radius, "the largest l2 norm of the coefficients")?);
        Ok(self)
    }

    /// Also gives confidence intervals of this level (0.95) for the unpenalised likelihood's coefficients, paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = Some(require_level(level)?);
        Ok(self)
    }

    /// Also gives the dispersion: by how much responses vary more than their means say. Paid from the same budget. Standard errors do not
    /// need it: they are those of the scores as they are, whatever the variance.
    pub fn dispersion(mut self) -> Result<Self> {
        if !self.likelihood.has_dispersion() {
            return Err(Error::Conflict(
                "a response of levels has no dispersion, its variance follows from its mean: leave it out"
                    .into(),
            ));
        }
        self.dispersion = true;
        Ok(self)
    }

    /// Columns and responses of which only a magnitude is known have their bounds found privately first, with this part of the budget
    /// ([`SHARE`] is usual). One per column of the design; the constant one has none.
    ///
    /// [`SHARE`]: super::bounds::SHARE
    pub fn searching(
        mut self,
        columns: Vec<Option<Sought>>,
        target: Option<Sought>,
        share: f64,
    ) -> Result<Self> {
        self.search = Some(Box::new(RegressionSearch::new(columns, target, share)?));
        Ok(self)
    }

    /// The part of the budget that is left after bounds are found.
    fn left(&self) -> f64 {
        self.search.as_ref().map_or(1.0, |search| search.left())
    }

    /// The same with the response's bounds that were found.
    fn within(&self, found: &FoundBounds) -> Self {
        match found.target {
            Some(bounds) => Self { likelihood: self.likelihood.within(bounds), ..self.clone() },
            None => self.clone(),
        }
    }
}

impl Estimator for Regression {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = Plan;
    type Fit = RegressionFit;

    fn shape(data: &Dataset) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        require_shape(shape.columns, shape.units)?;
        shape.require_exposures(self.likelihood.takes_exposures())?;
        if shape.grouped && self.level.is_some() && self.likelihood.directions() > 1 {
            return Err(Error::Conflict(
                "intervals of several classes cannot be had for units of several rows: fit without intervals, or one class \
                 against another"
                    .into(),
            ));
        }
        let plan = Plan::new(self, shape, privacy);
        let mut lines = Vec::new();
        if let Some(search) = &self.search {
            search.require(shape.columns, self.intercept, &self.likelihood)?;
            lines = search.lines();
        }
        lines.extend(plan.lines(self).into_iter().map(|line| line.at(0, self.left())));
        let calibrated = CalibratedPlan::new(lines, privacy)?;
        Ok(Prepared::new(self.clone(), plan, shape, calibrated))
    }

    fn run(
        &self,
        plan: &Plan,
        data: &Dataset,
        session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<RegressionFit> {
        self.run_on(&Table::new(data), plan, session, progress)
    }
}

impl Prepared<Regression> {
    /// Fits rows that need not be one table in memory, as [`Prepared::fit_reporting`] fits a table: the same rows and the same noise give the same
    /// fit, to the last bit.
    pub fn fit_rows(
        &self,
        rows: &dyn PrivateRows,
        rng: &mut RandomSource,
        progress: Progress<'_>,
    ) -> Result<RegressionFit> {
        self.require(rows.shape())?;
        self.estimator.run_on(rows, &self.layout, self.plan.open(rng), progress)
    }

    /// How often a fit reads the rows.
    pub fn reads(&self) -> u64 {
        self.layout.reads()
    }

    /// Whether a coefficient can be determined: by a public rule, known before the data is opened. False without intervals.
    pub fn determines_any(&self) -> bool {
        self.layout.inference.is_some()
    }
}

impl Regression {
    /// Runs on rows wherever they are.
    fn run_on(
        &self,
        rows: &dyn Rows,
        plan: &Plan,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<RegressionFit> {
        let model = self;
        let (mut done, reads) = (0, plan.reads());
        let mut read = || {
            done += 1;
            progress(done, reads);
        };
        let searched = match &model.search {
            None => None,
            Some(search) => Some(search.release(rows, model.intercept, &mut session)?),
        };
        let within = searched.as_ref().map(|(found, rows)| (model.within(found), &**rows));
        let (model, rows) = within.as_ref().map_or((model, rows), |(model, rows)| (model, *rows));

        // Step 1
        let response = Response::release(model, plan, rows, &mut session)?;
        let mut stored = vec![0.0; response.view.outputs() * plan.shape.columns];
        let mut inferred = None;
        if let Some(slopes) = &plan.slopes {
            // Step 2
            let count = response.count;
            let standard =
                standardization::release(rows, plan, slopes.columns, model.intercept, count, &mut session)?;
            read();
            // Step 3
            let whitened = whitening::release(rows, standard, plan, slopes, count, &mut session)?;
            (0..if slopes.products.is_some() { 3 } else { 1 }).for_each(|_| read());
            // Steps 4 and 5
            let passes = Passes { model, plan, slopes, response: &response, whitened: &whitened, rows };
            let found = passes.run(&mut session, &mut read)?;
            // Step 6
            stored = passes.stored(&found.coefficients);
            // Step 7
            if let Some(shares) = &plan.inference {
                let found = passes.infer(&found, shares, &mut session, &mut read)?;
                if model.ridge == 0.0 && model.radius.is_none() {
                    stored = found.prediction.clone();
                }
                inferred = Some(found);
            }
        }
        // Step 8
        let dispersion = match model.dispersion {
            true => Some(response.dispersion(plan, rows, &stored, &mut session)?),
            false => None,
        };
        if plan.slopes.is_some() {
            plan.dispersion_lines().iter().for_each(|_| read());
        }
        let coefficients = response.in_units_of_the_target(model, stored);
        let inference = model.level.map(|level| response.inference(model, inferred, &coefficients, level));
        let certificate = session
            .close(rows.adjacency())
            .enforcing("entries are clamped to [-1, 1] and responses to their domain")
            .enforcing("the rows of a unit are weighted so that their scores and products are bounded");
        let certificate = match model.likelihood.family() {
            Some(family) => family.provided_for(certificate),
            None => certificate,
        };
        let certificate = match plan.shape.weighted {
            true => certificate.enforcing(
                "sample weights are clamped to their declared bounds, and a row's weighted score is bounded as a whole",
            ),
            false => certificate,
        };
        let certificate = match &searched {
            Some(_) => {
                certificate.enforcing("numbers beyond bounds that were found count as the nearest end")
            }
            None => certificate,
        };
        let bounds = searched.map(|(found, _)| found);
        Ok(RegressionFit { coefficients, inference, dispersion, bounds, certificate })
    }
}

impl Response {
    /// Step 6: coefficients of the columns as stored, blocks of one per column; of classes relative to the first.
    fn in_units_of_the_target(&self, model: &Regression, stored: Vec<f64>) -> Vec<Vec<f64>> {
        let ResponseView { base, unit, shift, .. } = &self.view;
        let columns = stored.len() / base.len();
        let blocks = stored.chunks_exact(columns).zip(base).map(|(block, base)| {
            let mut block: Vec<f64> = block.iter().map(|b| unit * b).collect();
            if model.intercept {
                block[0] += unit * base + shift;
            }
            block
        });
        let mut blocks: Vec<Vec<f64>> = blocks.collect();
        if blocks.len() > 1 {
            let reference = blocks.remove(0);
            for block in &mut blocks {
                block.iter_mut().zip(&reference).for_each(|(b, r)| *b -= r);
            }
        }
        blocks
    }
}

impl Response {
    /// The intervals of what inference found; where the budget allows none, no coefficient is determined.
    fn inference(
        &self,
        model: &Regression,
        inferred: Option<Inferred>,
        shrunk: &[Vec<f64>],
        level: f64,
    ) -> Vec<Inference> {
        let Some(Inferred { estimate, covariance, determined, .. }) = inferred else {
            let nothing = |block: &Vec<f64>| Inference {
                estimates: block.clone(),
                intervals: None,
                determined: vec![false; block.len()],
                covariance: None,
            };
            return shrunk.iter().map(nothing).collect();
        };
        let width = normal_quantile(0.5 + 0.5 * level);
        let blocks = self.in_units_of_the_target(model, estimate).into_iter().enumerate();
        let of_block = |(block, estimates): (usize, Vec<f64>)| {
            let d = estimates.len();
            let (first, unit) = (block * d, self.view.unit * self.view.unit);
            let covariance = covariance.view((first, first), (d, d)) * unit;
            let interval = |(j, estimate): (usize, &f64)| {
                let standard_error = covariance[(j, j)].max(0.0).sqrt();
                let half = width * standard_error;
                Interval { standard_error, low: estimate - half, high: estimate + half }
            };
            let intervals = estimates.iter().enumerate().map(interval).collect();
            let determined = determined[first..first + d].to_vec();
            let covariance = Some(covariance.transpose().as_slice().to_vec());
            Inference { estimates, intervals: Some(intervals), determined, covariance }
        };
        blocks.map(of_block).collect()
    }
}

/// The noise of a planned release per unit of sensitivity; where none is added, what was planned with.
fn noise_of(plan: &Plan, session: &ReleaseSession<'_>, what: Handle<Vector>, share: f64) -> f64 {
    if plan.private { session.noise_per_sensitivity(what) } else { 1.0 / plan.mu_of(share) }
}
