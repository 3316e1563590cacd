//! What is done with the entries of a row.
//!
//! Columns are taken eight at a time. Where their number is not a multiple of eight the last eight are read as one
//! more vector, which overlaps the one before: a [`padded`] vector holds zeros in the lanes already counted.

use super::lanes::{Entry, LANES, Lanes, Line};

/// Rows added to the gradient together: it is read and written once for all of them.
pub(super) const STRIP: usize = 8;
/// From this many columns on the coefficients do not fit the first-level cache, and are read once for four rows.
const WIDE: usize = 4_096;

/// A vector of coefficients laid out as the entries of a row are read.
pub(super) fn padded(coefficients: &[f64]) -> Vec<Line> {
    let (whole, rest) = coefficients.as_chunks();
    let mut out: Vec<_> = whole.iter().copied().map(Line).collect();
    if !rest.is_empty() {
        let mut last = [0.0; LANES];
        last[LANES - rest.len()..].copy_from_slice(rest);
        out.push(Line(last));
    }
    out
}

/// The inverse of [`padded`]: lanes that were counted before are left out.
pub(super) fn unpad(padded: &[Line], out: &mut [f64]) {
    let (whole, rest) = out.as_chunks_mut();
    for (out, line) in whole.iter_mut().zip(padded) {
        *out = line.0;
    }
    if let [Line(last)] = &padded[whole.len()..] {
        rest.copy_from_slice(&last[LANES - rest.len()..]);
    }
}

/// The last eight entries of a row, after zeros if it has fewer.
#[inline(always)]
fn last_lanes<T: Entry>(row: &[T]) -> [T; LANES] {
    match row.last_chunk() {
        Some(last) => *last,
        None => {
            let mut out = [T::ZERO; LANES];
            out[LANES - row.len()..].copy_from_slice(row);
            out
        }
    }
}

/// Sets `out` to the inner products of the rows of `strip` with every padded vector of `coefficients`, row by row.
///
/// Rows are read one after the other, which memory likes best, unless they are wide or the rows `ahead` are to be asked
/// for meanwhile: then four rows are multiplied together, and the first half of the rows ahead is fetched.
#[inline(always)]
pub(super) fn dot_rows<T: Entry, L: Lanes>(
    lanes: L,
    strip: &[T],
    columns: usize,
    coefficients: &[Line],
    out: &mut [f64],
    ahead: &[T],
) {
    let width = columns.div_ceil(LANES);
    let outputs = coefficients.len() / width;
    let together = if columns < WIDE && ahead.is_empty() { 0 } else { strip.len() / (4 * columns) * 4 };
    let mut ahead = ahead.chunks(columns);
    let (wide, short) = strip.split_at(together * columns);
    let (wide_out, short_out) = out.split_at_mut(together * outputs);
    for (rows, out) in wide.chunks_exact(4 * columns).zip(wide_out.chunks_exact_mut(4 * outputs)) {
        for (k, b) in coefficients.chunks_exact(width).enumerate() {
            let mut next: [&[T]; 4] = [&[]; 4];
            if k == 0 {
                for next in &mut next {
                    *next = ahead.next().unwrap_or_default();
                }
            }
            dot_four(lanes, rows, columns, b, &mut out[k..], outputs, next);
        }
    }
    for (row, out) in short.chunks_exact(columns).zip(short_out.chunks_exact_mut(outputs)) {
        for (out, b) in out.iter_mut().zip(coefficients.chunks_exact(width)) {
            *out = dot(lanes, row, b);
        }
    }
}

/// Asks for the sixteen entries from `at` on, as far as there are any.
#[inline(always)]
fn fetch<T: Entry, L: Lanes>(lanes: L, entries: &[T], at: usize) {
    if let Some(place) = entries.get(at) {
        lanes.prefetch(place);
    }
    if size_of::<T>() == 8
        && let Some(place) = entries.get(at + LANES)
    {
        lanes.prefetch(place);
    }
}

