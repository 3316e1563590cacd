//! The crate's one error type.
//!
//! Every message goes to the data's own curator: it names the file, the place in it and the way out. It may hold
//! what the curator declared and where a cell stands, never what a private cell says.

use dpglm::error::Message;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What went wrong, in words the curator can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open, read or write a file.
    #[error("{}: cannot be {action} ({source}): {remedy}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: "opened", "read", "written".
        action: &'static str,
        /// What the operating system said.
        source: io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A file whose structure is broken or does not fit the schema.
    #[error("{}{place}: {problem}: {remedy}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        place: Place,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        remedy: Message,
    },
    /// A declaration that cannot be used.
    #[error("{}{key}: {problem}: {remedy}", prefix(.path))]
    Declaration {
        /// The schema file, if the declaration came from one.
        path: Option<PathBuf>,
        /// The key as the user wrote it, such as `columns.age.bounds`.
        key: Message,
        /// What is wrong: allowed range and value received.
        problem: String,
        /// What to do about it.
        remedy: Message,
    },
    /// Strict mode met a cell that the public rule would have mapped.
    #[error(
        "{}, row {row}, column `{column}`: {fault}: strict mode stops here and nothing is released; correct the \
         cell, or leave strict mode, where {rule}", .path.display()
    )]
    BadCell {
        /// The file.
        path: PathBuf,
        /// The data row, counted from 1.
        row: usize,
        /// The column's name.
        column: String,
        /// What is wrong with the cell. Its content is not repeated.
        fault: &'static str,
        /// What the public rule does with such a cell.
        rule: &'static str,
    },
    /// An error of the library below.
    #[error(transparent)]
    Core(#[from] dpglm::Error),
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// The line of column names, or the binary header.
    Header,
    /// A line of text, counted from 1.
    Line(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Header => write!(f, ", header"),
            Self::Line(line) => write!(f, ", line {line}"),
        }
    }
}

impl Error {
    /// The message, in which parameters can still be written as a front end does.
    pub fn message(&self) -> Message {
        match self {
            Self::File { path, place, problem, remedy } => Message::new(
                "{}{}: {}: {}",
                &[&path.display().to_string(), &place.to_string(), problem, remedy],
            ),
            Self::Declaration { path, key, problem, remedy } => {
                Message::new("{}{}: {}: {}", &[&prefix(path), key, problem, remedy])
            }
            other => other.to_string().into(),
        }
    }

    /// A structural fault of a file.
    pub(crate) fn file(
        path: &Path,
        place: Place,
        problem: impl Into<String>,
        remedy: impl Into<Message>,
    ) -> Self {
        Self::File { path: path.to_path_buf(), place, problem: problem.into(), remedy: remedy.into() }
    }

    /// A declaration that cannot be used; [`Error::declared_in`] adds the schema's path.
    pub(crate) fn declaration(
        key: impl Into<Message>,
        problem: impl Into<String>,
        remedy: impl Into<Message>,
    ) -> Self {
        Self::Declaration { path: None, key: key.into(), problem: problem.into(), remedy: remedy.into() }
    }

    /// Names the schema file a declaration came from.
    pub(crate) fn declared_in(self, file: &Path) -> Self {
        match self {
            Self::Declaration { key, problem, remedy, .. } => {
                Self::Declaration { path: Some(file.to_path_buf()), key, problem, remedy }
            }
            other => other,
        }
    }

    /// A file that could not be opened.
    pub(crate) fn open(path: &Path, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "ask for the right to read it",
            _ => "check that it is a readable file",
        };
        Self::Io { path: path.to_path_buf(), action: "opened", source, remedy }
    }

    /// A file that could not be read to its end.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::UnexpectedEof => "the file is cut short; fetch or write it again",
            io::ErrorKind::IsADirectory => "give a file, not a folder",
            _ => "the file may be damaged; fetch or write it again",
        };
        Self::Io { path: path.to_path_buf(), action: "read", source, remedy }
    }
}

fn prefix(path: &Option<PathBuf>) -> String {
    path.as_ref().map(|p| format!("{}, ", p.display())).unwrap_or_default()
}

/// Up to eight names, quoted, and how many more there are.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|n| format!("`{}`", n.as_ref())).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
