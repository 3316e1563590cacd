//! Weighted sums of outer products: a symmetric rank-k update on a grid.

use super::grid::{DENSE_ROWS, Grid, LastBit};
use super::lanes::{Entry, Kernel, LANES, Lanes, Level, Line};
use crate::data::csr::Csr;
use crate::parallel;
use std::ops::Range;

/// Rows multiplied before their sum joins the total.
pub(super) const BLOCK: usize = DENSE_ROWS;
/// Columns on the left of a tile of the result; [`LANES`] are on its right, and twelve registers hold it.
const LEFT: usize = 6;
/// Rows of the result that are one task: the packed left side stays in the second-level cache.
const BAND: usize = 96;
/// Tasks enough to keep the cores busy to the end, although the bands of a triangle differ in length.
const TASKS: usize = 32;

/// Rows that can be had densely, a block at a time.
pub(super) trait Blocks: Copy + Send + Sync {
    /// How an entry is stored.
    type Entry: Entry;
    /// The entries of some rows; `scratch` is there to hold them.
    fn block<'a>(
        &'a self,
        rows: Range<usize>,
        columns: usize,
        scratch: &'a mut Vec<Self::Entry>,
    ) -> &'a [Self::Entry];
}

impl<T: Entry> Blocks for &[T] {
    type Entry = T;
    #[inline(always)]
    fn block<'a>(&'a self, rows: Range<usize>, columns: usize, _: &'a mut Vec<T>) -> &'a [T] {
        &self[rows.start * columns..rows.end * columns]
    }
}

impl Blocks for &Csr {
    type Entry = f64;
    #[inline(always)]
    fn block<'a>(&'a self, rows: Range<usize>, columns: usize, scratch: &'a mut Vec<f64>) -> &'a [f64] {
        scratch.clear();
        scratch.resize(rows.len() * columns, 0.0);
        for (row, out) in rows.zip(scratch.chunks_exact_mut(columns)) {
            for (column, x) in self.row(row) {
                out[column] = x;
            }
        }
        scratch
    }
}

/// `sum_i w_i x_i x_i^T` for each of `weightings` weights per row, one matrix after the other, in one read of the rows: `weights`
/// sets those of a row. Pairs of doubles. Sparse rows are spread out block by block: the result is dense anyway. The products of two
/// columns are at most those of their `bounds` in size.
pub(super) fn grams<B: Blocks, W: Fn(usize, &mut [f64]) + Sync>(
    level: Level,
    rows_of: B,
    [rows, columns]: [usize; 2],
    weightings: usize,
    bounds: &[f64],
    weights: &W,
) -> Vec<(f64, f64)> {
    let width = columns.div_ceil(LANES);
    // Narrow designs are cut into pieces of rows with totals of their own, as many as stay small beside the design.
    let bands = columns.div_ceil(BAND);
    let most = (rows / 1_024).min(rows / (32 * columns * weightings));
    let pieces = TASKS.div_ceil(bands).min(most).max(1);
    let step = rows.div_ceil(pieces);
    let matrix = columns * width;
    let mut right_bounds = vec![Line::default(); width];
    for (line, bounds) in right_bounds.iter_mut().zip(bounds.chunks(LANES)) {
        line.0[..bounds.len()].copy_from_slice(bounds);
    }
    let bounds = (bounds, &right_bounds[..]);
    let mut totals = vec![[Line::default(); 2]; pieces * weightings * matrix];
    let mut tasks: Vec<Band<'_, B, W>> = Vec::new();
    for (piece, totals) in totals.chunks_exact_mut(weightings * matrix).enumerate() {
        let (start, end) = ((piece * step).min(rows), ((piece + 1) * step).min(rows));
        let first = tasks.len();
        for band in 0..bands {
            let totals = Vec::with_capacity(weightings);
            tasks.push(Band {
                rows: start..end,
                rows_of,
                columns,
                first: band * BAND,
                bounds,
                weights,
                totals,
            });
        }
        for totals in totals.chunks_exact_mut(matrix) {
            for (task, totals) in tasks[first..].iter_mut().zip(totals.chunks_mut(BAND * width)) {
                task.totals.push(totals);
            }
        }
    }
    parallel::for_each(tasks.into_iter(), |task| level.run(task));
    let mut out = vec![(0.0, 0.0); weightings * columns * columns];
    level.run(Join { totals: &mut totals, columns, out: &mut out });
    out
}

/// The rows of the results from `first` on, as far as `totals` go, over one piece of the design's rows.
struct Band<'a, B, W> {
    rows: Range<usize>,
    rows_of: B,
    columns: usize,
    first: usize,
    /// Of the columns, one by one and in vectors.
    bounds: (&'a [f64], &'a [Line]),
    weights: &'a W,
    /// Of each weighting.
    totals: Vec<&'a mut [[Line; 2]]>,
}

