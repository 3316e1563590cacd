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
/// Groups of columns that are joined at a time.
const JOIN_WORK: usize = 1 << 8;
/// What the caller's function of a row costs, in entries.
const ROW_WORK: usize = 16;

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
    /// The compensated totals of the frequent groups of columns, for every output: eight doubles nearest to the sums, and
    /// then the rests.
    totals: Vec<f64>,
    /// The number of frequent groups.
    frequent: usize,
}

impl Piece {
    /// Sets the sums and totals of so many columns to zero.
    fn clear(&mut self, columns: usize) {
        for sums in self.sums.chunks_exact_mut(self.length) {
            sums[..columns].fill(0.0);
        }
        self.totals.fill(0.0);
    }

    /// Moves the sums of these groups of columns to their totals.
    #[inline(always)]
    pub fn flush<L: Lanes>(&mut self, lanes: L, full: &[u32]) {
        if full.is_empty() {
            return;
        }
        let (length, frequent) = (self.length, 2 * LANES * self.frequent);
        let outputs = self.sums.chunks_exact_mut(length).zip(self.totals.chunks_exact_mut(frequent));
        for (sums, totals) in outputs {
            let (sums, totals) = (sums.as_chunks_mut::<LANES>().0, totals.as_chunks_mut::<LANES>().0);
            for &group in full {
                let sums = &mut sums[group as usize];
                let [high, low] = &mut totals.as_chunks_mut::<2>().0[group as usize];
                let total = [lanes.load(high), lanes.load(low)];
                let total = add(lanes, total, lanes.load(sums), lanes.splat(0.0));
                (*high, *low) = (lanes.store(total[0]).0, lanes.store(total[1]).0);
                *sums = [0.0; LANES];
            }
        }
    }

    /// The sums of all groups.
    fn sums_of(&self, output: usize) -> &[[f64; LANES]] {
        self.sums[output * self.length..].as_chunks().0
    }

    /// The totals of the frequent groups.
    fn totals_of(&self, output: usize) -> &[[[f64; LANES]; 2]] {
        let all = self.totals.as_chunks().0.as_chunks().0;
        &all[output * self.frequent..(output + 1) * self.frequent]
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
    let (original, frequent) = (rows.csr.columns().original(), rows.csr.frequent_groups());
    let length = I::length(original.len());
    let used = original.len().next_multiple_of(LANES);
    let pieces = cuts(rows.offsets, out.len())
        .into_iter()
        .map(|range| {
            let totals = scratch::take(outputs * frequent * 2 * LANES);
            Piece { range, sums: scratch::take(outputs * length), length, totals, frequent }
        })
        .collect();
    let work = |piece: &mut Piece| {
        piece.clear(used);
        work(piece);
    };
    let mut joined = scratch::take(outputs * used);
    let parts = joined.chunks_mut(used.max(1)).enumerate().flat_map(|(output, joined)| {
        let parts = joined.as_chunks_mut().0.chunks_mut(JOIN_WORK).enumerate();
        parts.map(move |(part, out)| (output, part * JOIN_WORK, out))
    });
    let pieces = parallel::for_each_then(pieces, work, parts, |pieces, (output, first, out)| {
        level.run(Join { pieces, output, first, out });
    });
    if original.len() < columns {
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

/// Adds up what the pieces found in some groups of columns, in the order of the pieces, and rounds it.
struct Join<'a> {
    pieces: &'a [Piece],
    output: usize,
    /// The first of the groups.
    first: usize,
    out: &'a mut [[f64; LANES]],
}

impl Kernel for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { pieces, output, first, out } = self;
        for (group, out) in (first..).zip(out) {
            let mut all = [lanes.splat(0.0); 2];
            for piece in pieces {
                if let Some([high, low]) = piece.totals_of(output).get(group) {
                    all = add(lanes, all, lanes.load(high), lanes.load(low));
                }
                all = add(lanes, all, lanes.load(&piece.sums_of(output)[group]), lanes.splat(0.0));
            }
            *out = lanes.store(lanes.add(all[0], all[1])).0;
        }
    }
}

/// `total + (high, low)`. Only the two additions to the low part round, and the rest is again small beside the sum.
#[inline(always)]
fn add<L: Lanes>(lanes: L, [a, low_a]: [L::Vector; 2], high: L::Vector, low: L::Vector) -> [L::Vector; 2] {
    let (sum, lost) = lanes.two_sum(a, high);
    let (sum, rest) = lanes.two_sum(sum, lanes.add(low_a, lanes.add(lost, low)));
    [sum, rest]
}
