//! The rows that an audit puts together and takes apart: dense, with a response each.

use crate::data::{Dataset, Design};
use crate::error::{Error, Result};

/// Rows with a response each; a mean has none, and zeros stand for it.
#[derive(Clone, PartialEq)]
pub struct Table {
    columns: usize,
    features: Vec<f64>,
    response: Vec<f64>,
}

impl Table {
    /// Rows one after the other.
    pub fn new(columns: usize, features: Vec<f64>, response: Vec<f64>) -> Result<Self> {
        if columns == 0 || response.len().checked_mul(columns) != Some(features.len()) {
            return Err(Error::Conflict(format!(
                "{} numbers do not make {} rows of {columns} columns",
                features.len(),
                response.len()
            )));
        }
        Ok(Self { columns, features, response })
    }

    /// The rows of a design, with their responses; zeros if there are none.
    pub fn of(design: &Design, response: &[f64]) -> Result<Self> {
        let features = (0..design.rows()).flat_map(|row| design.row(row)).collect();
        let response = if response.is_empty() { vec![0.0; design.rows()] } else { response.to_vec() };
        Self::new(design.columns(), features, response)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.response.len()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.features[row * self.columns..][..self.columns]
    }

    /// The responses.
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// Adds a row of as many columns.
    pub(crate) fn push(&mut self, features: &[f64], response: f64) {
        self.features.extend_from_slice(features);
        self.response.push(response);
    }

    /// The rows from `start` on, `count` of them.
    pub fn slice(&self, start: usize, count: usize) -> Result<Self> {
        let end = start.saturating_add(count);
        if end > self.rows() {
            return Err(Error::Conflict(format!("rows {start} to {end} of a table of {}", self.rows())));
        }
        let features = self.features[start * self.columns..end * self.columns].to_vec();
        Self::new(self.columns, features, self.response[start..end].to_vec())
    }

    /// The rows in another order.
    pub fn reordered(&self, order: &[usize]) -> Result<Self> {
        let mut table = Self { columns: self.columns, features: Vec::new(), response: Vec::new() };
        for &row in order {
            if row >= self.rows() {
                return Err(Error::Conflict(format!("row {row} of a table of {}", self.rows())));
            }
            table.push(self.row(row), self.response[row]);
        }
        Ok(table)
    }

    /// In how many places two tables differ; `None` if their shapes do.
    pub(crate) fn rows_that_differ(&self, other: &Self) -> Option<usize> {
        let same_shape = (self.rows(), self.columns) == (other.rows(), other.columns);
        let differs = |&i: &usize| self.row(i) != other.row(i) || self.response[i] != other.response[i];
        same_shape.then(|| (0..self.rows()).filter(differs).count())
    }

    /// The features.
    pub fn design(&self) -> Result<Design> {
        Design::from_f64(self.rows(), self.columns, self.features.clone())
    }

    /// The features with the responses.
    pub fn dataset(&self) -> Result<Dataset> {
        Dataset::new(self.design()?, self.response.clone())
    }
}

impl std::fmt::Debug for Table {
    /// Shape only: rows are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} rows, {} columns)", self.rows(), self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked_and_rows_come_back() {
        assert!(Table::new(2, vec![1.0; 5], vec![0.0; 2]).is_err());
        assert!(Table::new(0, vec![], vec![]).is_err());
        let table = Table::new(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]).unwrap();
        assert_eq!(format!("{table:?}"), "Table(3 rows, 2 columns)");
        assert_eq!(Table::of(&table.design().unwrap(), table.response()).unwrap(), table);
        assert_eq!(table.slice(1, 2).unwrap().row(0), [3.0, 4.0]);
        assert!(table.slice(2, 2).is_err() && table.reordered(&[3]).is_err());
        let turned = table.reordered(&[0, 2, 1]).unwrap();
        assert_eq!(table.rows_that_differ(&turned), Some(2));
        assert_eq!(table.rows_that_differ(&table.slice(0, 2).unwrap()), None);
    }
}
