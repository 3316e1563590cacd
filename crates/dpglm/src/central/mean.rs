//! The mean of a table by private localisation and a tight clip.
//!
//! # Algorithm (after Cai et al. 2021 Algorithm 3.1)
//! 1. Scale each column to its public range.
//! 2. Each column's median and median distance from it, by private quantiles: the centre and the columns' units.
//! 3. A high private quantile of the rows' distances from the centre, in those units: the radius C.
//! 4. The mean of the rows clipped to the ball of radius C about the centre, with Gaussian noise.
//! 5. If intervals are asked for: the clipped rows' second moments per column, with Gaussian noise.
//!
//! Where rows and budget are too few for the columns' units to be told (a public fact), the columns keep their ranges as units, and the
//! centres get the budget: one unit that is far too small would throw all columns about. Where they are too few for
//! a median to be told from the ends of its range, steps 2 and 3 are left out: the
//! ball holds the whole box, and without intervals the noisy mean is drawn towards a public point, the more the noise outweighs it
//! (the positive part of James and Stein's estimator; a function of what was released).
//!
//! # Guarantee
//! Replacement of one row, or of all rows of one unit ([`crate::data::unit_means`]), for every data set: quantiles are selections of sensitivity 1, and clipped rows move their
//! mean by at most `2 C / n`, plus the bounded error of summation. The squares of a clipped row have l2 norm at most
//! `C^2` and are not negative, so they move their mean by at most `sqrt(2) C^2 / n`.
//!
//! # Differs from the paper
//! The clip is found privately and paid for; noise from the exact curve (the printed variance is too small by more
//! than half); an l2 ball about a private centre in place of a cube about zero.

use super::interval::{Interval, intervals, require_level};
use crate::accounting::Certificate;
use crate::data::MeanTable;
use crate::data::Shape;
use crate::data::clipping::clip_l2;
use crate::data::design::Design;
use crate::data::range::require_interval;
use crate::error::{Error, Parameter, Result};
use crate::mechanisms::Candidates;
use crate::privacy::Adjacency;
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession,
    Vector, require_shape,
};

/// The mean of a table whose columns lie in public ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateMean {
    ranges: Vec<(f64, f64)>,
    level: Option<f64>,
    /// Whether most means are expected at zero, not in the middle of their range.
    about_zero: bool,
}

/// A private mean.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanFit {
    /// One mean per column.
    pub means: Vec<f64>,
    /// Their confidence intervals, if asked for.
    pub intervals: Option<Vec<Interval>>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// The largest share of the medians, if the columns' units are told as well.
const LOCALISING: f64 = 0.28;
/// Their share if no units are told.
const LOCALISING_ALONE: f64 = 0.42;
/// Candidates for a median. More of them near the rows make up for more of them far away.
const PLACES: u64 = 16_385;
/// How many times narrower than its range a column may well be.
const NARROW: f64 = 65.0;
/// Octaves among which a column's unit is told.
const OCTAVES: i32 = 25;
const CENTRES: Handle<Chosen> = Handle::new("column medians");
const UNITS: Handle<Chosen> = Handle::new("column scales");
const RADIUS: Handle<Chosen> = Handle::new("radius");
const MEAN: Handle<Vector> = Handle::new("mean of clipped rows");
const SQUARES: Handle<Vector> = Handle::new("second moments of clipped rows");

impl PrivateMean {
    /// For columns that lie in these public ranges; what lies outside counts as the nearest end.
    pub fn new(ranges: Vec<(f64, f64)>) -> Result<Self> {
        if ranges.is_empty() {
            return Err(Error::Conflict("a mean of no columns: declare at least one range".into()));
        }
        for &(low, high) in &ranges {
            require_interval(Parameter::Range, (low, high), "declare the public range of each column")?;
        }
        Ok(Self { ranges, level: None, about_zero: false })
    }

