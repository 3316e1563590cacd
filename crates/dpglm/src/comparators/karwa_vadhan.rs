//! The mean of each column of roughly normal data, from coarse public bounds.
//!
//! # Algorithm (Karwa and Vadhan 2018, unknown variance), column by column
//! 1. Scale: rows in pairs; a histogram of the sizes of their differences over powers of two; the fullest bin by the
//!    exponential mechanism. Its upper end s is the scale.
//! 2. Location: a histogram of the declared range in bins of width s; the fullest bin by the exponential mechanism. Its
//!    middle is m.
//! 3. Clip to `m +- s (1 + sqrt(2 ln n))`.
//! 4. The means of the clipped columns, each in units of its half width, as one Gaussian release.
//!
//! # Guarantee
//! Replacement of one row, for every data set: it changes one pair and one cell, hence each count by at most one: two
//! selections a column. In step 4 a row's entries lie in [-1, 1], so it moves the mean by at most `2 sqrt(d) / n`, plus the
//! bounded error of summation. Normality matters to accuracy only.
//!
//! # Why private
//! Exponential mechanisms and a Gaussian release, composed by the accountant. A histogram over millions of bins costs the
//! same: empty bins race as one group, weighted by their number.
//!
//! # Differs from the paper
//! The exponential mechanism over declared ranges in place of stability-based histograms, so no delta is spent on finding a
//! bin; one Gaussian release for all columns in place of a Laplace release each.
//!
//! # References
//! Karwa and Vadhan, *Finite sample differentially private confidence intervals*, ITCS 2018.

use crate::central::MeanFit;
use crate::data::Design;
use crate::data::Shape;
use crate::data::range::{LARGEST, LEAST, require_interval};
use crate::error::{Error, Parameter, Result};
use crate::privacy::Adjacency;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};
use std::collections::BTreeMap;

const SCALES: Handle<Chosen> = Handle::new("column scales");
const LOCATIONS: Handle<Chosen> = Handle::new("column locations");
const MEAN: Handle<Vector> = Handle::new("mean of clipped rows");
/// No histogram has more bins.
const MOST_BINS: f64 = (1_u64 << 40) as f64;

/// The mean of columns with declared ranges and a declared interval for their standard deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct KarwaVadhan {
    ranges: Vec<(f64, f64)>,
    smallest: f64,
    largest: f64,
}

impl KarwaVadhan {
    /// For columns whose means lie in these public ranges and whose standard deviations lie between two public numbers.
    pub fn new(ranges: Vec<(f64, f64)>, (smallest, largest): (f64, f64)) -> Result<Self> {
        if ranges.is_empty() {
            return Err(Error::Conflict("a mean of no columns: declare at least one range".into()));
        }
        if !((LEAST..=LARGEST).contains(&smallest) && smallest < largest && largest <= LARGEST) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Deviations,
                range: "two numbers within [1e-100, 1e100], the smaller first",
                value: format!("[{smallest}, {largest}]"),
                remedy: "declare public bounds on the columns' standard deviations",
            });
        }
        for &(low, high) in &ranges {
            require_interval(Parameter::Range, (low, high), "declare the public range of each column")?;
            if (high - low) / smallest > MOST_BINS {
                return Err(Error::OutOfRange {
                    parameter: Parameter::Range,
                    range: "at most 2^40 of the smallest deviation wide",
                    value: format!("[{low}, {high}]"),
                    remedy: "declare a narrower range or a larger smallest deviation",
                });
            }
        }
        Ok(Self { ranges, smallest, largest })
    }

    /// The exponents of two between which the scale's bins lie: bin k is `(2^(k-1), 2^k]`.
    fn exponents(&self) -> (i64, i64) {
        (self.smallest.log2().floor() as i64, self.largest.log2().ceil() as i64 + 2)
    }

    /// Step 1's histogram: the bin of each pair's difference, those outside at the nearest end.
    fn scale_bins(&self, column: &[f64]) -> BTreeMap<u64, u64> {
        let (first, last) = self.exponents();
        count(column.chunks_exact(2).map(|pair| {
            let size = (pair[0] - pair[1]).abs();
            let exponent =
                if size > 0.0 { size.log2().ceil().clamp(first as f64, last as f64) } else { first as f64 };
            (exponent as i64 - first) as u64
        }))
    }

    /// Steps 1 and 2 for one column: location and scale.
    fn locate(
        &self,
        column: &[f64],
        (low, high): (f64, f64),
        session: &mut ReleaseSession<'_>,
    ) -> Result<(f64, f64)> {
        let (first, last) = self.exponents();
        let bin = session.fullest(SCALES, &self.scale_bins(column), (last - first + 1) as u64)?;
        let scale = libm::exp2((first + bin as i64) as f64);
        let bins = ((high - low) / scale).ceil().max(1.0);
        let bin = session.fullest(LOCATIONS, &location_bins(column, low, scale, bins), bins as u64)?;
        Ok(((low + scale * (bin as f64 + 0.5)).clamp(low, high), scale))
    }
}

