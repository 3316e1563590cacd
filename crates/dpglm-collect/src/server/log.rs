//! Messages for the operator: one line each, with time, level and event, `key=value`. Neither tokens, reports nor addresses.
//!
//! A line that says again what was just said helps nobody and fills a disk: of each event that is not plain news one line is
//! written in ten seconds, and the next one says how many were left out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long an event that was told is not told again.
const QUIET: Duration = Duration::from_secs(10);

/// Where messages for the operator go. Cheap to clone.
#[derive(Clone)]
pub struct Log {
    sink: Arc<dyn Fn(&str) + Send + Sync>,
    recent: Arc<Mutex<HashMap<&'static str, (Instant, u64)>>>,
}

impl Log {
    /// A log whose lines go to `sink`.
    pub fn new(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { sink: Arc::new(sink), recent: Arc::default() }
    }

    /// News.
    pub fn info(&self, event: &'static str, message: &str) {
        self.line("info", event, message, 0);
    }

    /// Something that will pass, or that somebody should look at.
    pub fn warn(&self, event: &'static str, message: &str) {
        self.limited("warn", event, message);
    }

    /// Something that fails.
    pub fn error(&self, event: &'static str, message: &str) {
        self.limited("error", event, message);
    }

    fn limited(&self, level: &str, event: &'static str, message: &str) {
        let now = Instant::now();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = match recent.get_mut(event) {
            Some((since, left_out)) if now.duration_since(*since) < QUIET => {
                *left_out += 1;
                return;
            }
            Some((_, left_out)) => *left_out,
            None => 0,
        };
        recent.insert(event, (now, 0));
        drop(recent);
        self.line(level, event, message, left_out);
    }

    fn line(&self, level: &str, event: &str, message: &str, left_out: u64) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let message = message.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let more = if left_out > 0 { format!(" left_out={left_out}") } else { String::new() };
        (self.sink)(&format!("time={} level={level} event={event}{more} message=\"{message}\"", utc(time)));
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Log")
    }
}

/// `2026-11-16T20:05:00Z` of seconds since 1970.
pub fn utc(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let rest = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * rest + 2) / 153;
    let date = rest - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let shown = [0, 951_782_399, 951_782_400, 1_794_859_500, 4_102_444_799].map(utc);
        assert_eq!(shown[..3], ["1970-01-01T00:00:00Z", "2000-02-28T23:59:59Z", "2000-02-29T00:00:00Z"]);
        assert_eq!(shown[3..], ["2026-11-16T20:05:00Z", "2099-12-31T23:59:59Z"]);
    }

    #[test]
    fn lines_have_time_and_level_and_repetitions_are_left_out() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let log = Log::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        log.info("serving", "on \"a\"");
        for _ in 0..50 {
            log.error("storage", "is away");
        }
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].starts_with("time=20")
                && lines[0].ends_with("level=info event=serving message=\"on \\\"a\\\"\"")
        );
        assert!(lines[1].contains("level=error event=storage message=\"is away\""));
    }
}
