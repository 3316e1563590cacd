//! Sparse rows: the columns that are not zero, and what stands in them.

use crate::error::{Error, Result};

/// Compressed sparse rows: row `i` has its entries at `offsets[i]..offsets[i + 1]`, by increasing column.
#[derive(Clone, PartialEq)]
pub struct Csr {
    offsets: Vec<usize>,
    indices: Vec<u32>,
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
        Ok(Self { offsets, indices, values })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where each row begins, and where the last one ends.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The columns of the entries, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The values of the entries, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The columns and entries of one row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[row]..self.offsets[row + 1];
        range.map(|k| (self.indices[k] as usize, self.value(k)))
    }

    /// One entry; zero if it is not stored.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        let range = self.offsets[row]..self.offsets[row + 1];
        let found = self.indices[range.clone()].binary_search_by(|&at| (at as usize).cmp(&column));
        found.map_or(0.0, |k| self.value(range.start + k))
    }

    fn value(&self, k: usize) -> f64 {
        match &self.values {
            Values::F64(values) => values[k],
            Values::F32(values) => f64::from(values[k]),
            Values::Ones => 1.0,
        }
    }
}
