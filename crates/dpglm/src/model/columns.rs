//! Columns in their own units, and as they are stored: scaled by their public bounds, a constant one first where there is an intercept.

use crate::data::{Bounds, Design, Scale, Scaling, UserUnits};
use crate::error::{Error, Result};

/// The declared columns of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    pub names: Vec<String>,
    bounds: Vec<Bounds>,
}

impl Columns {
    /// Columns `x1`, `x2`, ... within these bounds.
    pub fn new(bounds: impl IntoIterator<Item = (f64, f64)>) -> Result<Self> {
        let bounds =
            bounds.into_iter().map(|(low, high)| Bounds::new(low, high)).collect::<Result<Vec<_>>>()?;
        if bounds.is_empty() {
            return Err(Error::Conflict("a model needs a column: declare the bounds of at least one".into()));
        }
        Ok(Self { names: (1..=bounds.len()).map(|j| format!("x{j}")).collect(), bounds })
    }

    pub fn name<S: Into<String>>(&mut self, names: impl IntoIterator<Item = S>) -> Result<()> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != self.bounds.len() {
            let (got, wanted) = (names.len(), self.bounds.len());
            return Err(Error::Conflict(format!("{got} names for {wanted} columns: give one per column")));
        }
        self.names = names;
        Ok(())
    }

    pub fn bounds(&self) -> &[Bounds] {
        &self.bounds
    }

    pub fn scalings(&self, intercept: bool) -> Vec<Scaling> {
        self.bounds.iter().map(|&bounds| Scaling::new(bounds, Scale::Symmetric, intercept)).collect()
    }

    /// From coefficients of the stored columns to the user's.
    pub fn user_units(&self, intercept: bool) -> UserUnits {
        UserUnits::new(self.scalings(intercept))
    }

    /// The cells row after row, those outside their bounds at the nearest end and those that are no numbers in the middle.
    pub fn cells<'a, R: AsRef<[f64]>>(
        &'a self,
        rows: &'a [R],
    ) -> Result<impl Iterator<Item = (usize, f64)> + 'a> {
        let d = self.bounds.len();
        if let Some(row) = rows.iter().find(|row| row.as_ref().len() != d) {
            let got = row.as_ref().len();
            return Err(Error::Conflict(format!(
                "a row of {got} cells for {d} columns: give one per column"
            )));
        }
        Ok(rows.iter().flat_map(move |row| {
            row.as_ref()
                .iter()
                .zip(&self.bounds)
                .enumerate()
                .map(|(j, (&x, bounds))| (j, if x.is_nan() { bounds.midpoint() } else { bounds.clamp(x) }))
        }))
    }

    /// The rows as stored.
    pub fn design<R: AsRef<[f64]>>(&self, rows: &[R], intercept: bool) -> Result<Design> {
        let (d, scalings) = (self.bounds.len(), self.scalings(intercept));
        let width = d + usize::from(intercept);
        let mut entries = Vec::with_capacity(rows.len() * width);
        for (j, x) in self.cells(rows)? {
            if j == 0 && intercept {
                entries.push(1.0);
            }
            entries.push(scalings[j].apply(x));
        }
        Design::from_f64(rows.len(), width, entries)
    }
}
