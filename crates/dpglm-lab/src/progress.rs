//! How far a run has come and how long it may still take, on the error stream.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Counts finished tasks.
pub struct Progress {
    total: usize,
    done: usize,
    start: Instant,
    told: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    /// For this many tasks.
    pub fn new(total: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { total, done: 0, start: Instant::now(), told: None, is_terminal }
    }

    /// One task is over. On a terminal one line is kept up to date; elsewhere one is written every half minute.
    pub fn step(&mut self, what: &str) {
        self.done += 1;
        let pause = Duration::from_millis(if self.is_terminal { 200 } else { 30_000 });
        if self.done < self.total && self.told.is_some_and(|t| t.elapsed() < pause) {
            return;
        }
        self.told = Some(Instant::now());
        let spent = self.start.elapsed().as_secs_f64();
        let left = spent / self.done as f64 * (self.total - self.done) as f64;
        let text = format!(
            "{}/{} done in {}, about {} left ({what})",
            self.done,
            self.total,
            in_words(spent),
            in_words(left)
        );
        let (before, after) = if self.is_terminal { ("\r\x1b[2K", "") } else { ("", "\n") };
        // A line that cannot be shown is no reason to stop.
        let _ = write!(std::io::stderr(), "{before}{text}{after}");
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_terminal && self.told.is_some() {
            let _ = writeln!(std::io::stderr());
        }
    }
}

/// Seconds as a person says them.
pub fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}