/// The inner product of a row, in four independent sums.
#[inline(always)]
fn dot<T: Entry, L: Lanes>(lanes: L, row: &[T], b: &[Line]) -> f64 {
    let (entries, rest) = row.as_chunks();
    let (b, last_b) = b.split_at(entries.len());
    let mut sums = [lanes.splat(0.0); 4];
    let (entries, more_entries) = entries.as_chunks::<4>();
    let (b, more_b) = b.as_chunks::<4>();
    for (x, b) in entries.iter().zip(b) {
        for k in 0..4 {
            sums[k] = lanes.mul_add(T::lanes(lanes, &x[k]), lanes.load(&b[k].0), sums[k]);
        }
    }
    for (x, b) in more_entries.iter().zip(more_b) {
        sums[0] = lanes.mul_add(T::lanes(lanes, x), lanes.load(&b.0), sums[0]);
    }
    if !rest.is_empty() {
        let last = T::lanes(lanes, &last_lanes(row));
        sums[1] = lanes.mul_add(last, lanes.load(&last_b[0].0), sums[1]);
    }
    lanes.sum(lanes.add(lanes.add(sums[0], sums[1]), lanes.add(sums[2], sums[3])))
}

/// The inner products of four rows, `step` apart in `out`.
#[inline(always)]
fn dot_four<T: Entry, L: Lanes>(
    lanes: L,
    strip: &[T],
    columns: usize,
    b: &[Line],
    out: &mut [f64],
    step: usize,
    ahead: [&[T]; 4],
) {
    let (b, last_b) = b.split_at(columns / LANES);
    let mut sums = [lanes.splat(0.0); 4];
    let mut rows: [&[[T; LANES]]; 4] = [&[]; 4];
    for r in 0..4 {
        rows[r] = &strip[r * columns..(r + 1) * columns].as_chunks().0[..b.len()];
    }
    for (j, b) in b.iter().enumerate() {
        let b = lanes.load(&b.0);
        fetch(lanes, ahead[j % 4], (j - j % 4) * LANES / 2);
        for r in 0..4 {
            sums[r] = lanes.mul_add(T::lanes(lanes, &rows[r][j]), b, sums[r]);
        }
    }
    for r in 0..4 {
        if let [b] = last_b {
            let last = T::lanes(lanes, &last_lanes(&strip[r * columns..(r + 1) * columns]));
            sums[r] = lanes.mul_add(last, lanes.load(&b.0), sums[r]);
        }
        out[r * step] = lanes.sum(sums[r]);
    }
}

/// The sum of the squares of a row measured from `centre` and multiplied by `scale`, both [`padded`]. See
/// [`square_roundings`] for its error.
#[inline(always)]
pub(super) fn square_row<T: Entry, L: Lanes>(lanes: L, row: &[T], centre: &[Line], scale: &[Line]) -> f64 {
    let (entries, rest) = row.as_chunks::<LANES>();
    let mut sums = [lanes.splat(0.0); 4];
    let (fours, more) = entries.as_chunks::<4>();
    let (scale_fours, scale_more) = scale[..entries.len()].as_chunks::<4>();
    let (centre_fours, centre_more) = centre[..entries.len()].as_chunks::<4>();
    for ((x, scale), centre) in fours.iter().zip(scale_fours).zip(centre_fours) {
        for (((sum, x), scale), centre) in sums.iter_mut().zip(x).zip(scale).zip(centre) {
            let x = standard(lanes, T::lanes(lanes, x), centre, scale);
            *sum = lanes.mul_add(x, x, *sum);
        }
    }
    for ((x, scale), centre) in more.iter().zip(scale_more).zip(centre_more) {
        let x = standard(lanes, T::lanes(lanes, x), centre, scale);
        sums[0] = lanes.mul_add(x, x, sums[0]);
    }
    if !rest.is_empty() {
        let last = entries.len();
        let x = standard(lanes, T::lanes(lanes, &last_lanes(row)), &centre[last], &scale[last]);
        sums[1] = lanes.mul_add(x, x, sums[1]);
    }
    lanes.sum(lanes.add(lanes.add(sums[0], sums[1]), lanes.add(sums[2], sums[3])))
}

