//! The mechanisms: every way in which something that depends on private rows may leave.
//!
//! A mechanism is built from public numbers only, states its events before it sees any data (`events`), and returns
//! its value together with them. Values are private data: a NaN counts as zero and a size beyond any use is clamped,
//! because an abort that depends on one row would leak. What the caller declares (a sensitivity, a scale, a
//! dimension) is refused when it is out of range.

pub mod clipped_sum;
pub mod exponential;
pub mod gaussian;
pub mod gumbel_top;
pub mod laplace;
pub mod peeling;
pub mod quantile;
mod tally;

pub use clipped_sum::ClippedSum;
pub use exponential::ExponentialMechanism;
pub use gaussian::GaussianVector;
pub use gumbel_top::GumbelTop;
pub use laplace::LaplaceVector;
pub use peeling::LaplacePeeling;
pub use quantile::{Candidates, PrivateQuantile};
pub(crate) use tally::Tally;

use crate::error::{Error, Parameter, Result};
use crate::privacy::Event;

/// What left, and the events that pay for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Release<T> {
    /// The released value.
    pub value: T,
    /// The events that pay for it.
    pub events: Vec<Event>,
}

/// A released vector that is zero outside a few coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseVector {
    /// The coordinates that are not zero, ascending.
    pub support: Vec<usize>,
    /// Their values, in the same order.
    pub values: Vec<f64>,
}

/// A vector's length is public, so a wrong one is an error.
fn require_length(expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "the mechanism was built for {expected} coordinates and got {got}: build it anew"
    )))
}

/// A support size between 1 and the dimension.
fn require_support(support: usize, dimension: usize) -> Result<()> {
    if (1..=dimension).contains(&support) {
        return Ok(());
    }
    Err(Error::OutOfRange {
        parameter: Parameter::SupportSize,
        range: "from 1 to the number of coordinates",
        value: format!("{support} of {dimension}"),
        remedy: "ask for fewer coordinates",
    })
}