/// Step 2's histogram: the bin of each entry, those outside at the nearest end.
fn location_bins(column: &[f64], low: f64, scale: f64, bins: f64) -> BTreeMap<u64, u64> {
    count(column.iter().map(|x| ((x - low) / scale).floor().clamp(0.0, bins - 1.0) as u64))
}

fn count(bins: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    bins.for_each(|bin| *counts.entry(bin).or_insert(0) += 1);
    counts
}

/// Step 4 before its noise: the means of the columns, clipped and in units of their half widths.
fn clipped_means(columns: &[Vec<f64>], clips: &[(f64, f64)]) -> Vec<f64> {
    columns
        .iter()
        .zip(clips)
        .map(|(column, &(middle, half))| {
            let sum: f64 = column.iter().map(|x| ((x - middle) / half).clamp(-1.0, 1.0)).sum();
            sum / column.len() as f64
        })
        .collect()
}

/// What one row can change in [`clipped_means`], in l2 norm. Recursive summation errs by at most n u times the sum of sizes, on
/// both sides of a pair.
fn mean_sensitivity(rows: usize, columns: usize) -> f64 {
    let n = rows as f64;
    (2.0 / n + 2.0 * (n + 2.0) * f64::EPSILON) * (columns as f64).sqrt() * (1.0 + 1e-12)
}

impl Estimator for KarwaVadhan {
    type Rows<'r> = Design;
    type Shape = Shape;
    type Layout = ();
    type Fit = MeanFit;

