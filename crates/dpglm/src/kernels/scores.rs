//! Weighted sums of the columns, of their signs or of their clamped entries, in one read of the rows.

use super::fused::{self, Total, join_block};
use super::grid::LastBit;
use super::lanes::{Entry, Kernel, LANES, Lanes, Level, Line};
use super::rows::{Part, STRIP, add_rows, padded};
use crate::parallel;

/// `sum_i score(i) part(x_ij)` for every column, as pairs of doubles; the sums begin at `starts`.
pub(super) fn scores<P: Part, T: Entry, F: Fn(usize) -> f64 + Sync>(
    level: Level,
    part: P,
    entries: &[T],
    starts: &[f64],
    score: &F,
) -> Vec<(f64, f64)> {
    let columns = starts.len();
    let bit = LastBit::of(starts);
    let starts = &padded(starts);
    let width = columns.div_ceil(LANES);
    let step = parallel::rows_per_piece(entries.len() / columns, columns);
    let pieces = entries.chunks(step * columns);
    let mut totals = vec![Total::default(); pieces.len() * width];
    let work = pieces.zip(totals.chunks_exact_mut(width)).enumerate();
    parallel::for_each(work, |(piece, (entries, totals))| {
        let first_row = piece * step;
        level.run(Scores { first_row, entries, columns, starts, bit, score, totals, part });
    });
    fused::join(level, totals, width, columns)
}

struct Scores<'a, P, T, F> {
    first_row: usize,
    entries: &'a [T],
    columns: usize,
    starts: &'a [Line],
    bit: LastBit,
    score: &'a F,
    totals: &'a mut [Total],
    part: P,
}

impl<P: Part, T: Entry, F: Fn(usize) -> f64> Kernel for Scores<'_, P, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { first_row, entries, columns, starts, bit, score, totals, part } = self;
        let mut sums = starts.to_vec();
        let mut row = first_row;
        for block in entries.chunks(bit.rows() * columns) {
            let strips = block.chunks_exact(STRIP * columns);
            let rest = strips.remainder();
            for strip in strips {
                let mut weights = [0.0; STRIP];
                for weight in &mut weights {
                    *weight = bit.set(score(row));
                    row += 1;
                }
                add_rows(lanes, part, strip, columns, weights, &mut sums, &[]);
            }
            for strip in rest.chunks_exact(columns) {
                add_rows(lanes, part, strip, columns, [bit.set(score(row))], &mut sums, &[]);
                row += 1;
            }
            join_block(lanes, totals, &mut sums, starts);
        }
    }
}
