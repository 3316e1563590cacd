//! A lower confidence bound on epsilon from a single run.
//!
//! # Algorithm
//! 1. m pairs of canary rows are fixed. A fair coin for each pair decides which of its two rows is in the table; n does not change.
//! 2. The method runs once on that table. A score says for each pair which row was in, and how sure the attacker is.
//! 3. The r surest pairs are guessed, the others passed over. r is one of a few numbers fixed beforehand.
//! 4. v correct guesses refute (epsilon, delta) if they are too many for it, by the bound below. The largest epsilon so refuted is
//!    the lower bound.
//!
//! # What is tested
//! *Replacement of one row*: another coin replaces one row by the other row of its pair. (Canaries that are in or out would test
//! addition and removal, which our promises are not about.)
//!
//! # Why it holds
//! Let the guesses be a function of the output of a method that is (epsilon, delta)-private in each coin. Then the number of
//! correct ones exceeds v with probability at most `P(W >= v) + 2 m delta max_i P(v > W >= v - i) / i`, where `W ~ Binomial(r, e^epsilon /
//! (1 + e^epsilon))` (Steinke, Nasr and Jagielski 2023, Theorem 5.2 and Corollary 5.4). The coins must be fair and independent; the
//! canaries need not be. The epsilons tried form a grid, walked from zero to the first that is not refuted: a promise of any epsilon
//! is also one of the next grid point, so the confidence holds for the whole walk. Several r share the error (Bonferroni).
//!
//! # References
//! T. Steinke, M. Nasr, M. Jagielski: Privacy auditing with one (1) training run. NeurIPS 2023.

use crate::error::{Error, Result};
use crate::noise::RandomSource;

/// Steps between the epsilons that are tried, and their number: far beyond what guesses of any use can prove.
const STEP: f64 = 0.01;
const STEPS: u32 = 3_000;
/// The shares of the pairs that are guessed, each tried.
const SHARES: [f64; 5] = [1.0, 0.5, 0.25, 0.125, 0.0625];
/// Fewer guesses than this prove next to nothing.
const FEWEST: usize = 8;

/// What one run proves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRun {
    /// The pairs that were planted.
    pub canaries: usize,
    /// The pairs that were guessed, where the bound is best.
    pub guesses: usize,
    /// How many of them correctly.
    pub correct: usize,
    /// The lower bound on epsilon.
    pub epsilon: f64,
    /// The delta it goes with.
    pub delta: f64,
}

/// A fair coin for each pair.
pub fn coins(pairs: usize, rng: &mut RandomSource) -> Vec<bool> {
    (0..pairs).map(|_| rng.coin()).collect()
}

/// The bound from scores: a positive one guesses the pair's first row (coin false), a large one is sure. Wrong with probability at
/// most `error`.
pub fn examine(scores: &[f64], coins: &[bool], delta: f64, error: f64) -> Result<OneRun> {
    if scores.len() != coins.len() || scores.is_empty() {
        return Err(Error::Conflict(format!(
            "{} scores for {} coins: one for each pair of canaries, and at least one pair",
            scores.len(),
            coins.len()
        )));
    }
    if !((0.0..1.0).contains(&delta) && error > 0.0 && error < 1.0) {
        return Err(Error::Conflict(format!(
            "delta = {delta} must be at least 0 and below 1, and the error {error} strictly between 0 and 1"
        )));
    }
    let m = scores.len();
    // A score that is no number says nothing. Ties keep the pairs' order, which the coins have no part in.
    let size = |i: &usize| if scores[*i].is_nan() { -1.0 } else { scores[*i].abs() };
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|i, j| size(j).total_cmp(&size(i)));
    let right: Vec<bool> = order.iter().map(|&i| (scores[i] > 0.0) != coins[i]).collect();

    let mut tried: Vec<usize> = SHARES.iter().map(|share| (share * m as f64) as usize).collect();
    tried.retain(|&r| r >= FEWEST.min(m));
    let mut best: Option<OneRun> = None;
    for &guesses in &tried {
        let correct = right[..guesses].iter().filter(|&&r| r).count();
        let epsilon = lower_bound(m, guesses, correct, delta, error / tried.len() as f64);
        if best.is_none_or(|b| epsilon > b.epsilon) {
            best = Some(OneRun { canaries: m, guesses, correct, epsilon, delta });
        }
    }
    best.ok_or_else(|| Error::Conflict("no pair was guessed".into()))
}

/// The largest epsilon that `correct` of `guesses` about `canaries` coins refute at this level, rounded down to the grid; zero if none.
pub fn lower_bound(canaries: usize, guesses: usize, correct: usize, delta: f64, error: f64) -> f64 {
    let ln_choose = ln_choose(guesses);
    let refuted = |k: &u32| tail(canaries, &ln_choose, correct, STEP * f64::from(*k), delta) <= error;
    // Not by bisection: the bound need not be monotone in epsilon, and the walk is what keeps the confidence.
    let count = (0..STEPS).take_while(refuted).count();
    STEP * count.saturating_sub(1) as f64
}

/// A bound on the probability of so many correct guesses or more under (epsilon, delta).
pub fn p_value(canaries: usize, guesses: usize, correct: usize, epsilon: f64, delta: f64) -> f64 {
    tail(canaries, &ln_choose(guesses), correct, epsilon, delta)
}

/// The logarithms of the binomial coefficients of r.
fn ln_choose(r: usize) -> Vec<f64> {
    let ln_factorial = |k: usize| libm::lgamma(k as f64 + 1.0);
    (0..=r).map(|k| ln_factorial(r) - ln_factorial(k) - ln_factorial(r - k)).collect()
}

