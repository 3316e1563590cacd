//! The best of a random number of private trials.
//!
//! # Algorithm
//! 1. Run a trial: any private release with a score of its own (a random candidate's fit and its noisy quality, say). Keep it if its
//!    score is the best so far.
//! 2. Stop with probability `1/m`; otherwise go to step 1.
//! 3. Release the trial that was kept. How many there were is not released.
//!
//! # Guarantee
//! If a trial has Rényi divergence `e(order)` at every order, the result has at order `l`, for every `h >= 1`,
//! `e(l) + 2 (1 - 1/h) e(h) + 2 ln(m) / h + ln(m) / (l - 1)`. The number of trials does not enter: neither does the number
//! of candidates. It is drawn exactly (whole random numbers), so this holds for the program.
//!
//! # Why private
//! Papernot and Steinke 2022, Theorem 2 with eta = 1 (a geometric number of trials), after Liu and Talwar 2019: if the number
//! of trials were fixed, one that did well by luck would show; with a geometric number its absence shows little.
//!
//! # When it is cheaper
//! About three times the loss of one trial, against `sqrt(k)` times for k trials that are all charged: from about ten candidates on
//! ([`RandomStopping::is_cheaper_than`] computes it). A path that is nested needs neither ([`super::sparsity`]).
//!
//! # Caution
//! The running time shows the number of trials to whoever sees it. The result does not.
//!
//! # References
//! J. Liu, K. Talwar, *Private selection from private candidates*, STOC 2019; N. Papernot, T. Steinke, *Hyperparameter tuning with
//! Rényi differential privacy*, ICLR 2022.

use crate::accounting::{epsilon_at, renyi};
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use crate::privacy::{Budget, Event, Noise};

/// Largest expected number of trials.
const MOST: u64 = 1 << 20;

/// Runs private trials until a coin says stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomStopping {
    expected: u64,
}

impl RandomStopping {
    /// An expected number of `expected` trials: a few times the number of candidates finds the best one nearly always.
    pub fn new(expected: u64) -> Result<Self> {
        if !(1..=MOST).contains(&expected) {
            return Err(Error::OutOfRange {
                parameter: Parameter::ExpectedNumberOfTrials,
                range: "from 1 to 1048576",
                value: expected.to_string(),
                remedy: "take three times the number of candidates",
            });
        }
        Ok(Self { expected })
    }

    /// The epsilon at `delta` of the best of the trials, each of which releases `trial`.
    pub fn epsilon(&self, trial: &[Event], delta: f64) -> Result<f64> {
        // The accountant refuses what has no Rényi divergence, and checks delta.
        epsilon_at(trial, delta)?;
        if trial.iter().any(|e| matches!(e.noise(), Noise::Approximate { .. })) {
            return Err(Error::Conflict(
                "a trial known at one (epsilon, delta) point only has no Rényi divergence: describe its releases".into(),
            ));
        }
        let log_count = (self.expected as f64).ln();
        // Step: the best h, by a scan; every h is valid. At h = 1 the term is 2 ln m.
        let other = (0..400)
            .map(|i| {
                let a = 1e-3 * 1.05f64.powi(i);
                let divergence = renyi::total_log_moment(trial, a) / a;
                let h = 1.0 + a;
                2.0 * (1.0 - 1.0 / h) * divergence + 2.0 * log_count / h
            })
            .fold(2.0 * log_count, f64::min);
        let log_moment = |a: f64| renyi::total_log_moment(trial, a) + a * other * (1.0 + 1e-12) + log_count;
        let epsilon = renyi::epsilon_of(log_moment, delta);
        if epsilon.is_finite() {
            return Ok(epsilon);
        }
        Err(Error::Conflict(
            "the trials' privacy loss leaves the range of double precision: add noise".into(),
        ))
    }

    /// The result as one event, for a certificate.
    pub fn event(&self, what: &str, trial: &[Event], delta: f64) -> Result<Event> {
        Event::new(what, Noise::Approximate { epsilon: self.epsilon(trial, delta)?, delta }, 1)
    }

    /// The trial's events with their noise scaled so that the best of the trials meets the budget.
    pub fn calibrate(&self, trial: &[Event], budget: Budget) -> Result<Vec<Event>> {
        let scaled = |factor: f64| -> Result<Vec<Event>> {
            trial.iter().map(|event| event.with_noise_scaled(factor)).collect()
        };
        let meets = |factor: f64| -> Result<bool> {
            Ok(self.epsilon(&scaled(factor)?, budget.delta())? <= budget.epsilon())
        };
        let (mut low, mut high) = (0.0, 1.0);
        while !meets(high)? {
            (low, high) = (high, 2.0 * high);
            if high > 1e12 {
                return Err(Error::BudgetUnreachable {
                    epsilon: budget.epsilon().to_string(),
                    delta: budget.delta().to_string(),
                    reason: "the number of trials alone costs more: expect fewer trials".into(),
                });
            }
        }
        while high - low > 1e-4 * high {
            let middle = 0.5 * (low + high);
            if middle > 0.0 && meets(middle)? { high = middle } else { low = middle }
        }
        scaled(high)
    }

