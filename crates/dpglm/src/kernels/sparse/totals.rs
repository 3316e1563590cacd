//! Sums on a grid, and totals of the blocks before, for every column.
//!
//! Every piece of the rows has sums of its own, and totals if it has more than one block of rows. So pieces are few: as many as
//! keep several cores busy, as long as their sums stay small beside the entries.

use super::entries::{Index, Rows, Values};
use super::scratch;
use crate::kernels::grid::Grid;
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

/// Where the pieces of the rows begin and end: about the same number of entries in each, whoever works on them.
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
        let end = low.min(rows);
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
    /// One table of sums on the grid for every output.
    pub sums: Vec<f64>,
    /// The length of each.
    pub length: usize,
    /// The totals of earlier blocks, for every output and group of columns: eight doubles, and eight rests. None where there is one
    /// block.
    totals: Vec<f64>,
    /// The columns that occur, and so many more that groups are whole.
    used: usize,
}

impl Piece {
    /// Lets the sums start.
    fn clear(&mut self, starts: &[f64]) {
        for sums in self.sums.chunks_exact_mut(self.length) {
            sums[..self.used].copy_from_slice(starts);
        }
        self.totals.fill(0.0);
    }

    /// The rows between which the sums join the totals.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let Range { start, end } = self.range;
        (start..end).step_by(Grid::rows(true)).map(move |start| start..end.min(start + Grid::rows(true)))
    }

    /// Moves the sums of a block to the totals, and lets them start again.
    #[inline(always)]
    pub fn join_block<L: Lanes>(&mut self, lanes: L, starts: &[f64]) {
        if self.totals.is_empty() {
            return;
        }
        let outputs =
            self.sums.chunks_exact_mut(self.length).zip(self.totals.chunks_exact_mut(2 * self.used));
        for (sums, totals) in outputs {
            let sums = sums[..self.used].as_chunks_mut::<LANES>().0;
            let totals = totals.as_chunks_mut::<LANES>().0.as_chunks_mut::<2>().0;
            for ((sums, [high, low]), start) in sums.iter_mut().zip(totals).zip(starts.as_chunks().0) {
                let added = lanes.sub(lanes.load(sums), lanes.load(start));
                let total = add(lanes, [lanes.load(high), lanes.load(low)], added, lanes.splat(0.0));
                (*high, *low) = (lanes.store(total[0]).0, lanes.store(total[1]).0);
                *sums = *start;
            }
        }
    }

    /// The sums of all groups.
    fn sums_of(&self, output: usize) -> &[[f64; LANES]] {
        self.sums[output * self.length..].as_chunks().0
    }

    /// The totals of all groups, if there are any.
    fn totals_of(&self, output: usize) -> &[[[f64; LANES]; 2]] {
        let all = self.totals.as_chunks().0.as_chunks().0;
        &all[(output * self.used / LANES).min(all.len())..]
    }
}

/// Does `work` on every piece of the rows and adds up what they found: a pair of doubles for every output and column. `starts` is
/// where the sums of columns begin; `work` is given it by the numbers of the columns.
pub(super) fn add_up<I: Index, V: Values>(
    level: Level,
    rows: Rows<'_, I, V>,
    outputs: usize,
    starts: &[f64],
    work: impl Fn(&mut Piece, &[f64]) + Sync,
) -> Vec<(f64, f64)> {
    let (columns, original) = (starts.len(), rows.csr.columns().original());
    let length = I::length(original.len());
    let used = original.len().next_multiple_of(LANES);
    let mut by_number = scratch::take(used);
    by_number.fill(0.0);
    for (start, &column) in by_number.iter_mut().zip(original) {
        *start = starts[column as usize];
    }
    let pieces = cuts(rows.offsets, outputs * columns)
        .into_iter()
        .map(|range| {
            let several = range.len() > Grid::rows(true);
            let totals = scratch::take(if several { outputs * 2 * used } else { 0 });
            Piece { range, sums: scratch::take(outputs * length), length, totals, used }
        })
        .collect();
    let work = |piece: &mut Piece| {
        piece.clear(&by_number);
        work(piece, &by_number);
    };
    let mut joined = scratch::take(outputs * 2 * used);
    let parts = joined.chunks_mut((2 * used).max(1)).enumerate().flat_map(|(output, joined)| {
        let parts = joined.as_chunks_mut().0.as_chunks_mut().0.chunks_mut(JOIN_WORK).enumerate();
        parts.map(move |(part, out)| (output, part * JOIN_WORK, out))
    });
    let pieces = parallel::for_each_then(pieces, work, parts, |pieces, (output, first, out)| {
        level.run(Join { pieces, output, first, starts: &by_number, out });
    });
    let mut out = vec![(0.0, 0.0); outputs * columns];
    for (joined, out) in joined.chunks_exact((2 * used).max(1)).zip(out.chunks_exact_mut(columns)) {
        let groups = joined.as_chunks::<LANES>().0.as_chunks::<2>().0;
        let pairs = groups.iter().flat_map(|[high, low]| high.iter().zip(low));
        for ((&high, &low), &column) in pairs.zip(original) {
            out[column as usize] = (high, low);
        }
    }
    scratch::give(joined);
    scratch::give(by_number);
    for Piece { sums, totals, .. } in pieces {
        scratch::give(sums);
        scratch::give(totals);
    }
    out
}

/// Adds up what the pieces found in some groups of columns.
struct Join<'a> {
    pieces: &'a [Piece],
    output: usize,
    /// The first of the groups.
    first: usize,
    starts: &'a [f64],
    out: &'a mut [[[f64; LANES]; 2]],
}

impl Kernel for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { pieces, output, first, starts, out } = self;
        let starts = starts.as_chunks().0;
        for (group, out) in (first..).zip(out) {
            let mut all = [lanes.splat(0.0); 2];
            let start = lanes.load(&starts[group]);
            for piece in pieces {
                if let Some([high, low]) = piece.totals_of(output).get(group) {
                    all = add(lanes, all, lanes.load(high), lanes.load(low));
                }
                let sum = lanes.sub(lanes.load(&piece.sums_of(output)[group]), start);
                all = add(lanes, all, sum, lanes.splat(0.0));
            }
            *out = [lanes.store(all[0]).0, lanes.store(all[1]).0];
        }
    }
}

/// `total + (high, low)`; nothing is lost of multiples of one grid, and the rest is again small beside the sum.
#[inline(always)]
fn add<L: Lanes>(lanes: L, [a, low_a]: [L::Vector; 2], high: L::Vector, low: L::Vector) -> [L::Vector; 2] {
    let (sum, lost) = lanes.two_sum(a, high);
    let (sum, rest) = lanes.two_sum(sum, lanes.add(low_a, lanes.add(lost, low)));
    [sum, rest]
}
