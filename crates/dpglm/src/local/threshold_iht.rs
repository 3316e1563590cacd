//! Sparse regression from one threshold bit a user: a window about the fit that closes as the fit improves.
//!
//! # Algorithm
//! Users report a threshold `T_i` and a flipped bit once ([`super::threshold_bit`]). With `d_i` the unflipped reading of the bit,
//! whose mean is the chance that the label is above `T_i`, `m_i` the fitted mean, and a window c, the number
//! ```text
//! r_i = (high - low) (d_i - [T_i < m_i])   if |T_i - m_i| <= c,   else 0
//! ```
//! has the mean `clip(y_i - m_i, -c, c)`: the integral of `[T < y] - [T < m]` over the thresholds within c of m. So the
//! server can compute an unbiased version of Huber's score at every fit and for every c, from the same reports; its noise is
//! proportional to `sqrt(c)`. From zero coefficients, repeat:
//! 1. Close the window by a fifth as long as enough labels (about 70%) lie inside. Their share is read off the bits whose
//!    thresholds lie about the window's two edges.
//! 2. Correct each coefficient outside the support by the score's correlation with its column, and keep the s largest
//!    coefficients in the columns' units.
//! 3. Two Newton steps on this support.
//!
//! # Guarantee
//! That of the reports: pure epsilon under replacement of one user's label; features are public. All of the above is a function of
//! what was released, so that it may look at the reports as often as it likes.
//!
//! # Why it is better
//! Reading each report as a noisy label leaves noise in proportion to the whole declared interval. Here a bit whose threshold
//! is far from the fit, which says nothing new, is left out, and with it its noise: once residuals are small
//! only their own size counts, and a wide declared interval costs its square root.
//!
//! # Differs from the paper
//! Wang and Xu 2021 Algorithm 2 adds Gaussian noise to labels and runs the same descent on them. The solution is that of Huber's regression
//! in place of least squares: the same for errors symmetric about zero.
//!
//! # References
//! After Wang and Xu 2021 Algorithm 2; P. J. Huber, "Robust estimation of a location parameter", 1964.

use super::label_lasso::root_mean_squares;
use super::threshold_bit::{ThresholdBit, ThresholdReport};
use crate::central::screening::require_sparsity;
use crate::data::Design;
use crate::error::{Error, Parameter, Result, require_nonzero};
use crate::families::{Domain, Family};
use crate::kernels::{fused_pass, predict, weighted_gram};
use nalgebra::{DMatrix, DVector};

const ROUNDS: usize = 25;
/// What is left of a window that closes.
const CLOSING: f64 = 0.8;
/// A window closes only if this share of the labels stays inside, by more than the share's own deviation.
const SHARE: f64 = 0.7;
/// Fewer reports than this about an edge of the window say too little.
const FEWEST: f64 = 30.0;

/// Sparse regression from threshold reports.
///
/// ```
/// use dpglm::data::Design;
/// use dpglm::families::Family;
/// use dpglm::local::{ThresholdBit, ThresholdIht};
/// use dpglm::noise::RandomSource;
///
/// let bit = ThresholdBit::new((-4.0, 4.0), 1.0)?;
/// let mut rng = RandomSource::from_os()?;
/// let x: Vec<f64> = (0..4_000).map(|i| if (i / 2 + i) % 3 == 0 { 1.0 } else { -1.0 }).collect();
/// let reports: Vec<_> = x.chunks_exact(2).map(|row| bit.randomize(row[0], &mut rng)).collect();
/// let coefficients = ThresholdIht::new(Family::gaussian(), 1)?.fit(&Design::from_f64(2_000, 2, x)?, &bit, &reports)?;
/// assert_eq!(coefficients.len(), 2);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdIht {
    family: Family,
    sparsity: usize,
}

impl ThresholdIht {
    /// With at most `sparsity` coefficients that are not zero, for a real label: a linear model or a monotone link.
    pub fn new(family: Family, sparsity: usize) -> Result<Self> {
        require_nonzero(Parameter::Sparsity, sparsity as u64, "at least one coefficient must be free")?;
        if family.domain() != Domain::Real {
            return Err(Error::Conflict(
                "threshold bits are for real labels: use randomized response and LabelIht for binary ones"
                    .into(),
            ));
        }
        Ok(Self { family, sparsity })
    }

