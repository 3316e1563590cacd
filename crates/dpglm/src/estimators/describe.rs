//! A private description of a table, as the first table of a paper has it: for each number its mean, standard deviation, median and
//! quartiles, for each category the shares of its levels, what is missing, and on request histograms, cross tables and correlations; by
//! group where groups are declared. One budget for all of it, an interval for every number.
//!
//! # Algorithm
//! 0. `plan`: every release and its share of the budget, from public facts.
//! 1. Clips, then one joint Gaussian release of sums, squares, levels and counts: steps 1 to 3 of [`super::means`], with a part of the
//!    budget.
//! 2. `quartiles`: private quantiles of each number, and of the ranks a standard error away, which are the ends of its intervals.
//! 3. `tallies`: one joint Gaussian release of all histograms, cross tables and sizes of groups.
//! 4. `products`: one Gaussian release of the products of all pairs of numbers, about their released means.
//! 5. `estimates`: what is given out, made consistent: shares in [0, 1] that add up to one, ordered quartiles, correlations that are
//!    those of some table. A function of what was released.
//!
//! # Guarantee
//! Replacement of one row, for every data set. Quantiles are selections of sensitivity 1, a row in a tally is a point of a simplex
//! (`sqrt 2` apart at most), products have the argument of `products`.
//!
//! # Why private
//! Each release may depend on the ones before, and its noise per sensitivity does not; the accountant composes them. Which releases
//! there are at most is a function of public facts.

#[cfg(test)]
mod attacks;
mod consistent;
mod estimates;
mod plan;
mod products;
mod quartiles;
mod tallies;
#[cfg(test)]
mod tests;

pub use estimates::{BlockSummary, DescribeFit, Described, Estimate};

use super::bounds::Magnitude;
use super::means::{Block, MeanRows, MeanShape, Means, Moments};
use crate::central::interval::require_level;
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use crate::passes::cells::{CellRows, PrivateCells};
use crate::release::{CalibratedPlan, Estimator, Prepared, Privacy, Progress, ReleaseSession, require_shape};
use plan::Plan;

const MOST_BINS: usize = 1_000;

/// What an entry means to its users: x stands for `center + unit x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The value of zero.
    pub center: f64,
    /// The value of one, less that of zero.
    pub unit: f64,
    /// Whether values are whole numbers.
    pub whole: bool,
}

/// What is to be described, all of it public.
#[derive(Debug, Clone, PartialEq)]
pub struct Describe {
    means: Means,
    blocks: Vec<Block>,
    /// The user's unit of each block.
    scales: Vec<Scale>,
    level: f64,
    bins: Option<usize>,
    cross: Option<[usize; 2]>,
    correlations: bool,
}

impl Describe {
    /// For columns of these kinds, in the order of the design; intervals have level 0.95.
    pub fn new(blocks: Vec<Block>) -> Result<Self> {
        let means = Means::new(blocks.clone())?;
        let scales = vec![Scale { center: 0.0, unit: 1.0, whole: false }; blocks.len()];
        Ok(Self { means, blocks, scales, level: 0.95, bins: None, cross: None, correlations: false })
    }

