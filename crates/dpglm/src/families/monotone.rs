//! User-supplied monotone links (Wang and Xu 2021 §7.B).

use crate::data::range::{LARGEST, LEAST};
use crate::error::{Error, Parameter, Result};
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

    /// The declared smallest and largest derivative.
    pub(crate) fn slopes(&self) -> (f64, f64) {
        self.slopes
    }

    pub(super) fn value(&self, predictor: f64) -> f64 {
        (self.function)(predictor)
    }

    /// The derivative by central differences, within the declared interval.
    pub(super) fn slope(&self, predictor: f64) -> f64 {
        let step = 1e-5 * (1.0 + predictor.abs());
        let slope = (self.value(predictor + step) - self.value(predictor - step)) / (2.0 * step);
        if slope.is_nan() { self.slopes.0 } else { slope.clamp(self.slopes.0, self.slopes.1) }
    }
}

impl fmt::Debug for MonotoneLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MonotoneLink(derivative in [{}, {}])", self.slopes.0, self.slopes.1)
    }
}

impl PartialEq for MonotoneLink {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.function, &other.function) && self.slopes == other.slopes
    }
}
