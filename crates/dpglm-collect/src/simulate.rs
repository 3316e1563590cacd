//! Many devices from one table, against a real service over HTTP: for rehearsing a study and for measuring a server.
//!
//! Every row is a device with its own token. Devices arrive over a span of time; each asks for a place in its round, waits if
//! there is none, makes its report, is looked at by its owner for a while, and sends it. The devices' own storage is left out: a
//! simulated person has nothing to protect.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dpglm::noise::RandomSource;

use crate::answer::Answer;
use crate::client::{Accepted, Place, Record, Service};
use crate::error::{Error, Result};
use crate::token::Token;

/// Devices and how they connect.
#[derive(Debug)]
pub struct Simulation<'a> {
    /// The service.
    pub service: &'a Service,
    /// The study, checked.
    pub accepted: &'a Accepted,
    /// One token for each device.
    pub tokens: &'a [Token],
    /// One record for each device.
    pub records: &'a [Record],
    /// Connections at the same time.
    pub connections: usize,
    /// The time over which devices arrive, evenly.
    pub arrivals: Duration,
    /// How long a person looks at a report before it is sent.
    pub think: Duration,
    /// How often a device that waits asks again.
    pub poll: Duration,
    /// How long nothing may happen before those who still wait give up.
    pub patience: Duration,
}

/// What was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Reports acknowledged.
    pub accepted: usize,
    /// Reports refused, of any kind: their devices have spent for nothing.
    pub refused: usize,
    /// Devices whose round was over or full when they came: they have spent nothing.
    pub turned_away: usize,
    /// Devices that still waited at the end: they have spent nothing.
    pub waiting: usize,
    /// Attempts that had to be repeated.
    pub repeated: usize,
    /// From the first arrival to the last answer.
    pub elapsed: Duration,
    /// The time of each acknowledged report's request, ascending.
    pub latencies: Vec<Duration>,
    /// The time of each request for a place, ascending.
    pub places: Vec<Duration>,
}

impl Measured {
    /// Acknowledged reports a second, from the first arrival to the last answer.
    pub fn rate(&self) -> f64 {
        self.accepted as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// The latency below which a share of the reports' requests lay.
    pub fn quantile(&self, share: f64) -> Duration {
        let place = (share * self.latencies.len() as f64).ceil() as usize;
        self.latencies.get(place.clamp(1, self.latencies.len().max(1)) - 1).copied().unwrap_or_default()
    }
}

/// What a device does next.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Ask,
    Send(Vec<u8>),
}

/// When, which device, what.
type Task = Reverse<(Instant, usize, Step)>;

struct Agenda {
    tasks: BinaryHeap<Task>,
    /// Devices that a connection works for.
    busy: usize,
    /// When a device was last given a place or an answer.
    progress: Instant,
    measured: Measured,
    failure: Option<Error>,
}

