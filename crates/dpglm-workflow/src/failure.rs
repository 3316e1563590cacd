//! Why there is no result: what was asked for is wrong, or it could not be had.

use dpglm::error::{Dialect, Message, Parameter};
use std::fmt;

/// An end without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// What was asked for is wrong, whatever the table holds.
    Usage(Message),
    /// It is right, yet there is no result.
    Failed(Message),
}

impl Failure {
    /// The message as a front end writes it.
    pub fn in_dialect(&self, dialect: &dyn Dialect) -> String {
        let (Failure::Usage(message) | Failure::Failed(message)) = self;
        message.in_dialect(dialect)
    }
}

/// Whether users give a parameter of the library's under its own name. Others follow from what they give.
fn is_given(parameter: Parameter) -> bool {
    use Parameter as P;
    matches!(
        parameter,
        P::Epsilon
            | P::Delta
            | P::Sparsity
            | P::Radius
            | P::Ridge
            | P::RowNorm
            | P::Power
            | P::Steps
            | P::StepLength
            | P::SupportNorm
            | P::Reserve
            | P::MeanCount
            | P::Sigma
    )
}

/// The library's errors about values that the user gave. Errors in a file are wrapped where the file is read.
impl From<dpglm::Error> for Failure {
    fn from(error: dpglm::Error) -> Self {
        match error {
            dpglm::Error::OutOfRange { parameter, range, value, remedy } if is_given(parameter) => {
                Failure::Usage(Message::new(
                    "{} must be {}, got {}: {}",
                    &[&parameter, &range, &value, &remedy],
                ))
            }
            dpglm::Error::OutOfRange { .. } => Failure::Usage(error.to_string().into()),
            _ => Failure::Failed(error.to_string().into()),
        }
    }
}

/// Errors about files, and about declarations: those in a schema file are faults of the file, the others of the user's.
impl From<dpglm_io::Error> for Failure {
    fn from(error: dpglm_io::Error) -> Self {
        match error {
            dpglm_io::Error::Core(error) => error.into(),
            dpglm_io::Error::Declaration { path: None, .. } => Failure::Usage(error.message()),
            _ => Failure::Failed(error.message()),
        }
    }
}

/// In the library's words; front ends use [`Self::in_dialect`].
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Usage(message) | Failure::Failed(message)) = self;
        message.fmt(f)
    }
}

impl std::error::Error for Failure {}
