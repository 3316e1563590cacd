//! Where a study lives: devices, their one report each, and the rounds.
//!
//! A storage answers one promise: **what it has acknowledged is there, once, whatever happens to the process**.
//!
//! * Every change is one transaction that ends in a durable commit; the answer is given after the commit.
//! * Every change first takes the study's one lock, so changes happen one after the other, in any number of servers.
//! * A device is a row with room for one report: a second report has no place to go. Report bytes are unique.
//! * A round goes `open -> closing -> closed`, each step by one transaction that checks the step before it.
//!   Sums are computed while the round is `closing`, when its reports can no longer change.
//!
//! The number of reports a transaction takes is whatever has queued while the one before it was written.

mod decide;
pub mod postgres;
pub mod sqlite;

use std::fmt;

use crate::answer::Answer;
use crate::error::{Error, Result};

pub use crate::protocol::Rule;
pub use crate::study::StoredStudy;
pub use crate::token::TokenHash;
pub use decide::Outcome;

/// One device's report on its way into the storage.
#[derive(Clone, PartialEq, Eq)]
pub struct Submission {
    /// Whose it is.
    pub token: TokenHash,
    /// The round it was made for.
    pub round: u32,
    /// The report's bytes.
    pub report: Vec<u8>,
}

impl fmt::Debug for Submission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Submission").field("round", &self.round).finish_non_exhaustive()
    }
}

/// Where a round stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reports are taken.
    Open,
    /// Reports are no longer taken and not yet summed.
    Closing,
    /// Summed, and part of the estimate.
    Closed,
    /// The study ended here without closing the round: too few reports, or the curator's wish.
    Abandoned,
}

impl Phase {
    /// The name, in the storage and on the status page.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Open => "open",
            Phase::Closing => "closing",
            Phase::Closed => "closed",
            Phase::Abandoned => "abandoned",
        }
    }

    fn parse(name: &str) -> Result<Self> {
        [Phase::Open, Phase::Closing, Phase::Closed, Phase::Abandoned]
            .into_iter()
            .find(|phase| phase.name() == name)
            .ok_or_else(|| Error::Storage("a stored round has an unknown phase".into()))
    }
}

/// A round as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// From 1.
    pub number: u32,
    /// Where it stands.
    pub phase: Phase,
    /// Reports counted.
    pub count: u64,
    /// When it is due, in seconds since 1970.
    pub deadline: u64,
    /// How often it was extended.
    pub extensions: u32,
    /// The aggregate's state when the round opened, as JSON.
    pub state: String,
    /// The aggregate's state after the round, once closed.
    pub result: Option<String>,
}

/// What a look at the clock changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// Nothing was due.
    NotDue,
    /// The round has enough reports and is now `closing`.
    Sealed,
    /// Too few reports: the round was given more time.
    Extended,
    /// Too few reports, and no extension left: the study has ended.
    Abandoned,
}

/// A study's durable state. Calls block; a server gives each storage its own thread.
pub trait Storage: Send {
    /// Creates the study with its first round, or checks that it is the one already there.
    fn begin(&mut self, study: &StoredStudy, first: &Opening) -> Result<()>;
    /// The study, if there is one.
    fn study(&mut self) -> Result<Option<StoredStudy>>;
    /// Adds devices. All or none.
    fn enroll(&mut self, tokens: &[TokenHash]) -> Result<()>;
    /// Number of enrolled devices.
    fn enrolled(&mut self) -> Result<u64>;
    /// Takes a batch of reports in one transaction: the outcomes hold once this returns `Ok`. Round `target`s are exact: the
    /// report that completes a round seals it, and the next one is late.
    fn accept(&mut self, batch: &[Submission], rule: &dyn Fn(u32) -> Rule) -> Result<Vec<Outcome>>;
    /// All rounds, first to last.
    fn rounds(&mut self) -> Result<Vec<Round>>;
    /// The last round.
    fn current(&mut self) -> Result<Round>;
    /// The reports of a round, sorted by their bytes: a sum over them does not depend on the order of arrival.
    fn reports(&mut self, round: u32) -> Result<Vec<Vec<u8>>>;
    /// Applies the clock to the current round.
    fn expire(&mut self, now: u64, rule: &dyn Fn(u32) -> Rule) -> Result<Expiry>;
    /// Stops an open round before its time. False if it is not open.
    fn seal(&mut self, round: u32) -> Result<bool>;
    /// Ends the study in an open round. False if it is not open.
    fn abandon(&mut self, round: u32) -> Result<bool>;
    /// Records a closing round's result and opens the next, if there is one. False if another server was faster.
    fn close(&mut self, round: u32, result: &str, next: Option<&Opening>) -> Result<bool>;
}

/// A round about to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// From 1.
    pub number: u32,
    /// In seconds since 1970.
    pub deadline: u64,
    /// The aggregate's state, as JSON.
    pub state: String,
}

/// Opens a storage: a `postgres://` or `postgresql://` URL, or the path of an SQLite file.
pub fn open(place: &str) -> Result<Box<dyn Storage>> {
    if place.starts_with("postgres://") || place.starts_with("postgresql://") {
        Ok(Box::new(postgres::Postgres::open(place)?))
    } else {
        Ok(Box::new(sqlite::Sqlite::open(place.as_ref())?))
    }
}

/// What the clock says about the current round. Pure, so that every storage applies the same rule.
fn expiry(round: &Round, rule: Rule, now: u64) -> Expiry {
    if round.phase != Phase::Open {
        return Expiry::NotDue;
    }
    if round.count >= rule.target {
        return Expiry::Sealed;
    }
    if now < round.deadline {
        return Expiry::NotDue;
    }
    match () {
        () if round.count >= rule.minimum => Expiry::Sealed,
        () if round.extensions < rule.extensions => Expiry::Extended,
        () => Expiry::Abandoned,
    }
}

/// An existing study must be the one being served: its reports were made under its parameters.
fn check_same(stored: &StoredStudy, wanted: &StoredStudy) -> Result<()> {
    if stored.text == wanted.text {
        return Ok(());
    }
    Err(Error::Storage(
        "this storage holds another study: give each study, and each version of it, a storage of its own"
            .into(),
    ))
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Accepted => Answer::Accepted,
            Outcome::AlreadyCounted => Answer::AlreadyCounted,
            Outcome::UnknownToken => Answer::Token,
            Outcome::Duplicate => Answer::Duplicate,
            Outcome::Replayed => Answer::Replayed,
            Outcome::Late => Answer::Late,
            Outcome::WrongRound => Answer::WrongRound,
        }
    }
}

impl From<rusqlite::Error> for Error {
    /// SQLite's messages name tables and columns, never values.
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(format!("SQLite: {error}"))
    }
}

impl From<::postgres::Error> for Error {
    /// The server's `DETAIL` may quote a row, so only its code and its primary message are kept.
    fn from(error: ::postgres::Error) -> Self {
        match error.as_db_error() {
            Some(answer) => {
                Self::Storage(format!("PostgreSQL: {} ({})", answer.message(), answer.code().code()))
            }
            None if error.is_closed() => Self::Storage("PostgreSQL: the connection is closed".into()),
            None => Self::Storage(format!("PostgreSQL: {error}")),
        }
    }
}
