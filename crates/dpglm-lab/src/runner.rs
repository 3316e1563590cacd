//! Runs the tasks that are missing, on all cores, within a limit of memory.

use crate::figure::{Figure, Point, Promises};
use crate::journal::{self, Journal};
use crate::progress::Progress;
use crate::task::{Record, Task};
use crate::{Failure, Result};
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Few repetitions of the points marked quick.
    Quick,
    /// The paper's repetitions at all points.
    Full,
}

impl Extent {
    /// The points of a figure that are run.
    pub fn points(self, figure: &Figure) -> Vec<Point> {
        (figure.points)().into_iter().filter(|p| p.quick || self == Extent::Full).collect()
    }

    /// The repetitions of every point.
    pub fn repetitions(self, figure: &Figure) -> u32 {
        match self {
            Extent::Quick => figure.repetitions.quick,
            Extent::Full => figure.repetitions.full,
        }
    }
}

/// What the machine may give.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Tasks at the same time.
    pub threads: usize,
    /// Gigabytes for all tasks together. A task that needs more runs alone.
    pub memory: f64,
    /// At most this many repetitions of every point, where there is not the time for more.
    pub repetitions: Option<u32>,
}

/// A repetition to be computed.
struct Job<'a> {
    point: &'a Point,
    promises: &'a Promises,
    repetition: u32,
    memory: f64,
}

/// What the workers share.
struct State<'a> {
    jobs: VecDeque<Job<'a>>,
    memory_used: f64,
    journal: Journal,
    progress: Progress,
    records: Vec<Record>,
    failure: Option<Failure>,
}

/// Runs what is missing of one figure, and gives all its records.
pub fn run(figure: &Figure, extent: Extent, folder: &Path, machine: Machine) -> Result<Vec<Record>> {
    let points = extent.points(figure);
    let records = journal::read(folder, figure.key)?;
    let done: HashSet<(String, u32)> = records.iter().map(|r| (r.point.clone(), r.repetition)).collect();
    let promises: Vec<Promises> = points.iter().map(figure.promises).collect::<Result<_>>()?;
    let mut jobs = VecDeque::new();
    let repetitions = extent.repetitions(figure).min(machine.repetitions.unwrap_or(u32::MAX));
    for repetition in 0..repetitions {
        for (point, promises) in points.iter().zip(&promises) {
            if !done.contains(&(point.name.clone(), repetition)) {
                jobs.push_back(Job { point, promises, repetition, memory: (figure.memory)(point) });
            }
        }
    }
    let state = Mutex::new(State {
        progress: Progress::new(jobs.len()),
        jobs,
        memory_used: 0.0,
        journal: Journal::open(folder, figure.key)?,
        records,
        failure: None,
    });
    let freed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..machine.threads.max(1) {
            scope.spawn(|| work(figure, machine, &state, &freed));
        }
    });
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.failure {
        Some(failure) => Err(failure),
        None => Ok(state.records),
    }
}

/// Takes jobs while there are any and none has failed.
fn work<'a>(figure: &Figure, machine: Machine, state: &Mutex<State<'a>>, freed: &Condvar) {
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let mut now = lock();
        let job = loop {
            let Some(next) = now.jobs.front() else { return };
            if now.failure.is_some() {
                return;
            }
            if now.memory_used == 0.0 || now.memory_used + next.memory <= machine.memory {
                now.memory_used += next.memory;
                match now.jobs.pop_front() {
                    Some(job) => break job,
                    None => return,
                }
            }
            now = freed.wait(now).unwrap_or_else(PoisonError::into_inner);
        };
        drop(now);
        let start = Instant::now();
        let mut task = Task::new(figure, job.point, job.promises, job.repetition);
        let outcome = (figure.run)(job.point, &mut task);
        let mut now = lock();
        let kept = outcome.and_then(|()| {
            let record = task.finish(start.elapsed().as_secs_f64());
            now.journal.append(&record)?;
            Ok(record)
        });
        match kept {
            Ok(record) => {
                now.progress.step(&format!("{}, {}", figure.key, job.point.name));
                now.records.push(record);
            }
            Err(failure) => {
                now.failure = Some(format!("{}, {}: {failure}", figure.key, job.point.name).into());
            }
        }
        now.memory_used -= job.memory;
        if now.memory_used < 1e-9 {
            now.memory_used = 0.0;
        }
        freed.notify_all();
    }
}
