//! The passes over sparse rows.
//!
//! A row's inner product looks up the coefficients of its columns, four at a time. Its products are then added to one sum per
//! column. Columns are numbered by how frequent they are, so that most of what is looked up stands in few lines of the
//! cache. Sums join their columns' totals after a block of rows ([`super::grid`]), which is so long that most pieces of a table have
//! but one.

mod entries;
mod numbers;
mod scores;
mod scratch;
mod totals;

pub(super) use numbers::{predict, square_roundings, squares};
pub(super) use scores::scores;

use super::Residuals;
use super::grid::LastBit;
use super::lanes::{Kernel, Lanes, Level};
use crate::data::csr::Csr;
use entries::{Index, Rows, Task, Values, add_row, dot, spread, tables_for};
use std::sync::{Mutex, OnceLock, PoisonError};
use totals::{Piece, add_up};

/// Entries of a batch of rows: about a tenth of a megabyte.
const BATCH: usize = 1 << 13;
/// The rows in it.
const FEWEST_ROWS: usize = 16;
const MOST_ROWS: usize = 256;

/// `sum_i residual_i x_i^T` for `outputs` residuals a row, as pairs of doubles; the sums of columns begin at `starts`.
pub(super) fn fused(
    level: Level,
    x: &Csr,
    outputs: usize,
    coefficients: &[f64],
    starts: &[f64],
    residual: Residuals<'_>,
) -> Vec<(f64, f64)> {
    FusedTask { level, outputs, coefficients, starts, residual }.run_on(x)
}

struct FusedTask<'a> {
    level: Level,
    outputs: usize,
    coefficients: &'a [f64],
    starts: &'a [f64],
    residual: Residuals<'a>,
}

impl Task for FusedTask<'_> {
    type Output = Vec<(f64, f64)>;

    fn run<I: Index, V: Values>(self, rows: Rows<'_, I, V>) -> Self::Output {
        let Self { level, outputs, coefficients, starts, residual } = self;
        let columns = starts.len();
        let room = Mutex::new(tables_for::<I>(rows.csr, coefficients, columns));
        let tables = OnceLock::new();
        let sums = add_up(level, rows, outputs, starts, |piece, starts| {
            // The first thread does this while the others start.
            let coefficients = tables.get_or_init(|| {
                let mut tables = std::mem::take(&mut *room.lock().unwrap_or_else(PoisonError::into_inner));
                spread::<I>(rows.csr, coefficients, columns, &mut tables);
                tables
            });
            level.run(Fused { rows, outputs, coefficients, starts, residual, piece });
        });
        tables.into_inner().into_iter().for_each(scratch::give);
        sums
    }
}

/// The fused pass over one piece of the rows.
struct Fused<'a, I, V> {
    rows: Rows<'a, I, V>,
    outputs: usize,
    coefficients: &'a [f64],
    starts: &'a [f64],
    residual: Residuals<'a>,
    piece: &'a mut Piece,
}

impl<I: Index, V: Values> Kernel for Fused<'_, I, V> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, outputs, coefficients, starts, residual, piece } = self;
        let (range, length, bit) = (piece.range.clone(), piece.length, LastBit::of(starts));
        let batch = rows_in_batch(rows.offsets[range.end] - rows.offsets[range.start], range.len());
        let mut predictors = vec![0.0; batch * outputs];
        let mut residuals = vec![0.0; batch * outputs];
        for block in piece.blocks() {
            for start in block.clone().step_by(batch) {
                let end = block.end.min(start + batch);
                for (k, b) in I::tables(coefficients, length).enumerate() {
                    for (row, u) in (start..end).zip(predictors.chunks_exact_mut(outputs)) {
                        let (indices, values) = rows.row(row);
                        u[k] = dot(lanes, indices, values, b);
                    }
                }
                let used = (end - start) * outputs;
                residual(start, &predictors[..used], &mut residuals[..used]);
                for (k, sums) in I::tables_mut(&mut piece.sums, length).enumerate() {
                    for (row, r) in (start..end).zip(residuals.chunks_exact(outputs)) {
                        let (indices, values) = rows.row(row);
                        add_row(lanes, indices, values, bit.set(r[k]), sums);
                    }
                }
            }
            piece.join_block(lanes, starts);
        }
    }
}

/// Rows that are multiplied before they are added: as many as stay in the second-level cache meanwhile. The coefficients and the
/// sums take turns in the first, and the longer the turns the better. No result depends on it.
fn rows_in_batch(entries: usize, rows: usize) -> usize {
    let mean = (entries / rows.max(1)).max(1);
    (BATCH / mean).clamp(FEWEST_ROWS, MOST_ROWS)
}
