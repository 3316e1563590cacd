//! Weighted sums of the columns, or of their signs.

use super::entries::{Index, Rows, Task, Values, add_row};
use super::totals::{Piece, add_up};
use crate::data::csr::Csr;
use crate::kernels::grid::LastBit;
use crate::kernels::lanes::{Kernel, Lanes, Level};

/// `sum_i score(i) x_ij` for every column, or, in place of the entry, 1 where it is positive and `negative` where it is negative, as
/// pairs of doubles; the sums begin at `starts`.
pub(in crate::kernels) fn scores<F: Fn(usize) -> f64 + Sync>(
    level: Level,
    x: &Csr,
    starts: &[f64],
    score: &F,
    negative: Option<i8>,
) -> Vec<(f64, f64)> {
    ScoresTask { level, starts, score, negative }.run_on(x)
}

struct ScoresTask<'a, F> {
    level: Level,
    starts: &'a [f64],
    score: &'a F,
    negative: Option<i8>,
}

impl<F: Fn(usize) -> f64 + Sync> Task for ScoresTask<'_, F> {
    type Output = Vec<(f64, f64)>;

    fn run<I: Index, V: Values>(self, rows: Rows<'_, I, V>) -> Self::Output {
        let Self { level, starts, score, negative } = self;
        add_up(level, rows, 1, starts, |piece, starts| {
            level.run(Scores { rows, score, negative, piece, starts });
        })
    }
}

struct Scores<'a, I, V, F> {
    rows: Rows<'a, I, V>,
    score: &'a F,
    negative: Option<i8>,
    piece: &'a mut Piece,
    starts: &'a [f64],
}

impl<I: Index, V: Values, F: Fn(usize) -> f64> Kernel for Scores<'_, I, V, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, score, negative, piece, starts } = self;
        let (length, bit) = (piece.length, LastBit::of(starts));
        for block in piece.blocks() {
            for sums in I::tables_mut(&mut piece.sums, length) {
                for row in block.clone() {
                    let (indices, values) = rows.row(row);
                    let score = bit.set(score(row));
                    if let Some(negative) = negative {
                        for (&column, x) in indices.iter().zip(values.each()) {
                            let sum = column.of_mut(sums);
                            let sign = f64::from(i8::from(x > 0.0) + negative * i8::from(x < 0.0));
                            *sum = lanes.mul_add_one(score, sign, *sum);
                        }
                    } else {
                        add_row(lanes, indices, values, score, sums);
                    }
                }
            }
            piece.join_block(lanes, starts);
        }
    }
}
