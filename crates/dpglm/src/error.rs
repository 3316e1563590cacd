//! The crate's one error type.
//!
//! A message names the parameter, the range it must lie in, the value received and the way out. Configuration may
//! appear in a message; a value that depends on private rows never does. A parameter is a [`Parameter`], not text, so that each front end
//! can write it as its users do.

mod message;
mod parameter;

pub use message::{AsPieces, Dialect, Message, Piece, Words};
pub use parameter::Parameter;

/// What went wrong, in words a caller can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter lies outside its valid range.
    #[error("{} must be {range}, got {value}: {remedy}", .parameter.words())]
    OutOfRange {
        /// The parameter.
        parameter: Parameter,
        /// The allowed range, in words.
        range: &'static str,
        /// The value received.
        value: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A budget that no amount of noise can meet.
    #[error("no noise reaches epsilon {epsilon} at delta {delta}: {reason}")]
    BudgetUnreachable {
        /// The budget's epsilon.
        epsilon: String,
        /// The budget's delta.
        delta: String,
        /// Why, and what to change.
        reason: String,
    },
    /// Two parameters, each valid alone, that do not fit together.
    #[error("{0}")]
    Conflict(String),
    /// A serialised event or certificate that is not what it claims to be.
    #[error("not a valid {what}: {reason}")]
    Malformed {
        /// The kind of document.
        what: &'static str,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// The operating system gave no randomness, so nothing private can be released.
    #[error("the operating system's random source failed ({0}): nothing was released; try again")]
    NoRandomness(String),
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses everything but a finite number above zero.
pub(crate) fn require_positive(parameter: Parameter, value: f64, remedy: &'static str) -> Result<f64> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::OutOfRange { parameter, range: "a finite number above 0", value: value.to_string(), remedy })
}

/// Refuses a count of zero.
pub(crate) fn require_nonzero(parameter: Parameter, value: u64, remedy: &'static str) -> Result<u64> {
    if value > 0 {
        return Ok(value);
    }
    Err(Error::OutOfRange {
        parameter,
        range: "a whole number of at least 1",
        value: value.to_string(),
        remedy,
    })
}
