//! Attacks on claimed sensitivities, for tests: an estimator runs on one table while a tape records every release, then on
//! a neighbour while the tape plays the same releases back. Both runs then share all that was released before, as the
//! accountant assumes, and what is about to be released may differ by the claimed sensitivity at most.

use crate::mechanisms::Release;
use std::cell::RefCell;

thread_local! {
    static NEXT: RefCell<Tape> = RefCell::new(Tape::default());
}

/// What a purse does with its releases.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    mode: Mode,
    spools: Vec<Spool>,
    place: usize,
    /// Of all releases compared, the largest difference as a share of the claim, and what it was of.
    pub worst: (f64, String),
    pub compared: usize,
}

#[derive(Debug, Default, PartialEq, Clone, Copy)]
enum Mode {
    #[default]
    Off,
    Record,
    Replay,
}

#[derive(Debug)]
enum Spool {
    Vector { exact: Vec<f64>, released: Vec<f64> },
    Number(f64),
    Indices { scores: Vec<f64>, chosen: Vec<usize> },
}

pub(super) fn take() -> Tape {
    NEXT.with_borrow_mut(std::mem::take)
}

pub(super) fn put_back(tape: Tape) {
    NEXT.with_borrow_mut(|next| *next = tape);
}

/// Runs on a table and on its neighbour, and gives the largest difference between what the two would have released, as a
/// share of the claimed sensitivity, with the number of releases compared.
pub(crate) fn attack(run: impl Fn(bool)) -> Tape {
    put_back(Tape { mode: Mode::Record, ..Tape::default() });
    run(false);
    let recorded = take();
    put_back(Tape { mode: Mode::Replay, spools: recorded.spools, ..Tape::default() });
    run(true);
    take()
}

impl Tape {
    fn next(&mut self) -> &mut Spool {
        self.place += 1;
        &mut self.spools[self.place - 1]
    }

    fn compare(&mut self, what: &str, share: f64) {
        self.compared += 1;
        assert!(!share.is_nan(), "{what}: not a number");
        if share > self.worst.0 {
            self.worst = (share, what.into());
        }
    }

    pub(super) fn vector(&mut self, what: &str, exact: &[f64], sensitivity: f64, released: &mut Vec<f64>) {
        match self.mode {
            Mode::Off => {}
            Mode::Record => {
                self.spools.push(Spool::Vector { exact: exact.to_vec(), released: released.clone() });
            }
            Mode::Replay => {
                let Spool::Vector { exact: other, released: played } = self.next() else {
                    panic!("{what}: the runs released different things")
                };
                *released = played.clone();
                let distance = other.iter().zip(exact).map(|(a, b)| a - b).fold(0.0, f64::hypot);
                self.compare(what, distance / sensitivity);
            }
        }
    }

    /// Both runs share coins that do not depend on the rows.
    pub(super) fn coins(&mut self, drawn: Vec<usize>) -> Vec<usize> {
        self.top("coins", &[], 1.0, drawn)
    }

    pub(super) fn quantile(&mut self, release: Release<f64>) -> Release<f64> {
        match self.mode {
            Mode::Off => release,
            Mode::Record => {
                self.spools.push(Spool::Number(release.value));
                release
            }
            Mode::Replay => {
                let Spool::Number(value) = *self.next() else { panic!("the runs released different things") };
                Release { value, ..release }
            }
        }
    }

    pub(super) fn top(
        &mut self,
        what: &str,
        scores: &[f64],
        sensitivity: f64,
        chosen: Vec<usize>,
    ) -> Vec<usize> {
        match self.mode {
            Mode::Off => chosen,
            Mode::Record => {
                self.spools.push(Spool::Indices { scores: scores.to_vec(), chosen: chosen.clone() });
                chosen
            }
            Mode::Replay => {
                let Spool::Indices { scores: other, chosen: played } = self.next() else {
                    panic!("{what}: the runs released different things")
                };
                let played = played.clone();
                let distance = other.iter().zip(scores).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                self.compare(what, distance / sensitivity);
                played
            }
        }
    }

    pub(super) fn number(&mut self, what: &str, exact: f64, sensitivity: f64, released: f64) -> f64 {
        let mut released = vec![released];
        self.vector(what, &[exact], sensitivity, &mut released);
        released[0]
    }
}
