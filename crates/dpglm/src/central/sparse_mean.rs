//! The mean of a table of which few columns differ from zero.
//!
//! # Algorithm (after Cai et al. 2021 Algorithm 3.3)
//! 1. For each column, how many more rows lie above zero than below; the s columns with the largest counts in absolute
//!    value, by one-shot Gumbel noise.
//! 2. The dense mean of [`super::mean`] on the chosen columns: private medians place them, a tight clip follows.
//!
//! # Guarantee
//! Replacement of one row, or of all rows of one unit ([`crate::data::unit_means`]), for every data set. One row moves each count by at most 2: s selections. Counts are whole
//! numbers, so they are exact. The rest is [`super::mean`]'s.
//!
//! # Differs from the paper
//! Signs in place of values clipped to the declared range: a count does not grow with the range, so the noise that hides
//! small means does not either.

use super::mean::{MeanFit, PrivateMean};
use super::screening::require_sparsity;
use crate::data::MeanTable;
use crate::data::Shape;
use crate::error::{Error, Parameter, Result};
use crate::kernels::{Grid, Map, column_scores};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, require_shape,
};

const COLUMNS: Handle<Chosen> = Handle::new("chosen columns");
const SELECTION: f64 = 0.4;

/// The mean of a table whose columns lie in public ranges, all but a few about zero.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMean {
    ranges: Vec<(f64, f64)>,
    level: Option<f64>,
    sparsity: usize,
}

/// A private sparse mean.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMeanFit {
    /// The chosen columns, ascending.
    pub support: Vec<usize>,
    /// Their means; those of all others are taken to be zero.
    pub fit: MeanFit,
}

impl SparseMean {
    /// For columns in these public ranges, each of which holds zero, at most `sparsity` of which have another mean.
    pub fn new(ranges: Vec<(f64, f64)>, sparsity: usize) -> Result<Self> {
        PrivateMean::new(ranges.clone())?;
        require_sparsity(sparsity, ranges.len())?;
        if let Some((low, high)) = ranges.iter().find(|(low, high)| *low > 0.0 || *high < 0.0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Range,
                range: "one that holds zero, the mean of most columns",
                value: format!("[{low}, {high}]"),
                remedy: "measure the columns from where most of them have their mean, or leave out the sparsity",
            });
        }
        Ok(Self { ranges, level: None, sparsity })
    }

    /// Also gives confidence intervals of this level (0.95), paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = Some(super::interval::require_level(level)?);
        Ok(self)
    }

    /// The dense mean of some of the columns.
    fn dense(&self, columns: impl Iterator<Item = usize>) -> Result<PrivateMean> {
        let model = PrivateMean::new(columns.map(|j| self.ranges[j]).collect())?.about_zero();
        self.level.map_or(Ok(model.clone()), |level| model.intervals(level))
    }
}

impl Estimator for SparseMean {
    type Rows<'r> = dyn MeanTable + 'r;
    type Shape = Shape;
    type Layout = ();
    type Fit = SparseMeanFit;

    fn shape(people: &Self::Rows<'_>) -> Shape {
        people.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units: rows, .. } = shape;
        require_shape(columns, rows)?;
        shape.require_columns(self.ranges.len())?;
        let mut plan = self.dense(0..self.sparsity)?.plan(rows, privacy, 1.0 - SELECTION);
        plan.push(COLUMNS.planned(SELECTION, self.sparsity as u64));
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        people: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<SparseMeanFit> {
        let table = people.design();
        let model = self;
        // Step 1
        let mut counts =
            column_scores(table, |_| 1.0, Map::Sign, &Grid::uniform(table.columns(), 1.0)).values();
        counts.iter_mut().for_each(|c| *c = c.abs());
        let support = session.top(COLUMNS, &counts, model.sparsity, 2.0)?;
        // Step 2
        let chosen = table.select_columns(&support)?;
        let (means, intervals) = model.dense(support.iter().copied())?.measure(&chosen, &mut session)?;
        let certificate = PrivateMean::enforced(session.close(people.adjacency()))
            .enforcing("one row counts once in the choice of each column");
        Ok(SparseMeanFit { support, fit: MeanFit { means, intervals, certificate } })
    }
}
