//! What is done with the entries of a row.
//!
//! Columns are taken eight at a time. Where their number is not a multiple of eight the last eight are read as one
//! more vector, which overlaps the one before: a [`padded`] vector holds zeros in the lanes already counted.

use super::lanes::{Entry, LANES, Lanes, Line};

/// Rows added to the gradient together: it is read and written once for all of them.
pub(super) const STRIP: usize = 8;
/// From this many columns on four rows are multiplied together: the coefficients are read once for all of them, and the rows
/// ahead are asked for meanwhile.
pub(super) const LONG: usize = 512;

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

/// The inverse of [`padded`] for the `part`-th of the lines: lanes that were counted before are left out.
pub(super) fn unpad<const PARTS: usize>(padded: &[[Line; PARTS]], part: usize, out: &mut [f64]) {
    let (whole, rest) = out.as_chunks_mut();
    for (out, lines) in whole.iter_mut().zip(padded) {
        *out = lines[part].0;
    }
    if let [lines] = &padded[whole.len()..] {
        rest.copy_from_slice(&lines[part].0[LANES - rest.len()..]);
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

/// Sets `out` to the inner products of the rows of `strip` with every padded vector of `coefficients`, row by row. The first half of
/// the rows `ahead` is fetched meanwhile.
///
/// In which order a product is added up depends on the number of columns alone, not on where the row stands: a table cut in other
/// places has the same predictors.
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
    if columns < LONG {
        for (row, out) in strip.chunks_exact(columns).zip(out.chunks_exact_mut(outputs)) {
            for (out, b) in out.iter_mut().zip(coefficients.chunks_exact(width)) {
                *out = dot(lanes, row, b);
            }
        }
        return;
    }
    let mut ahead = ahead.chunks(columns);
    let (fours, rest) = strip.split_at(strip.len() / (4 * columns) * 4 * columns);
    let (fours_out, rest_out) = out.split_at_mut(fours.len() / columns * outputs);
    for (rows, out) in fours.chunks_exact(4 * columns).zip(fours_out.chunks_exact_mut(4 * outputs)) {
        for (k, b) in coefficients.chunks_exact(width).enumerate() {
            let mut next: [&[T]; 4] = [&[]; 4];
            if k == 0 {
                for next in &mut next {
                    *next = ahead.next().unwrap_or_default();
                }
            }
            dot_together(lanes, rows, columns, b, &mut out[k..], outputs, next);
        }
    }
    for (row, out) in rest.chunks_exact(columns).zip(rest_out.chunks_exact_mut(outputs)) {
        for (k, b) in coefficients.chunks_exact(width).enumerate() {
            dot_together(lanes, row, columns, b, &mut out[k..], outputs, [&[]]);
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

/// The inner products of some rows, `step` apart in `out`.
#[inline(always)]
fn dot_together<T: Entry, L: Lanes, const ROWS: usize>(
    lanes: L,
    strip: &[T],
    columns: usize,
    b: &[Line],
    out: &mut [f64],
    step: usize,
    ahead: [&[T]; ROWS],
) {
    let (b, last_b) = b.split_at(columns / LANES);
    let mut sums = [lanes.splat(0.0); ROWS];
    let mut rows: [&[[T; LANES]]; ROWS] = [&[]; ROWS];
    for r in 0..ROWS {
        rows[r] = &strip[r * columns..(r + 1) * columns].as_chunks().0[..b.len()];
    }
    for (j, b) in b.iter().enumerate() {
        let b = lanes.load(&b.0);
        if ROWS == 4 {
            fetch(lanes, ahead[j % ROWS], (j - j % ROWS) * LANES / 2);
        }
        for r in 0..ROWS {
            sums[r] = lanes.mul_add(T::lanes(lanes, &rows[r][j]), b, sums[r]);
        }
    }
    for r in 0..ROWS {
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

/// Whether it is above zero.
#[derive(Clone, Copy)]
pub(super) struct Present;

impl Part for Present {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::Vector) -> L::Vector {
        // s (s + 1) / 2 of a sign s.
        let (sign, half) = (lanes.sign(x), lanes.splat(0.5));
        lanes.mul(sign, lanes.mul_add(sign, half, half))
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

/// `sums += weights[0] part(row_0) + weights[1] part(row_1) + ...`, row after row on the sums' grid. Meanwhile the second half of
/// the rows `ahead` is asked for, if they are a whole strip.
#[inline(always)]
pub(super) fn add_rows<P: Part, T: Entry, L: Lanes, const ROWS: usize>(
    lanes: L,
    part: P,
    strip: &[T],
    columns: usize,
    weights: [f64; ROWS],
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
        let mut total = lanes.load(&sum.0);
        for r in 0..ROWS {
            total = lanes.mul_add(splats[r], part.of(lanes, T::lanes(lanes, &rows[r][j])), total);
        }
        *sum = lanes.store(total);
    }
    if let [sum] = last {
        let mut total = lanes.load(&sum.0);
        for r in 0..ROWS {
            let last = last_lanes(&strip[r * columns..(r + 1) * columns]);
            total = lanes.mul_add(splats[r], part.of(lanes, T::lanes(lanes, &last)), total);
        }
        *sum = lanes.store(total);
    }
}
