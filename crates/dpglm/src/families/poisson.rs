//! Counts with a log-linear mean, times the exposure.

use super::{Bounded, Domain, Family, ResponseFamily, RowScore, likelihood::finite, simulate};
use crate::noise::RandomSource;

/// A count with a log-linear mean.
#[derive(Debug)]
struct Poisson;

impl Family {
    /// A count with a log-linear mean, times the exposure.
    pub fn poisson() -> Self {
        Self::built_in(Poisson)
    }
}

/// Log-means beyond this are cut: e^30 events a row are no count data.
const LARGEST_LOG_MEAN: f64 = 30.0;

impl ResponseFamily for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn summary(&self) -> &'static str {
        "A count, perhaps with an exposure: log-linear regression"
    }

    fn domain(&self) -> Domain {
        Domain::Count
    }

    fn mean(&self, predictor: f64) -> f64 {
        predictor.min(LARGEST_LOG_MEAN).exp()
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        self.mean(predictor)
    }

    /// That of one event a row: there is no largest.
    fn steepest(&self) -> f64 {
        1.0
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some(mean.ln())
    }

    fn takes_exposures(&self) -> bool {
        true
    }

    fn variance(&self, mean: f64) -> f64 {
        mean
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let mean = self.mean(predictor);
        let ratio = if y > 0.0 { y * (y / mean).ln() } else { 0.0 };
        2.0 * (ratio - (y - mean))
    }

    fn likelihood_score(&self, (y, offset): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let mean = self.mean((finite(predictor) + offset).max(-60.0));
        let residual = y - mean;
        (residual, RowScore { size: residual.abs(), slope: mean })
    }

    fn capped(&self, cap: f64) -> Box<dyn Bounded + '_> {
        Box::new(Centred { cap, expectation: ClippedPoisson::new(cap) })
    }

    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        simulate::poisson(self.mean(predictor), rng)
    }
}

/// The clipped residual less its expectation, shrunk by a factor of the mean alone, so that it stays within the cap and keeps its mean
/// of zero.
struct Centred {
    cap: f64,
    expectation: ClippedPoisson,
}

impl Bounded for Centred {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        let mean = Poisson.mean(predictor);
        let centre = self.expectation.clipped_mean(mean);
        ((mean - y).clamp(-self.cap, self.cap) - centre) * self.cap / (self.cap + centre.abs())
    }

    fn slope(&self, predictor: f64, _: f64) -> f64 {
        let mean = Poisson.mean(predictor);
        let centre = self.expectation.clipped_mean(mean);
        self.expectation.slope(mean) * self.cap / (self.cap + centre.abs())
    }
}

/// `E clip(m - Y, -cap, cap)` for `Y ~ Poisson(m)`, tabulated in `ln m` and interpolated. It depends on public
/// numbers only, so its accuracy concerns bias, not privacy.
#[derive(Debug, Clone)]
struct ClippedPoisson {
    means: Vec<f64>,
    slopes: Vec<f64>,
}

const LOWEST: f64 = -18.0;
const STEP: f64 = 0.02;
const NODES: usize = 1401; // up to ln m = 10

impl ClippedPoisson {
    fn new(cap: f64) -> Self {
        let (means, slopes) = (0..NODES).map(|i| moments((LOWEST + STEP * i as f64).exp(), cap)).unzip();
        Self { means, slopes }
    }

    fn clipped_mean(&self, mean: f64) -> f64 {
        interpolate(&self.means, mean)
    }

    /// The derivative of the expected score in the log-mean: `E[clip(m - Y) (m - Y)]`.
    fn slope(&self, mean: f64) -> f64 {
        interpolate(&self.slopes, mean)
    }
}

fn interpolate(values: &[f64], mean: f64) -> f64 {
    let place = ((mean.ln() - LOWEST) / STEP).clamp(0.0, (NODES - 1) as f64);
    let i = (place as usize).min(NODES - 2);
    let share = place - i as f64;
    values[i] * (1.0 - share) + values[i + 1] * share
}

/// `(E clip(m - Y), E clip(m - Y)(m - Y))`, summed outward from the mode until the terms vanish.
fn moments(mean: f64, cap: f64) -> (f64, f64) {
    let mode = mean.floor();
    let at_mode = (mode * mean.ln() - mean - libm::lgamma(mode + 1.0)).exp();
    let (mut first, mut second) = (0.0, 0.0);
    let mut add = |k: f64, mass: f64| {
        let residual = mean - k;
        let clipped = residual.clamp(-cap, cap);
        first += mass * clipped;
        second += mass * clipped * residual;
    };
    let (mut k, mut mass) = (mode, at_mode);
    while mass > 1e-18 {
        add(k, mass);
        k += 1.0;
        mass *= mean / k;
    }
    (k, mass) = (mode, at_mode);
    while k > 0.0 && mass > 1e-18 {
        mass *= k / mean;
        k -= 1.0;
        add(k, mass);
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_caps_give_zero_mean_and_the_variance() {
        for mean in [1e-4, 0.3, 2.7, 40.0, 900.0] {
            let (first, second) = moments(mean, 1e9);
            assert!(first.abs() < 1e-9 * (1.0 + mean), "{mean}: {first}");
            assert!((second / mean - 1.0).abs() < 1e-9, "{mean}: {second}");
        }
    }

    /// Counts of thousands and rates of huge exposures, have a score that is zero at their mean.
    #[test]
    fn large_counts_have_scores_too() {
        let family = Family::poisson();
        for (mean, offset) in [(12_000.0_f64, 0.0), (500.0, -5.3), (40.0, 9.0)] {
            let (residual, row) = family.likelihood_score((mean, offset), mean.ln() - offset);
            assert!(
                residual.abs() < 1e-9 * mean && (row.slope / mean - 1.0).abs() < 1e-9,
                "{mean} {offset}: {residual}"
            );
        }
    }

    #[test]
    fn scores_have_mean_zero() {
        let family = Family::poisson();
        for cap in [0.3, 1.0, 2.5, 8.0] {
            let score = family.bounded(cap).unwrap();
            for u in [-4.0_f64, -1.0, 0.0, 1.3, 3.0] {
                let rate = u.exp();
                let mut mass = (-rate).exp();
                let mut mean = 0.0;
                for k in 0..400 {
                    mean += mass * score.value(u, f64::from(k));
                    mass *= rate / f64::from(k + 1);
                }
                // Interpolation between the nodes of the table is all that is left.
                assert!(mean.abs() < 2e-3 * cap.max(1.0), "cap {cap} u {u}: {mean}");
            }
        }
    }

    #[test]
    fn the_table_interpolates() {
        let table = ClippedPoisson::new(1.3);
        for mean in [1e-3, 0.11, 1.0, 7.7, 300.0] {
            let (first, second) = moments(mean, 1.3);
            assert!((table.clipped_mean(mean) - first).abs() < 2e-3);
            assert!((table.slope(mean) / second - 1.0).abs() < 2e-2, "{mean}");
        }
    }
}
