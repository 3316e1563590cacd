//! Means of columns truncated at a level that is public, found privately, or not there: the three choices of Cai et al. 2021 §5.1.
//!
//! # Algorithm (Cai et al. 2021 Algorithm 3.1)
//! 1. The interval of each column: all reals; `[-R, R]` with `R = 4 sigma sqrt(ln n)`; or the 2.5% and 97.5% quantiles, privately.
//! 2. Clip each entry to its column's interval, scale the intervals to [-1, 1], and average.
//! 3. Gaussian noise.
//!
//! # Guarantee
//! Replacement of one row, for every data set, for the theoretical and the private level: quantiles are selections of
//! sensitivity 1, and a row of d entries in [-1, 1] moves the mean by at most `2 sqrt(d) / n`, plus the bounded error of
//! summation. Without truncation one row moves the mean by anything: there is no guarantee, and the certificate says so.
//!
//! # Differs from the paper
//! Noise from the exact curve; quantiles are accounted, by the exponential mechanism on ranks in place of Lei's Algorithm 1'. The
//! interval between two quantiles clips one row in twenty: [`crate::central::mean`] finds a wider clip and is the better
//! mean. This one is for comparison with the paper, and for columns that are known to be light-tailed.

use crate::accounting::Certificate;
use crate::data::Design;
use crate::data::Shape;
use crate::error::{Parameter, Result, require_positive};
use crate::mechanisms::Candidates;
use crate::privacy::Adjacency;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};

const QUANTILES: Handle<Chosen> = Handle::new("truncation quantiles");
const MEAN: Handle<Vector> = Handle::new("mean of truncated rows");
/// The quantiles' share of the budget.
const SHARE: f64 = 0.2;

/// Where entries are truncated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TruncationLevel {
    /// Nowhere. No privacy is promised.
    None,
    /// At `4 sigma sqrt(ln n)` on either side of zero, sigma a public number.
    Theoretical {
        /// The entries' scale.
        sigma: f64,
    },
    /// At private 2.5% and 97.5% quantiles of each column, among values between these public bounds.
    Private {
        /// No entry below this is worth telling apart.
        low: f64,
        /// No entry above this is worth telling apart.
        high: f64,
    },
}

/// The mean of truncated columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    level: TruncationLevel,
    columns: usize,
}

/// A truncated mean.
#[derive(Debug, Clone, PartialEq)]
pub struct TruncatedMean {
    /// One mean per column.
    pub means: Vec<f64>,
    /// Where each column was truncated.
    pub intervals: Vec<(f64, f64)>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

impl Truncation {
    /// For a table of `columns` columns.
    pub fn new(level: TruncationLevel, columns: usize) -> Result<Self> {
        match level {
            TruncationLevel::None => {}
            TruncationLevel::Theoretical { sigma } => {
                require_positive(Parameter::Sigma, sigma, "state the public scale of the entries")?;
            }
            TruncationLevel::Private { low, high } => {
                Candidates::even(low, high, 4_097)?;
            }
        }
        require_shape(columns, 2)?;
        Ok(Self { level, columns })
    }
}

impl Estimator for Truncation {
    type Rows<'r> = Design;
    type Shape = Shape;
    type Layout = ();
    type Fit = TruncatedMean;

