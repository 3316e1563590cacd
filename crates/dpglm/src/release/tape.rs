//! The replay of [`super::replay`] around any fit, for unit tests: all sessions that the current thread opens are watched.

use super::replay::{Probe, compare};
use std::cell::RefCell;

thread_local! {
    static WATCHED: RefCell<Probe> = RefCell::new(Probe::default());
}

/// Of all releases compared, the largest difference as a share of the claim, and what it was of.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    pub worst: (f64, String),
    pub compared: usize,
}

/// Runs on a table (`false`) and on its neighbour (`true`), and compares what the two would have released.
pub(crate) fn attack(run: impl Fn(bool)) -> Tape {
    let compared = compare(Probe::default(), |probe, side| {
        WATCHED.set(probe);
        run(side);
        WATCHED.take();
        Ok(())
    });
    let compared = compared.expect("both runs release the same things");
    let worst = compared.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    Tape {
        worst: worst.map(|release| (release.share, release.what.to_owned())).unwrap_or_default(),
        compared: compared.len(),
    }
}

/// What the current thread does to the sessions it opens.
pub(super) fn current() -> Probe {
    WATCHED.with_borrow(Probe::clone)
}
