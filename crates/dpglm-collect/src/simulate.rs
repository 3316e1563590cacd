//! Many devices from one table, against a real service over HTTP: for rehearsing a study and for measuring a server.
//!
//! Every row is a device with its own token, and answers once. In each round as many devices as the plan asks for make their
//! reports, which costs computing and is timed apart, and then send them over a number of connections. The devices' own storage
//! is left out: a simulated person has nothing to protect.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dpglm::noise::RandomSource;

use crate::answer::Answer;
use crate::client::{Accepted, Record, Service};
use crate::error::{Error, Result};
use crate::protocol::StudyProtocol;
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
    /// Connections that send at the same time.
    pub connections: usize,
}

/// What was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Reports acknowledged.
    pub accepted: usize,
    /// Reports refused, of any kind.
    pub refused: usize,
    /// Attempts that had to be repeated.
    pub repeated: usize,
    /// Time in which reports were sent, over all rounds.
    pub sending: Duration,
    /// Time in which they were made.
    pub making: Duration,
    /// The time of each acknowledged request, ascending.
    pub latencies: Vec<Duration>,
}

impl Measured {
    /// Acknowledged reports a second, while sending.
    pub fn rate(&self) -> f64 {
        self.accepted as f64 / self.sending.as_secs_f64().max(1e-9)
    }

    /// The latency below which a share of the requests lay.
    pub fn quantile(&self, share: f64) -> Duration {
        let place = (share * self.latencies.len() as f64).ceil() as usize;
        self.latencies.get(place.clamp(1, self.latencies.len().max(1)) - 1).copied().unwrap_or_default()
    }
}

/// How long a service may take to close a round before the simulation gives up.
const PATIENCE: Duration = Duration::from_secs(120);

impl Simulation<'_> {
    /// Runs until the study has finished or the devices are used up. `progress` hears of each round.
    pub fn run(&self, progress: &dyn Fn(&str)) -> Result<Measured> {
        if self.tokens.len() < self.records.len() || self.connections == 0 {
            return Err(Error::Argument(format!(
                "the simulation needs a token for each of {} records and at least one connection, got {} and {}",
                self.records.len(),
                self.tokens.len(),
                self.connections
            )));
        }
        let protocol = StudyProtocol::new(self.accepted.study())?;
        let mut measured = Measured::default();
        let mut next = 0;
        while next < self.records.len() {
            let Some((round, state)) = self.open_round()? else { break };
            let wanted = usize::try_from(protocol.rule(round).target).unwrap_or(usize::MAX);
            let group = next..next.saturating_add(wanted).min(self.records.len());
            next = group.end;
            let started = Instant::now();
            let messages = self.make(group.clone(), round, &state)?;
            measured.making += started.elapsed();
            let started = Instant::now();
            self.send(&self.tokens[group], &messages, &mut measured)?;
            measured.sending += started.elapsed();
            progress(&format!("round {round}: {} reports sent", messages.len()));
            if messages.len() < wanted {
                break;
            }
            self.wait_beyond(round)?;
        }
        measured.latencies.sort_unstable();
        Ok(measured)
    }

    /// The open round, once there is one; `None` when the study is over.
    fn open_round(&self) -> Result<Option<(u32, String)>> {
        let started = Instant::now();
        loop {
            let served = self.service.round()?;
            if served.standing != "collecting" {
                return Ok(None);
            }
            if served.phase == "open" {
                return Ok(Some((served.round, served.state)));
            }
            pause(started)?;
        }
    }

    fn wait_beyond(&self, round: u32) -> Result<()> {
        let started = Instant::now();
        loop {
            let served = self.service.round()?;
            if served.round > round || served.standing != "collecting" {
                return Ok(());
            }
            pause(started)?;
        }
    }

    fn make(&self, group: std::ops::Range<usize>, round: u32, state: &str) -> Result<Vec<Vec<u8>>> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let records = &self.records[group];
        let parts: Vec<Result<Vec<Vec<u8>>>> = thread::scope(|scope| {
            let handles: Vec<_> = records
                .chunks(records.len().div_ceil(workers).max(1))
                .map(|part| {
                    scope.spawn(move || {
                        let mut rng = RandomSource::from_os()?;
                        let make = |record| self.accepted.randomize(round, state, record, &mut rng);
                        part.iter().map(make).map(|made| Ok(made?.to_bytes())).collect()
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(|_| Err(stopped()))).collect()
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn send(&self, tokens: &[Token], messages: &[Vec<u8>], measured: &mut Measured) -> Result<()> {
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        let parts: Vec<Measured> = thread::scope(|scope| {
            let handles: Vec<_> = (0..self.connections)
                .map(|_| {
                    scope.spawn(|| {
                        let mut part = Measured::default();
                        loop {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let (Some(token), Some(message)) = (tokens.get(at), messages.get(at)) else {
                                return part;
                            };
                            if let Err(error) = self.send_one(token, message, &mut part) {
                                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                                next.store(messages.len(), Ordering::Relaxed);
                                return part;
                            }
                        }
                    })
                })
                .collect();
            handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
        });
        for part in parts {
            measured.accepted += part.accepted;
            measured.refused += part.refused;
            measured.repeated += part.repeated;
            measured.latencies.extend(part.latencies);
        }
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Sends one report until it has a final answer.
    fn send_one(&self, token: &Token, message: &[u8], part: &mut Measured) -> Result<()> {
        let first = Instant::now();
        loop {
            let started = Instant::now();
            match self.service.send(token, message) {
                Ok(Answer::Accepted | Answer::AlreadyCounted) => {
                    part.accepted += 1;
                    part.latencies.push(started.elapsed());
                    return Ok(());
                }
                Ok(answer) if !answer.retry() => {
                    part.refused += 1;
                    return Ok(());
                }
                Ok(_) => part.repeated += 1,
                Err(error) if first.elapsed() > PATIENCE => return Err(error),
                Err(_) => part.repeated += 1,
            }
            pause(first)?;
        }
    }
}

/// Waits a moment, or gives up.
fn pause(since: Instant) -> Result<()> {
    if since.elapsed() > PATIENCE {
        return Err(Error::Argument(
            "the service did not go on for two minutes: look at its status page".into(),
        ));
    }
    thread::sleep(Duration::from_millis(20));
    Ok(())
}

fn stopped() -> Error {
    Error::Argument("a simulated device stopped unexpectedly".into())
}
