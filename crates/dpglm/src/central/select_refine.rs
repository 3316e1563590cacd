//! Sparse generalized linear models: choose the columns once, then spend the rest of the budget on them alone.
//!
//! # Algorithm
//! 1. Where to start and how large a score may be ([`super::start`]).
//! 2. If more than twice as many columns are there as may be kept: each column's sum of `score_i * vote(x_ij)` over the rows, the scores taken at the start, the
//!    votes signs or nearly so ([`super::vote`]); the s columns with the largest sums in absolute value, by one-shot Gumbel noise.
//! 3. The dense fit of [`super::glm`] on the chosen columns, or on all, with all its steps, and its intervals if asked for.
//! 4. Unless intervals are asked for: coefficients within 2.75 standard errors of zero become zero. Most of them belong to
//!    columns that noise chose. If all columns were fitted, the s coefficients that are the most standard errors from zero
//!    are kept. Both are functions of what was released.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. Scores are bounded by `cap`, votes by 1, and the rows of a unit share one
//! vote, so one unit moves each sum by at most `2 cap`, plus the bounded error of summation: s selections. The rest is
//! [`super::glm`]'s, on a table that is a function of the rows one by one and of the released columns.
//!
//! # Why signs, or nearly
//! A selection pays for the largest change of any column's sum. At the same price `sign(x)` carries more signal than x: for
//! x uniform on [-1, 1] half as much again. Entries near zero say little, whatever their sign: [`super::vote`] spends a hundredth of
//! the budget to find out whether they may count less.
//!
//! # Differs from the papers
//! Cai et al. 2020 Algorithm 5 and Cai et al. 2021 Algorithm 4.2 choose anew in every step and pay s selections each time. Once is enough where
//! columns are not too correlated; intervals hold given the chosen columns.

use super::glm::{Estimate, Fit, Glm};
use super::screening::require_sparsity;
use super::start::Start;
use super::vote;
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::Result;
use crate::kernels::{Grid, column_scores, rounding};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession,
    require_shape,
};

const COLUMNS: Handle<Chosen> = Handle::new("chosen columns");
/// The share of the budget that choosing the columns deserves: a wrong column costs more than noise on a right one.
pub(super) const SELECTION: f64 = 0.7;

/// How many standard errors from zero a coefficient must be to be kept.
pub(crate) const CLEAR: f64 = 2.75;

/// Whether the columns are chosen first, and why: from public numbers alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Choose the columns, then fit them.
    ChooseFirst,
    /// Fit all columns, then keep the clearest.
    FitAll,
}

impl Route {
    /// The better route for `sparsity` of `columns` columns, the constant one apart.
    pub fn of(columns: usize, sparsity: usize) -> Self {
        if columns > 2 * sparsity { Route::ChooseFirst } else { Route::FitAll }
    }

    /// Why.
    pub fn reason(self) -> &'static str {
        match self {
            Route::ChooseFirst => {
                "columns are chosen first: noise on all of them would cost more than choosing a few"
            }
            Route::FitAll => {
                "all columns are fitted and the clearest kept: choosing half of them or more would cost more than it saves"
            }
        }
    }
}

/// A private model with few coefficients that are not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectRefine {
    model: Glm,
    sparsity: usize,
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
        Ok(Self { model: model.with_rough_errors(), sparsity })
    }
}

