//! The passes over sparse rows.
//!
//! A row's inner product gathers the coefficients of its columns, eight at a time. Its products are then added to a
//! compensated total a column, at once: a column that is seldom nonzero would gain nothing from plain sums over a block
//! of rows, which had to be collected from every column at the block's end.

mod entries;
mod numbers;
mod scores;
mod totals;

pub(super) use numbers::{predict, square_roundings, squares};
pub(super) use scores::scores;

use super::lanes::{Kernel, Lanes, Level};
use crate::data::csr::Csr;
use crate::parallel;
use entries::{Rows, Task, Values, dot, with_values};
use std::ops::Range;
pub(super) use totals::FOLD;
use totals::{Total, add_row, cuts, fold, join};

/// Rows whose inner products are all taken before the first is added: they stay in the first-level cache.
const BATCH: usize = 16;

/// `gradient = sum_i residual_i x_i^T` for `outputs` residuals a row.
pub(super) fn fused<F: Fn(usize, &[f64], &mut [f64]) + Sync>(
    level: Level,
    x: &Csr,
    outputs: usize,
    coefficients: &[f64],
    residual: &F,
    gradient: &mut [f64],
) {
    with_values(x, FusedTask { level, outputs, coefficients, residual, gradient });
}

struct FusedTask<'a, F> {
    level: Level,
    outputs: usize,
    coefficients: &'a [f64],
    residual: &'a F,
    gradient: &'a mut [f64],
}

impl<F: Fn(usize, &[f64], &mut [f64]) + Sync> Task for FusedTask<'_, F> {
    type Output = ();

    fn run<V: Values>(self, rows: Rows<'_, V>) {
        let Self { level, outputs, coefficients, residual, gradient } = self;
        let width = gradient.len();
        let cuts = cuts(rows.offsets, width);
        let mut pieces: Vec<Vec<Total>> = vec![Vec::new(); cuts.len()];
        parallel::for_each(cuts.into_iter().zip(&mut pieces), |(range, totals)| {
            *totals = vec![[0.0; 2]; width];
            level.run(Fused { rows, range, outputs, coefficients, residual, totals });
        });
        join(&pieces, gradient);
    }
}

/// The fused pass over one piece of the rows.
struct Fused<'a, V, F> {
    rows: Rows<'a, V>,
    range: Range<usize>,
    outputs: usize,
    coefficients: &'a [f64],
    residual: &'a F,
    totals: &'a mut [Total],
}

impl<V: Values, F: Fn(usize, &[f64], &mut [f64])> Kernel for Fused<'_, V, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, range, outputs, coefficients, residual, totals } = self;
        let columns = totals.len() / outputs;
        let mut predictors = vec![0.0; BATCH * outputs];
        let mut residuals = vec![0.0; BATCH * outputs];
        let mut until_fold = FOLD;
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + BATCH);
            for (row, u) in (start..end).zip(predictors.chunks_exact_mut(outputs)) {
                let (indices, values) = rows.row(row);
                for (u, b) in u.iter_mut().zip(coefficients.chunks_exact(columns)) {
                    *u = dot(lanes, indices, values, b);
                }
            }
            let answers = predictors.chunks_exact(outputs).zip(residuals.chunks_exact_mut(outputs));
            for (row, (u, r)) in (start..end).zip(answers) {
                residual(row, u, r);
            }
            for (row, r) in (start..end).zip(residuals.chunks_exact(outputs)) {
                let (indices, values) = rows.row(row);
                for (&r, totals) in r.iter().zip(totals.chunks_exact_mut(columns)) {
                    add_row(lanes, indices, values, r, totals);
                }
            }
            until_fold -= end - start;
            if until_fold < BATCH {
                fold(totals);
                until_fold = FOLD;
            }
            start = end;
        }
    }
}
