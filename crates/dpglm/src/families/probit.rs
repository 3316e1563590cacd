//! Binary responses whose probability is the normal distribution function of the predictor.

use super::{Domain, Family, ResponseFamily, RowScore, likelihood::finite, simulate};
use crate::noise::RandomSource;
use crate::numeric::{normal_below, normal_quantile};
use std::f64::consts::PI;

/// A response of 0 or 1 with a linear probit.
#[derive(Debug)]
struct Probit;

impl Family {
    /// A response of 0 or 1 with a linear probit: a normal variable beyond a threshold.
    pub fn probit() -> Self {
        Self::built_in(Probit)
    }
}

/// Beyond this a level has a probability below `1e-15`.
const FARTHEST: f64 = 8.0;

fn density(u: f64) -> f64 {
    (-0.5 * u * u).exp() / (2.0 * PI).sqrt()
}

impl ResponseFamily for Probit {
    fn name(&self) -> &'static str {
        "probit"
    }

    fn summary(&self) -> &'static str {
        "A response of two levels: probit regression"
    }

    fn predictor(&self) -> &'static str {
        "the probit (the normal quantile of the probability) of the second level"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    fn mean(&self, predictor: f64) -> f64 {
        normal_below(predictor)
    }

    fn rest(&self, predictor: f64) -> f64 {
        normal_below(-predictor)
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        density(predictor)
    }

    fn steepest(&self) -> f64 {
        1.0 / (2.0 * PI).sqrt()
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some(normal_quantile(mean))
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let signed = if y >= 0.5 { predictor } else { -predictor };
        -2.0 * normal_below(signed.max(-37.0)).ln()
    }

    /// With the density f and the distribution function F the score of 1 is `f / F`, and that of 0 `-f / (1 - F)`.
    fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let u = finite(predictor).clamp(-FARTHEST, FARTHEST);
        let (of_one, of_zero) = (density(u) / normal_below(u), density(u) / normal_below(-u));
        let residual = if y >= 0.5 { of_one } else { -of_zero };
        (residual, RowScore { size: of_one.max(of_zero), slope: of_one * of_zero })
    }

    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        simulate::binary(self.mean(predictor), rng)
    }
}
