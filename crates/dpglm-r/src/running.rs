//! A long computation that Ctrl-C ends.
//!
//! It runs in a thread of its own, and R asks a few times a second whether it is over: between two questions R looks for interrupts as it
//! always does, so that none has to pass through Rust. A computation that is told to stop unwinds from its next step; what it had
//! computed is dropped there, so nothing of it can be released.

use super::words;
use dpglm::error::Message;
use dpglm_workflow::Failure;
use extendr_api::prelude::*;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// The payload with which a computation that was told to stop unwinds.
struct Stopped;

/// What a computation leaves.
pub struct Done {
    /// The document.
    pub json: String,
    /// The same in words, where the document does not say it by itself.
    pub text: Option<String>,
    /// What is to be said beside it.
    pub said: Vec<String>,
}

/// Reports a step; unwinds if the computation was told to stop.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// A computation that was begun.
pub struct Job {
    stop: Arc<AtomicBool>,
    receiver: Receiver<std::result::Result<Done, Failure>>,
}

/// Begins a computation. The list takes what is to be said beside its result.
pub fn start(
    work: impl FnOnce(
        &mut dyn FnMut(&Message),
        Progress<'_>,
    ) -> std::result::Result<(String, Option<String>), Failure>
    + Send
    + 'static,
) -> Robj {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let theirs = Arc::clone(&stop);
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut progress = |_, _| {
            if theirs.load(Ordering::Relaxed) {
                resume_unwind(Box::new(Stopped));
            }
        };
        let done = work(&mut |note| said.push(words::said(note)), &mut progress);
        // Nobody listens if R was interrupted.
        let _ = sender.send(done.map(|(json, text)| Done { json, text, said }));
    });
    ExternalPtr::new(Job { stop, receiver }).into()
}

impl Job {
    /// The result, if it is there within so many milliseconds.
    pub fn wait(&self, milliseconds: u64) -> std::result::Result<Option<Done>, Failure> {
        match self.receiver.recv_timeout(Duration::from_millis(milliseconds)) {
            Ok(done) => done.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            // The panic's words may hold private numbers: they are not repeated.
            Err(RecvTimeoutError::Disconnected) => Err(Failure::Failed(
                "the computation failed inside the library: nothing was released; please report this as a bug".into(),
            )),
        }
    }

    /// Tells it to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
