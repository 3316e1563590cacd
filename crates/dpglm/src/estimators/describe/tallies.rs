//! Step 3: histograms, cross tables and the sizes of groups, in one joint Gaussian release.
//!
//! # Algorithm
//! A tally has cells, of which a row has one, or none where it is missing. By group, a row's cell is its group's. All counts are released
//! together, over the number of rows.
//!
//! # Guarantee
//! In one tally a row is a unit vector or zero, so a replaced row moves it by at most `sqrt 2`; T tallies by `sqrt(2 T)`. Counts are
//! whole numbers, exact.

use super::plan::{Plan, TALLIES};
use super::{Block, Describe, MeanRows};
use crate::error::Result;
use crate::passes::by_unit::mean_sensitivity;
use crate::release::ReleaseSession;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    /// All rows of a group.
    Group,
    /// The bins of a number.
    Bins { block: usize, column: usize, low: f64, high: f64 },
    /// The levels of two blocks, those of the second side by side.
    Cross { blocks: [usize; 2], columns: [usize; 2] },
}

struct Tally {
    of: Of,
    cells: usize,
}

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

/// How many levels a block has.
pub(super) fn levels(block: &Block) -> usize {
    match block {
        Block::Category { indicators } => indicators + 1,
        _ => 2,
    }
}

/// The level of a row, the reference being 0.
fn level(rows: &MeanRows<'_>, row: usize, block: &Block, column: usize) -> usize {
    let entry = |k: usize| rows.design().entry(row, column + k);
    match *block {
        Block::Category { indicators } => (0..indicators).find(|&k| entry(k) > 0.5).map_or(0, |k| k + 1),
        Block::Binary { low, high } | Block::Number { low, high } => {
            usize::from(entry(0) > low / 2.0 + high / 2.0)
        }
    }
}

/// The bin of an entry within its range.
fn bin(x: f64, low: f64, high: f64, bins: usize) -> usize {
    let share = (x.clamp(low, high) - low) / (high - low);
    ((share * bins as f64) as usize).min(bins - 1)
}

fn tallies(model: &Describe, plan: &Plan) -> Vec<Tally> {
    let mut all = Vec::new();
    if plan.shape.groups.is_some() {
        all.push(Tally { of: Of::Group, cells: 1 });
    }
    let firsts: Vec<usize> = model.first_columns().map(|(_, column)| column).collect();
    if let Some(bins) = model.bins {
        for (block, of) in model.blocks.iter().enumerate() {
            if let Block::Number { low, high } = *of {
                all.push(Tally { of: Of::Bins { block, column: firsts[block], low, high }, cells: bins });
            }
        }
    }
    if let Some(blocks) = model.cross {
        let cells = blocks.iter().map(|&b| levels(&model.blocks[b])).product();
        all.push(Tally { of: Of::Cross { blocks, columns: blocks.map(|b| firsts[b]) }, cells });
    }
    all
}

impl Tally {
    /// The cell of a row; `None` if it is missing.
    fn cell(&self, model: &Describe, rows: &MeanRows<'_>, row: usize) -> Option<usize> {
        match self.of {
            Of::Group => Some(0),
            Of::Bins { block, column, low, high } => {
                rows.counts(row, block).then(|| bin(rows.design().entry(row, column), low, high, self.cells))
            }
            Of::Cross { blocks, columns } => blocks.iter().all(|&b| rows.counts(row, b)).then(|| {
                let of = |k: usize| level(rows, row, &model.blocks[blocks[k]], columns[k]);
                of(0) * levels(&model.blocks[blocks[1]]) + of(1)
            }),
        }
    }
}

pub(super) fn release(
    model: &Describe,
    plan: &Plan,
    rows: &MeanRows<'_>,
    session: &mut ReleaseSession<'_>,
) -> Result<Tallies> {
    let tallies = tallies(model, plan);
    let groups = plan.shape.groups.unwrap_or(1);
    let mut released = Tallies { bins: vec![vec![None; model.blocks.len()]; groups], ..Tallies::default() };
    if tallies.is_empty() {
        return Ok(released);
    }
    let width: usize = tallies.iter().map(|t| t.cells).sum();
    let mut counts = vec![0_u64; groups * width];
    for row in 0..rows.design().rows() {
        let Some(group) = rows.group(row) else { continue };
        let mut first = group * width;
        for tally in &tallies {
            if let Some(cell) = tally.cell(model, rows, row) {
                counts[first + cell] += 1;
            }
            first += tally.cells;
        }
    }
    let n = plan.shape.units;
    let mut shares: Vec<f64> = counts.into_iter().map(|count| count as f64 / n as f64).collect();
    let distance = (2.0 * tallies.len() as f64).sqrt();
    let sensitivity = mean_sensitivity(distance, 4 * tallies.len(), n, n as f64);
    released.noise = session.noise_per_sensitivity(TALLIES) * sensitivity;
    session.vector(TALLIES, &mut shares, sensitivity)?;

    for (group, shares) in shares.chunks_exact(width).enumerate() {
        let mut first = 0;
        for tally in &tallies {
            let of = shares[first..first + tally.cells].to_vec();
            first += tally.cells;
            match tally.of {
                Of::Group => released.sizes.get_or_insert_default().push(of[0]),
                Of::Bins { block, .. } => released.bins[group][block] = Some(of),
                Of::Cross { .. } => released.cross.get_or_insert_default().push(of),
            }
        }
    }
    Ok(released)
}
