//! A family that a user might add: a binary response with the complementary log-log link.

use super::{Domain, Family, ResponseFamily, RowScore, simulate};
use crate::noise::RandomSource;
use std::sync::OnceLock;

#[derive(Debug)]
struct ComplementaryLogLog;

/// The family, registered once.
pub(crate) fn family() -> Family {
    static FAMILY: OnceLock<Family> = OnceLock::new();
    FAMILY.get_or_init(|| Family::new(ComplementaryLogLog).register().unwrap()).clone()
}

impl ResponseFamily for ComplementaryLogLog {
    fn name(&self) -> &'static str {
        "complementary log-log"
    }

    fn summary(&self) -> &'static str {
        "A response of two levels: complementary log-log regression"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    fn mean(&self, predictor: f64) -> f64 {
        -(-predictor.exp()).exp_m1()
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

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        -2.0 * if y >= 0.5 { self.mean(predictor).ln() } else { -predictor.exp() }
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
