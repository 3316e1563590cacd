//! Why a command ended without a result, and with which exit code.

use std::fmt;

/// A command that ended without a result.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// The command line is right, yet there is no result: exit code 1.
    Failed(String),
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) => 1,
        }
    }
}

/// What the shared assembly refuses, in its words.
impl From<dpglm_workflow::Failure> for Failure {
    fn from(failure: dpglm_workflow::Failure) -> Self {
        match failure {
            dpglm_workflow::Failure::Usage(message) => Failure::Usage(message),
            dpglm_workflow::Failure::Failed(message) => Failure::Failed(message),
        }
    }
}

impl From<dpglm::Error> for Failure {
    fn from(error: dpglm::Error) -> Self {
        dpglm_workflow::Failure::from(error).into()
    }
}

impl From<dpglm_io::Error> for Failure {
    fn from(error: dpglm_io::Error) -> Self {
        dpglm_workflow::Failure::from(error).into()
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
