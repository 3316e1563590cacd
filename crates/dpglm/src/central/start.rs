//! Where a descent starts, and how large a score may be.
//!
//! # Algorithm
//! * Real responses: with an intercept, the median response; the upper quartile of the absolute residuals caps the score.
//! * Binary responses: with an intercept, the logit of the mean response. Their scores are bounded by 1/2 by themselves.
//! * Counts: with an intercept, the logarithm of events per exposure; the cap grows with the root of the rate.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. Quantiles are of one number per unit: selections of sensitivity 1. Means
//! are of one number per unit in [0, 1], whole multiples of `2^-24` rounded down and added exactly: a unit moves each by
//! at most `1/n`.

use super::glm::Glm;
use super::purse::{Planned, Privacy, Purse};
use crate::data::Dataset;
use crate::error::Result;
use crate::families::Family;
use crate::mechanisms::Candidates;

const CENTRE: &str = "response centre";
const SCALE: &str = "residual scale";
const RATE: &str = "response rate";
/// A mean of 1, as a whole number; 2^36 of them fit a 64-bit sum.
const ONE: f64 = 16_777_216.0;

/// Where to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Start {
    /// The linear predictor of every row, before exposures.
    pub base: f64,
    /// The first cap on the score.
    pub cap: f64,
}

impl Glm {
    /// Whether the response is a real number with an unknown scale.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.family, Family::Gaussian | Family::Monotone(_))
    }

    /// The releases of the start, and of the scale after burn-in.
    pub(crate) fn start_planned(&self, units: usize, privacy: Privacy) -> Result<Vec<Planned>> {
        let mut plan = Vec::new();
        if self.is_real() {
            if self.intercept {
                plan.push(Planned::quantiles(CENTRE, self.centres()?, 1, units, privacy));
            }
            plan.push(Planned::quantiles(SCALE, self.scales()?, 2, units, privacy));
        } else if self.intercept {
            plan.push(Planned::gaussian(RATE, 0.01, 1));
        }
        Ok(plan)
    }

    /// Releases the start.
    pub(crate) fn start(&self, data: &Dataset, response: &[f64], purse: &mut Purse<'_>) -> Result<Start> {
        match self.family {
            Family::Gaussian | Family::Monotone(_) => {
                let mut centre = 0.0;
                if self.intercept {
                    let responses = unit_means(data, |row| response[row]);
                    centre = purse.quantile(CENTRE, &responses, self.centres()?, 0.5)?;
                }
                let cap = self.residual_scale(data, |row| response[row] - centre, purse)?;
                // The inverse of a monotone link is not known.
                let base = if matches!(self.family, Family::Gaussian) { centre } else { 0.0 };
                Ok(Start { base, cap })
            }
            Family::Logistic => {
                let mut base = 0.0;
                if self.intercept {
                    let mut mean = vec![mean_of_units(data, |row| response[row])];
                    purse.vector(RATE, &mut mean, mean_sensitivity(data, 1))?;
                    let p = mean[0].clamp(0.02, 0.98);
                    base = (p / (1.0 - p)).ln();
                }
                Ok(Start { base, cap: 0.5 })
            }
            Family::Poisson => {
                let mut rate = 0.5;
                if self.intercept {
                    let events = mean_of_units(data, |row| response[row] / self.target.1);
                    let exposure = mean_of_units(data, |row| data.offset(row).exp().min(1.0));
                    let mut rates = vec![events, exposure];
                    purse.vector(RATE, &mut rates, mean_sensitivity(data, 2))?;
                    rate = (rates[0] * self.target.1 / rates[1].max(1e-3)).clamp(1e-4, self.target.1);
                }
                let base = if self.intercept { rate.ln() } else { 0.0 };
                Ok(Start { base, cap: 0.5 + 1.5 * rate.sqrt() })
            }
        }
    }

    /// The upper quartile of the units' mean absolute residuals: a cap that keeps most of the information.
    pub(super) fn residual_scale(
        &self,
        data: &Dataset,
        residual: impl Fn(usize) -> f64,
        purse: &mut Purse<'_>,
    ) -> Result<f64> {
        let sizes = unit_means(data, |row| residual(row).abs());
        purse.quantile(SCALE, &sizes, self.scales()?, 0.75)
    }

    /// Where a real response's centre may lie.
    fn centres(&self) -> Result<Candidates> {
        Candidates::even(self.target.0, self.target.1, 1025)
    }

    /// How large a real response's residuals may be.
    fn scales(&self) -> Result<Candidates> {
        let span = self.target.1 - self.target.0;
        Candidates::positive_geometric(span * 2f64.powi(-16), span, 8)
    }
}

/// One number per unit: the mean over its rows. A unit without rows counts as zero.
fn unit_means(data: &Dataset, value: impl Fn(usize) -> f64) -> Vec<f64> {
    let counts = data.sum_by_unit(|_| 1.0);
    let mut sums = data.sum_by_unit(value);
    for (sum, count) in sums.iter_mut().zip(&counts) {
        *sum /= count.max(1.0);
    }
    sums
}

/// The mean over the units of their rows' mean of a value in [0, 1]; rows of weight zero count as zero.
fn mean_of_units(data: &Dataset, value: impl Fn(usize) -> f64) -> f64 {
    let means = unit_means(data, |row| data.weight(row) * value(row));
    let total: u64 = means.into_iter().map(|m| (m.clamp(0.0, 1.0) * ONE) as u64).sum();
    total as f64 / (ONE * data.units() as f64)
}

/// What one unit moves a vector of such means by: each by 1/n, and the rounding of each on both sides.
fn mean_sensitivity(data: &Dataset, means: usize) -> f64 {
    (means as f64).sqrt() * (1.0 / data.units() as f64 + 4.0 * f64::EPSILON) * (1.0 + 1e-12)
}
