//! Sparse generalized linear models: choose the columns once, then spend the rest of the budget on them alone.
//!
//! # Algorithm
//! 1. Where to start and how large a score may be (`start`).
//! 2. If more than twice as many columns are there as may be kept: as many columns as the budget can tell from noise, and no more than
//!    asked for (`affordable`), by the votes of their entries (`choice`).
//! 3. The dense fit of [`super::glm`] on the chosen columns, or on all, with all its steps, and its intervals if asked for.
//! 4. Unless intervals are asked for: what noise cannot hide and is not clear of zero becomes zero; what noise hides is shrunk towards
//!    what a chosen column may have (`settle`). If all columns were fitted, the s coefficients that are the most
//!    standard errors from zero are kept. Both are functions of what was released.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. What is released before the fit is `start`'s and `choice`'s; the number
//! of columns and the shares of the budget are functions of public numbers. The rest is [`super::glm`]'s, on a table that is a
//! function of the rows one by one and of the released columns.
//!
//! # Why signs, or nearly
//! A selection pays for the largest change of any column's sum. At the same price `sign(x)` carries more signal than x: for
//! x uniform on [-1, 1] half as much again. Entries near zero say little, whatever their sign: [`super::vote`] spends a hundredth of
//! the budget to find out whether they may count less.
//!
//! # Differs from the papers
//! Cai et al. 2020 Algorithm 5 and Cai et al. 2021 Algorithm 4.2 choose anew in every step and pay s selections each time. Once is enough where
//! columns are not too correlated.
//!
//! # Intervals
//! They come from the rows that chose the columns. The choice has most of the budget, so its noise hides little of the errors by which columns that do
//! not matter were chosen, and their intervals miss far more often than they say: [`super::SplitRefine`] has intervals that hold.

use super::affordable::Affordable;
use super::choice::{self, Choice, ChosenColumns};
use super::glm::{Estimate, Fit, Glm};
use super::screening::require_sparsity;
use super::settle::settled;
use super::start::RATE;
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::Result;
use crate::release::{
    CalibratedPlan, Estimator, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession, require_shape,
};

pub(crate) use super::settle::CLEAR;

/// How few coefficients are found: from public numbers alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// Choose so many columns, then fit them.
    ChooseFirst(usize),
    /// Fit all columns, then keep the clearest.
    FitAll,
    /// Noise on the whole gradient, then keep the largest: [`super::WholeGradient`].
    WholeGradient,
}

impl Route {
    /// The better route for `sparsity` of `columns` columns, the constant one apart, in rows whose l2 norm is at most `row_norm`.
    pub fn of(model: &Glm, shape: Shape, sparsity: usize, row_norm: Option<f64>, privacy: Privacy) -> Self {
        let columns = shape.columns - usize::from(model.intercept).min(shape.columns);
        if columns <= 2 * sparsity && row_norm.is_none() {
            return Route::FitAll;
        }
        // Noise of deviation R / mu on every vote, whose largest is about sqrt(2 L) of it, against sqrt(s) / mu with L: at a share of 0.8.
        let competing = (2.0 * columns as f64 / sparsity as f64).ln().max(1.0);
        if row_norm.is_some_and(|r| r < (sparsity as f64 * competing / 1.6).sqrt()) {
            return Route::WholeGradient;
        }
        if columns <= 2 * sparsity {
            return Route::FitAll;
        }
        let affordable = Affordable::of(&model.family, shape.units, columns, sparsity, privacy);
        Route::ChooseFirst(affordable.columns)
    }

    /// What is done, and why.
    pub fn reason(self) -> String {
        match self {
            Route::ChooseFirst(columns) => format!(
                "at most {columns} columns are chosen first, as many as this budget can tell from noise: noise on all of them would cost more"
            ),
            Route::FitAll => {
                "all columns are fitted and the clearest kept: choosing half of them or more would cost more than it saves".into()
            }
            Route::WholeGradient => {
                "noise is added to the whole gradient and the largest coefficients are kept: in rows this short it costs less than choosing columns".into()
            }
        }
    }
}

/// A private model with few coefficients that are not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectRefine {
    pub(super) model: Glm,
    pub(super) sparsity: usize,
    pub(super) nonnegative: bool,
}

/// A fitted sparse model.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseFit {
    /// The chosen columns of the design, ascending, the constant column included.
    pub support: Vec<usize>,
    /// The fit on those columns.
    pub fit: Fit,
}

impl SparseFit {
    /// Without intervals.
    pub(super) fn plain(support: Vec<usize>, coefficients: Vec<f64>, certificate: Certificate) -> Self {
        Self { support, fit: Fit { coefficients, intervals: None, covariance: None, certificate } }
    }

    /// Keeps the coefficients for which `clear(place, coefficient)` holds.
    pub(crate) fn keep(&mut self, clear: impl Fn(usize, f64) -> bool) {
        let kept: Vec<bool> = self.fit.coefficients.iter().enumerate().map(|(i, &b)| clear(i, b)).collect();
        let mut at = kept.iter();
        self.support.retain(|_| *at.next().unwrap_or(&true));
        let mut at = kept.iter();
        self.fit.coefficients.retain(|_| *at.next().unwrap_or(&true));
        if let Some(intervals) = &mut self.fit.intervals {
            let mut at = kept.iter();
            intervals.retain(|_| *at.next().unwrap_or(&true));
        }
        if let Some(covariance) = &mut self.fit.covariance {
            let d = kept.len();
            let mut at = 0..covariance.len();
            covariance.retain(|_| at.next().is_none_or(|k| kept[k / d] && kept[k % d]));
        }
    }

