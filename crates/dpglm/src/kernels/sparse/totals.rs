//! A compensated total for every column.
//!
//! Every piece of the rows has totals of its own, so pieces are few: as many as keep several cores busy, as long as
//! their totals stay small beside the entries.

use super::entries::Values;
use crate::kernels::lanes::{LANES, Lanes};
use crate::parallel;
use std::ops::Range;

/// After this many rows what rounding has lost is folded back, so that it stays small beside the sum.
pub(in crate::kernels) const FOLD: usize = 1 << 16;
/// More pieces than this would cost much memory where there are a million columns.
const MOST_PIECES: usize = 16;
/// Entries that are worth a piece of their own.
const PIECE_WORK: usize = 1 << 15;
/// What the caller's function of a row costs, in entries.
const ROW_WORK: usize = 16;

/// The rounded sum, and what rounding has lost so far.
pub(super) type Total = [f64; 2];

/// Where the pieces of the rows begin and end: about the same number of entries in each, whoever works on them.
pub(super) fn cuts(offsets: &[usize], totals: usize) -> Vec<Range<usize>> {
    let rows = offsets.len() - 1;
    let work = |row: usize| offsets[row] + ROW_WORK * row;
    let all = work(rows);
    let pieces =
        (all / (8 * totals)).clamp(4, MOST_PIECES).min(2 * all / totals).min(all / PIECE_WORK).max(1);
    let mut cuts = Vec::with_capacity(pieces);
    let mut start = 0;
    for piece in 1..=pieces {
        let wanted = (all as u128 * piece as u128 / pieces as u128) as usize;
        let (mut low, mut high) = (start, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if work(middle) < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low > start {
            cuts.push(start..low);
        }
        start = low;
    }
    cuts
}

/// Adds a row times `r` to the compensated totals. A row's columns differ, so eight are added side by side.
#[inline(always)]
pub(super) fn add_row<V: Values, L: Lanes>(
    lanes: L,
    indices: &[u32],
    values: V,
    r: f64,
    totals: &mut [Total],
) {
    let (eights, rest) = indices.as_chunks::<LANES>();
    let splat = lanes.splat(r);
    for (k, columns) in eights.iter().enumerate() {
        let (mut high, mut low) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            [high[l], low[l]] = totals[columns[l] as usize];
        }
        let term = lanes.mul(splat, values.eight(lanes, k * LANES));
        let (sum, lost) = lanes.two_sum(lanes.load(&high), term);
        let sum = lanes.store(sum).0;
        let low = lanes.store(lanes.add(lanes.load(&low), lost)).0;
        for l in 0..LANES {
            totals[columns[l] as usize] = [sum[l], low[l]];
        }
    }
    for (l, &column) in rest.iter().enumerate() {
        let total = &mut totals[column as usize];
        *total = add(*total, r * values.at(eights.len() * LANES + l), 0.0);
    }
}

/// `total + (high, low)`; only the additions to the low part round.
#[inline(always)]
pub(super) fn add([a, low_a]: Total, high: f64, low: f64) -> Total {
    let (sum, lost) = two_sum(a, high);
    [sum, low_a + (lost + low)]
}

/// Knuth's TwoSum: the rounded sum and, exactly, what rounding lost.
#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Makes each sum the nearest double to its total, without a loss.
pub(super) fn fold(totals: &mut [Total]) {
    for total in totals {
        let (sum, lost) = two_sum(total[0], total[1]);
        *total = [sum, lost];
    }
}

/// The pieces' totals added up in their order and rounded.
pub(super) fn join(pieces: &[Vec<Total>], out: &mut [f64]) {
    let step = out.len().div_ceil(MOST_PIECES).max(4_096);
    parallel::for_each(out.chunks_mut(step).enumerate(), |(part, out)| {
        let first = part * step;
        let mut totals = vec![[0.0; 2]; out.len()];
        for piece in pieces {
            for (total, &[high, low]) in totals.iter_mut().zip(&piece[first..]) {
                *total = add(*total, high, low);
            }
        }
        for (out, [high, low]) in out.iter_mut().zip(totals) {
            *out = high + low;
        }
    });
}
