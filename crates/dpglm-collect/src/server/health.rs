//! Whether the service can do its work now: for `/readyz`, and for what must not be shown when it is old.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How old a picture of the storage may be before it is not shown.
pub(super) const STALE: Duration = Duration::from_secs(10);
/// How long a batch may take before the storage counts as away.
const STUCK: Duration = Duration::from_secs(5);

/// What is known of the storage.
pub(super) struct Health {
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct State {
    /// When the storage was last read.
    read: Instant,
    /// When the batch that is being written began.
    writing: Option<Instant>,
    /// When a batch last failed, if none was written since.
    failed: Option<Instant>,
}

impl Health {
    /// A storage that has just been read.
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { read: Instant::now(), writing: None, failed: None }) }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn read(&self) {
        self.change(|state| state.read = Instant::now());
    }

    pub(super) fn writing(&self, since: Option<Instant>) {
        self.change(|state| state.writing = since);
    }

    pub(super) fn written(&self) {
        self.change(|state| state.failed = None);
    }

    pub(super) fn failed(&self) {
        self.change(|state| state.failed = Some(Instant::now()));
    }

    /// Whether what was last read may still be shown.
    pub(crate) fn is_fresh(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).read.elapsed() < STALE
    }

    /// Whether a report would be taken now, as far as is known. A failure is forgotten after a while: somebody must try.
    pub(crate) fn is_ready(&self) -> bool {
        let state = *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let stuck = state.writing.is_some_and(|since| since.elapsed() > STUCK);
        let failed = state.failed.is_some_and(|since| since.elapsed() < STALE);
        state.read.elapsed() < STALE && !stuck && !failed
    }
}