    /// Also gives confidence intervals of this level (0.95), paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Result<Self> {
        self.level = Some(require_level(level)?);
        Ok(self)
    }

    /// Expects means about zero, where nothing better is known.
    pub(super) fn about_zero(mut self) -> Self {
        self.about_zero = true;
        self
    }

    /// Where a column's mean is expected before any row is seen.
    fn towards(&self, column: usize) -> f64 {
        let (low, high) = self.ranges[column];
        if self.about_zero { 0.0 } else { low / 2.0 + high / 2.0 }
    }

    /// Half of the rows in units of the noise of a rank, for one selection per column from this share of the budget: the logarithm of
    /// how much more likely a median is than a place at the end of its range. Public quantities only.
    fn gap(&self, rows: usize, privacy: Privacy, share: f64) -> f64 {
        0.5 * rows as f64 * privacy.mu() * (share / self.ranges.len() as f64).sqrt()
    }

    /// Every release, for this share of the budget: the more rows, the less the localisation needs.
    pub(super) fn plan(&self, rows: usize, privacy: Privacy, share: f64) -> Vec<PlannedRelease> {
        let mut plan = self.localisation(rows, privacy, share);
        if self.level.is_some() {
            plan.push(SQUARES.planned(0.06, 1));
        }
        let spent: f64 = plan.iter().map(|p| p.share).sum();
        plan.push(MEAN.planned(1.0 - spent, 1));
        plan.iter_mut().for_each(|line| line.share *= share);
        plan
    }

    /// The releases of steps 2 and 3, as many as the budget allows.
    fn localisation(&self, rows: usize, privacy: Privacy, share: f64) -> Vec<PlannedRelease> {
        let d = self.ranges.len();
        // Ranks known to one row in thirty, for all columns together.
        let reach = 300.0 * (d as f64 / share).sqrt() / (rows as f64 * privacy.mu());
        let medians = (reach * reach).clamp(0.02, LOCALISING);
        let units = 0.75 * medians;
        // The nearest unit may be half an octave off, which costs it up to a third of its advantage.
        let told = 0.7 * self.gap(rows, privacy, share * units) > (f64::from(OCTAVES) * d as f64).ln() + 4.0;
        if privacy == Privacy::None || told {
            return vec![
                CENTRES.planned(medians, d as u64),
                UNITS.planned(units, d as u64),
                RADIUS.planned(0.25 * medians, 1),
            ];
        }
        if self.gap(rows, privacy, share * LOCALISING_ALONE) > (NARROW * d as f64).ln() + 2.0 {
            return vec![
                CENTRES.planned(LOCALISING_ALONE, d as u64),
                RADIUS.planned(0.25 * LOCALISING_ALONE, 1),
            ];
        }
        Vec::new()
    }
}

impl Estimator for PrivateMean {
    type Rows<'r> = dyn MeanTable + 'r;
    type Shape = Shape;
    type Layout = ();
    type Fit = MeanFit;

    fn shape(table: &Self::Rows<'_>) -> Shape {
        table.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units: rows, .. } = shape;
        require_shape(columns, rows)?;
        shape.require_columns(self.ranges.len())?;
        let calibration = CalibratedPlan::new(self.plan(rows, privacy, 1.0), privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        table: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        _: Progress<'_>,
    ) -> Result<MeanFit> {
        let (means, intervals) = self.measure(table.design(), &mut session)?;
        let certificate = PrivateMean::enforced(session.close(table.adjacency()));
        Ok(MeanFit { means, intervals, certificate })
    }
}

impl PrivateMean {
    /// Notes what a measurement enforces.
    pub(super) fn enforced(certificate: Certificate) -> Certificate {
        let certificate = match certificate.adjacency().clone() {
            Adjacency::ReplaceUnit(unit) => {
                certificate.enforcing(format!("all rows of one {unit} count as one row, their mean"))
            }
            _ => certificate,
        };
        certificate
            .enforcing("entries outside their declared range count as its nearest end")
            .enforcing("rows are clipped to a ball: the released one, or one that holds the declared ranges")
    }

