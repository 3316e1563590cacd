//! Weighted sums of the columns, or of their signs.

use super::entries::{Rows, Task, Values, with_values};
use super::totals::{Total, add_row, cuts, flush, flush_all, join};
use crate::data::csr::Csr;
use crate::kernels::lanes::{Kernel, Lanes, Level};
use crate::parallel;
use std::ops::Range;

/// `out_j = sum_i score(i) x_ij`, or of the signs of the entries.
pub(in crate::kernels) fn scores<F: Fn(usize) -> f64 + Sync>(
    level: Level,
    x: &Csr,
    score: &F,
    signs: bool,
    out: &mut [f64],
) {
    with_values(x, ScoresTask { level, score, signs, out });
}

struct ScoresTask<'a, F> {
    level: Level,
    score: &'a F,
    signs: bool,
    out: &'a mut [f64],
}

impl<F: Fn(usize) -> f64 + Sync> Task for ScoresTask<'_, F> {
    type Output = ();

    fn run<V: Values>(self, rows: Rows<'_, V>) {
        let Self { level, score, signs, out } = self;
        let cuts = cuts(rows.offsets, out.len());
        let mut totals = vec![[0.0; 2]; cuts.len() * out.len()];
        parallel::for_each(cuts.into_iter().zip(totals.chunks_exact_mut(out.len())), |(range, totals)| {
            level.run(Scores { rows, range, score, signs, totals });
        });
        join(&totals, out);
    }
}

struct Scores<'a, V, F> {
    rows: Rows<'a, V>,
    range: Range<usize>,
    score: &'a F,
    signs: bool,
    totals: &'a mut [Total],
}

impl<V: Values, F: Fn(usize) -> f64> Kernel for Scores<'_, V, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self { rows, range, score, signs, totals } = self;
        let mut sums = vec![0.0; totals.len()];
        for start in range.clone().step_by(Csr::BLOCK) {
            for row in start..range.end.min(start + Csr::BLOCK) {
                let (indices, values) = rows.row(row);
                let score = score(row);
                if signs {
                    for (&column, x) in indices.iter().zip(values.each()) {
                        sums[column as usize] += score * f64::from(i8::from(x > 0.0) - i8::from(x < 0.0));
                    }
                } else {
                    add_row(indices, values, score, &mut sums);
                }
            }
            flush(rows.csr.full_after(start), &mut sums, totals);
        }
        flush_all(&sums, totals);
    }
}
