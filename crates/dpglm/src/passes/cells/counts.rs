//! Counts of rows in the cells of tables: sizes of groups, histograms and cross tables.
//!
//! # Guarantee
//! In one table a row has one cell, or none where it is missing: a unit vector or zero. So a replaced row moves one table by at most
//! `sqrt 2`, and T tables by `sqrt(2 T)`. Counts are whole numbers, exact.

use super::{Cell, MeanRows};
use serde::{Deserialize, Serialize};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Counted {
    /// All rows of a group.
    Group,
    /// The rows in equal bins of a number's range.
    Bins { cell: Cell, bins: usize },
    /// The levels of two blocks, those of the second side by side.
    Cross { down: Axis, across: Axis },
}

/// The levels of a block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Axis {
    /// Of a category, the reference being 0.
    Category { block: usize, column: usize, indicators: usize },
    /// Of a number: whether it lies above this.
    Above { block: usize, column: usize, middle: f64 },
}

impl Axis {
    fn levels(self) -> usize {
        match self {
            Self::Category { indicators, .. } => indicators + 1,
            Self::Above { .. } => 2,
        }
    }

    /// The level of a row; `None` if it is missing.
    fn level(self, rows: &MeanRows<'_>, row: usize) -> Option<usize> {
        match self {
            Self::Category { block, column, indicators } => {
                rows.counts(row, block).then(|| rows.level(row, column, indicators))
            }
            Self::Above { block, column, middle } => {
                rows.counts(row, block).then(|| usize::from(rows.design().entry(row, column) > middle))
            }
        }
    }
}

impl Counted {
    /// How many cells it has.
    pub(crate) fn cells(&self) -> usize {
        match self {
            Self::Group => 1,
            Self::Bins { bins, .. } => *bins,
            Self::Cross { down, across } => down.levels() * across.levels(),
        }
    }

    /// The cell of a row; `None` if it is missing.
    fn cell(&self, rows: &MeanRows<'_>, row: usize) -> Option<usize> {
        match *self {
            Self::Group => Some(0),
            Self::Bins { cell, bins } => rows.counts(row, cell.block).then(|| {
                let share = (rows.number(row, cell) - cell.low) / (cell.high - cell.low);
                ((share * bins as f64) as usize).min(bins - 1)
            }),
            Self::Cross { down, across } => {
                Some(down.level(rows, row)? * across.levels() + across.level(rows, row)?)
            }
        }
    }
}

/// The counts of rows in these tables, group after group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub tables: Vec<Counted>,
    pub groups: usize,
}

impl Counts {
    /// How many cells the tables of a group have.
    pub(crate) fn width(&self) -> usize {
        self.tables.iter().map(Counted::cells).sum()
    }

    /// What a replaced row moves all counts by.
    pub(crate) fn distance(&self) -> f64 {
        (2.0 * self.tables.len() as f64).sqrt()
    }

    pub(super) fn sums(&self, rows: &MeanRows<'_>) -> Vec<i64> {
        let width = self.width();
        let mut counts = vec![0; self.groups * width];
        for row in 0..rows.design().rows() {
            let Some(group) = rows.group(row).filter(|&group| group < self.groups) else { continue };
            let mut first = group * width;
            for table in &self.tables {
                if let Some(cell) = table.cell(rows, row) {
                    counts[first + cell] += 1;
                }
                first += table.cells();
            }
        }
        counts
    }
}
