//! The columns of sparse entries, numbered for speed: the most frequent first.
//!
//! A pass looks a number up for every entry, and adds to one. Words, genes and visits are such that few columns hold most
//! of the entries: side by side, their numbers fit the cache next to the processor. Columns without an entry have no number
//! at all. The numbering is a matter of layout: nothing that leaves the design speaks of it.

/// The columns of the entries, row after row, and what each was called when the design was made.
#[derive(Clone, PartialEq)]
pub(crate) struct Columns {
    indices: Indices,
    /// The column of each number.
    original: Vec<u32>,
}

/// Numbers of columns, one for every entry.
#[derive(Clone, PartialEq)]
pub(crate) enum Indices {
    /// Two bytes each. A table of [`Indices::TABLE`] numbers needs no check of such an index, which the kernels use.
    Narrow(Vec<u16>),
    /// Four bytes each.
    Wide(Vec<u32>),
}

impl Indices {
    /// The columns that two bytes can name.
    pub(crate) const TABLE: usize = 1 << 16;
    /// Entries beside which such tables are small.
    pub(super) const MANY: usize = 4 * Self::TABLE;

    fn new(used: usize, indices: Vec<u32>) -> Self {
        if used <= Self::TABLE && indices.len() >= Self::MANY {
            Self::Narrow(indices.into_iter().map(|column| column as u16).collect())
        } else {
            Self::Wide(indices)
        }
    }

    fn at(&self, k: usize) -> usize {
        match self {
            Self::Narrow(indices) => usize::from(indices[k]),
            Self::Wide(indices) => indices[k] as usize,
        }
    }
}

/// Gives the columns of these entries new numbers, and lists the columns by their numbers.
pub(super) fn renumber(columns: usize, indices: &mut [u32]) -> Vec<u32> {
    let mut counts = vec![0_u32; columns];
    let mut original = Vec::new();
    for &column in &*indices {
        let count = &mut counts[column as usize];
        if *count == 0 {
            original.push(column);
        }
        *count = count.saturating_add(1);
    }
    original.sort_unstable_by_key(|&column| (std::cmp::Reverse(counts[column as usize]), column));
    let mut numbers = counts;
    for (number, &column) in (0..).zip(&original) {
        numbers[column as usize] = number;
    }
    for column in indices {
        *column = numbers[*column as usize];
    }
    original
}

impl Columns {
    /// `indices` are numbers that [`renumber`] gave, and `original` is what it returned.
    pub(super) fn new(indices: Vec<u32>, original: Vec<u32>) -> Self {
        Self { indices: Indices::new(original.len(), indices), original }
    }

    /// The number of entries.
    pub(super) fn entries(&self) -> usize {
        match &self.indices {
            Indices::Narrow(indices) => indices.len(),
            Indices::Wide(indices) => indices.len(),
        }
    }

    /// The column of an entry.
    pub(super) fn of(&self, entry: usize) -> usize {
        self.original[self.indices.at(entry)] as usize
    }

    /// The number of each entry's column.
    pub(crate) fn indices(&self) -> &Indices {
        &self.indices
    }

    /// The column of each number.
    pub(crate) fn original(&self) -> &[u32] {
        &self.original
    }
}
