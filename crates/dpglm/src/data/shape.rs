//! What is public of a data set: enough to plan every release.

use super::dataset::MOST_UNIT_ROWS;
use crate::error::{Error, Result};

/// The public facts of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The columns of the design, the constant one included.
    pub columns: usize,
    /// People, or rows where each row is a person.
    pub units: usize,
    /// Whether a person may have several rows.
    pub grouped: bool,
    /// Whether rows may have weight zero: those that lack a value, under the rule that drops them.
    pub dropped: bool,
    /// Whether rows have an exposure.
    pub exposures: bool,
    /// Whether rows have a sampling weight.
    pub weighted: bool,
}

impl Shape {
    /// One row a person, all of them counted, without exposures.
    pub fn new(columns: usize, units: usize) -> Self {
        Self { columns, units, grouped: false, dropped: false, exposures: false, weighted: false }
    }

    /// Refuses exposures where they mean nothing, and sampling weights.
    pub(crate) fn require_unweighted(self, takes_exposures: bool) -> Result<()> {
        self.require_exposures(takes_exposures)?;
        if self.weighted {
            return Err(Error::Conflict(
                "sample weights go with method likelihood alone: leave out one of the two".into(),
            ));
        }
        Ok(())
    }

    /// Refuses exposures where they mean nothing.
    pub(crate) fn require_exposures(self, taken: bool) -> Result<()> {
        if self.exposures && !taken {
            return Err(Error::Conflict(
                "exposures go with counts and amounts: fit a Poisson, gamma or Tweedie regression".into(),
            ));
        }
        Ok(())
    }

    /// Refuses another number of columns than declared.
    pub(crate) fn require_columns(self, declared: usize) -> Result<()> {
        if self.columns != declared {
            return Err(Error::Conflict(format!(
                "{declared} columns are declared, the table has {}: declare one range per column",
                self.columns
            )));
        }
        Ok(())
    }

    /// The most rows of a person that count in any sum.
    pub(crate) fn rows_per_unit(self) -> f64 {
        if self.grouped { f64::from(MOST_UNIT_ROWS) } else { 1.0 }
    }

    /// A person may have several rows.
    pub fn grouped(self) -> Self {
        Self { grouped: true, ..self }
    }

    /// Rows have a sampling weight.
    pub fn weighted(self) -> Self {
        Self { weighted: true, ..self }
    }

    /// Rows have an exposure.
    pub fn with_exposures(self) -> Self {
        Self { exposures: true, ..self }
    }
}
