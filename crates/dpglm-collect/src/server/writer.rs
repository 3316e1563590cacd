//! The thread that writes: it takes whatever requests have queued, commits them in one transaction, and answers after the
//! commit.
//!
//! While one batch is on its way to the disk the next one gathers, so the cost of a durable commit is shared by as many
//! requests as arrive in its time, and a quiet server still answers after one commit. A storage that does not answer holds the
//! thread, not the devices: they are told to come back.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::health::Health;
use super::metrics::Metrics;
use super::{Log, Rules};
use crate::error::{Error, Result};
use crate::storage::{Outcome, Request, Storage, TokenHash};

/// Requests in one transaction at most: bounds the time a request waits.
const BATCH: usize = 1024;
/// Requests that may wait. Beyond this a device is told to come back.
const QUEUE: usize = 16 * BATCH;
/// How long a device waits for the storage.
const DEADLINE: Duration = Duration::from_secs(8);

/// What the thread is asked to do.
enum Job {
    Ask(Request, oneshot::Sender<Outcome>),
    Change(Change, oneshot::Sender<Result<bool>>),
}

/// A change asked by the administrator.
pub(super) enum Change {
    Enroll(Vec<TokenHash>),
    Finish(u32),
    Abandon(u32),
}

/// The way to the writing thread.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

/// Why a request was not decided: too many are waiting, or the storage failed or is away. A report may or may not be stored;
/// the identical report will be recognised.
pub(super) struct Unavailable;

/// What one turn of the storage is for.
#[derive(Default)]
struct Turn {
    requests: Vec<Request>,
    answers: Vec<oneshot::Sender<Outcome>>,
    changes: Vec<(Change, oneshot::Sender<Result<bool>>)>,
}

impl Turn {
    fn sort(&mut self, job: Job) {
        match job {
            // A device that has given up is not asked again: it will come back.
            Job::Ask(_, answer) if answer.is_closed() => {}
            Job::Ask(request, answer) => {
                self.requests.push(request);
                self.answers.push(answer);
            }
            Job::Change(change, answer) => self.changes.push((change, answer)),
        }
    }

    /// Takes in what has queued.
    fn fill(&mut self, queue: &mut mpsc::Receiver<Job>) {
        while self.answers.len() < BATCH
            && let Ok(job) = queue.try_recv()
        {
            self.sort(job);
        }
    }
}

impl Writer {
    /// Starts the thread. It ends when the last `Writer` is dropped and all jobs are done.
    pub(super) fn start(
        mut storage: Box<dyn Storage>,
        rules: Rules,
        metrics: Arc<Metrics>,
        health: Arc<Health>,
        wake: SyncSender<()>,
        log: Log,
    ) -> Self {
        let (jobs, mut queue) = mpsc::channel(QUEUE);
        thread::spawn(move || {
            while let Some(first) = queue.blocking_recv() {
                let mut turn = Turn::default();
                turn.sort(first);
                if !turn.requests.is_empty() {
                    let started = Instant::now();
                    health.writing(Some(started));
                    // What has queued by the time that the storage is ours belongs to the same turn.
                    let taken = rules.take(&mut *storage, &mut || {
                        turn.fill(&mut queue);
                        std::mem::take(&mut turn.requests)
                    });
                    match taken {
                        Ok(outcomes) => {
                            metrics.batch(outcomes.len(), started.elapsed());
                            health.written();
                            for (answer, outcome) in turn.answers.drain(..).zip(outcomes) {
                                let _ = answer.send(outcome);
                            }
                        }
                        Err(error) => {
                            metrics.storage_failed();
                            health.failed();
                            // Dropping the answers tells every waiting device.
                            turn.fill(&mut queue);
                            log.error(
                                "storage",
                                &format!("{} requests not taken: {error}", turn.answers.len()),
                            );
                            turn.answers.clear();
                        }
                    }
                    health.writing(None);
                }
                for (change, answer) in turn.changes {
                    // Nobody may wait for the answer any more; the change is made all the same.
                    drop(answer.send(apply(&mut *storage, &change, rules.clock.now())));
                }
                // The round may be complete. A full channel means the clock has been woken already.
                let _ = wake.try_send(());
            }
        });
        Self { jobs }
    }

    /// Decides a request; returns after the outcome is durable.
    pub(super) async fn ask(&self, request: Request) -> std::result::Result<Outcome, Unavailable> {
        let (answer, outcome) = oneshot::channel();
        self.jobs.try_send(Job::Ask(request, answer)).map_err(|_| Unavailable)?;
        timeout(DEADLINE, outcome).await.ok().and_then(std::result::Result::ok).ok_or(Unavailable)
    }

    /// Makes an administrator's change; returns after it is durable.
    pub(super) async fn change(&self, change: Change) -> Result<bool> {
        let gone = || Error::Storage("the storage does not answer: try again later".into());
        let (answer, outcome) = oneshot::channel();
        self.jobs.try_send(Job::Change(change, answer)).map_err(|_| gone())?;
        timeout(4 * DEADLINE, outcome).await.map_err(|_| gone())?.map_err(|_| gone())?
    }
}

fn apply(storage: &mut dyn Storage, change: &Change, now: u64) -> Result<bool> {
    match change {
        Change::Enroll(tokens) => storage.enroll(tokens).map(|()| true),
        Change::Finish(round) => storage.finish(*round, now),
        Change::Abandon(round) => storage.abandon(*round),
    }
}
