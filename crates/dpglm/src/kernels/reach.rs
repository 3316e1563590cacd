//! How many entries of each column are large.

use super::lanes::{Kernel, Lanes, Level};
use crate::parallel;

/// Columns that one thread counts at a time: their counts stay in the nearest cache.
const WIDTH: usize = 1_024;

/// For every column, how many of these rows have an entry of at least each of the levels in absolute value.
pub(super) fn count<T: Copy + Sync + PartialOrd + std::ops::Neg<Output = T>, const LEVELS: usize>(
    instructions: Level,
    entries: &[T],
    columns: usize,
    rows: &[usize],
    levels: [T; LEVELS],
) -> Vec<[u32; LEVELS]> {
    let mut counts = vec![[0_u32; LEVELS]; columns];
    parallel::for_each(counts.chunks_mut(WIDTH).enumerate(), |(part, counts)| {
        instructions.run(Count { entries: &entries[part * WIDTH..], columns, rows, levels, counts });
    });
    counts
}

struct Count<'a, T, const LEVELS: usize> {
    entries: &'a [T],
    columns: usize,
    rows: &'a [usize],
    levels: [T; LEVELS],
    counts: &'a mut [[u32; LEVELS]],
}

impl<T: Copy + PartialOrd + std::ops::Neg<Output = T>, const LEVELS: usize> Kernel for Count<'_, T, LEVELS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let mut sums = [[0_u32; WIDTH]; LEVELS];
        for &row in self.rows {
            let entries = &self.entries[row * self.columns..][..self.counts.len()];
            for (sums, &level) in sums.iter_mut().zip(&self.levels) {
                for (sum, &x) in sums.iter_mut().zip(entries) {
                    *sum += u32::from((x >= level) | (-x >= level));
                }
            }
        }
        for (column, counts) in self.counts.iter_mut().enumerate() {
            for (count, sums) in counts.iter_mut().zip(&sums) {
                *count = sums[column];
            }
        }
    }
}
