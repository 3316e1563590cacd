//! Weighted sums of the columns, or of their signs.

use super::entries::{Index, Rows, Task, Values, add_row};
use super::totals::{Piece, add_up};
use crate::data::csr::Csr;
use crate::kernels::lanes::{Kernel, Lanes, Level};

/// `out_j = sum_i score(i) x_ij`, or of the signs of the entries.
pub(in crate::kernels) fn scores<F: Fn(usize) -> f64 + Sync>(
    level: Level,
    x: &Csr,
    score: &F,
    signs: bool,
    out: &mut [f64],
) {
    ScoresTask { level, score, signs, out }.run_on(x);
}

struct ScoresTask<'a, F> {
    level: Level,
    score: &'a F,
    signs: bool,
    out: &'a mut [f64],
}

impl<F: Fn(usize) -> f64 + Sync> Task for ScoresTask<'_, F> {
    type Output = ();

    fn run<I: Index, V: Values>(self, rows: Rows<'_, I, V>) {
        let Self { level, score, signs, out } = self;
        add_up(level, rows, out.len(), out, |piece| {
            level.run(Scores { rows, score, signs, piece });
        });
    }
}

struct Scores<'a, I, V, F> {
    rows: Rows<'a, I, V>,
    score: &'a F,
    signs: bool,
    piece: &'a mut Piece,
}

impl<I: Index, V: Values, F: Fn(usize) -> f64> Kernel for Scores<'_, I, V, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, score, signs, piece } = self;
        let range = piece.range.clone();
        let length = piece.length;
        for start in range.clone().step_by(Csr::BLOCK) {
            for sums in I::tables_mut(&mut piece.sums, length) {
                for row in start..range.end.min(start + Csr::BLOCK) {
                    let (indices, values) = rows.row(row);
                    let score = score(row);
                    if signs {
                        for (&column, x) in indices.iter().zip(values.each()) {
                            *column.of_mut(sums) += score * f64::from(i8::from(x > 0.0) - i8::from(x < 0.0));
                        }
                    } else {
                        add_row(lanes, indices, values, score, sums);
                    }
                }
            }
            piece.flush(lanes, rows.csr.full_after(start));
        }
    }
}
