//! Why a command ended without a result, and with which exit code.

use std::fmt;
use std::process::ExitCode;

/// A command that ended without a result.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// The command line is right, yet there is no result: exit code 1.
    Failed(String),
}

impl Failure {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Failed(_) => ExitCode::from(1),
        }
    }
}

/// The library's errors about values that came from the command line. Errors in a file are wrapped where the file is read.
impl From<dpglm::Error> for Failure {
    fn from(error: dpglm::Error) -> Self {
        match error {
            dpglm::Error::OutOfRange { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

/// Errors about files, and about declarations: those in a schema file are faults of the file, the others of the command
/// line.
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
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Usage(message) => write!(f, "{message}\n\nFor more information, try '--help'."),
            Failure::Failed(message) => f.write_str(message),
        }
    }
}
