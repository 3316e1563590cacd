//! Step 3: histograms, cross tables and the sizes of groups, in one joint Gaussian release.
//!
//! # Algorithm
//! A tally has cells, of which a row has one, or none where it is missing. By group, a row's cell is its group's. All counts are released
//! together, over the number of rows.
//!
//! # Guarantee
//! One Gaussian release of whole counts; what a replaced row changes is [`Counts::distance`].

use super::plan::{Plan, TALLIES};
use super::{Block, Describe};
use crate::error::Result;
use crate::passes::by_unit::mean_sensitivity;
use crate::passes::cells::{Axis, Cell, CellPass, CellRows, Counted, Counts};
use crate::release::ReleaseSession;

/// What was released, as shares of all rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tallies {
    /// Of each group, where there are groups.
    pub sizes: Option<Vec<f64>>,
    /// Of each group and block.
    pub bins: Vec<Vec<Option<Vec<f64>>>>,
    /// Of each group.
    pub cross: Option<Vec<Vec<f64>>>,
    /// The deviation of the noise on each share.
    pub noise: f64,
}

/// The levels of a block that is a category or a 0/1 column.
fn axis(model: &Describe, block: usize, column: usize) -> Axis {
    match model.blocks[block] {
        Block::Category { indicators } => Axis::Category { block, column, indicators },
        Block::Binary { low, high } | Block::Number { low, high } => {
            Axis::Above { block, column, middle: low / 2.0 + high / 2.0 }
        }
    }
}

/// What is counted; of bins the block, too.
fn counted(model: &Describe, plan: &Plan) -> Vec<Counted> {
    let mut all = Vec::new();
    if plan.shape.groups.is_some() {
        all.push(Counted::Group);
    }
    if let Some(bins) = model.bins {
        for (block, column) in model.first_columns() {
            if let Block::Number { low, high } = model.blocks[block] {
                all.push(Counted::Bins { cell: Cell { block, column, low, high }, bins });
            }
        }
    }
    if let Some(blocks) = model.cross {
        let axes = blocks.map(|b| model.first_columns().nth(b).map_or(0, |(_, column)| column));
        let [down, across] = [0, 1].map(|k| axis(model, blocks[k], axes[k]));
        all.push(Counted::Cross { down, across });
    }
    all
}

pub(super) fn release(
    model: &Describe,
    plan: &Plan,
    rows: &dyn CellRows,
    session: &mut ReleaseSession<'_>,
) -> Result<Tallies> {
    let groups = plan.shape.groups.unwrap_or(1);
    let counts = Counts { tables: counted(model, plan), groups };
    let mut released = Tallies { bins: vec![vec![None; model.blocks.len()]; groups], ..Tallies::default() };
    if counts.tables.is_empty() {
        return Ok(released);
    }
    let (width, tables) = (counts.width(), counts.tables.clone());
    let n = plan.shape.units;
    let sensitivity = mean_sensitivity(counts.distance(), 4 * tables.len(), n, n as f64);
    let counts = rows.whole(&CellPass::Counts(counts))?;
    let mut shares: Vec<f64> = counts.into_iter().map(|count| count as f64 / n as f64).collect();
    released.noise = session.noise_per_sensitivity(TALLIES) * sensitivity;
    session.vector(TALLIES, &mut shares, sensitivity)?;

    for (group, shares) in shares.chunks_exact(width).enumerate() {
        let mut first = 0;
        for table in &tables {
            let of = shares[first..first + table.cells()].to_vec();
            first += table.cells();
            match table {
                Counted::Group => released.sizes.get_or_insert_default().push(of[0]),
                Counted::Bins { cell, .. } => released.bins[group][cell.block] = Some(of),
                Counted::Cross { .. } => released.cross.get_or_insert_default().push(of),
            }
        }
    }
    Ok(released)
}
