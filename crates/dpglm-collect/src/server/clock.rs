//! The thread that ends rounds: it looks at the clock, sums a round that has ended, and refreshes what handlers show.
//!
//! A round that was `closing` when the process died is summed after the restart. Sums depend on the reports alone, so it does not
//! matter which server computes them; the storage lets one result in.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Log, now};
use crate::error::Result;
use crate::protocol::StudyProtocol;
use crate::storage::{Expiry, Opening, Phase, Round, Storage};

/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(200);
/// The shortest time between two looks, however many batches are written.
const REST: Duration = Duration::from_millis(20);

/// What handlers show: the storage as it was a moment ago.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// All rounds.
    pub rounds: Vec<Round>,
    /// Enrolled devices.
    pub enrolled: u64,
    /// Rounds of the whole study.
    pub planned: u32,
}

/// A round for programs: no report, no device.
#[derive(Debug, Serialize)]
pub struct RoundSummary<'a> {
    /// From 1.
    pub number: u32,
    /// `open`, `closing`, `closed` or `abandoned`.
    pub phase: &'static str,
    /// Reports counted.
    pub reports: u64,
    /// Seconds since 1970.
    pub deadline: u64,
    /// How often it was extended.
    pub extensions: u32,
    /// The state after the round.
    pub result: Option<&'a RawValue>,
}

impl Snapshot {
    /// The last round.
    pub fn current(&self) -> &Round {
        // A study begins with a round, so there is one.
        &self.rounds[self.rounds.len() - 1]
    }

    /// The result of the last closed round.
    pub fn result(&self) -> Option<&str> {
        self.rounds.iter().rev().find_map(|round| round.result.as_deref())
    }

    /// Where the study stands: `collecting`, `finished` or `ended`.
    pub fn standing(&self) -> &'static str {
        match self.current().phase {
            Phase::Open | Phase::Closing => "collecting",
            Phase::Closed if self.current().number >= self.planned => "finished",
            Phase::Closed => "collecting",
            Phase::Abandoned => "ended",
        }
    }

    /// The rounds for programs.
    pub fn summaries(&self) -> Vec<RoundSummary<'_>> {
        fn summary(round: &Round) -> RoundSummary<'_> {
            let Round { number, phase, count, deadline, extensions, result, .. } = round;
            let result = result.as_deref().and_then(|text| serde_json::from_str(text).ok());
            RoundSummary {
                number: *number,
                phase: phase.name(),
                reports: *count,
                deadline: *deadline,
                extensions: *extensions,
                result,
            }
        }
        self.rounds.iter().map(summary).collect()
    }
}

/// Reads the storage.
pub(super) fn snapshot(storage: &mut dyn Storage, protocol: &StudyProtocol) -> Result<Snapshot> {
    let rounds = storage.rounds()?;
    if rounds.is_empty() {
        return Err(crate::Error::Storage("no study has begun here: serve one first".into()));
    }
    Ok(Snapshot { rounds, enrolled: storage.enrolled()?, planned: protocol.rounds() })
}

/// Starts the thread. It ends when the service does.
pub(super) fn start(
    mut storage: Box<dyn Storage>,
    protocol: StudyProtocol,
    shown: Arc<RwLock<Arc<Snapshot>>>,
    woken: Receiver<()>,
    log: Log,
) {
    thread::spawn(move || {
        let mut trouble = String::new();
        loop {
            let step =
                tick(&mut *storage, &protocol, now(), &log).and_then(|_| snapshot(&mut *storage, &protocol));
            match step {
                Ok(fresh) => {
                    *shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh);
                    trouble.clear();
                }
                // The storage may come back; until then the last picture stands.
                Err(error) => {
                    let message = format!("the clock waits: {error}");
                    if message != trouble {
                        log(&message);
                        trouble = message;
                    }
                    thread::sleep(TICK);
                }
            }
            thread::sleep(REST);
            if woken.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    });
}

/// Applies the clock once, and sums the current round if it has ended. True if a round was closed.
pub fn tick(storage: &mut dyn Storage, protocol: &StudyProtocol, now: u64, log: &Log) -> Result<bool> {
    let mut current = storage.current()?;
    // A look without the lock first: most of the time nothing is due.
    let rule = protocol.rule(current.number);
    if current.phase == Phase::Open && (current.count >= rule.target || now >= current.deadline) {
        match storage.expire(now, &|round| protocol.rule(round))? {
            Expiry::NotDue => {}
            Expiry::Sealed => log(&format!("round {}: collected", current.number)),
            Expiry::Extended => log(&format!("round {}: too few reports, extended", current.number)),
            Expiry::Abandoned => {
                log(&format!("round {}: too few reports, the study has ended", current.number));
            }
        }
        current = storage.current()?;
    }
    if current.phase != Phase::Closing {
        return Ok(false);
    }
    let reports = storage.reports(current.number)?;
    let closed = protocol.close_round(&current.state, &reports)?;
    let number = current.number + 1;
    let deadline = now.saturating_add(protocol.rule(number).seconds);
    let next = closed.next.map(|state| Opening { number, deadline, state });
    let won = storage.close(current.number, &closed.result, next.as_ref())?;
    if won {
        log(&format!("round {}: closed with {} reports", current.number, reports.len()));
    }
    Ok(won)
}