impl Simulation<'_> {
    /// Runs until every device has its answer or nothing happens any more.
    pub fn run(&self) -> Result<Measured> {
        if self.tokens.len() < self.records.len() || self.connections == 0 {
            return Err(Error::Argument(format!(
                "the simulation needs a token for each of {} records and at least one connection, got {} and {}",
                self.records.len(),
                self.tokens.len(),
                self.connections
            )));
        }
        let start = Instant::now();
        let spread = |device: usize| self.arrivals.mul_f64(device as f64 / self.records.len() as f64);
        let agenda = Mutex::new(Agenda {
            tasks: (0..self.records.len()).map(|d| Reverse((start + spread(d), d, Step::Ask))).collect(),
            busy: 0,
            progress: start,
            measured: Measured::default(),
            failure: None,
        });
        thread::scope(|scope| {
            for _ in 0..self.connections {
                scope.spawn(|| self.work(&agenda));
            }
        });
        let mut agenda = agenda.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = agenda.failure {
            return Err(failure);
        }
        agenda.measured.waiting = agenda.tasks.len();
        agenda.measured.elapsed = agenda.progress - start;
        agenda.measured.latencies.sort_unstable();
        agenda.measured.places.sort_unstable();
        Ok(agenda.measured)
    }

    fn work(&self, agenda: &Mutex<Agenda>) {
        let mut rng = match RandomSource::from_os() {
            Ok(rng) => rng,
            Err(error) => {
                lock(agenda).failure = Some(error.into());
                return;
            }
        };
        loop {
            let (device, step) = {
                let mut agenda = lock(agenda);
                let now = Instant::now();
                let idle = agenda.progress.elapsed() > self.patience
                    && !agenda.tasks.iter().any(|Reverse((_, _, step))| matches!(step, Step::Send(_)));
                let arriving = agenda.tasks.len() == self.records.len();
                if agenda.failure.is_some()
                    || (agenda.busy == 0 && (agenda.tasks.is_empty() || (idle && !arriving)))
                {
                    return;
                }
                match agenda.tasks.peek() {
                    Some(Reverse((when, ..))) if *when <= now => {
                        agenda.busy += 1;
                        let Some(Reverse((_, device, step))) = agenda.tasks.pop() else { continue };
                        (device, step)
                    }
                    next => {
                        let wait = next.map_or(Duration::from_millis(5), |Reverse((when, ..))| *when - now);
                        drop(agenda);
                        thread::sleep(wait.min(Duration::from_millis(20)));
                        continue;
                    }
                }
            };
            let next = self.step(agenda, device, step, &mut rng);
            let mut agenda = lock(agenda);
            agenda.busy -= 1;
            match next {
                Ok(Some((after, step))) => agenda.tasks.push(Reverse((Instant::now() + after, device, step))),
                Ok(None) => {}
                Err(error) => agenda.failure = Some(error),
            }
        }
    }

    /// One request of a device, and what it does after which time; nothing when it is done.
    fn step(
        &self,
        agenda: &Mutex<Agenda>,
        device: usize,
        step: Step,
        rng: &mut RandomSource,
    ) -> Result<Option<(Duration, Step)>> {
        const SOON: Duration = Duration::from_millis(20);
        let started = Instant::now();
        let note = |change: &dyn Fn(&mut Measured)| {
            let mut agenda = lock(agenda);
            agenda.progress = Instant::now();
            change(&mut agenda.measured);
        };
        match step {
            Step::Ask => match self.service.reserve(&self.tokens[device]) {
                Ok(Place::Held { round, state, .. }) => {
                    note(&|measured| measured.places.push(started.elapsed()));
                    let made = self.accepted.randomize(round, &state, &self.records[device], rng)?;
                    Ok(Some((self.think, Step::Send(made.to_bytes()))))
                }
                Ok(Place::Wait { seconds, .. }) => {
                    Ok(Some((self.poll.min(Duration::from_secs(seconds.max(1))), Step::Ask)))
                }
                Ok(Place::Missed { .. }) => {
                    note(&|measured| measured.turned_away += 1);
                    Ok(None)
                }
                Ok(Place::Refused(answer)) if answer.retry() => {
                    lock(agenda).measured.repeated += 1;
                    Ok(Some((SOON, Step::Ask)))
                }
                Ok(Place::Refused(answer)) => Err(Error::Argument(format!(
                    "the service answered {}: {}: give tokens of this study that were not used before",
                    answer.code(),
                    answer.message()
                ))),
                Err(error) => self.again(agenda, error, Step::Ask),
            },
            Step::Send(message) => match self.service.send(&self.tokens[device], &message) {
                Ok(Answer::Accepted | Answer::AlreadyCounted) => {
                    note(&|measured| {
                        measured.accepted += 1;
                        measured.latencies.push(started.elapsed());
                    });
                    Ok(None)
                }
                Ok(answer) if answer.retry() => {
                    lock(agenda).measured.repeated += 1;
                    Ok(Some((SOON, Step::Send(message))))
                }
                Ok(_) => {
                    note(&|measured| measured.refused += 1);
                    Ok(None)
                }
                Err(error) => self.again(agenda, error, Step::Send(message)),
            },
        }
    }

    /// The service could not be reached: tried again, unless nothing has worked for a long time.
    fn again(&self, agenda: &Mutex<Agenda>, error: Error, step: Step) -> Result<Option<(Duration, Step)>> {
        let mut agenda = lock(agenda);
        agenda.measured.repeated += 1;
        if agenda.progress.elapsed() > self.patience {
            Err(error)
        } else {
            Ok(Some((Duration::from_millis(100), step)))
        }
    }
}

fn lock(agenda: &Mutex<Agenda>) -> MutexGuard<'_, Agenda> {
    agenda.lock().unwrap_or_else(PoisonError::into_inner)
}
