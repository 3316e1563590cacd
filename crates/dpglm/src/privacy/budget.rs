//! The privacy budget a user grants.

use crate::error::{Error, Parameter, Result, require_positive};

/// An (epsilon, delta) budget. There is no default: both numbers are the user's decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    epsilon: f64,
    delta: f64,
}

/// Largest accepted epsilon. Beyond it `e^epsilon` leaves the range of double precision.
pub const MAX_EPSILON: f64 = 700.0;
/// Smallest accepted positive delta. The accountants keep their relative accuracy down to here.
pub(crate) const MIN_DELTA: f64 = 1e-100;

impl Budget {
    /// An approximate budget: epsilon in (0, 700], delta in [1e-100, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self> {
        let epsilon = check_epsilon(epsilon)?;
        Ok(Self { epsilon, delta: check_delta(delta)? })
    }

    /// A pure budget, delta = 0. Gaussian noise can never meet it; Laplace noise and selections can.
    pub fn pure(epsilon: f64) -> Result<Self> {
        Ok(Self { epsilon: check_epsilon(epsilon)?, delta: 0.0 })
    }

    /// The budget's epsilon.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The budget's delta; zero for a pure budget.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Whether delta is zero.
    pub fn is_pure(&self) -> bool {
        self.delta == 0.0
    }
}

/// Refuses an epsilon that no budget may have.
pub(crate) fn check_epsilon(epsilon: f64) -> Result<f64> {
    require_positive(
        Parameter::Epsilon,
        epsilon,
        "choose the privacy loss you can defend, often between 0.1 and 4",
    )?;
    if epsilon > MAX_EPSILON {
        return Err(Error::OutOfRange {
            parameter: Parameter::Epsilon,
            range: "at most 700",
            value: epsilon.to_string(),
            remedy: "an epsilon this large protects nobody; choose a smaller one",
        });
    }
    Ok(epsilon)
}

/// Refuses a delta outside [1e-100, 1).
pub(crate) fn check_delta(delta: f64) -> Result<f64> {
    if delta > 0.0 && delta < 1.0 {
        if delta >= MIN_DELTA {
            return Ok(delta);
        }
        return Err(Error::OutOfRange {
            parameter: Parameter::Delta,
            range: "at least 1e-100",
            value: format!("{delta:e}"),
            remedy: "choose a larger delta, or a pure budget with mechanisms other than the Gaussian",
        });
    }
    Err(Error::OutOfRange {
        parameter: Parameter::Delta,
        range: "strictly between 0 and 1",
        value: delta.to_string(),
        remedy: "choose a delta well below 1/n, or a pure budget (delta = 0) with mechanisms other than the Gaussian",
    })
}
