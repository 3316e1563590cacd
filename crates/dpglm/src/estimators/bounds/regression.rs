//! Bounds of the columns and of the response of a regression, found before it is fitted.
//!
//! # Algorithm
//! 1. The bounds of each column that has a magnitude in their place, and of the response ([`super`]), with a part of the budget.
//! 2. These columns are scaled by what was found: to [-1, 1], about their middle where there is an intercept. What lies outside counts as
//!    the nearest end.
//!
//! # Guarantee
//! That of [`super`] for each number: one unit is one number in each selection. Rows of weight zero are left out, as cells that do not
//! count. Step 2 is a map of each row that depends on released numbers only, so neighbours stay neighbours.

use super::{Magnitude, OneSide, Search, bounds, require_share};
use crate::error::{Error, Result};
use crate::families::{Domain, Likelihood};
use crate::mechanisms::{Candidates, Tally};
use crate::passes::{Absent, Number, OfUnit, Rows};
use crate::release::{PlannedRelease, ReleaseSession};

/// The closest bounds there are, relative to their size: closer ones could not be written in double precision.
const CLOSEST: f64 = 1e-11;

/// A number whose bounds are to be found within a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sought {
    /// What is known of it.
    pub magnitude: Magnitude,
    /// The least value that it can have.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// The size of 1, if values are whole numbers: bounds are whole, too.
    pub whole: Option<f64>,
}

/// The bounds that were found, in the units of the table that was given.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundBounds {
    /// One per column of the design; `None` where they were declared.
    pub columns: Vec<Option<(f64, f64)>>,
    /// Those of the response.
    pub target: Option<(f64, f64)>,
}

/// Which bounds of a regression are to be found, and with which part of the budget.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::estimators) struct RegressionSearch {
    columns: Vec<Option<Sought>>,
    target: Option<Sought>,
    share: f64,
}

impl RegressionSearch {
    pub(in crate::estimators) fn new(
        columns: Vec<Option<Sought>>,
        target: Option<Sought>,
        share: f64,
    ) -> Result<Self> {
        require_share(share)?;
        let fits = |s: &Sought| s.low < s.high && s.low.is_finite() && s.high.is_finite();
        if columns.iter().chain([&target]).flatten().count() == 0
            || !columns.iter().chain([&target]).flatten().all(fits)
        {
            return Err(Error::Conflict(
                "bounds to be found need a number with a range, low before high: give at least one".into(),
            ));
        }
        Ok(Self { columns, target, share })
    }

    /// The part of the budget that is left.
    pub(in crate::estimators) fn left(&self) -> f64 {
        1.0 - self.share
    }

    /// Refuses what the search does not fit.
    pub(in crate::estimators) fn require(
        &self,
        columns: usize,
        intercept: bool,
        likelihood: &Likelihood,
    ) -> Result<()> {
        let constant = intercept && self.columns.first().is_some_and(Option::is_some);
        let fits = match likelihood.domain() {
            Domain::Real => true,
            Domain::Count | Domain::Nonnegative => self.target.is_none_or(|target| target.low >= 0.0),
            Domain::Positive => self.target.is_none(),
            Domain::Binary | Domain::Classes(_) => self.target.is_none(),
        };
        match self.columns.len() == columns && !constant && fits {
            true => Ok(()),
            false => Err(Error::Conflict(format!(
                "bounds to be found of {} columns for {columns}: give one per column, none for the constant one, and of the response \
                 for real numbers and counts only",
                self.columns.len()
            ))),
        }
    }

    /// The releases that find them.
    pub(in crate::estimators) fn lines(&self) -> Vec<PlannedRelease> {
        let magnitudes = self.columns.iter().chain([&self.target]).map(|s| s.map(|s| s.magnitude)).collect();
        Search { magnitudes, share: self.share }.lines()
    }

    /// Releases the bounds, and gives the rows as scaled by them.
    pub(in crate::estimators) fn release(
        &self,
        rows: &dyn Rows,
        intercept: bool,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(FoundBounds, Box<dyn Rows>)> {
        if rows.is_sparse() {
            return Err(Error::Conflict(
                "private bounds cannot be found of sparse rows, which leave zeros out: declare bounds, or give a table with all cells"
                    .into(),
            ));
        }
        // Step 1
        let find = |column, sought: &Option<Sought>, session: &mut ReleaseSession<'_>| {
            sought.as_ref().map(|s| s.find(rows, column, session)).transpose()
        };
        let columns = self.columns.iter().enumerate();
        let columns =
            columns.map(|(column, sought)| find(Some(column), sought, session)).collect::<Result<_>>()?;
        let target = find(None, &self.target, session)?;
        // Step 2
        let found = FoundBounds { columns, target };
        let maps: Vec<Option<(f64, f64)>> =
            found.columns.iter().map(|ends| ends.map(|ends| scaling(ends, intercept))).collect();
        let scaled = rows.rescaled(&maps)?;
        Ok((found, scaled))
    }
}

impl Sought {
    /// The bounds of a column, or of the response.
    fn find(
        &self,
        rows: &dyn Rows,
        column: Option<usize>,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(f64, f64)> {
        let side = ColumnSide { rows, column, low: self.low, high: self.high };
        let (mut low, mut high) = bounds(&side, self.magnitude, session)?;
        let least = CLOSEST * low.abs().max(high.abs());
        if high - low < least {
            (low, high) = (low - least, high + least);
        }
        if let Some(one) = self.whole {
            (low, high) = ((low / one).floor() * one, (high / one).ceil() * one);
        }
        Ok((low.max(self.low), high.min(self.high)))
    }
}

/// What a column is measured from, and in which unit.
pub(super) fn scaling((low, high): (f64, f64), intercept: bool) -> (f64, f64) {
    match intercept {
        true => (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0),
        false => (0.0, low.abs().max(high.abs())),
    }
}

impl FoundBounds {
    /// What the coefficient of a column belongs to: the column less the first number, in units of the second. `None` for a column
    /// as it was given.
    pub fn scaling(&self, column: usize, intercept: bool) -> Option<(f64, f64)> {
        self.columns.get(column).copied().flatten().map(|ends| scaling(ends, intercept))
    }
}

/// A column of the rows that count, or their response, within these bounds.
struct ColumnSide<'a> {
    rows: &'a dyn Rows,
    column: Option<usize>,
    low: f64,
    high: f64,
}

impl OneSide for ColumnSide<'_> {
    fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn units(&self) -> usize {
        self.rows.shape().units
    }

    fn means(&self, candidates: Candidates) -> Result<Tally> {
        let number = Number::Entry { column: self.column, low: self.low, high: self.high };
        Ok(self.rows.tally(number, OfUnit::Mean, Absent::LeftOut, candidates)?.0)
    }

    fn beyond(&self, upper: bool, centre: f64, distances: &[f64]) -> Result<Vec<i64>> {
        let Self { rows, column, low, high } = *self;
        rows.beyond(Number::Side { column, low, high, centre, upper }, distances)
    }
}
