//! What is public of a data set: enough to plan every release.

use super::dataset::MOST_UNIT_ROWS;

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
}

impl Shape {
    /// One row a person, all of them counted, without exposures.
    pub fn new(columns: usize, units: usize) -> Self {
        Self { columns, units, grouped: false, dropped: false, exposures: false }
    }

    /// The most rows of a person that count in any sum.
    pub(crate) fn rows_per_unit(self) -> f64 {
        if self.grouped { f64::from(MOST_UNIT_ROWS) } else { 1.0 }
    }

    /// A person may have several rows.
    pub fn grouped(self) -> Self {
        Self { grouped: true, ..self }
    }

    /// Rows have an exposure.
    pub fn with_exposures(self) -> Self {
        Self { exposures: true, ..self }
    }
}
