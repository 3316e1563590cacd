//! Sparse rows: the columns that are not zero, and what stands in them.

use crate::error::{Error, Result};

/// Compressed sparse rows: row `i` has its entries at `offsets[i]..offsets[i + 1]`, by increasing column.
#[derive(Clone, PartialEq)]
pub struct Csr {
    offsets: Vec<usize>,
    indices: Indices,
    values: Values,
    full: Full,
}

/// The columns of the entries, row after row.
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
    const MANY: usize = 4 * Self::TABLE;

    fn new(columns: usize, indices: Vec<u32>) -> Self {
        if columns <= Self::TABLE && indices.len() >= Self::MANY {
            Self::Narrow(indices.into_iter().map(|column| column as u16).collect())
        } else {
            Self::Wide(indices)
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Narrow(indices) => indices.len(),
            Self::Wide(indices) => indices.len(),
        }
    }

    fn at(&self, k: usize) -> usize {
        match self {
            Self::Narrow(indices) => usize::from(indices[k]),
            Self::Wide(indices) => indices[k] as usize,
        }
    }
}

/// After which rows the plain sum of a column holds so many terms that it must join the column's compensated total.
///
/// The kernels add a row's entries to plain sums, one a column. After every block of [`Full::BLOCK`] rows the columns
/// listed here have had at least [`Full::TERMS`] terms since they were last listed, and all others fewer: no sum ever has
/// `TERMS + BLOCK` terms or more, rare columns are not touched again and again, and frequent ones in good time.
#[derive(Clone, PartialEq)]
struct Full {
    /// Where each block's columns begin, and where the last one's end.
    offsets: Vec<usize>,
    columns: Vec<FullColumn>,
    /// The columns that are ever listed, ascending: all others need no compensated total.
    frequent: Vec<u32>,
}

/// A column whose plain sum must join its compensated total.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct FullColumn {
    pub column: u32,
    /// Its place among the columns that have a compensated total.
    pub place: u32,
}

impl Full {
    const BLOCK: usize = 16;
    const TERMS: u8 = 30;

    fn new(columns: usize, offsets: &[usize], indices: &[u32]) -> Self {
        let mut terms = vec![0_u8; columns];
        let mut listed: Vec<u32> = Vec::new();
        let mut full = Self { offsets: vec![0], columns: Vec::new(), frequent: Vec::new() };
        let rows = offsets.len() - 1;
        for start in (0..rows).step_by(Self::BLOCK) {
            let first = listed.len();
            for &column in &indices[offsets[start]..offsets[rows.min(start + Self::BLOCK)]] {
                let terms = &mut terms[column as usize];
                *terms += 1;
                if *terms == Self::TERMS {
                    listed.push(column);
                }
            }
            for &column in &listed[first..] {
                terms[column as usize] = 0;
            }
            full.offsets.push(listed.len());
        }
        full.frequent.clone_from(&listed);
        full.frequent.sort_unstable();
        full.frequent.dedup();
        let mut places = vec![0; columns];
        for (place, &column) in (0..).zip(&full.frequent) {
            places[column as usize] = place;
        }
        full.columns =
            listed.into_iter().map(|column| FullColumn { column, place: places[column as usize] }).collect();
        full
    }
}

/// What stands in the columns that are not zero.
#[derive(Clone, PartialEq)]
pub enum Values {
    /// Double precision.
    F64(Vec<f64>),
    /// Single precision, converted exactly on the way through.
    F32(Vec<f32>),
    /// One everywhere: four bytes an entry.
    Ones,
}

impl Csr {
    /// Checks the structure. Values are the caller's to check.
    pub(super) fn new(
        columns: usize,
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Values,
    ) -> Result<Self> {
        let refuse = |message: String| Err(Error::Conflict(message));
        let counted = match &values {
            Values::F64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::Ones => indices.len(),
        };
        if counted != indices.len() {
            return refuse(format!(
                "{counted} values for {} column indices of a sparse design: there must be one for each",
                indices.len()
            ));
        }
        if offsets.first() != Some(&0) || offsets.last() != Some(&indices.len()) {
            return refuse(format!(
                "the row offsets of a sparse design must begin at 0 and end at {}, the number of its entries",
                indices.len()
            ));
        }
        if !offsets.is_sorted() {
            return refuse("the row offsets of a sparse design must not decrease: sort the rows".into());
        }
        for (row, range) in offsets.windows(2).enumerate() {
            let indices = &indices[range[0]..range[1]];
            if !indices.is_sorted_by(|a, b| a < b) {
                return refuse(format!(
                    "the column indices of a sparse row must increase, row {row}: sort each row and add up \
                     repeated entries"
                ));
            }
            if indices.last().is_some_and(|&last| last as usize >= columns) {
                return refuse(format!(
                    "a column index of a sparse design must be below {columns}, the number of columns, row {row}: \
                     count from 0 or declare more columns"
                ));
            }
        }
        let full = Full::new(columns, &offsets, &indices);
        Ok(Self { offsets, indices: Indices::new(columns, indices), values, full })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where each row begins, and where the last one ends.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The number of entries that are stored.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// The column of an entry; entries are numbered row after row.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn column(&self, entry: usize) -> usize {
        self.indices.at(entry)
    }