    fn shape(table: &Self::Rows<'_>) -> Shape {
        table.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        if columns != self.ranges.len() {
            return Err(Error::Conflict(format!(
                "{} ranges for {columns} columns: there must be one per column",
                self.ranges.len()
            )));
        }
        let d = columns as u64;
        let plan = vec![SCALES.planned(0.15, d), LOCATIONS.planned(0.15, d), MEAN.planned(0.7, 1)];
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        table: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<MeanFit> {
        let (d, n) = (table.columns(), table.rows());
        let model = self;
        let mut columns = vec![Vec::with_capacity(n); d];
        for row in 0..n {
            columns.iter_mut().zip(table.row(row)).for_each(|(column, x)| column.push(x));
        }
        // Steps 1 to 3
        let reach = 1.0 + (2.0 * (n as f64).ln()).sqrt();
        let mut clips = Vec::with_capacity(d);
        for (column, &range) in columns.iter().zip(&model.ranges) {
            let (middle, scale) = model.locate(column, range, &mut session)?;
            clips.push((middle, scale * reach));
        }
        // Step 4
        let mut means = clipped_means(&columns, &clips);
        session.vector(MEAN, &mut means, mean_sensitivity(n, d))?;
        for ((mean, (middle, half)), (low, high)) in means.iter_mut().zip(&clips).zip(&model.ranges) {
            *mean = (middle + half * *mean).clamp(*low, *high);
        }
        let certificate = session
            .close(Adjacency::ReplaceRow)
            .enforcing("each entry is clipped to its column's released interval");
        Ok(MeanFit { means, intervals: None, certificate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::{Pair, pairs, uniform};
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    fn budget(epsilon: f64) -> Privacy {
        Privacy::Budget(Budget::new(epsilon, 1e-6).unwrap())
    }

    /// A sum of twelve uniforms is nearly normal, of variance 4.
    fn normal(rng: &mut RandomSource) -> f64 {
        (0..12).map(|_| uniform(rng)).sum::<f64>() / 2.0
    }

    #[test]
    fn finds_the_mean_in_a_huge_range() {
        let mut rng = RandomSource::insecure_seeded(4);
        let rows = 20_000;
        let x: Vec<f64> =
            (0..rows).flat_map(|_| [123.4 + normal(&mut rng), -9e5 + 100.0 * normal(&mut rng)]).collect();
        let table = Design::from_f64(rows, 2, x).unwrap();
        let model = KarwaVadhan::new(vec![(-1e6, 1e6); 2], (1e-3, 1e5)).unwrap();
        let fit = model.fit(&table, budget(1.0), &mut RandomSource::insecure_seeded(1)).unwrap();
        assert!((fit.means[0] - 123.4).abs() < 0.1, "{:?}", fit.means);
        assert!((fit.means[1] + 9e5).abs() < 10.0, "{:?}", fit.means);
    }

    /// Counts move by at most one and the means by at most what is claimed, for every neighbour.
    #[test]
    fn no_neighbour_moves_a_release_by_more_than_claimed() {
        let model = KarwaVadhan::new(vec![(-2.0, 2.0); 3], (1e-3, 10.0)).unwrap();
        let mut nearest = 0.0_f64;
        for Pair { left, right, .. } in pairs(4_000, 3, (0.0, 1.0), 13) {
            let columns = |data: &crate::data::Dataset| -> Vec<Vec<f64>> {
                let mut columns = vec![Vec::new(); 3];
                for row in 0..data.design().rows() {
                    columns.iter_mut().zip(data.design().row(row)).for_each(|(c, x)| c.push(x));
                }
                columns
            };
            let (a, b) = (columns(&left), columns(&right));
            for (a, b) in a.iter().zip(&b) {
                for (a, b) in [
                    (model.scale_bins(a), model.scale_bins(b)),
                    (location_bins(a, -2.0, 0.1, 40.0), location_bins(b, -2.0, 0.1, 40.0)),
                ] {
                    for bin in a.keys().chain(b.keys()) {
                        let count = |c: &BTreeMap<u64, u64>| c.get(bin).copied().unwrap_or(0);
                        assert!(count(&a).abs_diff(count(&b)) <= 1);
                    }
                }
            }
            let clips = [(0.0, 1.0), (0.5, 0.1), (-0.3, 2.0)];
            let (a, b) = (clipped_means(&a, &clips), clipped_means(&b, &clips));
            let moved = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let claim = mean_sensitivity(left.units(), 3);
            assert!(moved <= claim, "{moved} > {claim}");
            nearest = nearest.max(moved / claim);
        }
        assert!(nearest > 0.8, "{nearest}");
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(KarwaVadhan::new(vec![], (0.1, 1.0)).is_err());
        assert!(KarwaVadhan::new(vec![(1.0, 0.0)], (0.1, 1.0)).is_err());
        assert!(KarwaVadhan::new(vec![(0.0, f64::INFINITY)], (0.1, 1.0)).is_err());
        assert!(KarwaVadhan::new(vec![(0.0, 1e30)], (0.1, 1.0)).is_err());
        assert!(KarwaVadhan::new(vec![(0.0, 1.0)], (1.0, 0.1)).is_err());
        assert!(KarwaVadhan::new(vec![(0.0, 1.0)], (0.0, 0.1)).is_err());
        let model = KarwaVadhan::new(vec![(0.0, 1.0)], (0.1, 1.0)).unwrap();
        assert!(model.prepare(Shape::new(2, 100), budget(1.0)).is_err());
    }
}
