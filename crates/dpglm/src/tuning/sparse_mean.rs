//! Sparse means whose number of columns is not known.
//!
//! # Algorithm
//! 1. The sparse mean of [`crate::central::sparse_mean`] with as many columns as there may be at most.
//! 2. Means within 2.75 standard errors of zero become zero. The errors follow from the released scales and the noise: this is a
//!    function of what was released.
//!
//! # Guarantee
//! That of the sparse mean, which it is. No validation is needed and no row is set aside: what tells a mean from zero is released with it.

use crate::central::select_refine::CLEAR;
use crate::central::{Prepared, Privacy, SparseMean, SparseMeanFit};
use crate::data::Design;
use crate::error::Result;
use crate::noise::RandomSource;

/// The mean of a table of which an unknown number of columns, up to a public largest one, differ from zero.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSparseMean {
    inner: SparseMean,
}

impl TunedSparseMean {
    /// For columns in these public ranges, each of which holds zero, at most `largest` of which have another mean.
    pub fn new(ranges: Vec<(f64, f64)>, largest: usize) -> Result<Self> {
        Ok(Self { inner: SparseMean::new(ranges, largest)?.keeping_clear(CLEAR) })
    }

    /// Also gives confidence intervals of this level (0.95), paid from the same budget. They hold given the columns.
    pub fn intervals(self, level: f64) -> Result<Self> {
        Ok(Self { inner: self.inner.intervals(level)? })
    }

    /// Calibrates the noise for a table of this many rows.
    pub fn prepare(&self, rows: usize, privacy: Privacy) -> Result<Prepared<SparseMean>> {
        self.inner.prepare(rows, privacy)
    }

    /// Prepares and fits.
    pub fn fit(&self, table: &Design, privacy: Privacy, rng: &mut RandomSource) -> Result<SparseMeanFit> {
        self.inner.fit(table, privacy, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::uniform;
    use crate::privacy::Budget;

    /// Four means of forty differ from zero; up to sixteen are allowed.
    #[test]
    fn means_that_are_zero_are_left_out() {
        let mut rng = RandomSource::insecure_seeded(31);
        let (n, d) = (4_000, 40);
        let truth = |j: usize| if j % 10 == 3 { 2.0 - j as f64 / 10.0 } else { 0.0 };
        let x: Vec<f64> = (0..n * d).map(|i| truth(i % d) + uniform(&mut rng)).collect();
        let table = Design::from_f64(n, d, x).unwrap();
        let model = TunedSparseMean::new(vec![(-20.0, 20.0); d], 16).unwrap();
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).unwrap());
        let fit = model.fit(&table, privacy, &mut RandomSource::from_os().unwrap()).unwrap();
        let mut found = vec![0.0; d];
        fit.support.iter().zip(&fit.fit.means).for_each(|(&j, &m)| found[j] = m);
        assert!((0..d).all(|j| (found[j] - truth(j)).abs() < 0.3), "{found:?}");
        assert!(fit.support.len() < 10 && fit.fit.intervals.is_none());
        assert!(fit.fit.certificate.verify().is_ok());
    }
}
