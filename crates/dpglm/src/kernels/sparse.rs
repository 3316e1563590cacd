//! The passes over sparse rows.
//!
//! A row's inner product gathers the coefficients of its columns, eight at a time. Its products are then added to a
//! plain sum a column. A sum joins its column's compensated total when it has had enough terms: which columns those are
//! after a block of rows is a matter of the structure, and known since the design was made.

mod entries;
mod numbers;
mod scores;
mod totals;

pub(super) use numbers::{predict, square_roundings, squares};
pub(super) use scores::scores;

use super::Residuals;
use super::lanes::{Kernel, Lanes, Level};
use crate::data::csr::Csr;
use crate::parallel;
use entries::{Rows, Task, Values, dot, with_values};
use std::ops::Range;
use totals::{Total, add_row, cuts, flush, flush_all, join};

/// `gradient = sum_i residual_i x_i^T` for `outputs` residuals a row.
pub(super) fn fused(
    level: Level,
    x: &Csr,
    outputs: usize,
    coefficients: &[f64],
    residual: Residuals<'_>,
    gradient: &mut [f64],
) {
    with_values(x, FusedTask { level, outputs, coefficients, residual, gradient });
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

    fn run<V: Values>(self, rows: Rows<'_, V>) {
        let Self { level, outputs, coefficients, residual, gradient } = self;
        let width = gradient.len();
        let cuts = cuts(rows.offsets, width);
        let mut totals = vec![[0.0; 2]; cuts.len() * width];
        parallel::for_each(cuts.into_iter().zip(totals.chunks_exact_mut(width)), |(range, totals)| {
            level.run(Fused { rows, range, outputs, coefficients, residual, totals });
        });
        join(&totals, gradient);
    }
}

/// The fused pass over one piece of the rows.
struct Fused<'a, V> {
    rows: Rows<'a, V>,
    range: Range<usize>,
    outputs: usize,
    coefficients: &'a [f64],
    residual: Residuals<'a>,
    totals: &'a mut [Total],
}

impl<V: Values> Kernel for Fused<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, range, outputs, coefficients, residual, totals } = self;
        let columns = totals.len() / outputs;
        let mut sums = vec![0.0; totals.len()];
        let mut predictors = vec![0.0; Csr::BLOCK * outputs];
        let mut residuals = vec![0.0; Csr::BLOCK * outputs];
        for start in range.clone().step_by(Csr::BLOCK) {
            let end = range.end.min(start + Csr::BLOCK);
            for (row, u) in (start..end).zip(predictors.chunks_exact_mut(outputs)) {
                let (indices, values) = rows.row(row);
                for (u, b) in u.iter_mut().zip(coefficients.chunks_exact(columns)) {
                    *u = dot(lanes, indices, values, b);
                }
            }
            let used = (end - start) * outputs;
            residual(start, &predictors[..used], &mut residuals[..used]);
            for (row, r) in (start..end).zip(residuals.chunks_exact(outputs)) {
                let (indices, values) = rows.row(row);
                for (&r, sums) in r.iter().zip(sums.chunks_exact_mut(columns)) {
                    add_row(indices, values, r, sums);
                }
            }
            for (sums, totals) in sums.chunks_exact_mut(columns).zip(totals.chunks_exact_mut(columns)) {
                flush(rows.csr.full_after(start), sums, totals);
            }
        }
        flush_all(&sums, totals);
    }
}
