//! Inner products, residuals and the gradient in one read of the rows.

use super::Residuals;
use super::lanes::{Entry, Kernel, LANES, Lanes, Level, Line};
use super::rows::{STRIP, Whole, add_rows, dot_rows, padded, square_row, unpad};
use crate::parallel;

/// Rows summed in plain double precision before their sum joins the compensated total.
pub(super) const BLOCK: usize = 256;

/// One vector of the compensated total: the rounded sum and what rounding has lost so far.
pub(super) type Total = [Line; 2];

/// `gradient = sum_i residual_i x_i^T` for `outputs` residuals a row.
pub(super) fn fused<T: Entry>(
    level: Level,
    entries: &[T],
    columns: usize,
    outputs: usize,
    coefficients: &[f64],
    residual: Residuals<'_>,
    gradient: &mut [f64],
) {
    let coefficients: Vec<_> = coefficients.chunks_exact(columns).flat_map(padded).collect();
    let step = parallel::rows_per_piece(entries.len() / columns, columns);
    let pieces = entries.chunks(step * columns);
    let mut totals = vec![Total::default(); pieces.len() * coefficients.len()];
    let work = pieces.zip(totals.chunks_exact_mut(coefficients.len())).enumerate();
    parallel::for_each(work, |(piece, (entries, totals))| {
        let first_row = piece * step;
        level.run(Fused {
            first_row,
            entries,
            columns,
            outputs,
            coefficients: &coefficients,
            residual,
            totals,
        });
    });
    join(level, totals, coefficients.len(), columns, gradient);
}

/// Adds up the pieces' totals, each of `width` vectors, and lays them out as the columns are.
pub(super) fn join(level: Level, totals: Vec<Total>, width: usize, columns: usize, out: &mut [f64]) {
    let sums = level.run(Join { totals, width });
    for (sums, out) in sums.chunks_exact(columns.div_ceil(LANES)).zip(out.chunks_exact_mut(columns)) {
        unpad(sums, out);
    }
}

/// From this many columns on the next rows are asked for while these are worked on: eight rows fill much of the cache,
/// and the processor guesses no further than the end of a page. Short rows overlap by themselves.
const LONG: usize = 512;

/// The fused pass over one piece of the rows.
struct Fused<'a, T> {
    first_row: usize,
    entries: &'a [T],
    columns: usize,
    outputs: usize,
    coefficients: &'a [Line],
    residual: Residuals<'a>,
    totals: &'a mut [Total],
}

impl<T: Entry> Kernel for Fused<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { first_row, entries, columns, outputs, coefficients, residual, totals } = self;
        let width = columns.div_ceil(LANES);
        let mut sums = vec![Line::default(); totals.len()];
        let mut predictors = vec![0.0; STRIP * outputs];
        let mut residuals = vec![0.0; STRIP * outputs];
        let mut row = first_row;
        let mut done = 0;
        for block in entries.chunks(BLOCK * columns) {
            sums.fill(Line::default());
            for strip in block.chunks(STRIP * columns) {
                done += strip.len();
                let ahead =
                    if columns < LONG { &[] } else { &entries[done..entries.len().min(done + strip.len())] };
                dot_rows(lanes, strip, columns, coefficients, &mut predictors, ahead);
                let rows = strip.len() / columns;
                let residuals = &mut residuals[..rows * outputs];
                residual(row, &predictors[..rows * outputs], residuals);
                row += rows;
                for (k, sums) in sums.chunks_exact_mut(width).enumerate() {
                    if rows == STRIP {
                        let mut weights = [0.0; STRIP];
                        for (weight, r) in weights.iter_mut().zip(residuals.chunks_exact(outputs)) {
                            *weight = r[k];
                        }
                        let ahead = if k == 0 { ahead } else { &[] };
                        add_rows(lanes, Whole, strip, columns, &weights, sums, ahead);
                    } else {
                        for (strip, r) in strip.chunks_exact(columns).zip(residuals.chunks_exact(outputs)) {
                            add_rows(lanes, Whole, strip, columns, &[r[k]], sums, &[]);
                        }
                    }
                }
            }
            for (total, sum) in totals.iter_mut().zip(&sums) {
                *total = accumulate(lanes, total, lanes.load(&sum.0), lanes.splat(0.0));
            }
        }
    }
}

/// The pieces' totals added up in their order and rounded.
struct Join {
    totals: Vec<Total>,
    width: usize,
}

impl Kernel for Join {
    type Output = Vec<Line>;

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) -> Self::Output {
        let (first, others) = self.totals.split_at_mut(self.width);
        for other in others.chunks_exact(self.width) {
            for (total, [high, low]) in first.iter_mut().zip(other) {
                *total = accumulate(lanes, total, lanes.load(&high.0), lanes.load(&low.0));
            }
        }
        let mut sums = vec![Line::default(); self.width];
        for (sum, [high, low]) in sums.iter_mut().zip(first) {
            *sum = lanes.store(lanes.add(lanes.load(&high.0), lanes.load(&low.0)));
        }
        sums
    }
}

/// `total + (high, low)`; only the additions to the low part round.
#[inline(always)]
pub(super) fn accumulate<L: Lanes>(lanes: L, total: &Total, high: L::Vector, low: L::Vector) -> Total {
    let (sum, lost) = lanes.two_sum(lanes.load(&total[0].0), high);
    let low = lanes.add(lanes.load(&total[1].0), lanes.add(lost, low));
    [lanes.store(sum), lanes.store(low)]
}

/// `out = X b`.
pub(super) fn predict<T: Entry>(
    level: Level,
    entries: &[T],
    columns: usize,
    coefficients: &[f64],
    out: &mut [f64],
) {
    let coefficients = padded(coefficients);
    let step = parallel::rows_per_piece(out.len(), columns);
    let pieces = entries.chunks(step * columns).zip(out.chunks_mut(step));
    parallel::for_each(pieces, |(entries, out)| {
        level.run(Predict { entries, columns, coefficients: &coefficients, out });
    });
}

struct Predict<'a, T> {
    entries: &'a [T],
    columns: usize,
    coefficients: &'a [Line],
    out: &'a mut [f64],
}

impl<T: Entry> Kernel for Predict<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (strip, out) in self.entries.chunks(STRIP * self.columns).zip(self.out.chunks_mut(STRIP)) {
            dot_rows(lanes, strip, self.columns, self.coefficients, out, &[]);
        }
    }
}

/// `out_i = sum_j (scale_j (x_ij - centre_j))^2`, rounded to nearest in every operation.
pub(super) fn squares<T: Entry>(level: Level, entries: &[T], centre: &[f64], scale: &[f64], out: &mut [f64]) {
    let columns = scale.len();
    let (centre, scale) = (padded(centre), padded(scale));
    let step = parallel::rows_per_piece(out.len(), columns);
    let pieces = entries.chunks(step * columns).zip(out.chunks_mut(step));
    parallel::for_each(pieces, |(entries, out)| {
        level.run(Squares { entries, columns, centre: &centre, scale: &scale, out })
    });
}

struct Squares<'a, T> {
    entries: &'a [T],
    columns: usize,
    centre: &'a [Line],
    scale: &'a [Line],
    out: &'a mut [f64],
}

impl<T: Entry> Kernel for Squares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (row, out) in self.entries.chunks_exact(self.columns).zip(self.out) {
            *out = square_row(lanes, row, self.centre, self.scale);
        }
    }
}
