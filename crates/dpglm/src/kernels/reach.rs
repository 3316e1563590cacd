//! How many entries of each column are large.

use crate::parallel;

/// Columns that one thread counts at a time: their counts stay in the nearest cache.
const WIDTH: usize = 512;

/// For every column, how many of these rows have an entry of at least `level` in absolute value.
pub(super) fn count<T: Copy + Sync + PartialOrd + std::ops::Neg<Output = T>>(
    entries: &[T],
    columns: usize,
    rows: &[usize],
    level: T,
) -> Vec<u32> {
    let mut counts = vec![0_u32; columns];
    parallel::for_each(counts.chunks_mut(WIDTH).enumerate(), |(part, counts)| {
        for &row in rows {
            let start = row * columns + part * WIDTH;
            for (count, &x) in counts.iter_mut().zip(&entries[start..]) {
                *count += u32::from(x >= level || -x >= level);
            }
        }
    });
    counts
}
