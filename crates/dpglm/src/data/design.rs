//! The matrix of features: one row a record.
//!
//! Storage is `f64` or `f32` row after row, one byte an entry with a public scale, or sparse rows. Every entry lies
//! within 1e30 of zero, so that no norm, product or predictor overflows: a bad cell has been mapped by a public rule
//! before it gets here, and a constructor that finds one left maps it to zero, or to the nearest bound, rather than
//! fail on a private value.

use super::Shape;
use super::csr::{Csr, Values};
use crate::error::{Error, Parameter, Result};

/// No entry is larger than this in absolute value.
const LARGEST: f64 = 1e30;

/// A matrix of features, row after row.
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
    /// One byte an entry, which means the real number `entry * scale`: genotypes, counts, grades.
    I8 {
        /// The whole numbers, row after row.
        entries: Vec<i8>,
        /// What one of them stands for.
        scale: f64,
    },
    /// Sparse rows.
    Csr(Csr),
}

impl Design {
    /// A design from `rows * columns` entries in double precision, row after row.
    pub fn from_f64(rows: usize, columns: usize, mut entries: Vec<f64>) -> Result<Self> {
        require_shape(rows, columns, entries.len())?;
        admit_f64(&mut entries);
        Ok(Self { rows, columns, storage: Storage::F64(entries) })
    }

    /// A design from `rows * columns` entries in single precision, row after row.
    pub fn from_f32(rows: usize, columns: usize, mut entries: Vec<f32>) -> Result<Self> {
        require_shape(rows, columns, entries.len())?;
        admit_f32(&mut entries);
        Ok(Self { rows, columns, storage: Storage::F32(entries) })
    }

