//! Means of the columns of any table: numbers, 0/1 columns and categories together, each number with its own clip and noise.
//!
//! What is estimated is the mean of each column within its declared bounds (of a category the share of each level). The clip touches
//! few rows: what it takes away is of the size of the privacy noise and vanishes with it.
//!
//! # Algorithm
//! 0. `plan`: every release and its share of the budget, from public facts. Where units and budget are too few for a clip
//!    to be found, columns keep their declared range and the sums have the whole budget.
//! 1. `clips`: a private median per number, its *centre*.
//! 2. `clips`: a clip on each side of the centre that few units lie beyond.
//! 3. `sums`: one joint Gaussian release of all columns, clipped: sums, squares and, where they are not public, how many count; by
//!    group where groups are declared.
//! 4. `estimates`: means, with standard errors for sampling, noise and what the clips may have taken away. A function of what
//!    was released.
//!
//! Numbers of which a magnitude alone is known have their bounds found first ([`super::bounds`]).
//!
//! # Guarantee
//! Replacement of one unit (row), for every data set. Centres are selections of sensitivity 1, clips selections whose scores move
//! in one direction only, the sums one Gaussian release (`sums` has the argument).
//!
//! # Why private
//! Each release may depend on the ones before, and its noise per sensitivity does not; the accountant composes them. Which releases there
//! are is a function of public facts.

#[cfg(test)]
mod attacks;
pub(super) mod clips;
pub(super) mod estimates;
#[cfg(test)]
pub(super) mod parts;
pub(super) mod plan;
pub(super) mod sums;
#[cfg(test)]
mod tests;

pub use crate::passes::cells::{MeanRows, MeanShape};
pub use estimates::{ColumnMean, GroupMeans, MeansFit};

use super::bounds::{Magnitude, Search, require_share};
use crate::central::interval::require_level;
use crate::data::range::require_interval;
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use crate::passes::cells::{CellRows, PrivateCells};
use crate::release::{
    CalibratedPlan, Estimator, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession, require_shape,
};
use clips::Clip;
use plan::Plan;
use sums::BlockSums;

/// What a column, or the columns of a category, can hold. Public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Block {
    /// A number within bounds; what lies outside counts as the nearest end.
    Number {
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// One of two values.
    Binary {
        /// The lower one.
        low: f64,
        /// The higher one.
        high: f64,
    },
    /// A category: an indicator of each level but the reference, at most one of which is 1 in a row.
    Category {
        /// How many indicators there are.
        indicators: usize,
    },
}

impl Block {
    /// How many columns it takes.
    pub fn columns(&self) -> usize {
        match self {
            Block::Category { indicators } => *indicators,
            _ => 1,
        }
    }

    fn validate(&self) -> Result<()> {
        match *self {
            Block::Number { low, high } | Block::Binary { low, high } => {
                require_interval(Parameter::Range, (low, high), "declare the public range of each column")
                    .map(drop)
            }
            Block::Category { indicators: 0 } => {
                Err(Error::Conflict("a category without levels: declare at least two".into()))
            }
            Block::Category { .. } => Ok(()),
        }
    }
}

/// The private means of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Means {
    blocks: Vec<Block>,
    /// How precise each block is to be, relative to the others.
    precision: Vec<f64>,
    level: Option<f64>,
    search: Option<Search>,
}

impl Means {
    /// For columns of these kinds, in the order of the design.
    pub fn new(blocks: Vec<Block>) -> Result<Self> {
        if blocks.is_empty() {
            return Err(Error::Conflict("a mean of no columns: declare at least one range".into()));
        }
        blocks.iter().try_for_each(Block::validate)?;
        let precision = vec![1.0; blocks.len()];
        Ok(Self { blocks, precision, level: None, search: None })
    }

    /// How precise each block is to be: a block of weight 2 has half the noise, relative to its range, of one of weight 1.
    pub fn weights(mut self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.blocks.len() {
            return Err(Error::Conflict(format!(
                "{} weights for {} columns: give one per column",
                weights.len(),
                self.blocks.len()
            )));
        }
        if let Some(bad) = weights.iter().find(|w| !(1e-3..=1e3).contains(*w)) {
            return Err(Error::OutOfRange {
                parameter: Parameter::WeightOfAColumn,
                range: "within [0.001, 1000]",
                value: bad.to_string(),
                remedy: "a column of weight 2 has half the noise of one of weight 1; leave out columns that do not matter",
            });
        }
        self.precision = weights;
        Ok(self)
    }

