//! The crate's one error type.
//!
//! Messages name configuration, never a token, a report or a person's values.

use std::path::{Path, PathBuf};

/// What went wrong, in words a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A study file that cannot be used.
    #[error("study: {problem}: {remedy}")]
    Study {
        /// What is wrong, with the value received.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The device will not answer: nothing was made, nothing was sent.
    #[error("this device does not answer: {problem}: {remedy}")]
    Refused {
        /// Which promise the study would break.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The service did not count a report, or had no place for one; says what was spent.
    #[error("{0}")]
    Unanswered(String),
    /// The storage failed. What was not acknowledged may or may not be stored; sending it again is safe.
    #[error("storage: {0}")]
    Storage(String),
    /// The service could not be reached, or answered something that is not its protocol.
    #[error("{url}: {problem}: {remedy}")]
    Transport {
        /// The address asked.
        url: String,
        /// What happened.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// A file of the device or of the curator.
    #[error("{path}: {source}: {remedy}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// An argument outside its range.
    #[error("{0}")]
    Argument(String),
    /// The library refused.
    #[error(transparent)]
    Core(#[from] dpglm::Error),
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn study(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Study { problem: problem.into(), remedy: remedy.into() }
    }

    pub(crate) fn refused(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Refused { problem: problem.into(), remedy: remedy.into() }
    }

    pub(crate) fn file(path: &Path, remedy: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source, remedy }
    }
}

impl From<dpglm_sign::Error> for Error {
    fn from(error: dpglm_sign::Error) -> Self {
        Self::Argument(error.to_string())
    }
}
