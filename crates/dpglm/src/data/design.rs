//! The matrix of features: one row a record.
//!
//! Storage is `f64` or `f32`, row after row. Every entry lies within 1e30 of zero, so that no norm, product or
//! predictor overflows: a bad cell has been mapped by a public rule before it gets here, and a constructor that finds
//! one left maps it to zero, or to the nearest bound, rather than fail on a private value.

use crate::error::{Error, Result};

/// No entry is larger than this in absolute value.
const LARGEST: f64 = 1e30;

/// A dense matrix of features, row-major.
#[derive(Clone, PartialEq)]
pub struct Design {
    rows: usize,
    columns: usize,
    storage: Storage,
}

/// How the entries are stored.
#[derive(Clone, PartialEq)]
pub enum Storage {
    /// Double precision.
    F64(Vec<f64>),
    /// Single precision: half the memory traffic, exact conversion to `f64` on the way through.
    F32(Vec<f32>),
}

impl Design {
    /// A design from `rows * columns` entries in double precision, row after row.
    pub fn from_f64(rows: usize, columns: usize, mut entries: Vec<f64>) -> Result<Self> {
        require_shape(rows, columns, entries.len())?;
        for x in &mut entries {
            *x = if x.is_nan() { 0.0 } else { x.clamp(-LARGEST, LARGEST) };
        }
        Ok(Self { rows, columns, storage: Storage::F64(entries) })
    }

    /// A design from `rows * columns` entries in single precision, row after row.
    pub fn from_f32(rows: usize, columns: usize, mut entries: Vec<f32>) -> Result<Self> {
        require_shape(rows, columns, entries.len())?;
        let largest = LARGEST as f32;
        for x in &mut entries {
            *x = if x.is_nan() { 0.0 } else { x.clamp(-largest, largest) };
        }
        Ok(Self { rows, columns, storage: Storage::F32(entries) })
    }

    /// The number of rows: public.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row's entries.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        let range = row * self.columns..(row + 1) * self.columns;
        let (double, single) = match &self.storage {
            Storage::F64(entries) => (Some(entries[range].iter().copied()), None),
            Storage::F32(entries) => (None, Some(entries[range].iter().map(|&x| f64::from(x)))),
        };
        double.into_iter().flatten().chain(single.into_iter().flatten())
    }

    /// The entries.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }
}

impl std::fmt::Debug for Design {
    /// Shape only: entries are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Design({} rows, {} columns)", self.rows, self.columns)
    }
}

fn require_shape(rows: usize, columns: usize, entries: usize) -> Result<()> {
    if rows == 0 || columns == 0 {
        return Err(Error::Conflict(format!(
            "a design of {rows} rows and {columns} columns: both must be at least 1"
        )));
    }
    if rows.checked_mul(columns) != Some(entries) {
        return Err(Error::Conflict(format!(
            "{entries} numbers do not make a design of {rows} rows and {columns} columns"
        )));
    }
    Ok(())
}
