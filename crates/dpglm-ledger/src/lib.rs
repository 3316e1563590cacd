//! A privacy budget that outlives the process: one file, a line for everything that was spent.
//!
//! # Algorithm
//! 1. The first line fixes the total and never changes: (epsilon, delta), the rule by which losses add up, whom they protect
//!    ([`dpglm::accounting::filter`]).
//! 2. Before a release its line is written: what will leave, with how much noise. Under an exclusive lock the whole file is read and
//!    verified, the filter decides, and the line is appended and on disk ([`std::fs::File::sync_all`]) before [`Ledger::charge`]
//!    comes back. Only then is a private row computed with.
//! 3. When the result is there, and before anybody sees it, a second line holds the hashes of its certificate and of all of it.
//!
//! # Guarantee
//! * *Nothing is spent that is not in the file.* Whoever is killed after step 2 has spent; a line that is not whole was never
//!   acknowledged, so nothing was released for it. The next charge removes it.
//! * *Two processes never both spend what is there once.* Steps of 2 happen under one lock. Fits that run at the same time are
//!   covered: each is charged in full before it begins.
//! * *Edits show.* Every line ends with the hash of itself, and holds that of the line before. A line that was changed, taken out,
//!   put in or moved breaks the chain.
//!
//! What a chain cannot show: that its last lines were cut off, or that somebody wrote all of it again. Against both
//! helps what is kept elsewhere: the hash of a line ([`Chain::holds`]), a signature over it ([`seal`]), or artefacts, whose
//! hashes the file must hold ([`Chain::result_line`]).
//!
//! | module | what it holds |
//! | --- | --- |
//! | `record` | one line, as what it says and as bytes |
//! | `chain` | all lines: verified, and what they cost |
//! | `file` | the file: locked, appended, synced |
//! | [`seal`] | a signature over the state of a ledger |
//! | `fingerprint` | which data it was, for those who hold a key |

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod chain;
mod file;
mod fingerprint;
#[cfg(test)]
mod fuzz;
mod record;
pub mod seal;
mod time;

pub use chain::Chain;
pub use file::{Ledger, Receipt};
pub use fingerprint::{Fingerprint, of_artefact, of_certificate};
pub use record::{Charge, Entry, Finish, Record, Terms};

use dpglm::accounting::filter::Cost;

/// Why there is no entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened, read or written.
    #[error("the ledger cannot be {action} ({source}): {remedy}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// It is not what was written.
    #[error(
        "line {line} of the ledger {reason}: it was changed after it was written, or damaged; trust a copy, and count everything since as spent"
    )]
    Broken {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The release would cost more than is left.
    #[error("there is no room for it: nothing was spent")]
    Exceeds {
        /// What it would cost.
        cost: Cost,
        /// What has been spent.
        spent: Cost,
    },
    /// It does not belong into this ledger.
    #[error("{0}")]
    Refused(String),
    /// The library refuses the numbers.
    #[error(transparent)]
    Core(#[from] dpglm::Error),
}

/// This crate's result.
pub type Result<T> = std::result::Result<T, Error>;
