//! A family that a user might add: a binary response with the log-log link.

use super::{Domain, Family, ResponseFamily, RowScore, simulate};
use crate::noise::RandomSource;
use std::sync::OnceLock;

#[derive(Debug)]
struct LogLog;

/// The family, registered once.
pub(crate) fn family() -> Family {
    static FAMILY: OnceLock<Family> = OnceLock::new();
    FAMILY.get_or_init(|| Family::new(LogLog).register().unwrap()).clone()
}

impl ResponseFamily for LogLog {
    fn name(&self) -> &'static str {
        "log-log"
    }

    fn summary(&self) -> &'static str {
        "A response of two levels: log-log regression"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    fn mean(&self, predictor: f64) -> f64 {
        (-(-predictor).exp()).exp()
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        (-predictor - (-predictor).exp()).exp()
    }

    fn steepest(&self) -> f64 {
        (-1.0_f64).exp()
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some(-(-mean.ln()).ln())
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        -2.0 * if y >= 0.5 { -(-predictor).exp() } else { -(-predictor).exp().exp_m1().recip().ln_1p() }
    }

    /// With `h = e^-u`, the score of 0 is `-h / (e^h - 1)` and that of 1 is `h`.
    fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let h = (-predictor).clamp(-20.0, 3.0).exp();
        let of_zero = h / h.exp_m1();
        let residual = if y >= 0.5 { h } else { -of_zero };
        (residual, RowScore { size: of_zero.max(h), slope: h * of_zero })
    }

    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        simulate::binary(self.mean(predictor), rng)
    }
}
