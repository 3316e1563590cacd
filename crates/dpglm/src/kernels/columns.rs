//! First and second moments of the columns, in one read of the rows.
//!
//! Entries are clamped to [-1, 1] on the way. The same read says whether any had to be, and whether the first column is
//! constant 1.

use super::grid::{Grid, LastBit};
use super::lanes::Entry;
use super::partial::{Partial, two_sum};
use crate::data::design::{Design, Storage};
use crate::parallel;

/// Rows summed before their sum joins the total, as in [`super::gram`].
const BLOCK: usize = super::gram::BLOCK;

/// Weighted sums over the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnSums {
    /// Of the clamped entries of each column, then of their squares.
    pub sums: Partial,
    /// Whether all entries lie in [-1, 1].
    pub inside: bool,
    /// Whether the first entry of every row is 1.
    pub constant: bool,
}

/// For every column `sum_i weight(i) z_ij` and `sum_i weight(i) z_ij^2`, z the entries clamped to [-1, 1] and weights at most 1.
/// A row's part is rounded by at most [`Grid::rounding`], and the sums are exact.
pub(crate) fn column_sums(design: &Design, weight: impl Fn(usize) -> f64 + Sync) -> ColumnSums {
    let (rows, columns) = (design.rows(), design.columns());
    let step = parallel::rows_per_piece(rows, columns);
    let mut pieces: Vec<Piece> = (0..rows.div_ceil(step)).map(|_| Piece::new(columns)).collect();
    let weight = &weight as &(dyn Fn(usize) -> f64 + Sync);
    parallel::for_each(pieces.iter_mut().enumerate(), |(k, piece)| {
        let range = k * step..rows.min((k + 1) * step);
        match design.storage() {
            Storage::F64(x) => piece.dense(x, 1.0, range, weight),
            Storage::F32(x) => piece.dense(x, 1.0, range, weight),
            Storage::I8 { entries, scale } => piece.dense(entries, *scale, range, weight),
            Storage::Csr(csr) => piece.rows(range, weight, |row, add| {
                let mut first = 0.0;
                for (column, x) in csr.row(row) {
                    first = if column == 0 { x } else { first };
                    add(column, x);
                }
                first == 1.0
            }),
        }
    });
    let mut pieces = pieces.into_iter();
    let mut all = pieces.next().unwrap_or_else(|| Piece::new(columns));
    for piece in pieces {
        for (total, other) in all.totals.iter_mut().zip(&piece.totals) {
            total.add(other.high);
            total.low += other.low;
        }
        all.inside &= piece.inside;
        all.constant &= piece.constant;
    }
    let sums = Partial::new(all.totals.iter().map(|total| (total.high, total.low)), 1.0);
    ColumnSums { sums, inside: all.inside, constant: all.constant }
}

/// An exact sum of multiples of one grid.
#[derive(Clone, Copy, Default)]
struct Total {
    high: f64,
    low: f64,
}

impl Total {
    fn add(&mut self, x: f64) {
        let (sum, lost) = two_sum(self.high, x);
        self.low += lost;
        self.high = sum;
    }
}

struct Piece {
    totals: Vec<Total>,
    /// Where sums start.
    start: f64,
    bit: LastBit,
    sums: Vec<f64>,
    inside: bool,
    constant: bool,
}

impl Piece {
    fn new(columns: usize) -> Self {
        let start = Grid::product_start();
        let bit = LastBit::of(&[start]);
        let (totals, sums) = (vec![Total::default(); 2 * columns], vec![start; 2 * columns]);
        Self { totals, start, bit, sums, inside: true, constant: true }
    }

    fn join(&mut self) {
        for (total, sum) in self.totals.iter_mut().zip(&mut self.sums) {
            total.add(*sum - self.start);
            *sum = self.start;
        }
    }

    fn dense<T: Entry>(
        &mut self,
        entries: &[T],
        scale: f64,
        range: std::ops::Range<usize>,
        weight: &(dyn Fn(usize) -> f64 + Sync),
    ) {
        let (columns, bit) = (self.sums.len() / 2, self.bit);
        for start in range.clone().step_by(BLOCK) {
            let (first, second) = self.sums.split_at_mut(columns);
            for row in start..range.end.min(start + BLOCK) {
                let w = weight(row);
                let entries = &entries[row * columns..(row + 1) * columns];
                let mut beyond = 0.0_f64;
                for ((x, first), second) in entries.iter().zip(first.iter_mut()).zip(second.iter_mut()) {
                    let x = x.widen() * scale;
                    let z = x.clamp(-1.0, 1.0);
                    beyond += (x - z).abs();
                    *first += bit.set(w * z);
                    *second += bit.set(w * z * z);
                }
                self.inside &= beyond == 0.0;
                self.constant &= entries[0].widen() * scale == 1.0;
            }
            self.join();
        }
    }

    /// Rows one by one: `each` gives their entries to its argument and says whether the first is 1.
    fn rows(
        &mut self,
        range: std::ops::Range<usize>,
        weight: &(dyn Fn(usize) -> f64 + Sync),
        each: impl Fn(usize, &mut dyn FnMut(usize, f64)) -> bool,
    ) {
        let (columns, bit) = (self.sums.len() / 2, self.bit);
        // Joined when a column may have had as many terms as a block of dense rows gives it.
        for start in range.clone().step_by(BLOCK) {
            for row in start..range.end.min(start + BLOCK) {
                let w = weight(row);
                let (sums, inside) = (&mut self.sums, &mut self.inside);
                self.constant &= each(row, &mut |column, x| {
                    let z = x.clamp(-1.0, 1.0);
                    *inside &= z == x;
                    sums[column] += bit.set(w * z);
                    sums[columns + column] += bit.set(w * z * z);
                });
            }
            self.join();
        }
    }
}