    /// Steps 1 to 5: the means and their intervals.
    pub(super) fn measure(
        &self,
        table: &Design,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(Vec<f64>, Option<Vec<Interval>>)> {
        let ranges = &self.ranges;
        let (d, rows) = (ranges.len(), table.rows());
        // Step 1: ranges become [-1, 1].
        let middle_and_half: Vec<(f64, f64)> =
            ranges.iter().map(|&(l, h)| (l / 2.0 + h / 2.0, (h - l) / 2.0)).collect();
        let entry = |row: usize, column: usize| {
            let (middle, half) = middle_and_half[column];
            ((table.entry(row, column) - middle) / half).clamp(-1.0, 1.0)
        };

        // Steps 2 and 3
        let localised = session.plans(CENTRES);
        let (centres, scales, radius) = if localised {
            localise(rows, d, entry, session)?
        } else {
            (vec![0.0; d], vec![1.0; d], (d as f64).sqrt() * (1.0 + 1e-12))
        };
        let standard = |row: usize, out: &mut [f64]| standardise(row, entry, &centres, &scales, out);
        let mut z = vec![0.0; d];

        // Step 4
        let mut sums = vec![0.0; d];
        let mut squares = vec![0.0; d];
        for row in 0..rows {
            standard(row, &mut z);
            clip_l2(&mut z, radius);
            for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(&z) {
                *sum += x;
                *square += x * x;
            }
        }
        let n = rows as f64;
        sums.iter_mut().for_each(|s| *s /= n);
        // Recursive summation errs by at most n u times the sum of absolute values, on both sides of a pair.
        let error = 2.0 * (n + 2.0) * f64::EPSILON * radius;
        session.vector(MEAN, &mut sums, 2.0 * radius / n + error)?;
        let deviation = session.noise_per_sensitivity(MEAN) * 2.0 * radius / n;
        if !localised && self.level.is_none() {
            let towards: Vec<f64> =
                (0..d).map(|j| (self.towards(j) - middle_and_half[j].0) / middle_and_half[j].1).collect();
            shrink(&mut sums, &towards, deviation);
        }
        let means: Vec<f64> = sums
            .iter()
            .enumerate()
            .map(|(j, m)| {
                let (middle, half) = middle_and_half[j];
                (middle + half * (centres[j] + scales[j] * m)).clamp(ranges[j].0, ranges[j].1)
            })
            .collect();
        // Step 5
        let intervals = match self.level {
            None => None,
            Some(level) => {
                squares.iter_mut().for_each(|s| *s /= n);
                let error = 2.0 * (n + 4.0) * f64::EPSILON * radius * radius;
                session.vector(SQUARES, &mut squares, 2f64.sqrt() * radius * radius / n + error)?;
                let variances = (0..d).map(|j| {
                    let sampling = (squares[j] - sums[j] * sums[j]).max(0.0) / n;
                    (sampling + deviation * deviation) * (scales[j] * middle_and_half[j].1).powi(2)
                });
                Some(intervals(&means, variances, level))
            }
        };
        Ok((means, intervals))
    }
}

/// Steps 2 and 3: centres, scales and the radius.
fn localise(
    rows: usize,
    d: usize,
    entry: impl Fn(usize, usize) -> f64 + Copy,
    session: &mut ReleaseSession<'_>,
) -> Result<(Vec<f64>, Vec<f64>, f64)> {
    // Step 2
    let places = Candidates::even(-1.0, 1.0, PLACES)?;
    let mut centres = Vec::with_capacity(d);
    for column in 0..d {
        let values: Vec<f64> = (0..rows).map(|row| entry(row, column)).collect();
        centres.push(session.quantile(CENTRES, &values, places, 0.5)?);
    }
    let mut scales = vec![1.0; d];
    if session.plans(UNITS) {
        let gap = 0.5 * rows as f64 / session.noise_per_sensitivity(UNITS).max(1e-300);
        let smallest = 2f64.powi(1 - OCTAVES);
        let sizes = Candidates::positive_geometric(smallest, 2.0, if gap > 20.0 { 8 } else { 1 })?;
        for (column, (scale, &centre)) in scales.iter_mut().zip(&centres).enumerate() {
            let values: Vec<f64> = (0..rows).map(|row| (entry(row, column) - centre).abs()).collect();
            *scale = session.quantile(UNITS, &values, sizes, 0.5)?.abs().max(smallest);
        }
    }

    // Step 3
    let standard = |row: usize, out: &mut [f64]| standardise(row, entry, &centres, &scales, out);
    let mut z = vec![0.0; d];
    let distances: Vec<f64> = (0..rows)
        .map(|row| {
            standard(row, &mut z);
            z.iter().map(|x| x * x).sum::<f64>().sqrt()
        })
        .collect();
    // No row is farther than this: the ranges and the released scales bound it.
    let farthest = 2.0 * scales.iter().map(|s| s.powi(-2)).sum::<f64>().sqrt();
    let nearest =
        if session.plans(UNITS) { (d as f64).sqrt() * 2f64.powi(-6) } else { farthest * 2f64.powi(-12) };
    let farthest = farthest.max(2.0 * nearest);
    // Again as fine as the noise allows. The quantile below stays within a quarter of the rows from the farthest.
    let gap = 0.25 * rows as f64 / session.noise_per_sensitivity(RADIUS).max(1e-300);
    let per_octave = (gap / 2.5).exp() / (farthest / nearest).log2();
    let radii = Candidates::positive_geometric(nearest, farthest, per_octave.clamp(2.0, 24.0) as u32)?;
    // Few enough rows that clipping them costs less than the noise, and enough that the candidates beyond all rows,
    // of which there are many, stay unlikely.
    let rank_noise = session.noise_per_sensitivity(RADIUS) * ((radii.count() as f64).ln() + 4.0);
    let blurred = 2.0 * (d as f64).sqrt() * session.noise_per_sensitivity(MEAN) + rank_noise;
    let quantile = 1.0 - (blurred / rows as f64).min(0.25);
    let radius = session.quantile(RADIUS, &distances, radii, quantile)?.abs().max(nearest);
    Ok((centres, scales, radius))
}

/// A row about the centres, in the columns' units.
fn standardise(
    row: usize,
    entry: impl Fn(usize, usize) -> f64,
    centres: &[f64],
    scales: &[f64],
    out: &mut [f64],
) {
    for (column, z) in out.iter_mut().enumerate() {
        *z = (entry(row, column) - centres[column]) / scales[column];
    }
}

/// Draws a noisy vector towards a point by the share of its squared distance that the noise explains.
fn shrink(values: &mut [f64], towards: &[f64], deviation: f64) {
    let distance: f64 = values.iter().zip(towards).map(|(x, p)| (x - p).powi(2)).sum();
    let noise = values.len() as f64 * deviation * deviation;
    let kept = if distance > noise { 1.0 - noise / distance } else { 0.0 };
    values.iter_mut().zip(towards).for_each(|(x, p)| *x = p + kept * (*x - p));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    /// Sixty rows at epsilon 0.2 place nothing in a range of 100: the mean is then drawn to the middle, not thrown about.
    #[test]
    fn means_that_cannot_be_placed_are_shrunk() {
        let truth: Vec<f64> = (0..10).map(|j| f64::from(j % 3) - 1.0).collect();
        let x: Vec<f64> = (0..600).map(|i| truth[i % 10] + f64::from((i / 10) as u32 % 7) - 3.0).collect();
        let table = Design::from_f64(60, 10, x).unwrap();
        let privacy = Privacy::Budget(Budget::new(0.2, 1e-5).unwrap());
        let model = PrivateMean::new(vec![(-50.0, 50.0); 10]).unwrap();
        assert!(model.localisation(60, privacy, 1.0).is_empty());
        assert_eq!(model.localisation(2_000, privacy, 1.0).len(), 2);
        assert_eq!(model.localisation(60_000, privacy, 1.0).len(), 3);
        let mut rng = RandomSource::from_os().unwrap();
        // The noise has norm 1,000 and more: thrown about, ten clamped means would be 150 from the truth.
        let errors = (0..20).map(|_| {
            let fit = model.fit(&table, privacy, &mut rng).unwrap();
            assert_eq!(fit.certificate.events().len(), 1);
            assert!(fit.certificate.verify().is_ok());
            fit.means.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        });
        assert!(errors.sum::<f64>() / 20.0 < 110.0);
        let exact = model.fit(&table, Privacy::None, &mut rng).unwrap();
        assert!(exact.means.iter().zip(&truth).all(|(a, b)| (a - b).abs() < 0.5), "{:?}", exact.means);
    }

    #[test]
    fn shrinkage_keeps_what_noise_does_not_explain() {
        let mut clear = vec![10.0, -10.0];
        shrink(&mut clear, &[0.0, 0.0], 1.0);
        assert!((clear[0] - 9.9).abs() < 1e-12 && (clear[1] + 9.9).abs() < 1e-12);
        let mut noise = vec![1.0, 3.0];
        shrink(&mut noise, &[0.5, 2.5], 1.0);
        assert_eq!(noise, [0.5, 2.5]);
    }
}
