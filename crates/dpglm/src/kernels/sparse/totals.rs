//! Plain sums of a few terms, and a compensated total, for every column.
//!
//! Every piece of the rows has sums and totals of its own, so pieces are few: as many as keep several cores busy, as
//! long as their totals stay small beside the entries.

use super::entries::{Index, Rows, Values};
use crate::data::csr::Csr;
use crate::kernels::lanes::{Kernel, LANES, Lanes, Level};
use crate::parallel;
use std::ops::Range;

/// More pieces than this would cost much memory where there are a million columns.
const MOST_PIECES: usize = 16;
/// Entries that are worth a piece of their own.
const PIECE_WORK: usize = 1 << 15;
/// Columns that are worth a thread of their own when the pieces are joined.
const JOIN_WORK: usize = 1 << 16;
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
    /// The compensated totals of the frequent columns, for every output.
    totals: Vec<Total>,
    /// The number of frequent columns.
    frequent: usize,
}

impl Piece {
    /// Moves the sums of these columns to their totals.
    #[inline(always)]
    pub fn flush(&mut self, full: &[u32]) {
        if full.is_empty() {
            return;
        }
        let (length, frequent) = (self.length, self.frequent);
        let outputs = self.sums.chunks_exact_mut(length).zip(self.totals.chunks_exact_mut(frequent));
        for (sums, totals) in outputs {
            for &column in full {
                let (sum, total) = (&mut sums[column as usize], &mut totals[column as usize]);
                *total = add(*total, *sum, 0.0);
                *sum = 0.0;
            }
        }
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
    let length = I::length(original.len());
    let mut pieces: Vec<Piece> = cuts(rows.offsets, out.len())
        .into_iter()
        .map(|range| Piece { range, sums: vec![], length, totals: vec![], frequent })
        .collect();
    parallel::for_each(pieces.iter_mut(), |piece| {
        // Whoever works on a piece makes room for it, in memory of its own.
        piece.sums = vec![0.0; outputs * length];
        piece.totals = vec![[0.0; 2]; outputs * frequent];
        work(piece);
    });
    let step = original.len().div_ceil(MOST_PIECES).max(JOIN_WORK);
    let mut joined = vec![0.0; original.len()];
    for (output, out) in out.chunks_exact_mut(columns).enumerate() {
        parallel::for_each(joined.chunks_mut(step).enumerate(), |(part, out)| {
            level.run(Join { pieces: &pieces, output, first: part * step, out });
        });
        out.fill(0.0);
        for (&sum, &column) in joined.iter().zip(original) {
            out[column as usize] = sum;
        }
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
        let sums = |piece: &Piece, column: usize| piece.sums[output * piece.length + column];
        // The frequent columns have totals besides.
        let frequent = pieces.first().map_or(0, |piece| piece.frequent).saturating_sub(first).min(out.len());
        let (with_totals, out) = out.split_at_mut(frequent);
        for (column, out) in (first..).zip(with_totals) {
            let total = pieces.iter().fold([0.0; 2], |total, piece| {
                let [high, low] = piece.totals[output * piece.frequent + column];
                add(add(total, high, low), sums(piece, column), 0.0)
            });
            *out = total[0] + total[1];
        }
        let first = first + frequent;
        let (eights, rest) = out.as_chunks_mut::<LANES>();
        let last = first + eights.len() * LANES;
        for (k, out) in eights.iter_mut().enumerate() {
            let (mut high, mut low) = (lanes.splat(0.0), lanes.splat(0.0));
            for piece in pieces {
                let from = output * piece.length + first + k * LANES;
                for sums in piece.sums[from..from + LANES].as_chunks::<LANES>().0 {
                    let (sum, lost) = lanes.two_sum(high, lanes.load(sums));
                    (high, low) = lanes.two_sum(sum, lanes.add(low, lost));
                }
            }
            *out = lanes.store(lanes.add(high, low)).0;
        }
        for (column, out) in (last..).zip(rest) {
            let total = pieces.iter().fold([0.0; 2], |total, piece| add(total, sums(piece, column), 0.0));
            *out = total[0] + total[1];
        }
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
