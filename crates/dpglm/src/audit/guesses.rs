//! How many of the pairs to guess, before anything is seen.
//!
//! # Why not all
//! A promise bounds each coin, not the coins together: a method may keep it and yet, in one run of twenty, give all of them away a
//! little. So a slight advantage over many coins refutes little, however many they are. A large advantage over few of
//! them is rare under the promise for each coin alone. But too few guesses leave too much to chance.
//!
//! # The rule
//! For each of a few r: the least number v of correct guesses that refutes the promise, then the separation mu of the scores (standard normal about
//! `+mu/2` or `-mu/2`, independent) at which the r surest guesses are right v times on average. The r for which that is least catches
//! the least broken method. If no r can refute the promise, the rule is asked about one of half its epsilons, and so on.
//!
//! Public numbers alone decide: the number of pairs, the promise and the error.

use super::one_run::Count;
use super::trade_off::TradeOff;
use crate::numeric::{normal_below, turning_point};

/// r is the number of pairs divided by 1, 2, 4, ... so often.
const HALVINGS: u32 = 8;
/// An epsilon of 64 becomes one of 1/4.
const EASIER: u32 = 8;
/// Scores apart by more than this are beyond every doubt.
const FARTHEST: f64 = 80.0;

/// The number of pairs to guess, of `canaries`.
pub(super) fn count(canaries: usize, promise: &TradeOff, error: f64) -> usize {
    let mut promise = promise.clone();
    for _ in 0..EASIER {
        let tried = (0..HALVINGS).map(|k| canaries >> k).filter(|&r| r > 0);
        let catching =
            tried.filter_map(|r| Some((r, separation(canaries, r, fewest(canaries, r, &promise, error)?))));
        if let Some((r, _)) = catching.min_by(|a, b| a.1.total_cmp(&b.1)) {
            return r;
        }
        promise = promise.halved();
    }
    canaries
}

/// The least number of correct guesses that refutes the promise; `None` if not even all do.
fn fewest(canaries: usize, guesses: usize, promise: &TradeOff, error: f64) -> Option<usize> {
    let refuted = |correct: usize| !Count { canaries, guesses, correct }.possible(promise, error);
    if !refuted(guesses) {
        return None;
    }
    let (mut low, mut high) = (0, guesses);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if refuted(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The separation of the scores at which `correct` of the surest guesses are right on average.
fn separation(canaries: usize, guesses: usize, correct: usize) -> f64 {
    // Where all must be right, all but half a guess on average.
    let wanted = (correct as f64).min(guesses as f64 - 0.5);
    place(|mu| expected(canaries, guesses, mu) < wanted)
}

/// How many of the surest guesses are right on average.
fn expected(canaries: usize, guesses: usize, mu: f64) -> f64 {
    let m = canaries as f64;
    let right = |threshold: f64| m * normal_below(0.5 * mu - threshold);
    let wrong = |threshold: f64| m * normal_below(-0.5 * mu - threshold);
    right(place(|threshold| right(threshold) + wrong(threshold) > guesses as f64))
}

/// Where `holds` turns false.
fn place(holds: impl Fn(f64) -> bool) -> f64 {
    turning_point((0.0, FARTHEST), 40, holds).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::gaussian::largest_mu;

    #[test]
    fn the_surest_of_many_pairs_are_guessed_and_all_of_few() {
        let promise = TradeOff::Gaussian(largest_mu(4.0, 1e-5));
        let share = |m: usize| m as f64 / count(m, &promise, 0.05) as f64;
        assert!((8.0..=16.0).contains(&share(4_000)) && (2.0..=8.0).contains(&share(500)));
        assert_eq!(share(24), 1.0);
        // Where no number of guesses refutes the claim, an easier one decides; one pair is guessed.
        assert!(fewest(24, 24, &TradeOff::Gaussian(3.0), 0.05).is_none());
        assert!(count(24, &TradeOff::Gaussian(3.0), 0.05) >= 6);
        assert_eq!(count(1, &promise, 0.05), 1);
    }

    /// No other number of guesses needs scores farther apart by less, and the next larger and smaller ones need more.
    #[test]
    fn the_choice_is_the_best_one() {
        let promise = TradeOff::Points(vec![(1.0, 1e-5)]);
        let (m, error) = (1_000, 0.05);
        let chosen = count(m, &promise, error);
        let needed = |r: usize| fewest(m, r, &promise, error).map(|v| separation(m, r, v));
        let best = needed(chosen).unwrap();
        assert!((0..HALVINGS).filter_map(|k| needed(m >> k)).all(|other| other >= best));
        assert!(needed(m).unwrap() > 1.2 * best);
    }

    #[test]
    fn the_surest_are_right_more_often() {
        // All pairs: Phi(mu/2) of them.
        assert!((expected(1_000, 1_000, 1.0) - 1_000.0 * normal_below(0.5)).abs() < 1e-6);
        assert!(expected(1_000, 100, 1.0) > 100.0 * normal_below(0.5) + 10.0);
        assert!((separation(1_000, 1_000, 691) - 1.0).abs() < 0.01);
    }
}
