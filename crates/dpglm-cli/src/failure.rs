//! Why a command ended without a result, and with which exit code.

use dpglm::error::{Dialect, Message, Parameter};
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

/// The command line's way to write parameters: `--feature-bounds`.
struct Flags;

impl Dialect for Flags {
    fn name(&self, parameter: Parameter) -> String {
        format!("--{}", parameter.words().replace(' ', "-"))
    }

    fn bounds(&self, parameter: Parameter) -> String {
        format!("{}=LOW,HIGH", self.name(parameter))
    }
}

/// Parameters as words, for messages that stand behind a flag's name.
pub struct Bare;

impl Dialect for Bare {
    fn name(&self, parameter: Parameter) -> String {
        parameter.words()
    }
}

/// A message as the command line writes it.
pub fn said(message: &Message) -> String {
    message.in_dialect(&Flags)
}

/// What the shared workflow refuses, in its words.
impl From<dpglm_workflow::Failure> for Failure {
    fn from(failure: dpglm_workflow::Failure) -> Self {
        match failure {
            dpglm_workflow::Failure::Usage(message) => Failure::Usage(said(&message)),
            dpglm_workflow::Failure::Failed(message) => Failure::Failed(said(&message)),
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