impl<B: Blocks, W: Fn(usize, &mut [f64])> Kernel for Band<'_, B, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { rows, rows_of, columns, first, bounds, weights, mut totals } = self;
        let width = columns.div_ceil(LANES);
        let end = first + totals[0].len() / width;
        let (weightings, bit) = (totals.len(), LastBit::of(bounds.0));
        let mut left = vec![[[0.0; LEFT]; BLOCK]; (end - first).div_ceil(LEFT)];
        let mut left_starts = vec![[0.0; LEFT]; left.len()];
        for (starts, bounds) in left_starts.iter_mut().zip(bounds.0[first..end].chunks(LEFT)) {
            for (start, bound) in starts.iter_mut().zip(bounds) {
                *start = Grid::product_start() * bound;
            }
        }
        let mut right = [Line::default(); BLOCK];
        let mut of_rows = vec![0.0; BLOCK * weightings];
        let mut scratch = Vec::new();
        for start in rows.clone().step_by(BLOCK) {
            let entries = rows_of.block(start..rows.end.min(start + BLOCK), columns, &mut scratch);
            let rows = entries.len() / columns;
            for (r, of_row) in of_rows.chunks_exact_mut(weightings).take(rows).enumerate() {
                weights(start + r, of_row);
            }
            for (weighting, totals) in totals.iter_mut().enumerate() {
                for (r, row) in entries.chunks_exact(columns).enumerate() {
                    let w = of_rows[r * weightings + weighting];
                    for (panel, x) in left.iter_mut().zip(row[first..end].chunks(LEFT)) {
                        for (packed, x) in panel[r].iter_mut().zip(x) {
                            *packed = bit.set(w * x.widen());
                        }
                    }
                }
                for j in first / LANES..width {
                    let columns_right = j * LANES..columns.min((j + 1) * LANES);
                    for (packed, row) in right.iter_mut().zip(entries.chunks_exact(columns)) {
                        match row[columns_right.clone()].first_chunk() {
                            Some(x) => *packed = lanes.store(B::Entry::lanes(lanes, x)),
                            None => {
                                for (packed, x) in packed.0.iter_mut().zip(&row[columns_right.clone()]) {
                                    *packed = x.widen();
                                }
                            }
                        }
                    }
                    let panels = left.iter().zip(totals.chunks_mut(LEFT * width));
                    for (panel, (left, totals)) in panels.enumerate() {
                        if columns_right.end <= first + panel * LEFT {
                            break; // Below the diagonal from here on.
                        }
                        let mut starts = [lanes.load(&bounds.1[j].0); LEFT];
                        for (start, &left) in starts.iter_mut().zip(&left_starts[panel]) {
                            *start = lanes.mul(lanes.splat(left), *start);
                        }
                        let sums = multiply(lanes, &left[..rows], &right[..rows], starts);
                        for ((totals, sum), start) in totals.chunks_exact_mut(width).zip(sums).zip(starts) {
                            let sum = lanes.sub(sum, start);
                            let [high, low] = &mut totals[j];
                            let (sum, lost) = lanes.two_sum(lanes.load(&high.0), sum);
                            *high = lanes.store(sum);
                            *low = lanes.store(lanes.add(lanes.load(&low.0), lost));
                        }
                    }
                }
            }
        }
    }
}

/// One tile of the product: the rows' outer products, added to the sums in registers.
#[inline(always)]
fn multiply<L: Lanes>(
    lanes: L,
    left: &[[f64; LEFT]],
    right: &[Line],
    mut sums: [L::Vector; LEFT],
) -> [L::Vector; LEFT] {
    for (a, b) in left.iter().zip(right) {
        let b = lanes.load(&b.0);
        for (sum, &a) in sums.iter_mut().zip(a) {
            *sum = lanes.mul_add(lanes.splat(a), b, *sum);
        }
    }
    sums
}

/// The pieces' totals added up and mirrored at the diagonal.
struct Join<'a> {
    totals: &'a mut [[Line; 2]],
    columns: usize,
    out: &'a mut [(f64, f64)],
}

impl Kernel for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { totals, columns, out } = self;
        let width = columns.div_ceil(LANES);
        let all = out.len() / columns * width;
        let (first, others) = totals.split_at_mut(all);
        for other in others.chunks_exact(all) {
            for ([high, low], [other_high, other_low]) in first.iter_mut().zip(other) {
                let (sum, lost) = lanes.two_sum(lanes.load(&high.0), lanes.load(&other_high.0));
                *high = lanes.store(sum);
                *low = lanes.store(lanes.add(lanes.load(&low.0), lanes.add(lost, lanes.load(&other_low.0))));
            }
        }
        for (out, totals) in out.chunks_exact_mut(columns).zip(first.chunks_exact(width)) {
            for (out, [high, low]) in out.chunks_mut(LANES).zip(totals) {
                for (out, pair) in out.iter_mut().zip(high.0.iter().zip(&low.0)) {
                    *out = (*pair.0, *pair.1);
                }
            }
        }
        for out in out.chunks_exact_mut(columns * columns) {
            for i in 0..columns {
                for j in 0..i {
                    out[i * columns + j] = out[j * columns + i];
                }
            }
        }
    }
}
