//! A table clamped to its public box: every entry within a bound of zero, every response in its domain.
//!
//! Estimators for many columns bound a row by its largest entry, not by its length. The clamp holds for the numbers stored,
//! so whatever is computed from the copy is bounded for every data set.

use super::{Dataset, Design};
use crate::error::{Error, Result};

/// Rows with all entries in `[-entry, entry]` and admitted responses.
pub(crate) struct Boxed {
    pub design: Design,
    pub response: Vec<f64>,
}

impl Boxed {
    /// Clamps a table. A row of weight zero becomes a row of zeros: it stays counted and contributes nothing.
    ///
    /// Refuses what is public and not supported here: several rows a unit, and exposures.
    pub(crate) fn new(data: &Dataset, entry: f64, admit: impl Fn(f64) -> f64) -> Result<Self> {
        require_plain(data)?;
        let (rows, columns) = (data.design().rows(), data.design().columns());
        let mut entries = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            let bound = entry * data.weight(row);
            entries.extend(data.design().row(row).map(|x| x.clamp(-bound, bound)));
        }
        let response = data.response().iter().map(|&y| admit(y)).collect();
        Ok(Self { design: Design::from_f64(rows, columns, entries)?, response })
    }
}

/// Refuses data that has more than rows and responses.
pub(crate) fn require_plain(data: &Dataset) -> Result<()> {
    if data.unit_name().is_some() || data.has_offsets() || data.shape().weighted {
        return Err(Error::Conflict(
            "this method takes one row a person, no exposures and no sample weights: use the dense models for them".into(),
        ));
    }
    Ok(())
}

impl std::fmt::Debug for Boxed {
    /// Shape only: rows are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Boxed({:?})", self.design)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_inside_the_box_whatever_they_were() {
        let entries = vec![1e300, f64::NAN, -f64::INFINITY, 0.25, 5.0, 5.0];
        let data = Dataset::new(Design::from_f64(3, 2, entries).unwrap(), vec![f64::NAN, 2.0, 3.0]).unwrap();
        let data = data.with_weights(vec![1.0, 1.0, 0.0]).unwrap();
        let boxed = Boxed::new(&data, 0.5, |y| if y.is_nan() { 0.0 } else { y }).unwrap();
        let rows: Vec<f64> = (0..3).flat_map(|row| boxed.design.row(row)).collect();
        assert_eq!(rows, [0.5, 0.0, -0.5, 0.25, 0.0, 0.0]);
        assert_eq!(boxed.response, [0.0, 2.0, 3.0]);
        assert_eq!(boxed.design.select_columns(&[1]).unwrap().row(1).collect::<Vec<_>>(), [0.25]);
        let units = data.with_units(vec![0, 0, 1], 2, "person").unwrap();
        assert!(Boxed::new(&units, 0.5, |y| y).is_err());
    }
}
