//! Amounts above zero with a log-linear mean: claim sizes, charges, durations.
//!
//! The variance is a multiple of the square of the mean. The score `y / mean - 1` depends on the response relative to its mean alone, so
//! neither its bound nor anything else depends on the unit of the amounts. The multiple, the dispersion, is not needed for estimates; standard
//! errors are those of the scores as they are.

use super::{Domain, Family, ResponseFamily, RowScore, likelihood::finite, simulate};
use crate::noise::RandomSource;

/// An amount with a log-linear mean.
#[derive(Debug)]
struct Gamma;

impl Family {
    /// An amount above zero with a log-linear mean, times the exposure.
    pub fn gamma() -> Self {
        Self::built_in(Gamma)
    }
}

/// Log-means beyond this are cut: no amount within the largest bounds is as large.
pub(super) const LARGEST_LOG_MEAN: f64 = 230.0;

impl ResponseFamily for Gamma {
    fn name(&self) -> &'static str {
        "gamma"
    }

    fn summary(&self) -> &'static str {
        "An amount above 0, such as a claim or a charge: log-linear regression"
    }

    fn domain(&self) -> Domain {
        Domain::Positive
    }

    fn mean(&self, predictor: f64) -> f64 {
        predictor.clamp(-LARGEST_LOG_MEAN, LARGEST_LOG_MEAN).exp()
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        self.mean(predictor)
    }

    /// That of a mean of one: there is no largest.
    fn steepest(&self) -> f64 {
        1.0
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some(mean.ln())
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn takes_exposures(&self) -> bool {
        true
    }

    fn variance(&self, mean: f64) -> f64 {
        mean * mean
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let ratio = y / self.mean(predictor);
        2.0 * (ratio - 1.0 - ratio.ln())
    }

    fn likelihood_score(&self, (y, offset): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let residual = y / self.mean(finite(predictor) + offset) - 1.0;
        (residual, RowScore { size: residual.abs(), slope: 1.0 })
    }

    /// Of an exponential distribution: dispersion 1.
    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        -self.mean(predictor) * (1.0 - simulate::uniform(rng)).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_do_not_depend_on_the_unit() {
        let family = Family::gamma();
        for (y, u) in [(3.0, 0.5), (1e-3, -2.0), (40.0, 9.0)] {
            let (plain, row) = family.likelihood_score((y, 0.0), u);
            let (other, _) = family.likelihood_score((1e6 * y, 0.0), u + 1e6_f64.ln());
            let (exposed, _) = family.likelihood_score((1e6 * y, 1e6_f64.ln()), u);
            assert!(
                (plain - other).abs() < 1e-9 * (1.0 + plain.abs())
                    && (plain - exposed).abs() < 1e-9 * (1.0 + plain.abs())
            );
            assert_eq!(row.slope, 1.0);
        }
    }

    #[test]
    fn the_score_is_half_the_slope_of_the_deviance() {
        let family = Family::gamma();
        for (y, u) in [(3.0, 0.5), (0.2, -1.0), (7.0, 2.5)] {
            let numeric = (family.deviance(u - 1e-5, y) - family.deviance(u + 1e-5, y)) / 4e-5;
            assert!((family.likelihood_score((y, 0.0), u).0 - numeric).abs() < 1e-6, "{y} {u}");
        }
    }
}
