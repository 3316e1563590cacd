//! The matrix of features: one row a record.
//!
//! Storage is `f64` or `f32`, row after row. Every entry is finite: a bad cell has been mapped by a public rule
//! before it gets here, and a constructor that finds one left maps it to zero rather than fail on a private value.

use crate::error::{Error, Result};

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
        for x in entries.iter_mut().filter(|x| !x.is_finite()) {
            *x = 0.0;
        }
        Ok(Self { rows, columns, storage: Storage::F64(entries) })
    }

    /// A design from `rows * columns` entries in single precision, row after row.
    pub fn from_f32(rows: usize, columns: usize, mut entries: Vec<f32>) -> Result<Self> {
        require_shape(rows, columns, entries.len())?;
        for x in entries.iter_mut().filter(|x| !x.is_finite()) {
            *x = 0.0;
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
