//! Sparse rows: the columns that are not zero, and what stands in them.

mod columns;

use crate::error::{Error, Result};
use columns::Columns;
pub(crate) use columns::Indices;

/// Compressed sparse rows: row `i` has its entries at `offsets[i]..offsets[i + 1]`, by increasing column.
#[derive(Clone, PartialEq)]
pub struct Csr {
    offsets: Vec<usize>,
    columns: Columns,
    values: Values,
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
        mut indices: Vec<u32>,
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
        let original = columns::renumber(columns, &mut indices);
        Ok(Self { offsets, columns: Columns::new(indices, original), values })
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
        self.columns.entries()
    }

    /// The column of an entry; entries are numbered row after row.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn column(&self, entry: usize) -> usize {
        self.columns.of(entry)
    }

    /// The columns of the entries, row after row, as the kernels look them up.
    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The values of the entries, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The same rows with every value clamped to [-1, 1].
    pub(super) fn clamped(&self) -> Self {
        let mut clamped = self.clone();
        match &mut clamped.values {
            Values::F64(values) => values.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0)),
            Values::F32(values) => values.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0)),
            Values::Ones => {}
        }
        clamped
    }

    /// The columns and entries of one row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[row]..self.offsets[row + 1];
        range.map(|k| (self.columns.of(k), self.value(k)))
    }

    /// One entry; zero if it is not stored.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        let range = self.offsets[row]..self.offsets[row + 1];
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.columns.of(middle) < column {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < range.end && self.columns.of(low) == column { self.value(low) } else { 0.0 }
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
    fn frequent_columns_come_first_inside_and_nowhere_else() {
        let (offsets, indices) = (vec![0, 2, 5, 5, 6], vec![1, 9, 4, 7, 9, 4]);
        let csr = Csr::new(11, offsets, indices.clone(), Values::Ones).unwrap();
        assert_eq!(csr.columns().original(), [4, 9, 1, 7]);
        assert_eq!((0..6).map(|k| csr.column(k) as u32).collect::<Vec<_>>(), indices);
        assert_eq!(csr.row(1).map(|(j, _)| j).collect::<Vec<_>>(), [4, 7, 9]);
        let third: Vec<usize> = (0..11).filter(|&j| csr.entry(1, j) != 0.0).collect();
        assert_eq!(third, [4, 7, 9]);
        let empty = Csr::new(3, vec![0, 0], vec![], Values::Ones).unwrap();
        assert_eq!((empty.columns().original().len(), empty.entry(0, 2)), (0, 0.0));
    }

    #[test]
    fn many_entries_of_few_columns_take_two_bytes() {
        // `used` columns, each of them as often as the others, far apart.
        let csr = |used: usize, entries: usize| {
            let rows = entries / 8;
            let mut indices: Vec<u32> = (0..8 * rows).map(|k| (k % used * 3) as u32).collect();
            indices.chunks_exact_mut(8).for_each(<[u32]>::sort_unstable);
            Csr::new(3 * used, (0..=rows).map(|i| 8 * i).collect(), indices, Values::Ones).unwrap()
        };
        let narrow = |csr: &Csr| matches!(csr.columns().indices(), Indices::Narrow(_));
        assert!(narrow(&csr(Indices::TABLE, Indices::MANY)));
        assert!(!narrow(&csr(Indices::TABLE, Indices::MANY - 8)));
        assert!(!narrow(&csr(Indices::TABLE + 1, Indices::MANY + 8)));
        let csr = csr(Indices::TABLE, Indices::MANY);
        assert_eq!(csr.column(csr.entries() - 1), 3 * 65_535);
        assert_eq!([24, 25, 27, 45, 48].map(|j| csr.entry(1, j)), [1.0, 0.0, 1.0, 1.0, 0.0]);
    }
}
