//! Where a study lives: devices, their one report each, and the rounds.
//!
//! A storage answers one promise: **what it has acknowledged is there, once, whatever happens to the process**.
//!
//! * Every change is one transaction that ends in a durable commit; the answer is given after the commit.
//! * Every change first takes the study's one lock, so changes happen one after the other, in any number of servers.
//! * A device is a row with room for one report: a second report has no place to go. Report bytes are unique.
//! * A place in a round is held in the same rows and under the same lock, so that a restart forgets none.
//! * A round goes `open -> closing -> closed`, each step by one transaction that checks the step before it.
//!   Sums are computed while the round is `closing`, when its reports can no longer change.
//!
//! The number of reports a transaction takes is whatever has queued while the one before it was written.

mod connect;
mod decide;
pub mod postgres;
pub mod sqlite;
mod tables;

use std::fmt;

use crate::answer::Answer;
use crate::error::{Error, Result};

pub use crate::protocol::{Assignment, Rule};
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

/// What a device asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A place in its round.
    Reserve(TokenHash),
    /// That its report be counted.
    Report(Submission),
}

impl Request {
    /// Whose request it is.
    pub fn token(&self) -> &TokenHash {
        match self {
            Request::Reserve(token) => token,
            Request::Report(submission) => &submission.token,
        }
    }
}

/// By what a batch is decided: the study's rules, and the time.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// When each round ends.
    pub rule: &'a dyn Fn(u32) -> Rule,
    /// Which round is a device's.
    pub assigned: &'a dyn Fn(&TokenHash) -> u32,
    /// For how long a place is held, in seconds.
    pub hold: u64,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// Whether the study may still be answered.
    pub current: bool,
}

impl Terms<'_> {
    /// When a place given now lapses: some time after the device was told, on a coarse grid, so that there are few such times.
    fn held_until(&self) -> u64 {
        let grid = (self.hold / 32).max(1);
        (self.now + self.hold + self.grace()).div_ceil(grid) * grid
    }

    /// How much longer a place is held than its device was told.
    fn grace(&self) -> u64 {
        (self.hold / 4).min(60)
    }
}

/// How a storage is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Created if there is none, and brought to this version's schema: what a service does.
    Serve,
    /// It must be there, in this version's schema: what every other command does.
    Existing,
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
    /// The secret by which devices are spread over the rounds.
    fn assignment(&mut self) -> Result<Assignment>;
    /// Adds devices. All or none.
    fn enroll(&mut self, tokens: &[TokenHash]) -> Result<()>;
    /// Number of enrolled devices.
    fn enrolled(&mut self) -> Result<u64>;
    /// Takes back devices' right to answer; what they have answered stays. How many there were.
    fn revoke(&mut self, tokens: &[TokenHash]) -> Result<u64>;
    /// Takes a batch of requests in one transaction: the outcomes hold once this returns `Ok`. The batch is asked for once the
    /// study's lock is held: what arrives while others have it shares the same turn.
    fn take_gathered(
        &mut self,
        gather: &mut dyn FnMut() -> Vec<Request>,
        terms: &Terms<'_>,
    ) -> Result<Vec<Outcome>>;
    /// The same for a batch that is known.
    fn take(&mut self, batch: &[Request], terms: &Terms<'_>) -> Result<Vec<Outcome>> {
        self.take_gathered(&mut || batch.to_vec(), terms)
    }
    /// All rounds, first to last.
    fn rounds(&mut self) -> Result<Vec<Round>>;
    /// The last round.
    fn current(&mut self) -> Result<Round>;
    /// Places of the current round that are held.
    fn held(&mut self, now: u64) -> Result<u64>;
    /// Some reports of a round, sorted by their bytes, those after `after`; fewer than `limit` at the end.
    fn reports(&mut self, round: u32, after: &[u8], limit: usize) -> Result<Vec<Vec<u8>>>;
    /// Applies the clock to the current round.
    fn expire(&mut self, now: u64, rule: &dyn Fn(u32) -> Rule) -> Result<Expiry>;
    /// Gives no more places in an open round: it closes when those that are held are used or lapse. False if it is not open.
    fn finish(&mut self, round: u32, now: u64) -> Result<bool>;
    /// Ends the study in an open round. False if it is not open.
    fn abandon(&mut self, round: u32) -> Result<bool>;
    /// Gives an open round this deadline, or opens an abandoned one again until then. False if it is neither.
    fn extend(&mut self, round: u32, deadline: u64) -> Result<bool>;
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

/// The version of the tables that this program reads and writes.
pub(crate) const SCHEMA_VERSION: u32 = 2;

/// Opens a storage: a `postgres://` or `postgresql://` URL, or the path of an SQLite file.
pub fn open(place: &str, access: Access) -> Result<Box<dyn Storage>> {
    if is_postgres(place) {
        Ok(Box::new(postgres::Postgres::open(place, access)?))
    } else {
        Ok(Box::new(sqlite::Sqlite::open(place.as_ref(), access)?))
    }
}

/// Whether a place names a PostgreSQL database.
pub fn is_postgres(place: &str) -> bool {
    place.starts_with("postgres://") || place.starts_with("postgresql://")
}

/// All reports of a round.
pub fn all_reports(storage: &mut dyn Storage, round: u32) -> Result<Vec<Vec<u8>>> {
    storage.reports(round, &[], usize::MAX)
}

/// Whether tables of this version can be used as they are, or may be brought to this version (`true`).
fn check_version(found: Option<u32>, access: Access) -> Result<bool> {
    match (found, access) {
        (Some(SCHEMA_VERSION), _) => Ok(false),
        (Some(newer), _) if newer > SCHEMA_VERSION => Err(Error::Storage(format!(
            "its tables have version {newer}, this program knows {SCHEMA_VERSION}: update this program"
        ))),
        (_, Access::Serve) => Ok(true),
        (None, Access::Existing) => {
            Err(Error::Storage("there is no study: name the storage of `dpglm collect serve`".into()))
        }
        (Some(older), Access::Existing) => Err(Error::Storage(format!(
            "its tables have version {older}: back it up, then `dpglm collect serve` brings it to version {SCHEMA_VERSION}"
        ))),
    }
}

/// What the clock says about the current round. Pure, so that every storage applies the same rule.
fn expiry(round: &Round, rule: Rule, held: u64, now: u64) -> Expiry {
    // A place that is held is waited for: its device may have spent already.
    if round.phase != Phase::Open || held > 0 {
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
            Outcome::Reserved(..) => Answer::Reserved,
            Outcome::Wait(_) => Answer::Wait,
            Outcome::Missed(_) => Answer::Missed,
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
    /// The server's `DETAIL` may quote a row, so only its code and its primary message are kept. What the client itself met, a
    /// refused connection or a certificate, names no row: its causes are told to the end.
    fn from(error: ::postgres::Error) -> Self {
        if let Some(answer) = error.as_db_error() {
            return Self::Storage(format!("PostgreSQL: {} ({})", answer.message(), answer.code().code()));
        }
        let mut text = format!("PostgreSQL: {error}");
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            let said = inner.to_string();
            if !text.ends_with(&said) {
                text += &format!(": {said}");
            }
            cause = inner.source();
        }
        Self::Storage(text)
    }
}
