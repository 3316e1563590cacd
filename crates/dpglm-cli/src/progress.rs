//! What is said beside the result, on the error stream: messages, and how far a long fit has come.

use crate::failure::said;
use dpglm::error::Message;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const WIDTH: u64 = 30;
const PAUSE: Duration = Duration::from_millis(100);

/// Says something on the error stream. If that is closed, nobody wants to know.
pub fn tell(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// The same of a note of the workflow's, its parameters as flags.
pub fn note(message: &Message) {
    tell(&said(message));
}

/// A progress bar on the error stream; silent where that is no terminal. The number of steps is public.
pub struct Progress {
    is_terminal: bool,
    last: Instant,
    drawn: bool,
}

impl Progress {
    pub fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), last: Instant::now(), drawn: false }
    }

    /// Shows that `done` steps of `of` are over.
    pub fn step(&mut self, done: u64, of: u64) {
        if !self.is_terminal || self.last.elapsed() < PAUSE {
            return;
        }
        let filled = (WIDTH * done).checked_div(of).unwrap_or(0).min(WIDTH) as usize;
        let empty = WIDTH as usize - filled;
        // A bar that cannot be drawn is no reason to stop.
        let _ =
            write!(std::io::stderr(), "\rfitting [{}{}] {done}/{of}", "=".repeat(filled), " ".repeat(empty));
        let _ = std::io::stderr().flush();
        (self.last, self.drawn) = (Instant::now(), true);
    }
}

impl Drop for Progress {
    /// Takes the bar away, however the fit ended.
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