/// Step 2: the `sparsity` columns with the largest votes, ascending, the constant one included. Units that are not `asked` have
/// no vote.
pub(crate) fn choose_columns(
    model: &Glm,
    data: &Dataset,
    response: &[f64],
    start: Start,
    sparsity: usize,
    asked: impl Fn(usize) -> bool + Sync,
    session: &mut ReleaseSession<'_>,
) -> Result<Vec<usize>> {
    let constant = usize::from(model.intercept);
    let score = model.family.bounded(start.cap)?;
    let rows = data.sum_by_unit(|_| 1.0);
    let weighted = |row: usize| {
        let unit = data.unit_of(row);
        if !asked(unit) {
            return 0.0;
        }
        let share = data.weight(row) / rows[unit];
        share * score.value(start.base + data.offset(row), response[row])
    };
    let map = vote::choose(data, constant, &asked, session)?;
    let grid = Grid::uniform(data.design().columns(), score.cap());
    let mut sums = column_scores(data.design(), weighted, map, &grid).values();
    sums.drain(..constant);
    sums.iter_mut().for_each(|s| *s = s.abs());
    // A unit's shares sum to 1, up to rounding; its rows and the sum are rounded on both sides of a pair.
    let error = data.shape().rows_per_unit() * rounding(data.design()) + f64::EPSILON * data.units() as f64;
    let sensitivity = 2.0 * score.cap() * (1.0 + error) * (1.0 + 1e-9);
    let chosen = session.top(COLUMNS, &sums, sparsity, sensitivity)?;
    Ok((0..constant).chain(chosen.into_iter().map(|j| j + constant)).collect())
}

/// The choice of `sparsity` columns, as lines of a plan.
pub(crate) fn planned_columns(share: f64, sparsity: usize) -> [PlannedRelease; 2] {
    let level = vote::planned();
    let rest = share - level.share;
    [level, COLUMNS.planned(rest, sparsity as u64)]
}

impl Estimator for SelectRefine {
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
        shape.require_exposures(self.model.takes_exposures())?;
        let constant = usize::from(self.model.intercept);
        require_sparsity(self.sparsity, columns - constant)?;
        let plan = match Route::of(columns - constant, self.sparsity) {
            Route::FitAll => self.model.plan(columns, units, privacy)?,
            Route::ChooseFirst => {
                let mut plan = self.model.plan(self.sparsity + constant, units, privacy)?;
                plan.iter_mut().for_each(|line| line.share *= 1.0 - SELECTION);
                plan.extend(planned_columns(SELECTION, self.sparsity));
                plan
            }
        };
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
        let Shape { columns, .. } = data.shape();
        let model = &self.model;
        let response = model.admitted(data);
        // Step 1
        let start = model.start(data, &response, &mut session)?;
        // Steps 2 and 3
        let constant = usize::from(model.intercept);
        let route = Route::of(columns - constant, self.sparsity);
        let support: Vec<usize>;
        let estimate: Estimate;
        match route {
            Route::ChooseFirst => {
                support =
                    choose_columns(model, data, &response, start, self.sparsity, |_| true, &mut session)?;
                let chosen = data.with_columns(&support)?;
                estimate = model.descend(&chosen, &response, start, &mut session, progress)?;
            }
            Route::FitAll => {
                support = (0..columns).collect();
                estimate = model.descend(data, &response, start, &mut session, progress)?;
            }
        }
        let errors = estimate.errors.clone();
        let mut certificate = session.close(data.adjacency());
        if route == Route::ChooseFirst {
            certificate = certificate
                .enforcing("the rows of a unit share one vote of bounded score in the choice of columns");
        }
        let mut found = SparseFit { support, fit: estimate.certified(certificate) };
        // Step 4
        let clearness = |i: usize, b: f64| b.abs() / errors[i].max(f64::MIN_POSITIVE);
        if route == Route::FitAll {
            let mut order: Vec<f64> =
                (constant..errors.len()).map(|i| clearness(i, found.fit.coefficients[i])).collect();
            order.sort_by(|a, b| b.total_cmp(a));
            let least = order.get(self.sparsity - 1).copied().unwrap_or(0.0);
            found.keep(|i, b| i < constant || clearness(i, b) >= least);
        }
        if found.fit.intervals.is_none() && route == Route::ChooseFirst {
            found.keep(|i, b| i < constant || clearness(i, b) >= CLEAR);
        }
        Ok(found)
    }
}