    /// The coefficients, from public features and one report a row.
    pub fn fit(&self, design: &Design, bit: &ThresholdBit, reports: &[ThresholdReport]) -> Result<Vec<f64>> {
        require_sparsity(self.sparsity, design.columns())?;
        if reports.len() != design.rows() {
            return Err(Error::Conflict(format!(
                "{} rows of features and {} reports: give one report a row",
                design.rows(),
                reports.len()
            )));
        }
        let bits = Bits::new(bit, reports);
        let sizes = root_mean_squares(design);
        let n = design.rows() as f64;
        let mut point = vec![0.0; design.columns()];
        let mut score = point.clone();
        let mut means = vec![0.0; design.rows()];
        let mut window = bits.length();
        let mut share = 1.0;
        for _ in 0..ROUNDS {
            predict(design, &point, &mut means);
            means.iter_mut().for_each(|m| *m = self.family.mean(*m));
            // Step 1
            while let Some(inside) = bits.share_inside(&means, CLOSING * window) {
                (window, share) = (CLOSING * window, inside);
            }
            // Step 2
            let family = &self.family;
            let residual = |row: usize, u: f64| family.mean_slope(u) * bits.residual(row, means[row], window);
            fused_pass(design, &point, residual, &mut score);
            let steepness = self.steepness(design, &point);
            let mut trial: Vec<f64> = (0..point.len())
                .map(|j| {
                    let curvature = n * share * steepness * sizes[j] * sizes[j];
                    if curvature > 0.0 { point[j] + score[j] / curvature } else { 0.0 }
                })
                .collect();
            keep_largest_scaled(&mut trial, &sizes, self.sparsity);
            // Step 3
            let support: Vec<usize> = (0..trial.len()).filter(|&j| trial[j] != 0.0).collect();
            if support.is_empty() {
                break;
            }
            let start: Vec<f64> = support.iter().map(|&j| trial[j]).collect();
            let refined = self.refine(&design.select_columns(&support)?, &bits, window, share, start);
            point.fill(0.0);
            support.iter().zip(refined).for_each(|(&j, b)| point[j] = b);
        }
        Ok(point)
    }

    /// The mean square of the link's derivative: 1 in a linear model.
    fn steepness(&self, design: &Design, point: &[f64]) -> f64 {
        if self.family.is_linear() {
            return 1.0;
        }
        let mut u = vec![0.0; design.rows()];
        predict(design, point, &mut u);
        u.iter().map(|u| self.family.mean_slope(*u).powi(2)).sum::<f64>() / design.rows() as f64
    }

    /// Newton steps on a few columns. The score is a step function of the coefficients, so its expected slope stands in for
    /// the derivative.
    fn refine(&self, chosen: &Design, bits: &Bits, window: f64, share: f64, mut b: Vec<f64>) -> Vec<f64> {
        let family = &self.family;
        for _ in 0..2 {
            let mut u = vec![0.0; chosen.rows()];
            predict(chosen, &b, &mut u);
            let mut score = vec![0.0; b.len()];
            let residual =
                |row: usize, u: f64| family.mean_slope(u) * bits.residual(row, family.mean(u), window);
            fused_pass(chosen, &b, residual, &mut score);
            let gram = weighted_gram(chosen, |row| share * family.mean_slope(u[row]).powi(2));
            let mut hessian = DMatrix::from_row_slice(b.len(), b.len(), &gram);
            let lift = 1e-9 * hessian.trace().abs();
            (0..b.len()).for_each(|j| hessian[(j, j)] += lift);
            // Columns that cannot be told apart, or too large to be squared, leave the coefficients where they are.
            let Some(factor) = hessian.cholesky() else { break };
            let step = factor.solve(&DVector::from_vec(score));
            if step.iter().all(|s| s.is_finite()) {
                b.iter_mut().zip(step.iter()).for_each(|(b, s)| *b += s);
            }
        }
        b
    }
}

/// The reports, read.
struct Bits {
    labels: (f64, f64),
    /// Deviation of a reading at most.
    deviation: f64,
    thresholds: Vec<f64>,
    readings: Vec<f64>,
}

impl Bits {
    fn new(bit: &ThresholdBit, reports: &[ThresholdReport]) -> Self {
        let q = bit.flip();
        Self {
            labels: bit.labels(),
            deviation: 0.5 / (1.0 - 2.0 * q),
            thresholds: reports.iter().map(|r| bit.threshold(r)).collect(),
            readings: reports.iter().map(|r| bit.above(r)).collect(),
        }
    }

