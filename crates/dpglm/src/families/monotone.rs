//! User-supplied monotone links (Wang and Xu 2021 §7.B).

use super::{Domain, ResponseFamily, RowScore, simulate};
use crate::data::range::{LARGEST, LEAST};
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use std::fmt;
use std::sync::Arc;

/// A known monotone mean function whose derivative lies in a declared interval.
#[derive(Clone)]
pub struct MonotoneLink {
    function: Arc<dyn Fn(f64) -> f64 + Send + Sync>,
    slopes: (f64, f64),
}

impl MonotoneLink {
    /// A mean function with derivative between `least` and `largest`. The declaration steers step sizes only: privacy
    /// does not rest on it.
    pub fn new(
        function: impl Fn(f64) -> f64 + Send + Sync + 'static,
        least: f64,
        largest: f64,
    ) -> Result<Self> {
        if !(LEAST..=LARGEST).contains(&least) || !(least..=LARGEST).contains(&largest) {
            return Err(Error::OutOfRange {
                parameter: Parameter::LinkDerivative,
                range: "two numbers within [1e-100, 1e100], the smaller first",
                value: format!("[{least}, {largest}]"),
                remedy: "declare the smallest and the largest derivative of the mean function",
            });
        }
        Ok(Self { function: Arc::new(function), slopes: (least, largest) })
    }
}

impl ResponseFamily for MonotoneLink {
    fn name(&self) -> &'static str {
        "monotone"
    }

    fn summary(&self) -> &'static str {
        "A real response with a mean of the caller's own"
    }

    fn domain(&self) -> Domain {
        Domain::Real
    }

    fn mean(&self, predictor: f64) -> f64 {
        (self.function)(predictor)
    }

    /// By central differences, within the declared interval.
    fn mean_slope(&self, predictor: f64) -> f64 {
        let step = 1e-5 * (1.0 + predictor.abs());
        let slope = (self.mean(predictor + step) - self.mean(predictor - step)) / (2.0 * step);
        if slope.is_nan() { self.slopes.0 } else { slope.clamp(self.slopes.0, self.slopes.1) }
    }

    fn steepest(&self) -> f64 {
        self.slopes.1
    }

    /// The inverse is not known.
    fn link(&self, _: f64) -> Option<f64> {
        None
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let residual = y - self.mean(predictor);
        residual * residual
    }

    /// Of normal errors.
    fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let slope = self.mean_slope(predictor);
        let residual = slope * (y - self.mean(predictor));
        (residual, RowScore { size: residual.abs(), slope: slope * slope })
    }

    fn simulate(&self, predictor: f64, deviation: f64, rng: &mut RandomSource) -> f64 {
        simulate::normal(self.mean(predictor), deviation, rng)
    }
}

impl fmt::Debug for MonotoneLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MonotoneLink(derivative in [{}, {}])", self.slopes.0, self.slopes.1)
    }
}
