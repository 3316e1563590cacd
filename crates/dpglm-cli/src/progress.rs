//! What is said beside the result, on the error stream: messages, and how far a long fit has come.

use crate::failure::said;
use dpglm::error::Message;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    line: Line,
    large: Option<Arc<LargeProgress>>,
}

impl Progress {
    pub fn new() -> Self {
        Self { line: Line::new(), large: None }
    }

    /// Of a fit whose passes are watched too.
    pub fn of_large(large: Arc<LargeProgress>) -> Self {
        Self { line: Line::new(), large: Some(large) }
    }

    /// Shows that `done` steps of `of` are over.
    pub fn step(&mut self, done: u64, of: u64) {
        match &self.large {
            Some(large) => large.passes(done, of),
            None => self.line.draw(|| format!("fitting {} {done}/{of}", bar(done, of))),
        }
    }
}

/// How far a table is that is read block by block: rows per second, and the time that is left.
pub struct LargeProgress(Mutex<Watched>);

struct Watched {
    line: Line,
    begun: Instant,
    passes: Option<(u64, u64)>,
}

impl LargeProgress {
    pub fn new() -> Self {
        Self(Mutex::new(Watched { line: Line::new(), begun: Instant::now(), passes: None }))
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows how many rows are read into the scratch file.
    pub fn read(&self, done: u64, of: Option<u64>) {
        let Watched { line, begun, .. } = &mut *self.watched();
        let rate = rate(done, *begun);
        line.draw(|| match of {
            Some(of) => format!("reading {} {}", bar(done, of), rated(rate, of.saturating_sub(done) as f64)),
            None => format!("reading {done} rows, {}", rated(rate, 0.0)),
        });
    }

    /// Shows that so many rows of a pass are read.
    pub fn pass(&self, done: u64, rows: u64) {
        let Watched { line, begun, passes } = &mut *self.watched();
        let (over, of) = *passes.get_or_insert_with(|| {
            *begun = Instant::now();
            (0, 0)
        });
        let rate = rate(over * rows + done, *begun);
        line.draw(|| {
            if of == 0 {
                return format!("fitting {} {}", bar(done, rows), rated(rate, 0.0));
            }
            let left = (of - over) as f64 * rows as f64 - done as f64;
            format!("fitting {} {over}/{of}, {}", bar(over * rows + done, of * rows), rated(rate, left))
        });
    }

    /// Says that so many passes are over.
    fn passes(&self, over: u64, of: u64) {
        self.watched().passes = Some((over, of));
    }
}

fn rate(rows: u64, begun: Instant) -> f64 {
    rows as f64 / begun.elapsed().as_secs_f64().max(1e-3)
}

fn rated(rate: f64, left: f64) -> String {
    let shown = format!("{:.2} million rows/s", rate / 1e6);
    let seconds = (left / rate.max(1e-9)).ceil();
    match seconds {
        _ if left <= 0.0 || !seconds.is_finite() => shown,
        ..120.0 => format!("{shown}, {seconds:.0} s left"),
        ..7200.0 => format!("{shown}, {:.0} min left", seconds / 60.0),
        _ => format!("{shown}, {:.0} h left", seconds / 3600.0),
    }
}

fn bar(done: u64, of: u64) -> String {
    let filled = (WIDTH as f64 * done as f64 / of.max(1) as f64).min(WIDTH as f64) as usize;
    format!("[{}{}]", "=".repeat(filled), " ".repeat(WIDTH as usize - filled))
}

/// A line on the error stream that is drawn again and again.
struct Line {
    is_terminal: bool,
    last: Instant,
    drawn: bool,
}

impl Line {
    fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), last: Instant::now(), drawn: false }
    }

    fn draw(&mut self, text: impl FnOnce() -> String) {
        if !self.is_terminal || self.last.elapsed() < PAUSE {
            return;
        }
        // A line that cannot be drawn is no reason to stop.
        let _ = write!(std::io::stderr(), "\r\x1b[2K{}", text());
        let _ = std::io::stderr().flush();
        (self.last, self.drawn) = (Instant::now(), true);
    }
}

impl Drop for Line {
    /// Takes the line away, however the fit ended.
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_is_told_in_fitting_units() {
        assert_eq!(rated(2e6, 0.0), "2.00 million rows/s");
        assert_eq!(rated(2e6, 2e7), "2.00 million rows/s, 10 s left");
        assert_eq!(rated(1e6, 6e8), "1.00 million rows/s, 10 min left");
        assert_eq!(rated(0.0, 1.0), "0.00 million rows/s, 277778 h left");
        assert_eq!((bar(0, 0).len(), bar(9, 3)), (32, format!("[{}]", "=".repeat(30))));
    }
}