    fn length(&self) -> f64 {
        self.labels.1 - self.labels.0
    }

    /// A fitted mean, taken to the interval in which labels lie.
    fn admit(&self, mean: f64) -> f64 {
        if mean.is_nan() {
            self.labels.0 / 2.0 + self.labels.1 / 2.0
        } else {
            mean.clamp(self.labels.0, self.labels.1)
        }
    }

    /// The number whose mean is the label's distance from `mean`, cut at the window.
    fn residual(&self, row: usize, mean: f64, window: f64) -> f64 {
        // A window that is still open cuts nothing: the plain residual has the same mean, and a root however few
        // reports there are.
        if window >= self.length() {
            let residual = self.labels.0 + self.length() * self.readings[row] - mean;
            return if residual.is_finite() { residual } else { 0.0 };
        }
        let mean = self.admit(mean);
        let threshold = self.thresholds[row];
        if (threshold - mean).abs() > window {
            return 0.0;
        }
        self.length() * (self.readings[row] - f64::from(u8::from(threshold < mean)))
    }

    /// The share of labels within the window about the fitted means, if it is known well enough and large enough: the
    /// chance to be above thresholds about the lower edge, less that of the upper edge.
    fn share_inside(&self, means: &[f64], window: f64) -> Option<f64> {
        let (mut sums, mut counts) = ([0.0; 2], [0.0_f64; 2]);
        for ((threshold, reading), mean) in self.thresholds.iter().zip(&self.readings).zip(means) {
            let distance = threshold - self.admit(*mean);
            if (0.5 * window..=1.5 * window).contains(&distance.abs()) {
                let edge = usize::from(distance > 0.0);
                sums[edge] += reading;
                counts[edge] += 1.0;
            }
        }
        if counts[0].min(counts[1]) < FEWEST {
            return None;
        }
        let share = sums[0] / counts[0] - sums[1] / counts[1];
        let deviation = self.deviation * (1.0 / counts[0] + 1.0 / counts[1]).sqrt();
        (share - deviation >= SHARE).then_some(share.min(1.0))
    }
}

