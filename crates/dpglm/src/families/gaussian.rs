//! Real responses with a linear mean.

use super::{Domain, Family, ResponseFamily, RowScore, simulate};
use crate::noise::RandomSource;

/// A real response with a linear mean.
#[derive(Debug)]
struct Gaussian;

impl Family {
    /// A real response with a linear mean.
    pub fn gaussian() -> Self {
        Self::built_in(Gaussian)
    }
}

impl ResponseFamily for Gaussian {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn summary(&self) -> &'static str {
        "A real response: linear regression"
    }

    fn domain(&self) -> Domain {
        Domain::Real
    }

    fn mean(&self, predictor: f64) -> f64 {
        predictor
    }

    fn mean_slope(&self, _: f64) -> f64 {
        1.0
    }

    fn steepest(&self) -> f64 {
        1.0
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some(mean)
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        (y - predictor) * (y - predictor)
    }

    fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let residual = y - predictor;
        (residual, RowScore { size: residual.abs(), slope: 1.0 })
    }

    fn simulate(&self, predictor: f64, deviation: f64, rng: &mut RandomSource) -> f64 {
        simulate::normal(predictor, deviation, rng)
    }
}
