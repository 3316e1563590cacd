//! The thread that writes: it takes whatever reports have queued, commits them in one transaction, and answers after the commit.
//!
//! While one batch is on its way to the disk the next one gathers, so the cost of a durable commit is shared by as many
//! reports as arrive in its time, and a quiet server still answers after one commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::metrics::Metrics;
use crate::error::{Error, Result};
use crate::storage::{Outcome, Rule, Storage, Submission, TokenHash};

/// Reports in one transaction at most: bounds the time a report waits.
const BATCH: usize = 1024;
/// Reports that may wait. Beyond this a device is told to come back.
const QUEUE: usize = 16 * BATCH;

/// What the thread is asked to do.
enum Job {
    Accept(Submission, oneshot::Sender<Option<Outcome>>),
    Change(Change, oneshot::Sender<Result<bool>>),
}

/// A change asked by the administrator.
pub(super) enum Change {
    Enroll(Vec<TokenHash>),
    Seal(u32),
    Abandon(u32),
}

/// The way to the writing thread.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

/// Why a report was not taken.
pub(super) enum Unavailable {
    /// Too many are waiting.
    Busy,
    /// The storage failed. The report may or may not be stored: the identical report will be recognised.
    Storage,
}

impl Writer {
    /// Starts the thread. `over` learns of rounds whose reports are late before the clock does. The thread ends when the last `Writer` is dropped and all jobs are done.
    pub fn start(
        mut storage: Box<dyn Storage>,
        rule: impl Fn(u32) -> Rule + Send + 'static,
        metrics: Arc<Metrics>,
        over: Arc<AtomicU32>,
        wake: SyncSender<()>,
        log: super::Log,
    ) -> Self {
        let (jobs, mut queue) = mpsc::channel(QUEUE);
        thread::spawn(move || {
            let mut batch = Vec::with_capacity(BATCH);
            while queue.blocking_recv_many(&mut batch, BATCH) > 0 {
                let (mut submissions, mut answers) = (Vec::new(), Vec::new());
                for job in batch.drain(..) {
                    match job {
                        Job::Accept(submission, answer) => {
                            submissions.push(submission);
                            answers.push(answer);
                        }
                        // Nobody may wait for the answer any more; the change is made all the same.
                        Job::Change(change, answer) => drop(answer.send(apply(&mut *storage, &change))),
                    }
                }
                if submissions.is_empty() {
                    continue;
                }
                let started = Instant::now();
                match storage.accept(&submissions, &rule) {
                    Ok(outcomes) => {
                        metrics.batch(submissions.len(), started.elapsed());
                        let late = submissions.iter().zip(&outcomes).filter(|(_, o)| **o == Outcome::Late);
                        if let Some(round) = late.map(|(submission, _)| submission.round).max() {
                            over.fetch_max(round, Ordering::Relaxed);
                        }
                        for (answer, outcome) in answers.into_iter().zip(outcomes) {
                            let _ = answer.send(Some(outcome));
                        }
                    }
                    Err(error) => {
                        metrics.storage_failed();
                        log(&format!("{} reports not taken: {error}", submissions.len()));
                        // Dropping the answers tells every waiting device.
                    }
                }
                // The round may be complete. A full channel means the clock has been woken already.
                let _ = wake.try_send(());
            }
        });
        Self { jobs }
    }

    /// Stores a report; returns after it is durable.
    pub async fn accept(&self, submission: Submission) -> std::result::Result<Outcome, Unavailable> {
        let (answer, outcome) = oneshot::channel();
        self.jobs.try_send(Job::Accept(submission, answer)).map_err(|_| Unavailable::Busy)?;
        outcome.await.ok().flatten().ok_or(Unavailable::Storage)
    }

    /// Makes an administrator's change; returns after it is durable.
    pub async fn change(&self, change: Change) -> Result<bool> {
        let gone = || Error::Storage("the writing thread has ended: restart the service".into());
        let (answer, outcome) = oneshot::channel();
        self.jobs.send(Job::Change(change, answer)).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }
}

fn apply(storage: &mut dyn Storage, change: &Change) -> Result<bool> {
    match change {
        Change::Enroll(tokens) => storage.enroll(tokens).map(|()| true),
        Change::Seal(round) => storage.seal(*round),
        Change::Abandon(round) => storage.abandon(*round),
    }
}