    fn shape(table: &Self::Rows<'_>) -> Shape {
        table.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units: rows, .. } = shape;
        require_shape(columns, rows)?;
        shape.require_columns(self.columns)?;
        let plan = match self.level {
            TruncationLevel::Private { .. } => {
                vec![QUANTILES.planned(SHARE, 2 * self.columns as u64), MEAN.planned(1.0 - SHARE, 1)]
            }
            _ => vec![MEAN.planned(1.0, 1)],
        };
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(*self, (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        table: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<TruncatedMean> {
        let (d, rows) = (self.columns, table.rows());
        let n = rows as f64;
        let column = |j: usize| -> Vec<f64> { (0..rows).map(|row| table.entry(row, j)).collect() };

        // Step 1
        let intervals: Vec<(f64, f64)> = match self.level {
            TruncationLevel::None => {
                let largest = |j: usize| column(j).into_iter().fold(0.0, |a: f64, x| a.max(x.abs()));
                (0..d).map(|j| (-largest(j).min(1e150), largest(j).min(1e150))).collect()
            }
            TruncationLevel::Theoretical { sigma } => {
                let level = 4.0 * sigma * n.ln().sqrt();
                vec![(-level, level); d]
            }
            TruncationLevel::Private { low, high } => {
                let candidates = Candidates::even(low, high, 4_097)?;
                let mut ends = Vec::with_capacity(d);
                for j in 0..d {
                    let values = column(j);
                    let a = session.quantile(QUANTILES, &values, candidates, 0.025)?;
                    let b = session.quantile(QUANTILES, &values, candidates, 0.975)?;
                    ends.push((a.min(b), a.max(b)));
                }
                ends
            }
        };

        // Step 2
        let middle_and_half: Vec<(f64, f64)> = intervals
            .iter()
            .map(|&(a, b)| (0.5 * a + 0.5 * b, (0.5 * b - 0.5 * a).max(f64::MIN_POSITIVE)))
            .collect();
        let mut sums = vec![0.0; d];
        for row in 0..rows {
            for (j, sum) in sums.iter_mut().enumerate() {
                let (middle, half) = middle_and_half[j];
                let z = (table.entry(row, j) - middle) / half;
                *sum += if z.is_nan() { 0.0 } else { z.clamp(-1.0, 1.0) };
            }
        }
        sums.iter_mut().for_each(|s| *s /= n);

        // Step 3. Recursive summation errs by at most n u times the sum of absolute values, on both sides of a pair.
        let size = (d as f64).sqrt();
        session.vector(MEAN, &mut sums, 2.0 * size / n + 2.0 * (n + 2.0) * f64::EPSILON * size)?;
        let means = sums.iter().zip(&middle_and_half).map(|(m, (middle, half))| middle + half * m).collect();
        let certificate = match self.level {
            TruncationLevel::None => Certificate::without_promise(
                Adjacency::ReplaceRow,
                Vec::new(),
                "entries are not truncated, so one row can move the mean by any amount",
            ),
            _ => {
                session.close(Adjacency::ReplaceRow).enforcing("entries are clipped to the truncation level")
            }
        };
        Ok(TruncatedMean { means, intervals, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Grade;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    fn budget() -> Privacy {
        Privacy::Budget(Budget::new(1.0, 1e-6).unwrap())
    }

    /// Ten thousand entries of a bell about 2, and the same with a huge one, a NaN and an infinity in it.
    fn table(bad: &[f64]) -> Design {
        let mut x: Vec<f64> = (0..10_000_u32)
            .map(|i| {
                2.0 + (0..12).map(|k| f64::from((i * 7919 + k * 104_729) % 1_000) / 1_000.0).sum::<f64>()
                    - 6.0
            })
            .collect();
        bad.iter().enumerate().for_each(|(i, &b)| x[i] = b);
        Design::from_f64(10_000, 1, x).unwrap()
    }

    #[test]
    fn each_level_finds_the_mean_and_says_what_it_promises() {
        let clean = table(&[]);
        let exact: f64 = (0..10_000).map(|i| clean.entry(i, 0)).sum::<f64>() / 10_000.0;
        for level in
            [TruncationLevel::Theoretical { sigma: 1.0 }, TruncationLevel::Private { low: -50.0, high: 50.0 }]
        {
            for bad in [&[][..], &[1e300, f64::NAN, f64::INFINITY]] {
                let model = Truncation::new(level, 1).unwrap();
                let fit = model.fit(&table(bad), budget(), &mut RandomSource::from_os().unwrap()).unwrap();
                assert!((fit.means[0] - exact).abs() < 0.1, "{level:?} {:?} {exact}", fit.means);
                assert!(fit.certificate.verify().is_ok() && fit.certificate.guarantee().is_some());
            }
        }
        let none = Truncation::new(TruncationLevel::None, 1).unwrap();
        let fit = none.fit(&table(&[]), budget(), &mut RandomSource::from_os().unwrap()).unwrap();
        assert!(matches!(fit.certificate.grade(), Grade::None(_)) && fit.certificate.guarantee().is_none());
        // What "no truncation" means: one row moves the released number.
        let moved = none.fit(&table(&[1e6]), budget(), &mut RandomSource::from_os().unwrap()).unwrap();
        assert!((moved.means[0] - fit.means[0]).abs() > 10.0);
    }

    /// The theoretical level is 4 sigma sqrt(ln n) and reads no row.
    #[test]
    fn the_theoretical_level_is_public() {
        let model = Truncation::new(TruncationLevel::Theoretical { sigma: 2.0 }, 1).unwrap();
        let rng = &mut RandomSource::from_os().unwrap();
        let levels = [&[][..], &[1e9]].map(|bad| model.fit(&table(bad), budget(), rng).unwrap().intervals);
        assert_eq!(levels[0], levels[1]);
        assert!((levels[0][0].1 - 8.0 * 10_000f64.ln().sqrt()).abs() < 1e-9);
        assert!(Truncation::new(TruncationLevel::Theoretical { sigma: 0.0 }, 1).is_err());
        assert!(Truncation::new(TruncationLevel::Private { low: 1.0, high: 0.0 }, 1).is_err());
    }
}
