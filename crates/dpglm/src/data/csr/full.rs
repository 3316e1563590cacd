//! After which rows the plain sums of columns hold so many terms that they must join the columns' compensated totals.

/// The kernels add a row's entries to plain sums, one a column, and move them to the totals by groups of eight columns
/// whose numbers follow each other, which are about equally frequent.
///
/// After every block of [`Full::BLOCK`] rows the groups listed here have a column with at least [`Full::TERMS`] terms since
/// the group was last listed, and all others have none: no sum ever has `TERMS + BLOCK` terms or more, rare columns are not
/// touched again and again, and frequent ones in good time.
#[derive(Clone, PartialEq)]
pub(super) struct Full {
    /// Where each block's groups begin, and where the last one's end.
    offsets: Vec<usize>,
    /// By their numbers, ascending in each block.
    groups: Vec<u32>,
    /// The first so many groups are listed at some time: all other columns need no compensated total.
    pub frequent: usize,
}

impl Full {
    pub(super) const BLOCK: usize = 16;
    pub(super) const TERMS: u8 = 30;
    pub(super) const GROUP: usize = 8;

    /// `indices` are numbers of columns, the most frequent first, and `frequencies` says how often each occurs.
    pub(super) fn new(offsets: &[usize], indices: &[u32], frequencies: &[usize]) -> Self {
        let groups = frequencies.len().div_ceil(Self::GROUP);
        let mut terms = vec![[0_u8; Self::GROUP]; groups];
        let frequent = frequencies.partition_point(|&count| count >= usize::from(Self::TERMS));
        let mut full =
            Self { offsets: vec![0], groups: Vec::new(), frequent: frequent.div_ceil(Self::GROUP) };
        let rows = offsets.len() - 1;
        for start in (0..rows).step_by(Self::BLOCK) {
            let mut listed = Vec::new();
            for &column in &indices[offsets[start]..offsets[rows.min(start + Self::BLOCK)]] {
                let group = column as usize / Self::GROUP;
                let terms = &mut terms[group][column as usize % Self::GROUP];
                *terms += 1;
                if *terms == Self::TERMS {
                    listed.push(group as u32);
                }
            }
            listed.sort_unstable();
            listed.dedup();
            for &group in &listed {
                terms[group as usize] = [0; Self::GROUP];
            }
            full.groups.extend(listed);
            full.offsets.push(full.groups.len());
        }
        full
    }

    /// The groups listed after the block of rows that begins at `start`, a multiple of [`Full::BLOCK`].
    pub(super) fn after(&self, start: usize) -> &[u32] {
        let block = start / Self::BLOCK;
        &self.groups[self.offsets[block]..self.offsets[block + 1]]
    }
}