    /// The columns of the entries, row after row.
    pub(crate) fn indices(&self) -> &Indices {
        &self.indices
    }

    /// The values of the entries, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Rows that are worked on together.
    pub(crate) const BLOCK: usize = Full::BLOCK;
    /// The most terms that a plain sum has before it joins its compensated total: what the kernels allow a block of rows.
    #[cfg(test)]
    pub(crate) const MOST_TERMS: usize = Full::BLOCK + Full::TERMS as usize - 1;

    /// The columns whose plain sums must join their totals after the block of rows that begins at `start`, a multiple of
    /// [`Csr::BLOCK`], whatever block the sums began with.
    pub(crate) fn full_after(&self, start: usize) -> &[FullColumn] {
        let block = start / Full::BLOCK;
        &self.full.columns[self.full.offsets[block]..self.full.offsets[block + 1]]
    }

    /// The columns that have a compensated total, ascending.
    pub(crate) fn frequent(&self) -> &[u32] {
        &self.full.frequent
    }

    /// The columns and entries of one row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[row]..self.offsets[row + 1];
        range.map(|k| (self.indices.at(k), self.value(k)))
    }

    /// One entry; zero if it is not stored.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        let range = self.offsets[row]..self.offsets[row + 1];
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.indices.at(middle) < column {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < range.end && self.indices.at(low) == column { self.value(low) } else { 0.0 }
    }

    fn value(&self, k: usize) -> f64 {
        match &self.values {
            Values::F64(values) => values[k],
            Values::F32(values) => f64::from(values[k]),
            Values::Ones => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sum_has_too_many_terms() {
        // Column 0 in every row, 1 in every third, 2 once.
        let rows = 1_000_usize;
        let (mut offsets, mut indices) = (vec![0], Vec::new());
        for row in 0..rows {
            indices.extend((0..3_u32).filter(|&j| [true, row % 3 == 0, row == 500][j as usize]));
            offsets.push(indices.len());
        }
        let csr = Csr::new(3, offsets, indices, Values::Ones).unwrap();
        assert_eq!(Csr::MOST_TERMS, 45);
        assert_eq!(csr.frequent(), [0, 1]);
        for first in [0, 32, 320] {
            let (mut terms, mut most, mut joined) = ([0; 3], 0, [0; 3]);
            for start in (first..rows).step_by(Csr::BLOCK) {
                for row in start..rows.min(start + Csr::BLOCK) {
                    csr.row(row).for_each(|(j, _)| terms[j] += 1);
                }
                most = most.max(terms.into_iter().max().unwrap_or(0));
                for full in csr.full_after(start) {
                    assert_eq!(csr.frequent()[full.place as usize], full.column);
                    terms[full.column as usize] = 0;
                    joined[full.column as usize] += 1;
                }
            }
            assert!(most <= Csr::MOST_TERMS);
            assert!(joined[0] > 20 && joined[1] > 5 && joined[2] == 0);
        }
    }

    #[test]
    fn many_entries_of_few_columns_take_two_bytes() {
        let csr = |columns: usize, rows: usize| {
            let indices = (0..8 * rows).map(|k| (k % 8) as u32 * (columns as u32 / 8)).collect();
            Csr::new(columns, (0..=rows).map(|i| 8 * i).collect(), indices, Values::Ones).unwrap()
        };
        let rows = Indices::MANY / 8;
        assert!(matches!(csr(Indices::TABLE, rows).indices(), Indices::Narrow(_)));
        assert!(matches!(csr(Indices::TABLE, rows - 1).indices(), Indices::Wide(_)));
        assert!(matches!(csr(Indices::TABLE + 1, rows).indices(), Indices::Wide(_)));
        let csr = csr(Indices::TABLE, rows);
        assert_eq!(csr.column(csr.entries() - 1), 7 * 8_192);
        assert_eq!([0, 1, 8_192, 65_535].map(|j| csr.entry(9, j)), [1.0, 0.0, 1.0, 0.0]);
        assert!(csr.row(rows - 1).map(|(j, _)| j).eq((0..8).map(|k| k * 8_192)));
    }
}