fn tail(canaries: usize, ln_choose: &[f64], correct: usize, epsilon: f64, delta: f64) -> f64 {
    if correct == 0 {
        return 1.0;
    }
    let guesses = ln_choose.len() - 1;
    // ln q and ln (1 - q) of q = 1 / (1 + e^-epsilon)
    let ln_q = -(-epsilon).exp().ln_1p();
    let ln_other = ln_q - epsilon;
    let ln_mass = |k: usize| ln_choose[k] + k as f64 * ln_q + (guesses - k) as f64 * ln_other;
    let above = (correct..=guesses).map(ln_mass).fold(f64::NEG_INFINITY, add);
    let mut below = f64::NEG_INFINITY;
    let mut slope = f64::NEG_INFINITY;
    if delta > 0.0 {
        for i in 1..=correct {
            below = add(below, ln_mass(correct - i));
            slope = slope.max(below - (i as f64).ln());
        }
    }
    let failure = (2.0 * canaries as f64 * delta).ln() + slope;
    // The logarithms of factorials err by a few units in the last place.
    ((1.0 + 1e-9) * add(above, failure).exp()).min(1.0)
}

/// `ln(e^a + e^b)`.
fn add(a: f64, b: f64) -> f64 {
    let (high, low) = (a.max(b), a.min(b));
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::super::binomial::{low_count, upper_tail};
    use super::*;

    #[test]
    fn without_delta_it_is_the_binomial_tail() {
        for (r, v, epsilon) in [(100, 75, 3f64.ln()), (100, 60, 0.0), (1_000, 900, 2.0), (5, 5, 1.0)] {
            let q = 1.0 / (1.0 + f64::exp(-epsilon));
            let exact = upper_tail(v as u64, r as u64, q);
            assert!((p_value(2 * r, r, v, epsilon, 0.0) / exact - 1.0).abs() < 1e-8, "{r} {v}");
        }
        assert_eq!(p_value(10, 10, 0, 1.0, 0.0), 1.0);
    }

    /// The bound term by term, in plain arithmetic.
    #[test]
    fn delta_adds_the_steepest_slope_of_the_tail() {
        let (m, r, v, epsilon, delta) = (50, 20, 15, 0.5_f64, 1e-3);
        let q = 1.0 / (1.0 + (-epsilon).exp());
        let tail = |k: u64| upper_tail(k, r as u64, q);
        let slope = (1..=v).map(|i| (tail(v - i) - tail(v)) / i as f64).fold(0.0, f64::max);
        let direct = tail(v) + 2.0 * m as f64 * delta * slope;
        assert!((p_value(m, r, v as usize, epsilon, delta) / direct - 1.0).abs() < 1e-8);
    }

    #[test]
    fn bounds_move_the_right_way() {
        assert_eq!(lower_bound(100, 100, 50, 0.0, 0.05), 0.0);
        assert!(lower_bound(100, 100, 100, 0.0, 0.05) > 3.0);
        assert!(lower_bound(100, 100, 90, 1e-3, 0.05) < lower_bound(100, 100, 90, 0.0, 0.05));
        assert!(lower_bound(100, 100, 90, 0.0, 1e-3) < lower_bound(100, 100, 90, 0.0, 0.05));
        // Every guess right: q^r = error has a closed form.
        let exact = {
            let q = 0.05_f64.powf(0.01);
            (q / (1.0 - q)).ln()
        };
        let found = lower_bound(100, 100, 100, 0.0, 0.05);
        assert!(found <= exact && found > exact - 2.0 * STEP, "{found} {exact}");
    }

    /// Randomized response is the method for which the bound is exact: it is refuted at its own epsilon as seldom as promised, and
    /// almost always if it keeps its answers more often than it says.
    #[test]
    fn randomized_response_keeps_its_promise_and_a_broken_one_is_caught() {
        let (m, epsilon, error, repeats) = (300, 1.0_f64, 0.05, 400_u64);
        let mut rng = RandomSource::insecure_seeded(0x006f_6e65_2072_756e);
        let mut refuted = |kept: f64| {
            let count = (0..repeats).filter(|_| {
                let coins = coins(m, &mut rng);
                let scores: Vec<f64> = coins
                    .iter()
                    .map(|&coin| {
                        let keeps = ((rng.next_u64() >> 11) as f64) * 2f64.powi(-53) < kept;
                        if coin == keeps { -1.0 } else { 1.0 }
                    })
                    .collect();
                examine(&scores, &coins, 0.0, error).unwrap().epsilon > epsilon
            });
            count.count() as u64
        };
        let honest = 1.0 / (1.0 + (-epsilon).exp());
        // More refutations than these have probability below 1e-6 at the promised rate.
        let most = repeats - low_count(repeats, 1.0 - error, 1e-6);
        let seen = refuted(honest);
        assert!(seen <= most, "{seen} > {most}");
        let broken = refuted(1.0 / (1.0 + (-1.8_f64).exp()));
        assert!(broken > most && broken > repeats / 2, "{broken}");
    }

    #[test]
    fn wrong_input_is_refused() {
        assert!(examine(&[1.0], &[], 0.0, 0.05).is_err());
        assert!(examine(&[], &[], 0.0, 0.05).is_err());
        assert!(examine(&[1.0], &[true], 1.0, 0.05).is_err());
        assert!(examine(&[1.0], &[true], 0.0, 0.0).is_err());
        assert_eq!(examine(&[f64::NAN; 20], &[true; 20], 0.0, 0.05).unwrap().guesses, 20);
    }
}