/// Sets all but the `count` coordinates that are largest in units of `sizes` to zero.
fn keep_largest_scaled(v: &mut [f64], sizes: &[f64], count: usize) {
    if count >= v.len() {
        return;
    }
    let mut order: Vec<usize> = (0..v.len()).collect();
    let size = |j: usize| (v[j] * sizes[j]).abs();
    order.select_nth_unstable_by(count, |&i, &j| size(j).total_cmp(&size(i)).then(i.cmp(&j)));
    order[count..].iter().for_each(|&j| v[j] = 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::uniform;
    use crate::families::MonotoneLink;
    use crate::local::{LabelIht, seed};
    use crate::noise::RandomSource;

    /// A design of signs scaled by column, labels `f(<x, b>)` plus errors, and their reports.
    fn study(
        (n, p): (usize, usize),
        truth: &[(usize, f64)],
        scale: impl Fn(usize) -> f64,
        link: impl Fn(f64) -> f64,
        bit: &ThresholdBit,
        rng: &mut RandomSource,
    ) -> (Design, Vec<ThresholdReport>) {
        let x: Vec<f64> = (0..n * p).map(|k| if rng.coin() { scale(k % p) } else { -scale(k % p) }).collect();
        let reports = x
            .chunks_exact(p)
            .map(|row| {
                let u: f64 = truth.iter().map(|&(j, b)| b * row[j]).sum();
                bit.randomize(link(u) + 0.05 * uniform(rng), rng)
            })
            .collect();
        (Design::from_f64(n, p, x).unwrap(), reports)
    }

    fn error(b: &[f64], truth: &[(usize, f64)]) -> f64 {
        let at = |j| truth.iter().find(|t| t.0 == j).map_or(0.0, |t| t.1);
        b.iter().enumerate().map(|(j, b)| (b - at(j)) * (b - at(j))).sum::<f64>().sqrt()
    }

    #[test]
    fn scores_have_the_clipped_residual_as_mean() {
        // All thresholds on a fine lattice and both values of the bit, weighted by their exact probabilities.
        let bit = ThresholdBit::new((-2.0, 3.0), 0.7).unwrap();
        let q = bit.flip();
        for (label, mean, window) in
            [(1.0, 0.2, 0.5), (1.0, 0.2, 2.0), (-2.0, 3.0, 1.0), (3.0, -2.0, 9.0), (0.4, 0.4, 0.3)]
        {
            let cells: u32 = 1 << 16;
            let mut total = 0.0;
            for cell in 0..cells {
                let threshold = (cell << 16) + (1 << 15);
                for above in [false, true] {
                    let report = ThresholdReport { threshold, above };
                    let truly = bit.threshold(&report) < label;
                    let chance = if truly == above { 1.0 - q } else { q };
                    let bits = Bits::new(&bit, &[report]);
                    total += chance * bits.residual(0, mean, window) / f64::from(cells);
                }
            }
            let clipped = f64::clamp(label - mean, -window, window);
            assert!((total - clipped).abs() < 5.0 * 2.0 / f64::from(cells), "{total} for {clipped}");
        }
    }

    #[test]
    fn a_closing_window_beats_the_same_reports_read_as_noisy_labels() {
        let rng = &mut RandomSource::insecure_seeded(seed("a_closing_window_beats"));
        let bit = ThresholdBit::new((-4.0, 4.0), 1.0).unwrap();
        let truth = [(3, 0.6), (17, -0.5), (40, 0.3)];
        let (design, reports) = study((20_000, 60), &truth, |_| 1.0, |u| u, &bit, rng);
        let ours = ThresholdIht::new(Family::gaussian(), 3).unwrap().fit(&design, &bit, &reports).unwrap();
        let labels: Vec<f64> = reports.iter().map(|r| bit.value(r)).collect();
        let plain = LabelIht::new(Family::gaussian(), 3).unwrap().fit(&design, &labels).unwrap();
        // Deviations: 0.11 for the noisy labels on the true support, 0.02 for a window of 0.1.
        let (ours, plain) = (error(&ours, &truth), error(&plain, &truth));
        assert!(ours < 0.08, "{ours}");
        assert!(plain > 1.5 * ours, "{plain} against {ours}");
    }

    #[test]
    fn columns_of_other_units_and_steep_links_are_fitted() {
        let rng = &mut RandomSource::insecure_seeded(seed("columns_of_other_units_and_steep_links"));
        let bit = ThresholdBit::new((-20.0, 20.0), 2.0).unwrap();
        let link = |u: f64| 8.0 * u + u.cos();
        let truth = [(1, 0.5), (9, -0.007)];
        let scale = |j: usize| if j == 9 { 100.0 } else { 1.0 };
        let (design, reports) = study((20_000, 30), &truth, scale, link, &bit, rng);
        let family = Family::monotone(MonotoneLink::new(link, 7.0, 9.0).unwrap());
        let b = ThresholdIht::new(family, 2).unwrap().fit(&design, &bit, &reports).unwrap();
        assert!((b[1] - 0.5).abs() < 0.02 && (b[9] + 0.007).abs() < 2e-4, "{} {}", b[1], b[9]);
    }

    #[test]
    fn few_reports_and_useless_columns_end_in_numbers() {
        let rng = &mut RandomSource::insecure_seeded(seed("few_reports_and_useless_columns"));
        let bit = ThresholdBit::new((0.0, 1.0), 0.1).unwrap();
        for (n, scale) in [(2, 1.0), (40, 0.0), (40, 1e15), (500, 1e-15)] {
            let (design, reports) = study((n, 5), &[(0, 0.1)], |_| scale, |u| u, &bit, rng);
            let b = ThresholdIht::new(Family::gaussian(), 3).unwrap().fit(&design, &bit, &reports).unwrap();
            assert!(b.iter().all(|b| (b * scale).abs() < 100.0), "{n} rows of {scale}: {b:?}");
        }
    }

    #[test]
    fn wrong_input_is_refused() {
        assert!(ThresholdIht::new(Family::gaussian(), 0).is_err());
        assert!(ThresholdIht::new(Family::logistic(), 1).is_err());
        let bit = ThresholdBit::new((0.0, 1.0), 1.0).unwrap();
        let design = Design::from_f64(1, 1, vec![1.0]).unwrap();
        assert!(ThresholdIht::new(Family::gaussian(), 1).unwrap().fit(&design, &bit, &[]).is_err());
        let report = ThresholdReport { threshold: 0, above: true };
        assert!(ThresholdIht::new(Family::gaussian(), 2).unwrap().fit(&design, &bit, &[report]).is_err());
    }
}