    /// One coefficient per column of the design.
    pub fn coefficients(&self, columns: usize) -> Vec<f64> {
        let mut all = vec![0.0; columns];
        for (&j, &b) in self.support.iter().zip(&self.fit.coefficients) {
            all[j] = b;
        }
        all
    }
}

impl SelectRefine {
    /// A model of at most `sparsity` coefficients beside the intercept.
    pub fn new(model: Glm, sparsity: usize) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        Ok(Self { model: model.with_rough_errors(), sparsity, nonnegative: false })
    }

    /// No entry of a sparse row is below zero: those that are count as zero in the choice of columns.
    pub fn nonnegative(mut self) -> Self {
        self.nonnegative = true;
        self
    }

    pub(super) fn route(&self, shape: Shape, privacy: Privacy) -> Route {
        Route::of(&self.model, shape, self.sparsity, None, privacy)
    }

    /// How many columns are chosen of those of a table.
    pub(super) fn affordable(&self, shape: Shape, privacy: Privacy) -> Affordable {
        let columns = shape.columns - usize::from(self.model.intercept);
        Affordable::of(&self.model.family, shape.units, columns, self.sparsity, privacy)
    }

    /// The start, the choice, and the fit on what is left.
    fn plan(&self, shape: Shape, privacy: Privacy) -> Result<Vec<PlannedRelease>> {
        let Affordable { columns, share, .. } = self.affordable(shape, privacy);
        let start = self.model.start_planned(shape.units, privacy)?;
        let fit = self.model.plan(columns + usize::from(self.model.intercept), shape.units, privacy)?;
        let (mut start, mut rest): (Vec<_>, Vec<_>) =
            fit.into_iter().partition(|line| start.iter().any(|s| s.names(line)));
        for line in start.iter_mut().filter(|line| line.is(RATE)) {
            // The rate errs by a thirtieth: votes are measured from it.
            let wanted = 30.0 / (shape.units as f64 * privacy.mu());
            line.share = (wanted * wanted).clamp(0.003, 0.05);
        }
        let spent: f64 = start.iter().map(|line| line.share).sum();
        let left = (1.0 - spent) * (1.0 - share);
        let total: f64 = rest.iter().map(|line| line.share).sum();
        rest.iter_mut().for_each(|line| line.share *= left / total);
        start.extend(choice::planned((1.0 - spent) * share, columns));
        start.extend(rest);
        Ok(start)
    }
}

impl Estimator for SelectRefine {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    /// What is chosen first; nothing if all columns are fitted.
    type Layout = Option<Affordable>;
    type Fit = SparseFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(self.model.takes_exposures())?;
        let constant = usize::from(self.model.intercept);
        require_sparsity(self.sparsity, columns - constant)?;
        let route = self.route(shape, privacy);
        let plan = match route {
            Route::ChooseFirst(_) => self.plan(shape, privacy)?,
            _ => self.model.plan(columns, units, privacy)?,
        };
        let calibration = CalibratedPlan::new(plan, privacy)?;
        let affordable = matches!(route, Route::ChooseFirst(_)).then(|| self.affordable(shape, privacy));
        Ok(Prepared::new(self.clone(), affordable, shape, calibration))
    }

    fn run(
        &self,
        affordable: &Option<Affordable>,
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let Shape { columns, .. } = data.shape();
        let model = &self.model;
        let constant = usize::from(model.intercept);
        let response = model.admitted(data);
        // Step 1
        let start = model.start(data, &response, &mut session)?;
        // Steps 2 and 3
        let Some(affordable) = affordable else {
            let estimate = model.descend(data, &response, start, &mut session, progress)?;
            let certificate = model.family.provided_for(session.close(data.adjacency()));
            return Ok(self.clearest((0..columns).collect(), estimate, certificate));
        };
        let choice =
            Choice { columns: affordable.columns, signed: affordable.signed, nonnegative: self.nonnegative };
        let ChosenColumns { support, signs } =
            choice::choose(model, data, &response, start, choice, |_| true, &mut session)?;
        let chosen = data.with_columns(&support)?.in_doubles()?;
        let estimate = model.descend(&chosen, &response, start, &mut session, progress)?;
        // Step 4
        let expected = if model.is_real() { start.cap } else { 1.0 };
        let settled = settled(&estimate, &signs, constant, start, expected);
        let certificate = session
            .close(data.adjacency())
            .enforcing("the rows of a unit share one vote of bounded score in the choice of columns");
        let mut found =
            SparseFit { support, fit: estimate.certified(model.family.provided_for(certificate)) };
        if found.fit.intervals.is_none() {
            found.fit.coefficients = settled;
            found.keep(|i, b| i < constant || b != 0.0);
        }
        Ok(found)
    }
}

impl SelectRefine {
    /// Step 4 where all columns were fitted.
    fn clearest(&self, support: Vec<usize>, estimate: Estimate, certificate: Certificate) -> SparseFit {
        let constant = usize::from(self.model.intercept);
        let errors = estimate.errors.clone();
        let mut found = SparseFit { support, fit: estimate.certified(certificate) };
        let clearness = |i: usize, b: f64| b.abs() / errors[i].max(f64::MIN_POSITIVE);
        let mut order: Vec<f64> =
            (constant..errors.len()).map(|i| clearness(i, found.fit.coefficients[i])).collect();
        order.sort_by(|a, b| b.total_cmp(a));
        let least = order.get(self.sparsity - 1).copied().unwrap_or(0.0);
        found.keep(|i, b| i < constant || clearness(i, b) >= least);
        found
    }
}
