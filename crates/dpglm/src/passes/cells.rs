//! What means and descriptions of any columns ask: of rows whose cells may be missing, which may have weights and lie in groups.
//!
//! A [`CellPass`] is plain data, as a [`Pass`] is, and [`CellRows`] answer it with the same [`Partial`]s, which add up without error.
//!
//! | pass | what it gives | bound on a unit | sensitivity |
//! | --- | --- | --- | --- |
//! | `Tally` | how many units' means count as each candidate | one number, or none | 1 |
//! | `Beyond` | how many units' largest distances lie beyond each of some | one number, or none | changes within an interval of length 1 |
//! | `Order` | how many rows of a group count as each candidate | one number a row, or none | 1, of rows |
//! | `Points` | sums of points of columns | how far points are apart | [`Points::distance`] |
//! | `Counts` | how many rows there are in each cell of tables | one cell of each table | [`Counts::distance`], of rows |
//! | `Products` | sums of products of columns | entries in [-1, 1] | [`Products::distance`], of rows |
//!
//! [`Pass`]: super::Pass

mod answer;
mod counts;
mod points;
mod products;
mod rows;

pub(crate) use counts::{Axis, Counted, Counts};
pub(crate) use points::{Point, Points};
pub(crate) use products::{HEIGHT, Products};
pub use rows::{MeanRows, MeanShape};

use super::partial::{Partial, another};
use crate::error::Result;
use crate::mechanisms::{Candidates, Tally};
use crate::privacy::Adjacency;
use serde::{Deserialize, Serialize};

/// A number of a row: the entry of a column within bounds. Whether it is missing is marked by block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub block: usize,
    pub column: usize,
    pub low: f64,
    pub high: f64,
}

/// One question about the cells of private rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum CellPass {
    /// How many units' means, of their cells that count, count as each candidate.
    Tally {
        cell: Cell,
        candidates: Candidates,
    },
    /// For distances from a centre that fall, how many units' farthest cells lie beyond each and not beyond the one before; none lies
    /// beyond the first.
    Beyond {
        cell: Cell,
        centre: f64,
        upper: bool,
        distances: Vec<f64>,
    },
    /// How many rows of a group, each lowered by an amount, count as each candidate; seen from above if mirrored.
    Order {
        cell: Cell,
        group: usize,
        lowered: f64,
        mirrored: bool,
        candidates: Candidates,
    },
    Points(Points),
    Counts(Counts),
    Products(Products),
}

/// Private rows with cells: known through passes alone.
pub(crate) trait CellRows {
    /// What is public of them.
    fn shape(&self) -> MeanShape;
    /// What a unit is called, if units may have several rows.
    fn unit_name(&self) -> Option<&str>;
    /// Refuses another number of columns, or of blocks that may be missing, than the rows have.
    fn require(&self, columns: usize, blocks: usize) -> Result<()>;
    /// Answers a pass.
    fn answer(&self, pass: &CellPass) -> Result<Partial>;
}

/// Private rows that means and descriptions can be had of wherever they are.
#[expect(private_bounds, reason = "passes are asked by estimators alone")]
pub trait PrivateCells: CellRows {}

impl<R: CellRows> PrivateCells for R {}

impl dyn CellRows + '_ {
    /// Who is protected.
    pub(crate) fn adjacency(&self) -> Adjacency {
        self.unit_name().map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.into()))
    }

    /// The sums or counts of a pass that gives whole numbers.
    pub(crate) fn whole(&self, pass: &CellPass) -> Result<Vec<i64>> {
        match self.answer(pass)? {
            Partial::Whole(sums) => Ok(sums),
            _ => Err(another()),
        }
    }

    /// The counts by candidate of a pass that gives them.
    pub(crate) fn tally(&self, pass: &CellPass) -> Result<Tally> {
        match self.answer(pass)? {
            Partial::Tally { tally, .. } => Ok(tally),
            _ => Err(another()),
        }
    }
}