    /// A design from `rows * columns` whole numbers, row after row, each standing for `scale` times its value.
    pub fn from_i8(rows: usize, columns: usize, entries: Vec<i8>, scale: f64) -> Result<Self> {
        require_shape(rows, columns, entries.len())?;
        if !(1e-20..=1e20).contains(&scale) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Scale,
                range: "within [1e-20, 1e20]",
                value: scale.to_string(),
                remedy: "measure the features in another unit",
            });
        }
        Ok(Self { rows, columns, storage: Storage::I8 { entries, scale } })
    }

    /// A sparse design: row `i` has the entries `offsets[i]..offsets[i + 1]` of `indices` (its columns from 0, strictly
    /// increasing) and `values`. A row may be empty.
    pub fn from_csr(
        columns: usize,
        offsets: Vec<usize>,
        indices: Vec<u32>,
        mut values: Values,
    ) -> Result<Self> {
        let rows = offsets.len().saturating_sub(1);
        require_some(rows, columns)?;
        if u32::try_from(columns).is_err() {
            return Err(Error::OutOfRange {
                parameter: Parameter::Columns,
                range: "at most 4,294,967,295 for a sparse design",
                value: columns.to_string(),
                remedy: "renumber the columns that occur, or hash them to fewer",
            });
        }
        match &mut values {
            Values::F64(values) => admit_f64(values),
            Values::F32(values) => admit_f32(values),
            Values::Ones => {}
        }
        Ok(Self { rows, columns, storage: Storage::Csr(Csr::new(columns, offsets, indices, values)?) })
    }

    /// The number of rows: public.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// What is public of it, each row being a person.
    pub fn shape(&self) -> Shape {
        Shape::new(self.columns, self.rows)
    }

    /// One entry, rounded to the nearest double.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        let at = row * self.columns + column;
        match &self.storage {
            Storage::F64(entries) => entries[at],
            Storage::F32(entries) => f64::from(entries[at]),
            Storage::I8 { entries, scale } => f64::from(entries[at]) * scale,
            Storage::Csr(csr) => csr.entry(row, column),
        }
    }

    /// One row's entries, column after column.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        let mut stored = self.stored(row).peekable();
        (0..self.columns).map(move |column| stored.next_if(|(at, _)| *at == column).map_or(0.0, |(_, x)| x))
    }

    /// The columns and entries of one row that are stored; all others are zero.
    pub(crate) fn stored(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = row * self.columns..(row + 1) * self.columns;
        let stored: Box<dyn Iterator<Item = (usize, f64)>> = match &self.storage {
            Storage::F64(entries) => Box::new(entries[range].iter().copied().enumerate()),
            Storage::F32(entries) => Box::new(entries[range].iter().map(|&x| f64::from(x)).enumerate()),
            Storage::I8 { entries, scale } => {
                Box::new(entries[range].iter().map(|&x| f64::from(x) * *scale).enumerate())
            }
            Storage::Csr(csr) => Box::new(csr.row(row)),
        };
        stored
    }

    /// Whether rows may be measured from a centre other than zero: sparse rows would no longer be sparse, and one-byte
    /// entries no longer be whole.
    pub(crate) fn can_be_centred(&self) -> bool {
        matches!(self.storage, Storage::F64(_) | Storage::F32(_))
    }

    /// Whether rows are stored sparsely.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Csr(_))
    }

    /// The same rows with every entry clamped to [-1, 1]; one-byte entries to the largest whole number inside.
    pub(crate) fn clamped(&self) -> Self {
        let storage = match &self.storage {
            Storage::F64(entries) => Storage::F64(entries.iter().map(|x| x.clamp(-1.0, 1.0)).collect()),
            Storage::F32(entries) => Storage::F32(entries.iter().map(|x| x.clamp(-1.0, 1.0)).collect()),
            Storage::I8 { entries, scale } => {
                let most = (1.0 / scale).min(127.0).floor() as i8;
                let entries = entries.iter().map(|&x| x.clamp(-most, most)).collect();
                Storage::I8 { entries, scale: *scale }
            }
            Storage::Csr(csr) => Storage::Csr(csr.clamped()),
        };
        Self { storage, ..*self }
    }

    /// Whether every entry is stored.
    pub(crate) fn is_dense(&self) -> bool {
        !matches!(self.storage, Storage::Csr(_))
    }

    /// The same rows with columns measured from a centre in a unit, where one is given, and clamped to [-1, 1]; one-byte entries in
    /// double precision. Sparse rows are refused.
    pub(crate) fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Self> {
        let map = |x: f64, map: &Option<(f64, f64)>| match map {
            Some((centre, unit)) => ((x - centre) / unit).clamp(-1.0, 1.0),
            None => x,
        };
        let all = maps.iter().cycle();
        let storage = match &self.storage {
            Storage::F64(entries) => Storage::F64(entries.iter().zip(all).map(|(&x, m)| map(x, m)).collect()),
            Storage::F32(entries) => {
                Storage::F32(entries.iter().zip(all).map(|(&x, m)| map(x.into(), m) as f32).collect())
            }
            Storage::I8 { entries, scale } => {
                let scaled = entries.iter().map(|&x| f64::from(x) * scale);
                Storage::F64(scaled.zip(all).map(|(x, m)| map(x, m)).collect())
            }
            Storage::Csr(_) => {
                return Err(Error::Conflict("sparse rows cannot be measured from a centre".into()));
            }
        };
        Ok(Self { storage, ..*self })
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

/// The public rule for entries: what is not a number counts as zero, what is too large as the largest.
fn admit_f64(entries: &mut [f64]) {
    for x in entries {
        *x = if x.is_nan() { 0.0 } else { x.clamp(-LARGEST, LARGEST) };
    }
}

fn admit_f32(entries: &mut [f32]) {
    let largest = LARGEST as f32;
    for x in entries {
        *x = if x.is_nan() { 0.0 } else { x.clamp(-largest, largest) };
    }
}

fn require_some(rows: usize, columns: usize) -> Result<()> {
    if rows == 0 || columns == 0 {
        return Err(Error::Conflict(format!(
            "a design of {rows} rows and {columns} columns: both must be at least 1"
        )));
    }
    Ok(())
}

fn require_shape(rows: usize, columns: usize, entries: usize) -> Result<()> {
    require_some(rows, columns)?;
    if rows.checked_mul(columns) != Some(entries) {
        return Err(Error::Conflict(format!(
            "{entries} numbers do not make a design of {rows} rows and {columns} columns"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(columns: usize, offsets: &[usize], indices: &[u32], values: &[f64]) -> Result<Design> {
        Design::from_csr(columns, offsets.to_vec(), indices.to_vec(), Values::F64(values.to_vec()))
    }

    #[test]
    fn sparse_rows_spread_out_and_bad_values_follow_the_rule() {
        let design = sparse(4, &[0, 2, 2, 4], &[1, 3, 0, 2], &[2.0, f64::NAN, f64::INFINITY, -0.0]).unwrap();
        let rows: Vec<Vec<f64>> = (0..3).map(|i| design.row(i).collect()).collect();
        assert_eq!(rows, [[0.0, 2.0, 0.0, 0.0], [0.0; 4], [1e30, 0.0, 0.0, 0.0]]);
        let ones = Design::from_csr(2, vec![0, 1], vec![1], Values::Ones).unwrap();
        assert_eq!(ones.row(0).collect::<Vec<_>>(), [0.0, 1.0]);
        let bytes = Design::from_i8(1, 3, vec![0, 1, -128], 0.25).unwrap();
        assert_eq!(bytes.row(0).collect::<Vec<_>>(), [0.0, 0.25, -32.0]);
    }

    #[test]
    fn broken_structures_are_refused() {
        let says = |result: Result<Design>, what: &str| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(what), "no {what:?} in: {message}");
        };
        says(sparse(2, &[], &[], &[]), "0 rows");
        says(sparse(2, &[0], &[], &[]), "0 rows");
        says(sparse(0, &[0, 0], &[], &[]), "0 columns");
        says(sparse(2, &[0, 1], &[0], &[]), "0 values for 1");
        says(sparse(2, &[1, 1], &[0], &[1.0]), "begin at 0");
        says(sparse(2, &[0, 0], &[0], &[1.0]), "end at 1");
        says(sparse(2, &[0, 2, 1, 3], &[0, 1, 0], &[1.0; 3]), "not decrease");
        says(sparse(2, &[0, 9, 1], &[0], &[1.0]), "not decrease");
        says(sparse(2, &[0, 2], &[1, 0], &[1.0; 2]), "must increase, row 0");
        says(sparse(2, &[0, 2], &[1, 1], &[1.0; 2]), "must increase");
        says(sparse(2, &[0, 0, 1], &[2], &[1.0]), "below 2, the number of columns, row 1");
        says(Design::from_i8(1, 2, vec![0], 1.0), "1 numbers do not make");
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e21] {
            says(Design::from_i8(1, 1, vec![0], scale), "scale must be within");
        }
    }
}