    /// Also gives confidence intervals of this level (0.95). They cost nothing.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = Some(require_level(level)?);
        Ok(self)
    }

    /// Numbers with a magnitude have no bounds: these are found privately first, with this part of the budget ([`SHARE`] is usual), and
    /// take the place of the ranges, which are to hold the magnitude. One per block.
    ///
    /// [`SHARE`]: super::bounds::SHARE
    pub fn searching(mut self, magnitudes: Vec<Option<Magnitude>>, share: f64) -> Result<Self> {
        let fits = |(block, magnitude): (&Block, &Option<Magnitude>)| {
            magnitude.is_none() || matches!(block, Block::Number { .. })
        };
        if magnitudes.len() != self.blocks.len() || !self.blocks.iter().zip(&magnitudes).all(fits) {
            return Err(Error::Conflict("magnitudes are for numbers: give one per block, or none".into()));
        }
        require_share(share)?;
        self.search = magnitudes.iter().any(Option::is_some).then_some(Search { magnitudes, share });
        Ok(self)
    }

    /// The part of the budget that is left after bounds are found, and the releases that find them.
    pub(super) fn after_search(&self) -> (f64, Vec<PlannedRelease>) {
        self.search.as_ref().map_or((1.0, Vec::new()), |search| (1.0 - search.share, search.lines()))
    }

    /// The same with the bounds that are found.
    pub(super) fn searched(&self, rows: &dyn CellRows, session: &mut ReleaseSession<'_>) -> Result<Self> {
        let blocks = match &self.search {
            None => self.blocks.clone(),
            Some(search) => search.release(&self.blocks, rows, session)?,
        };
        Ok(Self { blocks, search: None, ..self.clone() })
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// How many columns the design has.
    pub fn columns(&self) -> usize {
        self.blocks.iter().map(Block::columns).sum()
    }

    /// Steps 1 to 3, for an estimator that releases more beside.
    pub(super) fn release(
        &self,
        plan: &Plan,
        rows: &dyn CellRows,
        session: &mut ReleaseSession<'_>,
    ) -> Result<Moments> {
        let clips = clips::release(self, plan, rows, session)?;
        let sums = sums::release(self, plan, rows, &clips, session)?;
        Ok(Moments { clips, sums })
    }
}

/// What steps 1 to 3 released: a clip per number, and the sums of each group.
pub(super) struct Moments {
    pub clips: Vec<Option<Clip>>,
    pub sums: Vec<Vec<BlockSums>>,
}

impl Estimator for Means {
    type Rows<'r> = MeanRows<'r>;
    type Shape = MeanShape;
    type Layout = Plan;
    type Fit = MeansFit;

    fn shape(rows: &MeanRows<'_>) -> MeanShape {
        rows.shape()
    }

    fn prepare(&self, shape: MeanShape, privacy: Privacy) -> Result<Prepared<Self>> {
        require_shape(self.columns(), shape.units)?;
        if shape.groups == Some(0) {
            return Err(Error::Conflict("means by group need at least one group".into()));
        }
        let (share, mut lines) = self.after_search();
        let plan = Plan::new(self, shape, privacy, share);
        lines.extend(plan.lines());
        let calibrated = CalibratedPlan::new(lines, privacy)?;
        Ok(Prepared::new(self.clone(), plan, shape, calibrated))
    }

    fn run(
        &self,
        plan: &Plan,
        rows: &MeanRows<'_>,
        session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<MeansFit> {
        self.run_on(rows, plan, session)
    }
}

impl Prepared<Means> {
    /// Fits rows that need not be one table in memory: the same rows and the same noise give the same fit, to the last bit.
    pub fn fit_rows(&self, rows: &dyn PrivateCells, rng: &mut RandomSource) -> Result<MeansFit> {
        self.require(rows.shape())?;
        self.estimator.run_on(rows, &self.layout, self.plan.open(rng))
    }
}

impl Means {
    /// Runs on rows wherever they are.
    fn run_on(&self, rows: &dyn CellRows, plan: &Plan, mut session: ReleaseSession<'_>) -> Result<MeansFit> {
        rows.require(self.columns(), self.blocks.len())?;
        let model = &self.searched(rows, &mut session)?;
        let Moments { clips, sums } = model.release(plan, rows, &mut session)?;
        let certificate = session
            .close(rows.adjacency())
            .enforcing("entries outside their declared range count as its nearest end")
            .enforcing("entries beyond a released clip count as its nearest end");
        let certificate = match rows.unit_name() {
            Some(unit) => {
                certificate.enforcing(format!("all rows of one {unit} count as one row, their mean"))
            }
            None => certificate,
        };
        // Step 4
        Ok(MeansFit { groups: estimates::estimate(model, plan, &clips, &sums), certificate })
    }
}