#[inline(always)]
fn standard<L: Lanes>(lanes: L, x: L::Vector, centre: &Line, scale: &Line) -> L::Vector {
    lanes.mul(lanes.sub(x, lanes.load(&centre.0)), lanes.load(&scale.0))
}

/// The most roundings any square meets on its way through [`square_row`]: two each for the difference and the factor, which
/// are squared, one for the square, one for each addition to its lane (a quarter of the vectors, at most three more, and
/// the overlapping one), two to join the four sums and three to join the lanes.
pub(super) fn square_roundings(columns: usize) -> usize {
    2 + 2 + 1 + columns / (4 * LANES) + 3 + 1 + 2 + 3
}

/// What is added up of an entry.
pub(super) trait Part: Copy + Sync {
    fn of<L: Lanes>(self, lanes: L, x: L::Vector) -> L::Vector;
}

/// The entry itself.
#[derive(Clone, Copy)]
pub(super) struct Whole;

impl Part for Whole {
    #[inline(always)]
    fn of<L: Lanes>(self, _: L, x: L::Vector) -> L::Vector {
        x
    }
}

/// Its sign.
#[derive(Clone, Copy)]
pub(super) struct Sign;

impl Part for Sign {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::Vector) -> L::Vector {
        lanes.sign(x)
    }
}

/// The entry times this power of two, clamped to [-1, 1].
#[derive(Clone, Copy)]
pub(super) struct Clamped(pub f64);

impl Part for Clamped {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::Vector) -> L::Vector {
        lanes.clamp(lanes.mul(x, lanes.splat(self.0)))
    }
}

/// `sums += weights[0] part(row_0) + weights[1] part(row_1) + ...`: the rows' own sum first, then one
/// addition. Meanwhile the second half of the rows `ahead` is asked for, if they are a whole strip.
#[inline(always)]
pub(super) fn add_rows<P: Part, T: Entry, L: Lanes, const ROWS: usize>(
    lanes: L,
    part: P,
    strip: &[T],
    columns: usize,
    weights: &[f64; ROWS],
    sums: &mut [Line],
    ahead: &[T],
) {
    // Loops, not `map`: everything here must be inlined to be compiled for the right instruction set.
    let whole = columns / LANES;
    let mut splats = [lanes.splat(0.0); ROWS];
    let mut rows: [&[[T; LANES]]; ROWS] = [&[]; ROWS];
    for r in 0..ROWS {
        splats[r] = lanes.splat(weights[r]);
        rows[r] = &strip[r * columns..(r + 1) * columns].as_chunks().0[..whole];
    }
    let (sums, last) = sums.split_at_mut(whole);
    let half = columns / 2;
    for (j, sum) in sums.iter_mut().enumerate() {
        if ROWS == STRIP && ahead.len() == STRIP * columns {
            // Four vectors of eight rows make way for the same number of entries, two rows at a time.
            let r = (j % 4) * 2;
            let at = half + (j - j % 4) * LANES / 2;
            fetch(lanes, ahead, r * columns + at);
            fetch(lanes, ahead, (r + 1) * columns + at);
        }
        let mut total = lanes.mul(splats[0], part.of(lanes, T::lanes(lanes, &rows[0][j])));
        for r in 1..ROWS {
            total = lanes.mul_add(splats[r], part.of(lanes, T::lanes(lanes, &rows[r][j])), total);
        }
        *sum = lanes.store(lanes.add(lanes.load(&sum.0), total));
    }
    if let [sum] = last {
        let mut total = lanes.mul(splats[0], part.of(lanes, T::lanes(lanes, &last_lanes(&strip[..columns]))));
        for r in 1..ROWS {
            let last = last_lanes(&strip[r * columns..(r + 1) * columns]);
            total = lanes.mul_add(splats[r], part.of(lanes, T::lanes(lanes, &last)), total);
        }
        *sum = lanes.store(lanes.add(lanes.load(&sum.0), total));
    }
}
