//! After which rows the plain sum of a column holds so many terms that it must join the column's compensated total.

/// The kernels add a row's entries to plain sums, one a column. After every block of [`Full::BLOCK`] rows the columns
/// listed here have had at least [`Full::TERMS`] terms since they were last listed, and all others fewer: no sum ever has
/// `TERMS + BLOCK` terms or more, rare columns are not touched again and again, and frequent ones in good time.
#[derive(Clone, PartialEq)]
pub(super) struct Full {
    /// Where each block's columns begin, and where the last one's end.
    offsets: Vec<usize>,
    /// By their numbers, ascending in each block.
    columns: Vec<u32>,
    /// The numbers below this one are listed at some time: all other columns need no compensated total.
    pub frequent: usize,
}

impl Full {
    pub(super) const BLOCK: usize = 16;
    pub(super) const TERMS: u8 = 30;

    /// `indices` are numbers of columns, the most frequent first, and `frequencies` says how often each occurs.
    pub(super) fn new(offsets: &[usize], indices: &[u32], frequencies: &[usize]) -> Self {
        let mut terms = vec![0_u8; frequencies.len()];
        let frequent = frequencies.partition_point(|&count| count >= usize::from(Self::TERMS));
        let mut full = Self { offsets: vec![0], columns: Vec::new(), frequent };
        let rows = offsets.len() - 1;
        for start in (0..rows).step_by(Self::BLOCK) {
            let first = full.columns.len();
            for &column in &indices[offsets[start]..offsets[rows.min(start + Self::BLOCK)]] {
                let terms = &mut terms[column as usize];
                *terms += 1;
                if *terms == Self::TERMS {
                    full.columns.push(column);
                }
            }
            let listed = &mut full.columns[first..];
            listed.sort_unstable();
            for &column in &*listed {
                terms[column as usize] = 0;
            }
            full.offsets.push(full.columns.len());
        }
        full
    }

    /// The columns listed after the block of rows that begins at `start`, a multiple of [`Full::BLOCK`].
    pub(super) fn after(&self, start: usize) -> &[u32] {
        let block = start / Self::BLOCK;
        &self.columns[self.offsets[block]..self.offsets[block + 1]]
    }
}
