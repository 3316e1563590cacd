//! Binary responses with a linear complementary log-log: whether something happened in a time, at a rate that is log-linear.

use super::{Domain, Family, ResponseFamily, RowScore, simulate};
use crate::noise::RandomSource;

/// A response of 0 or 1 with a linear complementary log-log.
#[derive(Debug)]
struct ComplementaryLogLog;

impl Family {
    /// A response of 0 or 1 with a linear complementary log-log: an event that happens at a log-linear rate.
    pub fn cloglog() -> Self {
        Self::built_in(ComplementaryLogLog)
    }
}

impl ResponseFamily for ComplementaryLogLog {
    fn name(&self) -> &'static str {
        "cloglog"
    }

    fn summary(&self) -> &'static str {
        "A response of two levels: complementary log-log regression"
    }

    fn predictor(&self) -> &'static str {
        "the logarithm of the rate at which the second level comes about"
    }

    fn multiplies(&self) -> Option<&'static str> {
        Some("the rate of")
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    fn mean(&self, predictor: f64) -> f64 {
        -(-predictor.exp()).exp_m1()
    }

    fn rest(&self, predictor: f64) -> f64 {
        (-predictor.exp()).exp()
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        (predictor - predictor.exp()).exp()
    }

    fn steepest(&self) -> f64 {
        (-1.0_f64).exp()
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some((-(-mean).ln_1p()).ln())
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        -2.0 * if y >= 0.5 { self.mean(predictor.max(-700.0)).ln() } else { -predictor.exp() }
    }

    /// With `h = e^u`, the score of 1 is `h / (e^h - 1)` and that of 0 is `-h`.
    fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let h = predictor.clamp(-20.0, 3.0).exp();
        let of_one = h / h.exp_m1();
        let residual = if y >= 0.5 { of_one } else { -h };
        (residual, RowScore { size: of_one.max(h), slope: h * of_one })
    }

    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        simulate::binary(self.mean(predictor), rng)
    }
}