    /// With intervals of this level. They cost nothing, but for those of quartiles, which are always paid for.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = require_level(level)?;
        Ok(self)
    }

    /// Says that an entry x of a block means `center + unit x` to its users: quartiles are then round numbers in their unit, and whole ones
    /// where all values are.
    pub fn measured(mut self, block: usize, scale: Scale) -> Result<Self> {
        match self.scales.get_mut(block) {
            Some(known) if scale.center.is_finite() && scale.unit.is_finite() && scale.unit > 0.0 => {
                *known = scale;
                Ok(self)
            }
            _ => Err(Error::Conflict(format!(
                "block {block} cannot be measured from {} in units of {}: give finite numbers, the unit above 0",
                scale.center, scale.unit
            ))),
        }
    }

    /// Numbers with a magnitude have their bounds found first: [`Means::searching`].
    pub fn searching(mut self, magnitudes: Vec<Option<Magnitude>>, share: f64) -> Result<Self> {
        self.means = self.means.searching(magnitudes, share)?;
        Ok(self)
    }

    /// Also a histogram of each number, of so many equal bins on its range.
    pub fn histograms(mut self, bins: usize) -> Result<Self> {
        if !(2..=MOST_BINS).contains(&bins) {
            return Err(Error::OutOfRange {
                parameter: Parameter::BinsOfAHistogram,
                range: "from 2 to 1000",
                value: bins.to_string(),
                remedy: "20 show a shape; noise grows over what more would show",
            });
        }
        self.bins = Some(bins);
        Ok(self)
    }

    /// Also the cross table of two blocks, each a category or a 0/1 column.
    pub fn cross(mut self, first: usize, second: usize) -> Result<Self> {
        let is_level = |b: usize| self.blocks.get(b).is_some_and(|b| !matches!(b, Block::Number { .. }));
        if first == second || !is_level(first) || !is_level(second) {
            return Err(Error::Conflict(
                "a cross table needs two different categories or 0/1 columns: name two of them".into(),
            ));
        }
        self.cross = Some([first, second]);
        Ok(self)
    }

    /// Also the correlations of all numbers and 0/1 columns.
    pub fn correlations(mut self) -> Result<Self> {
        if self.correlated().len() < 2 {
            return Err(Error::Conflict(
                "correlations need at least two numbers or 0/1 columns: leave them out".into(),
            ));
        }
        self.correlations = true;
        Ok(self)
    }

    /// How many columns the design has.
    pub fn columns(&self) -> usize {
        self.means.columns()
    }

    /// The blocks whose correlations can be had, each with its column.
    fn correlated(&self) -> Vec<(usize, usize)> {
        self.first_columns().filter(|(b, _)| !matches!(self.blocks[*b], Block::Category { .. })).collect()
    }

    /// Each block with its first column.
    fn first_columns(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.blocks.iter().enumerate().scan(0, |next, (place, block)| {
            let first = *next;
            *next += block.columns();
            Some((place, first))
        })
    }
}

impl Estimator for Describe {
    type Rows<'r> = MeanRows<'r>;
    type Shape = MeanShape;
    type Layout = Plan;
    type Fit = DescribeFit;

    fn shape(rows: &MeanRows<'_>) -> MeanShape {
        rows.shape()
    }

    fn prepare(&self, shape: MeanShape, privacy: Privacy) -> Result<Prepared<Self>> {
        require_shape(self.columns(), shape.units)?;
        if shape.groups == Some(0) {
            return Err(Error::Conflict("a description by group needs at least one group".into()));
        }
        if shape.grouped || shape.weighted {
            let (what, instead) = match shape.grouped {
                true => ("people with several rows", "one row for each person"),
                false => ("rows with weights", "rows that count alike"),
            };
            return Err(Error::Conflict(format!(
                "a description of {what} cannot be had: give a table of {instead}, or take means, which can"
            )));
        }
        let plan = Plan::new(self, shape, privacy);
        let mut lines = self.means.after_search().1;
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
    ) -> Result<DescribeFit> {
        self.run_on(rows, plan, session)
    }
}

impl Prepared<Describe> {
    /// Fits rows that need not be one table in memory: the same rows and the same noise give the same fit, to the last bit.
    pub fn fit_rows(&self, rows: &dyn PrivateCells, rng: &mut RandomSource) -> Result<DescribeFit> {
        self.require(rows.shape())?;
        self.estimator.run_on(rows, &self.layout, self.plan.open(rng))
    }
}

impl Describe {
    /// Runs on rows wherever they are.
    fn run_on(
        &self,
        rows: &dyn CellRows,
        plan: &Plan,
        mut session: ReleaseSession<'_>,
    ) -> Result<DescribeFit> {
        rows.require(self.columns(), self.blocks.len())?;
        let means = self.means.searched(rows, &mut session)?;
        let model = &Describe { blocks: means.blocks().to_vec(), means, ..self.clone() };
        // Step 1
        let moments: Moments = model.means.release(&plan.means, rows, &mut session)?;
        let means =
            super::means::estimates::estimate(&model.means, &plan.means, &moments.clips, &moments.sums);
        let counts = estimates::counts(plan, &moments);
        // Step 2
        let quartiles = quartiles::release(model, plan, rows, &moments.clips, &means, &counts, &mut session)?;
        // Step 3
        let tallies = tallies::release(model, plan, rows, &mut session)?;
        // Step 4
        let centres: Vec<Vec<f64>> =
            means.iter().map(|group| group.columns.iter().map(|c| c.mean).collect()).collect();
        let products = products::release(model, plan, rows, &moments.clips, &centres, &mut session)?;
        let certificate = session
            .close(rows.adjacency())
            .enforcing("entries outside their declared range count as its nearest end")
            .enforcing("entries beyond a released clip count as its nearest end in means, deviations and correlations");
        // Step 5
        let released = estimates::Released { moments, means, counts, quartiles, tallies, products };
        let groups = estimates::estimate(model, plan, &released);
        Ok(DescribeFit { groups, blocks: model.blocks.clone(), certificate })
    }
}
