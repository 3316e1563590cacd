//! A long computation that Ctrl-C ends and a progress bar follows.
//!
//! It runs in a thread of its own while the interpreter is free for others. The calling thread looks five times a second
//! for signals. A computation that is told to stop unwinds from its next step; what it had computed is dropped there, so
//! nothing of it can be released.

use dpglm_workflow::Failure;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(200);

/// The payload with which a computation that was told to stop unwinds.
struct Stopped;

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    done: AtomicU64,
    of: AtomicU64,
}

/// Runs `work`, which reports its steps. `progress`, if given, is called in the calling thread with the steps that are over
/// and their number.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (sender, mut receiver) = mpsc::channel();
    let theirs = Arc::clone(&shared);
    let thread = std::thread::spawn(move || {
        let mut report = |done: u64, of: u64| {
            theirs.done.store(done, Ordering::Relaxed);
            theirs.of.store(of, Ordering::Relaxed);
            if theirs.stop.load(Ordering::Relaxed) {
                resume_unwind(Box::new(Stopped));
            }
        };
        // Nobody listens if the caller was interrupted.
        let _ = sender.send(work(&mut report));
    });
    let tell = || match progress {
        Some(progress) if shared.of.load(Ordering::Relaxed) > 0 => progress
            .call1(py, (shared.done.load(Ordering::Relaxed), shared.of.load(Ordering::Relaxed)))
            .map(drop),
        _ => Ok(()),
    };
    loop {
        // The receiver cannot be shared with the interpreter: it goes along and comes back.
        let (back, answer) = py.detach(move || {
            let answer = receiver.recv_timeout(PAUSE);
            (receiver, answer)
        });
        receiver = back;
        match answer {
            Ok(result) => {
                tell()?;
                return result.map_err(super::words::exception);
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupted) = py.check_signals().and_then(|()| tell()) {
                    shared.stop.store(true, Ordering::Relaxed);
                    return Err(interrupted);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                // The panic's words may hold private numbers: they are not repeated.
                drop(py.detach(|| thread.join()));
                return Err(PyRuntimeError::new_err(
                    "the computation failed inside the library: nothing was released; please report this as a bug",
                ));
            }
        }
    }
}
