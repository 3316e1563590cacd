//! Rows in memory, and how they answer.

use super::{Cell, CellPass, CellRows, MeanRows, MeanShape};
use crate::data::unit_sums;
use crate::error::{Error, Result};
use crate::mechanisms::{Candidates, Tally};
use crate::passes::partial::Partial;

impl CellRows for MeanRows<'_> {
    fn shape(&self) -> MeanShape {
        Self::shape(self)
    }

    fn unit_name(&self) -> Option<&str> {
        self.name_of_units()
    }

    fn require(&self, columns: usize, blocks: usize) -> Result<()> {
        if columns != self.design().columns() || !self.marks(blocks) {
            return Err(Error::Conflict(format!(
                "means of {columns} columns in {blocks} blocks, but the rows have {} columns: declare what each column is",
                self.design().columns()
            )));
        }
        Ok(())
    }

    fn answer(&self, pass: &CellPass) -> Result<Partial> {
        Ok(match pass {
            CellPass::Tally { cell, candidates } => tallied(*candidates, &self.means(*cell)),
            CellPass::Beyond { cell, centre, upper, distances } => {
                Partial::Whole(self.beyond(*cell, *centre, *upper, distances))
            }
            CellPass::Order { cell, group, lowered, mirrored, candidates } => {
                let place = |x: f64| if *mirrored { -x - 2.0 * lowered } else { x };
                let values: Vec<f64> = (0..self.design().rows())
                    .filter(|&row| self.group(row) == Some(*group) && self.counts(row, cell.block))
                    .map(|row| place(self.number(row, *cell) - lowered))
                    .collect();
                tallied(*candidates, &values)
            }
            CellPass::Points(points) => Partial::Whole(points.sums(self)),
            CellPass::Counts(counts) => Partial::Whole(counts.sums(self)),
            CellPass::Products(products) => Partial::Whole(products.sums(self)),
        })
    }
}

fn tallied(candidates: Candidates, values: &[f64]) -> Partial {
    Partial::Tally { tally: Tally::of(candidates, values), largest: 0.0 }
}

impl MeanRows<'_> {
    /// An entry within its bounds.
    pub(super) fn number(&self, row: usize, cell: Cell) -> f64 {
        self.design().entry(row, cell.column).clamp(cell.low, cell.high)
    }

    /// One number per unit that has cells which count.
    fn values(&self, cell: Cell, of_unit: impl Fn(&mut dyn Iterator<Item = f64>) -> f64) -> Vec<f64> {
        let mut values = Vec::new();
        self.by_unit(|rows| {
            let counted = |row: &usize| self.counts(*row, cell.block);
            let mut cells = rows.iter().copied().filter(counted).map(|row| self.number(row, cell)).peekable();
            if cells.peek().is_some() {
                values.push(of_unit(&mut cells));
            }
        });
        values
    }

    /// The mean of the cells of each unit that has some.
    fn means(&self, cell: Cell) -> Vec<f64> {
        self.values(cell, |cells| {
            // In whatever order the rows are.
            let cells: Vec<f64> = cells.collect();
            (unit_sums::sum(&cells) / cells.len() as f64).clamp(cell.low, cell.high)
        })
    }

    fn beyond(&self, cell: Cell, centre: f64, upper: bool, distances: &[f64]) -> Vec<i64> {
        let farthest = self.values(cell, |cells| match upper {
            true => cells.fold(0.0, |far: f64, x| far.max(x - centre)),
            false => cells.fold(0.0, |far: f64, x| far.max(centre - x)),
        });
        // A unit beyond the k-th distance is beyond all later, smaller ones; nothing is beyond the first.
        let mut beyond = vec![0; distances.len()];
        for far in farthest {
            let first = distances.partition_point(|&w| w >= far).max(1);
            if let Some(count) = beyond.get_mut(first) {
                *count += 1;
            }
        }
        beyond
    }
}
