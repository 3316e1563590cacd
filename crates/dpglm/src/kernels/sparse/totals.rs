//! Plain sums of a few terms, and a compensated total, for every column.
//!
//! Every piece of the rows has sums and totals of its own, so pieces are few: as many as keep several cores busy, as
//! long as their totals stay small beside the entries.

use super::entries::{Index, Rows, Values};
use super::scratch;
use crate::data::csr::Csr;
use crate::kernels::lanes::{Kernel, LANES, Lanes, Level};
use crate::parallel;
use std::ops::Range;

/// More pieces than this would cost much memory where there are a million columns.
const MOST_PIECES: usize = 16;
/// Entries that are worth a piece of their own.
const PIECE_WORK: usize = 1 << 15;
/// Columns that are joined at a time.
const JOIN_WORK: usize = 1 << 11;
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

/// One piece of the rows, and what it adds up, by the numbers of the columns.
pub(super) struct Piece {
    pub range: Range<usize>,
    /// One table of plain sums for every output.
    pub sums: Vec<f64>,
    /// The length of each.
    pub length: usize,
    /// The compensated totals of the frequent columns: for every output all that is high, then all that is low.
    totals: Vec<f64>,
    /// The number of frequent columns.
    frequent: usize,
}

impl Piece {
    /// Sets the sums and totals of all columns to zero.
    fn clear(&mut self, columns: usize) {
        for sums in self.sums.chunks_exact_mut(self.length) {
            sums[..columns].fill(0.0);
        }
        self.totals.fill(0.0);
    }

    /// Moves the sums of these columns to their totals.
    #[inline(always)]
    pub fn flush(&mut self, full: &[u32]) {
        if full.is_empty() {
            return;
        }
        let (length, frequent) = (self.length, self.frequent);
        let outputs = self.sums.chunks_exact_mut(length).zip(self.totals.chunks_exact_mut(2 * frequent));
        for (sums, totals) in outputs {
            let (highs, lows) = totals.split_at_mut(frequent);
            for &column in full {
                let column = column as usize;
                let (sum, high, low) = (&mut sums[column], &mut highs[column], &mut lows[column]);
                [*high, *low] = add([*high, *low], *sum, 0.0);
                *sum = 0.0;
            }
        }
    }

    /// The sums of the columns from `first` on.
    fn sums_from(&self, output: usize, first: usize) -> &[f64] {
        &self.sums[output * self.length + first..]
    }

    /// The high and low parts of the totals of the columns from `first` on.
    fn totals_from(&self, output: usize, first: usize) -> [&[f64]; 2] {
        let (highs, lows) = self.totals[2 * output * self.frequent..].split_at(self.frequent);
        [&highs[first..], &lows[first..]]
    }
}

/// Does `work` on every piece of the rows and adds up what they found: `out` has one number for every output and column.
pub(super) fn add_up<I: Index, V: Values>(
    level: Level,
    rows: Rows<'_, I, V>,
    columns: usize,
    out: &mut [f64],
    work: impl Fn(&mut Piece) + Sync,
) {
    let outputs = out.len() / columns;
    let (original, frequent) = (rows.csr.columns().original(), rows.csr.frequent());
    let used = original.len();
    let length = I::length(used);
    let pieces = cuts(rows.offsets, out.len())
        .into_iter()
        .map(|range| {
            let (sums, totals) = (scratch::take(outputs * length), scratch::take(2 * outputs * frequent));
            Piece { range, sums, length, totals, frequent }
        })
        .collect();
    let work = |piece: &mut Piece| {
        piece.clear(used);
        work(piece);
    };
    let mut joined = scratch::take(outputs * used);
    let parts = joined.chunks_mut(used.max(1)).enumerate().flat_map(|(output, joined)| {
        joined.chunks_mut(JOIN_WORK).enumerate().map(move |(part, out)| (output, part * JOIN_WORK, out))
    });
    let pieces = parallel::for_each_then(pieces, work, parts, |pieces, (output, first, out)| {
        level.run(Join { pieces, output, first, out });
    });
    if used < columns {
        out.fill(0.0);
    }
    for (joined, out) in joined.chunks_exact(used.max(1)).zip(out.chunks_exact_mut(columns)) {
        for (&sum, &column) in joined.iter().zip(original) {
            out[column as usize] = sum;
        }
    }
    scratch::give(joined);
    for Piece { sums, totals, .. } in pieces {
        scratch::give(sums);
        scratch::give(totals);
    }
}

/// Adds up what the pieces found in some columns, in the order of the pieces, and rounds it.
struct Join<'a> {
    pieces: &'a [Piece],
    output: usize,
    /// The number of the first of the columns.
    first: usize,
    out: &'a mut [f64],
}

impl Kernel for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { pieces, output, first, out } = self;
        // The frequent columns have totals besides.
        let frequent = pieces.first().map_or(0, |piece| piece.frequent).saturating_sub(first).min(out.len());
        let (out, without) = out.split_at_mut(frequent);
        let (eights, rest) = out.as_chunks_mut::<LANES>();
        let last = first + eights.len() * LANES;
        for (k, out) in eights.iter_mut().enumerate() {
            let column = first + k * LANES;
            let mut total = [lanes.splat(0.0); 2];
            for piece in pieces {
                let [highs, lows] = piece.totals_from(output, column);
                total = add_lanes(lanes, total, eight(lanes, highs), eight(lanes, lows));
                let sums = eight(lanes, piece.sums_from(output, column));
                total = add_lanes(lanes, total, sums, lanes.splat(0.0));
            }
            *out = lanes.store(lanes.add(total[0], total[1])).0;
        }
        for (column, out) in (last..).zip(rest) {
            let total = pieces.iter().fold([0.0; 2], |total, piece| {
                let [highs, lows] = piece.totals_from(output, column);
                add(add(total, highs[0], lows[0]), piece.sums_from(output, column)[0], 0.0)
            });
            *out = total[0] + total[1];
        }
        let first = first + frequent;
        let (eights, rest) = without.as_chunks_mut::<LANES>();
        let last = first + eights.len() * LANES;
        for (k, out) in eights.iter_mut().enumerate() {
            let mut total = [lanes.splat(0.0); 2];
            for piece in pieces {
                let sums = eight(lanes, piece.sums_from(output, first + k * LANES));
                total = add_lanes(lanes, total, sums, lanes.splat(0.0));
            }
            *out = lanes.store(lanes.add(total[0], total[1])).0;
        }
        for (column, out) in (last..).zip(rest) {
            let sums = pieces.iter().map(|piece| piece.sums_from(output, column)[0]);
            let total = sums.fold([0.0; 2], |total, sum| add(total, sum, 0.0));
            *out = total[0] + total[1];
        }
    }
}

/// The first eight of these numbers, of which there are as many.
#[inline(always)]
fn eight<L: Lanes>(lanes: L, numbers: &[f64]) -> L::Vector {
    numbers.first_chunk().map_or(lanes.splat(f64::NAN), |eight| lanes.load(eight))
}

/// [`add`] for eight columns.
#[inline(always)]
fn add_lanes<L: Lanes>(lanes: L, total: [L::Vector; 2], high: L::Vector, low: L::Vector) -> [L::Vector; 2] {
    let (sum, lost) = lanes.two_sum(total[0], high);
    let (sum, rest) = lanes.two_sum(sum, lanes.add(total[1], lanes.add(lost, low)));
    [sum, rest]
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
