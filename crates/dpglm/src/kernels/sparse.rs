//! The passes over sparse rows.
//!
//! A row's inner product looks up the coefficients of its columns, four at a time. Its products are then added to a
//! plain sum a column. A sum joins its column's compensated total when it has had enough terms: which columns those are
//! after a block of rows is a matter of the structure, and known since the design was made. Most columns of a wide design
//! never have that many, and no total.

mod entries;
mod numbers;
mod scores;
mod totals;

pub(super) use numbers::{predict, square_roundings, squares};
pub(super) use scores::scores;

use super::Residuals;
use super::lanes::{Kernel, Lanes, Level};
use crate::data::csr::Csr;
use entries::{Index, Rows, Task, Values, add_row, dot, spread};
use totals::{Piece, add_up};

/// `gradient = sum_i residual_i x_i^T` for `outputs` residuals a row.
pub(super) fn fused(
    level: Level,
    x: &Csr,
    outputs: usize,
    coefficients: &[f64],
    residual: Residuals<'_>,
    gradient: &mut [f64],
) {
    FusedTask { level, outputs, coefficients, residual, gradient }.run_on(x);
}

struct FusedTask<'a> {
    level: Level,
    outputs: usize,
    coefficients: &'a [f64],
    residual: Residuals<'a>,
    gradient: &'a mut [f64],
}

impl Task for FusedTask<'_> {
    type Output = ();

    fn run<I: Index, V: Values>(self, rows: Rows<'_, I, V>) {
        let Self { level, outputs, coefficients, residual, gradient } = self;
        let columns = gradient.len() / outputs;
        let coefficients = &*spread::<I>(coefficients, columns);
        add_up(level, rows, columns, gradient, |piece| {
            level.run(Fused { rows, outputs, coefficients, residual, piece });
        });
    }
}

/// The fused pass over one piece of the rows.
struct Fused<'a, I, V> {
    rows: Rows<'a, I, V>,
    outputs: usize,
    coefficients: &'a [f64],
    residual: Residuals<'a>,
    piece: &'a mut Piece,
}

impl<I: Index, V: Values> Kernel for Fused<'_, I, V> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, outputs, coefficients, residual, piece } = self;
        let (range, columns) = (piece.range.clone(), piece.columns);
        let mut predictors = vec![0.0; Csr::BLOCK * outputs];
        let mut residuals = vec![0.0; Csr::BLOCK * outputs];
        for start in range.clone().step_by(Csr::BLOCK) {
            let end = range.end.min(start + Csr::BLOCK);
            for (k, b) in I::tables(coefficients, columns).enumerate() {
                for (row, u) in (start..end).zip(predictors.chunks_exact_mut(outputs)) {
                    let (indices, values) = rows.row(row);
                    u[k] = dot(lanes, indices, values, b);
                }
            }
            let used = (end - start) * outputs;
            residual(start, &predictors[..used], &mut residuals[..used]);
            for (k, sums) in I::tables_mut(&mut piece.sums, columns).enumerate() {
                for (row, r) in (start..end).zip(residuals.chunks_exact(outputs)) {
                    // Memory rests while rows are added: the next block's are asked for.
                    if k == 0 {
                        rows.prefetch(lanes, row + Csr::BLOCK);
                    }
                    let (indices, values) = rows.row(row);
                    add_row(lanes, indices, values, r[k], sums);
                }
            }
            piece.flush(rows.csr.full_after(start));
        }
    }
}
