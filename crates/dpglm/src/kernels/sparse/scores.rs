//! Weighted sums of the columns, or of their signs.

use super::entries::{Rows, Task, Values, with_values};
use super::totals::{FOLD, Total, add, add_row, cuts, fold, join};
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
        let mut pieces: Vec<Vec<Total>> = vec![Vec::new(); cuts.len()];
        parallel::for_each(cuts.into_iter().zip(&mut pieces), |(range, totals)| {
            *totals = vec![[0.0; 2]; out.len()];
            level.run(Scores { rows, range, score, signs, totals });
        });
        join(&pieces, out);
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
    fn run<L: Lanes>(self, lanes: L) {
        for (count, row) in self.range.clone().enumerate() {
            let (indices, values) = self.rows.row(row);
            let score = (self.score)(row);
            if self.signs {
                for (k, &column) in indices.iter().enumerate() {
                    let x = values.at(k);
                    let sign = f64::from(i8::from(x > 0.0) - i8::from(x < 0.0));
                    let total = &mut self.totals[column as usize];
                    *total = add(*total, score * sign, 0.0);
                }
            } else {
                add_row(lanes, indices, values, score, self.totals);
            }
            if (count + 1).is_multiple_of(FOLD) {
                fold(self.totals);
            }
        }
    }
}
