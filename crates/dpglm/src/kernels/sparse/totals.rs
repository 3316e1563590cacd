//! Plain sums of a few terms, and a compensated total, for every column.
//!
//! Every piece of the rows has sums and totals of its own, so pieces are few: as many as keep several cores busy, as
//! long as their totals stay small beside the entries.

use super::entries::Values;
use crate::data::csr::Csr;
use crate::parallel;
use std::ops::Range;

/// More pieces than this would cost much memory where there are a million columns.
const MOST_PIECES: usize = 16;
/// Entries that are worth a piece of their own.
const PIECE_WORK: usize = 1 << 15;
/// What the caller's function of a row costs, in entries.
const ROW_WORK: usize = 16;

/// The nearest double to a sum, and the rest.
pub(super) type Total = [f64; 2];

/// Where the pieces of the rows begin and end: about the same number of entries in each, whoever works on them, and whole
/// blocks of rows.
pub(super) fn cuts(offsets: &[usize], totals: usize) -> Vec<Range<usize>> {
    let rows = offsets.len() - 1;
    let work = |row: usize| offsets[row] + ROW_WORK * row;
    let all = work(rows);
    let pieces =
        (all / (16 * totals)).clamp(2, MOST_PIECES).min(2 * all / totals).min(all / PIECE_WORK).max(1);
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
        let end = low.next_multiple_of(Csr::BLOCK).min(rows);
        if end > start {
            cuts.push(start..end);
        }
        start = end;
    }
    cuts
}

/// Adds a row times `r` to the sums.
#[inline(always)]
pub(super) fn add_row<V: Values>(indices: &[u32], values: V, r: f64, sums: &mut [f64]) {
    for (&column, x) in indices.iter().zip(values.each()) {
        sums[column as usize] += r * x;
    }
}

/// Moves the sums of these columns to their totals.
#[inline(always)]
pub(super) fn flush(columns: &[u32], sums: &mut [f64], totals: &mut [Total]) {
    for &column in columns {
        let column = column as usize;
        totals[column] = add(totals[column], sums[column], 0.0);
        sums[column] = 0.0;
    }
}

/// Moves all sums to their totals.
#[inline(always)]
pub(super) fn flush_all(sums: &[f64], totals: &mut [Total]) {
    for (total, &sum) in totals.iter_mut().zip(sums) {
        *total = add(*total, sum, 0.0);
    }
}

/// `total + (high, low)`. Only the two additions to the low part round, and the rest is again small beside the sum.
#[inline(always)]
fn add([a, low_a]: Total, high: f64, low: f64) -> Total {
    let (sum, lost) = two_sum(a, high);
    let (sum, rest) = two_sum(sum, low_a + (lost + low));
    [sum, rest]
}

/// Knuth's TwoSum: the rounded sum and, exactly, what rounding lost.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// The pieces' totals, one piece after the other, added up in their order and rounded.
pub(super) fn join(totals: &[Total], out: &mut [f64]) {
    let width = out.len();
    let step = width.div_ceil(MOST_PIECES).max(1 << 13);
    parallel::for_each(out.chunks_mut(step).enumerate(), |(part, out)| {
        let first = part * step;
        for (j, out) in (first..).zip(out) {
            let mut total = totals[j];
            for other in totals[j..].iter().step_by(width).skip(1) {
                total = add(total, other[0], other[1]);
            }
            *out = total[0] + total[1];
        }
    });
}
