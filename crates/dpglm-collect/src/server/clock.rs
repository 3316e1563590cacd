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

use super::Log;
use super::health::Health;
use super::time::{Clock, Reading};
use crate::error::Result;
use crate::protocol::{Closed, StudyProtocol};
use crate::storage::{Expiry, Opening, Phase, Round, Rule, Storage};

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
    /// Places of the current round that are held.
    pub held: u64,
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
pub(super) fn snapshot(storage: &mut dyn Storage, protocol: &StudyProtocol, now: u64) -> Result<Snapshot> {
    let rounds = storage.rounds()?;
    if rounds.is_empty() {
        return Err(crate::Error::Storage("no study has begun here: serve one first".into()));
    }
    Ok(Snapshot {
        rounds,
        enrolled: storage.enrolled()?,
        held: storage.held(now)?,
        planned: protocol.rounds(),
    })
}

/// The thread's means.
pub(super) struct Keeper {
    pub protocol: StudyProtocol,
    pub clock: Arc<Clock>,
    pub shown: Arc<RwLock<Arc<Snapshot>>>,
    pub health: Arc<Health>,
    pub log: Log,
}

impl Keeper {
    /// Starts the thread. It ends when the service does.
    pub(super) fn start(self, mut storage: Box<dyn Storage>, woken: Receiver<()>) {
        thread::spawn(move || {
            loop {
                match self.look(&mut *storage) {
                    Ok(fresh) => {
                        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh);
                        self.health.read();
                    }
                    // The storage may come back; until then the last picture stands, for a while.
                    Err(error) => {
                        self.log.error("clock", &format!("the clock waits: {error}"));
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

    fn look(&self, storage: &mut dyn Storage) -> Result<Snapshot> {
        let reading = self.clock.read();
        self.expire(storage, reading)?;
        let current = storage.current()?;
        if current.phase == Phase::Closing {
            // Summing may take minutes: what is shown meanwhile is not old.
            *self.shown.write().unwrap_or_else(PoisonError::into_inner) =
                Arc::new(snapshot(storage, &self.protocol, reading.now)?);
            let health = self.health.clone();
            if close_round(storage, &self.protocol, &current, reading.now, &|| health.read())? {
                self.log.info(
                    "closed",
                    &format!("round {}: closed with {} reports", current.number, current.count),
                );
            }
        }
        snapshot(storage, &self.protocol, reading.now)
    }

    /// Applies the clock, if it can be believed.
    fn expire(&self, storage: &mut dyn Storage, Reading { now, steady }: Reading) -> Result<()> {
        let current = storage.current()?;
        // A look without the lock first: most of the time nothing is due.
        let due =
            current.count >= self.protocol.rule(current.number).target || (steady && now >= current.deadline);
        if current.phase != Phase::Open || !due {
            return Ok(());
        }
        let expired = !self.protocol.study().is_current(now);
        let rule = |round| {
            let rule = self.protocol.rule(round);
            // A study that has expired waits no longer.
            Rule { extensions: if expired { 0 } else { rule.extensions }, ..rule }
        };
        let round = current.number;
        match storage.expire(now, &rule)? {
            Expiry::NotDue => {}
            Expiry::Sealed => self.log.info("collected", &format!("round {round}: collected")),
            Expiry::Extended => self.log.warn("extended", &format!("round {round}: too few reports, extended")),
            Expiry::Abandoned => self.log.error(
                "ended",
                &format!("round {round}: too few reports, the study has ended; `dpglm collect reopen` takes it back"),
            ),
        }
        Ok(())
    }
}

/// Reports that are read from the storage at a time.
const PAGE: usize = 4096;

/// Sums a round that is closing, page by page on all processors, and opens the next one. True if this server was first.
pub fn close_round(
    storage: &mut dyn Storage,
    protocol: &StudyProtocol,
    round: &Round,
    now: u64,
    alive: &dyn Fn(),
) -> Result<bool> {
    let closed = sum_round(storage, protocol, round, alive)?;
    let number = round.number + 1;
    let next = closed.next.map(|state| Opening { number, deadline: protocol.deadline(number, now), state });
    storage.close(round.number, &closed.result, next.as_ref())
}

/// The sum of a round's reports, and the step that follows.
pub fn sum_round(
    storage: &mut dyn Storage,
    protocol: &StudyProtocol,
    round: &Round,
    alive: &dyn Fn(),
) -> Result<Closed> {
    let mut sum = protocol.sum(&round.state)?;
    let mut after = Vec::new();
    loop {
        let page = storage.reports(round.number, &after, PAGE)?;
        sum.add(&page)?;
        alive();
        match page.last() {
            Some(last) if page.len() == PAGE => after.clone_from(last),
            _ => return protocol.close_round(&round.state, &sum),
        }
    }
}