    /// Whether trials need less noise here than if `candidates` of them, one each, were all charged.
    pub fn is_cheaper_than(&self, candidates: u64, trial: &[Event], budget: Budget) -> Result<bool> {
        let all: Vec<Event> = trial
            .iter()
            .map(|e| Event::new(e.release(), e.noise(), e.count().saturating_mul(candidates.max(1))))
            .collect::<Result<_>>()?;
        let charged = crate::accounting::calibrate(&all, &[], budget)?;
        let here = self.calibrate(trial, budget)?;
        let intensity = |events: &[Event]| events.first().map_or(0.0, |e| e.noise().intensity());
        Ok(intensity(&here) > intensity(&charged))
    }

    /// The trial with the highest score; a score that is not a number counts as the lowest.
    pub fn run<T>(
        &self,
        mut trial: impl FnMut(&mut RandomSource) -> Result<(f64, T)>,
        rng: &mut RandomSource,
    ) -> Result<T> {
        let lowest = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
        // Step 1
        let (score, mut best) = trial(rng)?;
        let mut highest = lowest(score);
        // Step 2
        while rng.below(self.expected) != 0 {
            let (score, candidate) = trial(rng)?;
            if lowest(score) > highest {
                (highest, best) = (lowest(score), candidate);
            }
        }
        // Step 3
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(mu: f64) -> Vec<Event> {
        vec![Event::new("trial", Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 1).unwrap()]
    }

    /// The theorem at orders worked out by hand: rho-zCDP trials, e(l) = l rho.
    #[test]
    fn the_cost_is_the_theorems() {
        let (rho, m, delta) = (0.005_f64, 30.0_f64, 1e-6_f64);
        let stopping = RandomStopping::new(30).unwrap();
        let got = stopping.epsilon(&gaussian((2.0 * rho).sqrt()), delta).unwrap();
        let mut best = f64::INFINITY;
        for i in 1..4_000 {
            let l = 1.0 + 0.05 * f64::from(i);
            // 2 (1 - 1/h) h rho + 2 ln m / h is least at h = sqrt(ln m / rho).
            let h = (m.ln() / rho).sqrt();
            let renyi = l * rho + 2.0 * (h - 1.0) * rho + 2.0 * m.ln() / h + m.ln() / (l - 1.0);
            let conversion = ((1.0 / delta).ln() + (l - 1.0) * (1.0 - 1.0 / l).ln() - l.ln()) / (l - 1.0);
            best = best.min(renyi + conversion);
        }
        assert!((got / best - 1.0).abs() < 2e-3, "{got} {best}");
        assert!(got > epsilon_at(&gaussian((2.0 * rho).sqrt()), delta).unwrap());
    }

    #[test]
    fn many_candidates_are_cheaper_here_and_few_are_not() {
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let cheaper =
            |k: u64| RandomStopping::new(3 * k).unwrap().is_cheaper_than(k, &gaussian(1.0), budget).unwrap();
        assert!(!cheaper(2) && cheaper(100));
        let events = RandomStopping::new(50).unwrap().calibrate(&gaussian(1.0), budget).unwrap();
        let epsilon = RandomStopping::new(50).unwrap().epsilon(&events, 1e-6).unwrap();
        assert!(epsilon <= 1.0 && epsilon > 0.99, "{epsilon}");
    }

    /// The mean number of trials is the one asked for, and the best is kept.
    #[test]
    fn the_best_trial_is_kept() {
        let mut rng = RandomSource::insecure_seeded(7);
        let stopping = RandomStopping::new(20).unwrap();
        let mut trials = 0_u32;
        for _ in 0..2_000 {
            let mut seen = Vec::new();
            let best = stopping
                .run(
                    |rng| {
                        let score = rng.below(1_000) as f64;
                        seen.push(score);
                        Ok((if score == 3.0 { f64::NAN } else { score }, score))
                    },
                    &mut rng,
                )
                .unwrap();
            trials += seen.len() as u32;
            assert!(seen.iter().all(|s| *s <= best || *s == 3.0) && seen.contains(&best));
        }
        // A geometric number has standard deviation sqrt(m (m - 1)): 5 of the mean's errors.
        let mean = f64::from(trials) / 2_000.0;
        assert!((mean - 20.0).abs() < 5.0 * (20.0 * 19.0 / 2_000.0_f64).sqrt(), "{mean}");
    }

    #[test]
    fn senseless_numbers_of_trials_are_refused() {
        assert!(RandomStopping::new(0).is_err() && RandomStopping::new(1 << 21).is_err());
        let vague = vec![Event::new("a", Noise::Approximate { epsilon: 1.0, delta: 1e-9 }, 1).unwrap()];
        assert!(RandomStopping::new(5).unwrap().epsilon(&vague, 1e-6).is_err());
    }
}
