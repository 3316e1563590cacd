//! Inner products, residuals and the gradient in one read of the rows.

use super::Residuals;
use super::grid::LastBit;
use super::lanes::{Entry, Kernel, LANES, Lanes, Level, Line};
use super::rows::{LONG, STRIP, Whole, add_rows, dot_rows, padded, square_row, unpad};
use crate::parallel;

/// One vector of the total: the rounded sum and what rounding has lost so far.
pub(super) type Total = [Line; 2];

/// `sum_i residual_i x_i^T` for `outputs` residuals a row, as pairs of doubles; the sums of columns begin at `starts`.
pub(super) fn fused<T: Entry>(
    level: Level,
    entries: &[T],
    outputs: usize,
    coefficients: &[f64],
    starts: &[f64],
    residual: Residuals<'_>,
) -> Vec<(f64, f64)> {
    let columns = starts.len();
    let coefficients: Vec<_> = coefficients.chunks_exact(columns).flat_map(padded).collect();
    let bit = LastBit::of(starts);
    let starts: Vec<_> = (0..outputs).flat_map(|_| padded(starts)).collect();
    let step = parallel::rows_per_piece(entries.len() / columns, columns);
    let pieces = entries.chunks(step * columns);
    let mut totals = vec![Total::default(); pieces.len() * coefficients.len()];
    let work = pieces.zip(totals.chunks_exact_mut(coefficients.len())).enumerate();
    parallel::for_each(work, |(piece, (entries, totals))| {
        level.run(Fused {
            first_row: piece * step,
            entries,
            columns,
            outputs,
            coefficients: &coefficients,
            starts: &starts,
            bit,
            residual,
            totals,
        });
    });
    join(level, totals, coefficients.len(), columns)
}

/// Adds up the pieces' totals, each of `width` vectors, and lays them out as the columns are.
pub(super) fn join(level: Level, totals: Vec<Total>, width: usize, columns: usize) -> Vec<(f64, f64)> {
    let sums = level.run(Join { totals, width });
    let mut pairs = Vec::with_capacity(width / columns.div_ceil(LANES) * columns);
    let (mut high, mut low) = (vec![0.0; columns], vec![0.0; columns]);
    for sums in sums.chunks_exact(columns.div_ceil(LANES)) {
        unpad(sums, 0, &mut high);
        unpad(sums, 1, &mut low);
        pairs.extend(high.iter().copied().zip(low.iter().copied()));
    }
    pairs
}

/// The fused pass over one piece of the rows.
struct Fused<'a, T> {
    first_row: usize,
    entries: &'a [T],
    columns: usize,
    outputs: usize,
    coefficients: &'a [Line],
    starts: &'a [Line],
    bit: LastBit,
    residual: Residuals<'a>,
    totals: &'a mut [Total],
}

impl<T: Entry> Kernel for Fused<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { first_row, entries, columns, outputs, coefficients, starts, bit, residual, totals } = self;
        let width = columns.div_ceil(LANES);
        let mut sums = starts.to_vec();
        let mut predictors = vec![0.0; STRIP * outputs];
        let mut residuals = vec![0.0; STRIP * outputs];
        let mut row = first_row;
        let mut done = 0;
        for block in entries.chunks(bit.rows() * columns) {
            for strip in block.chunks(STRIP * columns) {
                done += strip.len();
                let ahead =
                    if columns < LONG { &[] } else { &entries[done..entries.len().min(done + strip.len())] };
                dot_rows(lanes, strip, columns, coefficients, &mut predictors, ahead);
                let rows = strip.len() / columns;
                let residuals = &mut residuals[..rows * outputs];
                residual(row, &predictors[..rows * outputs], residuals);
                row += rows;
                for r in residuals.iter_mut() {
                    *r = bit.set(*r);
                }
                for (k, sums) in sums.chunks_exact_mut(width).enumerate() {
                    if rows == STRIP {
                        let mut weights = [0.0; STRIP];
                        for (weight, r) in weights.iter_mut().zip(residuals.chunks_exact(outputs)) {
                            *weight = r[k];
                        }
                        let ahead = if k == 0 { ahead } else { &[] };
                        add_rows(lanes, Whole, strip, columns, weights, sums, ahead);
                    } else {
                        for (strip, r) in strip.chunks_exact(columns).zip(residuals.chunks_exact(outputs)) {
                            add_rows(lanes, Whole, strip, columns, [r[k]], sums, &[]);
                        }
                    }
                }
            }
            join_block(lanes, totals, &mut sums, starts);
        }
    }
}

/// Moves the sums of a block to the totals and lets them start again.
#[inline(always)]
pub(super) fn join_block<L: Lanes>(lanes: L, totals: &mut [Total], sums: &mut [Line], starts: &[Line]) {
    for ((total, sum), start) in totals.iter_mut().zip(sums).zip(starts) {
        let added = lanes.sub(lanes.load(&sum.0), lanes.load(&start.0));
        *total = accumulate(lanes, total, added, lanes.splat(0.0));
        *sum = *start;
    }
}

/// The pieces' totals added up.
struct Join {
    totals: Vec<Total>,
    width: usize,
}

impl Kernel for Join {
    type Output = Vec<Total>;

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) -> Self::Output {
        let (first, others) = self.totals.split_at_mut(self.width);
        for other in others.chunks_exact(self.width) {
            for (total, [high, low]) in first.iter_mut().zip(other) {
                *total = accumulate(lanes, total, lanes.load(&high.0), lanes.load(&low.0));
            }
        }
        self.totals.truncate(self.width);
        self.totals
    }
}

/// `total + (high, low)`; nothing is lost of multiples of one grid.
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
