//! Why there is no result: what was asked for is wrong, or it could not be had.

use std::fmt;

/// An end without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// What was asked for is wrong, whatever the table holds.
    Usage(String),
    /// It is right, yet there is no result.
    Failed(String),
}

/// The library's errors about values that the user gave. Errors in a file are wrapped where the file is read.
impl From<dpglm::Error> for Failure {
    fn from(error: dpglm::Error) -> Self {
        match error {
            dpglm::Error::OutOfRange { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

/// Errors about files, and about declarations: those in a schema file are faults of the file, the others of the user's.
impl From<dpglm_io::Error> for Failure {
    fn from(error: dpglm_io::Error) -> Self {
        match error {
            dpglm_io::Error::Core(error) => error.into(),
            dpglm_io::Error::Declaration { path: None, .. } => Failure::Usage(error.to_string()),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}
