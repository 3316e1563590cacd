//! The time by which rounds end, guarded against a clock that jumps.
//!
//! A wall clock that was set wrong for a second must not end a study. The guard compares it with the machine's own steady
//! counter: as long as both agree the wall clock is followed; when it jumps, time goes on from where it was, nothing is ended,
//! and the operator is told. A clock that stays where it jumped to for [`PATIENCE`] was set on purpose, and is believed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Log;

/// The wall clock, in seconds since 1970.
pub type Wall = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The system's wall clock.
pub fn system_clock() -> Wall {
    Arc::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()))
}

/// A difference that is no jump: rounding, and a clock that is being adjusted.
const TOLERANCE: u64 = 5;
/// How long a clock that jumped is doubted.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// A guarded clock.
pub struct Clock {
    wall: Wall,
    log: Log,
    state: Mutex<State>,
}

struct State {
    /// A time that was believed, and the steady counter then.
    believed: (u64, Instant),
    doubted: Option<Instant>,
}

/// A look at the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Seconds since 1970.
    pub now: u64,
    /// Whether the wall clock is believed. While it is not, nothing is ended.
    pub steady: bool,
}

impl Clock {
    /// A clock that begins by believing the wall.
    pub fn new(wall: Wall, log: Log) -> Self {
        let state = State { believed: (wall(), Instant::now()), doubted: None };
        Self { wall, log, state: Mutex::new(state) }
    }

    /// The time.
    pub fn read(&self) -> Reading {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (reading, jumped) = state.read((self.wall)(), Instant::now());
        if jumped {
            self.log.warn(
                "clock",
                "the clock has jumped: rounds wait until it is right, or has stayed for 15 minutes",
            );
        }
        reading
    }

    /// The time in seconds since 1970.
    pub fn now(&self) -> u64 {
        self.read().now
    }
}

impl State {
    fn read(&mut self, wall: u64, counter: Instant) -> (Reading, bool) {
        let (then, since) = self.believed;
        let expected = then + counter.saturating_duration_since(since).as_secs();
        if wall.abs_diff(expected) <= TOLERANCE {
            *self = Self { believed: (wall, counter), doubted: None };
            return (Reading { now: wall, steady: true }, false);
        }
        let doubted = *self.doubted.get_or_insert(counter);
        if counter.saturating_duration_since(doubted) >= PATIENCE {
            *self = Self { believed: (wall, counter), doubted: None };
            return (Reading { now: wall, steady: true }, false);
        }
        (Reading { now: expected, steady: false }, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_doubted_and_a_clock_that_stays_is_believed() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut state = State { believed: (1_000, start), doubted: None };
        let read = |state: &mut State, wall, seconds| {
            let (Reading { now, steady }, _) = state.read(wall, at(seconds));
            (now, steady)
        };
        assert_eq!(read(&mut state, 1_010, 10), (1_010, true));
        // Three days ahead for a moment, and back.
        assert_eq!(read(&mut state, 260_210, 11), (1_011, false));
        assert_eq!(read(&mut state, 1_013, 12), (1_013, true));
        // An hour back, for good.
        assert_eq!(read(&mut state, 0, 20), (1_021, false));
        assert_eq!(read(&mut state, 899, 919), (1_920, false));
        assert_eq!(read(&mut state, 901, 921), (901, true));
        assert_eq!(read(&mut state, 902, 922), (902, true));
    }
}
