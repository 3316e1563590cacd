//! Weighted sums of the columns, of their signs or of their clamped entries, in one read of the rows.

use super::fused::{self, BLOCK, Total, accumulate};
use super::lanes::{Entry, Kernel, LANES, Lanes, Level, Line};
use super::rows::{Part, STRIP, add_rows};
use crate::parallel;

/// `out_j = sum_i score(i) part(x_ij)`.
pub(super) fn scores<P: Part, T: Entry, F: Fn(usize) -> f64 + Sync>(
    level: Level,
    part: P,
    entries: &[T],
    score: &F,
    out: &mut [f64],
) {
    let columns = out.len();
    let width = columns.div_ceil(LANES);
    let step = parallel::rows_per_piece(entries.len() / columns, columns);
    let pieces = entries.chunks(step * columns);
    let mut totals = vec![Total::default(); pieces.len() * width];
    let work = pieces.zip(totals.chunks_exact_mut(width)).enumerate();
    parallel::for_each(work, |(piece, (entries, totals))| {
        let first_row = piece * step;
        level.run(Scores { first_row, entries, columns, score, totals, part });
    });
    fused::join(level, totals, width, columns, out);
}

struct Scores<'a, P, T, F> {
    first_row: usize,
    entries: &'a [T],
    columns: usize,
    score: &'a F,
    totals: &'a mut [Total],
    part: P,
}

impl<P: Part, T: Entry, F: Fn(usize) -> f64> Kernel for Scores<'_, P, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { first_row, entries, columns, score, totals, part } = self;
        let mut sums = vec![Line::default(); totals.len()];
        let mut row = first_row;
        for block in entries.chunks(BLOCK * columns) {
            sums.fill(Line::default());
            let strips = block.chunks_exact(STRIP * columns);
            let rest = strips.remainder();
            for strip in strips {
                let mut weights = [0.0; STRIP];
                for weight in &mut weights {
                    *weight = score(row);
                    row += 1;
                }
                add_rows(lanes, part, strip, columns, &weights, &mut sums, &[]);
            }
            for strip in rest.chunks_exact(columns) {
                add_rows(lanes, part, strip, columns, &[score(row)], &mut sums, &[]);
                row += 1;
            }
            for (total, sum) in totals.iter_mut().zip(&sums) {
                *total = accumulate(lanes, total, lanes.load(&sum.0), lanes.splat(0.0));
            }
        }
    }
}
