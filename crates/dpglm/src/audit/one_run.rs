//! What a single run proves about epsilon.
//!
//! # Algorithm
//! 1. m pairs of canary rows are fixed. A fair coin for each pair decides which of its two rows is in the table; n does not change.
//! 2. The method runs once on that table. A score says for each pair which row was in, and how sure the attacker is.
//! 3. The r surest pairs are guessed, the others passed over. r is fixed beforehand, from m, the error and the promise
//!    (`guesses`).
//! 4. The number of correct guesses refutes a promise if it is too large for it, by the recursion below. Three kinds of promises are
//!    put to this test: (epsilon, delta) for every epsilon, the curve of a Gaussian release for every mu, and the curve that the
//!    method itself claims.
//!
//! # What is tested
//! *Replacement of one row*: another coin replaces one row by the other row of its pair. (Canaries that are in or out would test
//! addition and removal, which our promises are not about.)
//!
//! # Why it holds
//! Let each coin's replacement keep a trade-off with [`TradeOff::least`] = g, let C be the number of correct guesses, and let
//! `T_c = P(C >= c)`. A correct guess that is turned into a wrong one by another coin lowers C by one; comparing the two tables
//! coin by coin gives, for every c from 1 to r,
//! `(r - c + 1) T_{c-1} >= sum_{j >= c} T_j + m g(A_c / m)`, where `A_c = c T_c + sum_{j > c} T_j`.
//! From a supposed `T_v = p` on, this bounds `T_{v-1}, T_{v-2}, ...` from below. If one of them exceeds 1, then
//! `P(C >= v) < p`. `docs/proofs/one-run-audit.md` has the proof. The coins must be fair and independent; the canaries need not be.
//!
//! Promises of each kind are nested: what is private with an epsilon is so with every larger one. So the smallest epsilon that is
//! not refuted is a lower confidence bound, and so is the smallest mu. All three statements rest on one count and hold
//! together with the confidence of one.
//!
//! # References
//! S. Mahloujifar, L. Melis, K. Chaudhuri: Auditing f-differential privacy in one run. arXiv 2410.22235, 2024. T. Steinke, M. Nasr, M. Jagielski:
//! Privacy auditing with one (1) training run. NeurIPS 2023.

use super::empirical::Claim;
use super::guesses;
use super::trade_off::TradeOff;
use crate::accounting::gaussian;
use crate::error::{Error, Result};
use crate::noise::RandomSource;

/// Far beyond what guesses of any use can prove.
const LARGEST: f64 = 64.0;
/// Bounds are found to this, and rounded down.
const FINENESS: f64 = 1e-4;
/// More than the rounding of a recursion of millions of steps.
const SLACK: f64 = 1e-9;

/// What one run proves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRun {
    /// The pairs that were planted.
    pub canaries: usize,
    /// The pairs that were guessed.
    pub guesses: usize,
    /// How many of them correctly.
    pub correct: usize,
    /// The lower bound on epsilon, whatever the method is.
    pub epsilon: f64,
    /// The delta it goes with.
    pub delta: f64,
    /// What is proved of a method whose privacy curve is that of a Gaussian release; `None` where delta is 0, for which such a
    /// curve has no epsilon.
    pub gaussian: Option<Gaussian>,
    /// A bound on the probability of so many correct guesses, were the claimed curve true.
    pub p_value: f64,
    /// Whether that is at most the error: the claimed curve is refuted.
    pub refutes: bool,
}

/// A lower bound for methods whose privacy curve is that of a Gaussian release.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    /// The lower bound on mu, the sensitivity in units of the noise.
    pub mu: f64,
    /// The epsilon of that curve at the delta of the audit.
    pub epsilon: f64,
}

/// A fair coin for each pair.
pub(crate) fn coins(pairs: usize, rng: &mut RandomSource) -> Vec<bool> {
    (0..pairs).map(|_| rng.coin()).collect()
}

/// What scores prove: a positive one guesses the pair's first row (coin false), a large one is sure. `claim` is the curve that is put to
/// the test, `delta` the one that the bounds on epsilon go with. Wrong with probability at most `error`.
pub fn examine(scores: &[f64], coins: &[bool], claim: &Claim, delta: f64, error: f64) -> Result<OneRun> {
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
    let claimed = TradeOff::Points(claim.points().to_vec());
    let r = guesses::count(m, &claimed, error);
    // A score that is no number says nothing. Ties keep the pairs' order, which the coins have no part in.
    let size = |i: &usize| if scores[*i].is_nan() { -1.0 } else { scores[*i].abs() };
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|i, j| size(j).total_cmp(&size(i)));
    let correct = order[..r].iter().filter(|&&i| (scores[i] > 0.0) != coins[i]).count();

    let count = Count { canaries: m, guesses: r, correct };
    let gaussian = (delta > 0.0).then(|| {
        let mu = count.lower_bound(TradeOff::Gaussian, error);
        // The accountant rounds up; a lower bound is rounded down.
        let epsilon = if mu > 0.0 { gaussian::epsilon(mu, delta) * (1.0 - SLACK) } else { 0.0 };
        Gaussian { mu, epsilon }
    });
    Ok(OneRun {
        canaries: m,
        guesses: r,
        correct,
        epsilon: count.lower_bound(|epsilon| TradeOff::Points(vec![(epsilon, delta)]), error),
        delta,
        gaussian,
        p_value: count.p_value(&claimed),
        refutes: !count.possible(&claimed, error),
    })
}

/// The statistic: so many of the guesses about these canaries' coins were correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The pairs that were planted.
    pub canaries: usize,
    /// The pairs that were guessed, a number fixed beforehand.
    pub guesses: usize,
    /// How many of them correctly.
    pub correct: usize,
}

impl Count {
    /// Whether so many correct guesses or more may have probability `p` under the promise. If not, their probability is below `p`.
    pub fn possible(&self, promise: &TradeOff, p: f64) -> bool {
        let (m, r) = (self.canaries as f64, self.guesses as f64);
        // T_c, and the sum of T_j over j > c
        let (mut tail, mut above) = (p, 0.0);
        for c in (1..=self.correct).rev() {
            let c = c as f64;
            let found = (c * tail + above) / m;
            let least = (tail + above + m * promise.least(found)) / (r - c + 1.0);
            above += tail;
            tail = tail.max(least);
            if tail > 1.0 + SLACK || found > 1.0 + SLACK {
                return false;
            }
        }
        true
    }

    /// A bound on the probability of so many correct guesses or more under the promise.
    pub fn p_value(&self, promise: &TradeOff) -> f64 {
        last(1.0, FINENESS, |p| self.possible(promise, p)).1
    }

    /// The largest parameter of a family of promises, each of which implies the next, that is refuted with this error; zero if none is.
    pub fn lower_bound(&self, family: impl Fn(f64) -> TradeOff, error: f64) -> f64 {
        last(LARGEST, FINENESS, |parameter| !self.possible(&family(parameter), error)).0
    }
}

/// Two numbers, `fineness` apart relative to 1 or themselves, between which `holds` turns false; zero and the first, or `largest` twice.
fn last(largest: f64, fineness: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0, largest);
    if holds(high) {
        return (high, high);
    }
    while high - low > fineness * high.min(1.0) && high > 1e-12 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::super::binomial::{low_count, upper_tail};
    use super::*;
    use crate::numeric::normal_below;

    fn uniform(rng: &mut RandomSource) -> f64 {
        (rng.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// The sets of guesses with exactly `r` guesses among `m` coins, each a number in -1, 0, 1.
    fn every_guess(m: u32, r: usize) -> Vec<Vec<i32>> {
        let digits = |code: i32| (0..m).map(|i| code / 3_i32.pow(i) % 3 - 1).collect::<Vec<i32>>();
        let all = (0..3_i32.pow(m)).map(digits);
        all.filter(|g| g.iter().filter(|x| **x != 0).count() == r).collect()
    }

    /// The theorem by brute force: random methods of three coins, their exact curve over all tables that differ in one coin, and the
    /// exact probability of so many correct guesses. Were the curve half as steep, many would break the bound.
    #[test]
    fn no_method_exceeds_the_bound_for_its_own_curve() {
        let mut rng = RandomSource::insecure_seeded(0x0062_7275_7465);
        let (m, tables) = (3_usize, 8_usize);
        let sign = |table: usize, i: usize| if table >> i & 1 == 0 { 1 } else { -1 };
        let (mut checked, mut broken, mut near) = (0, 0, 0);
        for case in 0..600 {
            let r = 1 + case % 3;
            let outputs = every_guess(m as u32, r);
            let right = |table: usize, output: usize| {
                (0..m).filter(|&i| outputs[output][i] * sign(table, i) > 0).count()
            };
            // Each output's weight grows with its correct guesses, by a factor that the method draws together with the output.
            let steep = 4.0 * uniform(&mut rng) * if case % 2 == 0 { 1.0 } else { uniform(&mut rng) };
            let shared: Vec<f64> = outputs.iter().map(|_| steep * uniform(&mut rng)).collect();
            let chances: Vec<Vec<f64>> = (0..tables)
                .map(|table| {
                    let weight = |o: usize| (shared[o] * right(table, o) as f64).exp();
                    let total: f64 = (0..outputs.len()).map(weight).sum();
                    (0..outputs.len()).map(|o| weight(o) / total).collect()
                })
                .collect();
            let delta = |epsilon: f64| {
                let pairs = (0..tables).flat_map(|table| (0..m).map(move |i| (table, table ^ (1 << i))));
                let excess = |(one, other): (usize, usize)| -> f64 {
                    let rows = chances[one].iter().zip(&chances[other]);
                    rows.map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
                };
                pairs.map(excess).fold(0.0, f64::max)
            };
            let points: Vec<(f64, f64)> =
                (0..60).map(|j| 0.1 * f64::from(j)).map(|e| (e, delta(e) + 1e-12)).collect();
            let (curve, half) = (TradeOff::Points(points), |curve: &TradeOff| curve.halved());
            for correct in 1..=r {
                let mass: f64 = (0..tables)
                    .flat_map(|t| (0..outputs.len()).map(move |o| (t, o)))
                    .filter(|&(t, o)| right(t, o) >= correct)
                    .map(|(t, o)| chances[t][o] / tables as f64)
                    .sum();
                let count = Count { canaries: m, guesses: r, correct };
                let bound = count.p_value(&curve);
                assert!(mass <= bound, "{case}: {correct} of {r} with {mass} > {bound}");
                checked += 1;
                near += u32::from(mass > 0.9 * bound);
                broken += u32::from(mass > count.p_value(&half(&curve)));
            }
        }
        assert!(checked == 1_200 && near > 200 && broken > 200, "{checked} {near} {broken}");
    }

    /// Randomized response: no method of pure epsilon has more correct guesses, and the bound is not far above.
    #[test]
    fn without_delta_it_is_near_the_binomial_tail() {
        for (r, v, epsilon) in [(100, 83, 3f64.ln()), (100, 60, 0.0), (1_000, 900, 2.0), (5, 5, 1.0)] {
            let q = 1.0 / (1.0 + f64::exp(-epsilon));
            let exact = upper_tail(v as u64, r as u64, q);
            let bound = Count { canaries: r, guesses: r, correct: v }
                .p_value(&TradeOff::Points(vec![(epsilon, 0.0)]));
            assert!(bound >= exact && bound <= 2.5 * exact, "{r} {v}: {bound} {exact}");
        }
        // Every guess right: the exact bound on epsilon has a closed form.
        let exact = {
            let q = 0.05_f64.powf(0.01);
            (q / (1.0 - q)).ln()
        };
        let count = Count { canaries: 100, guesses: 100, correct: 100 };
        let found = count.lower_bound(|epsilon| TradeOff::Points(vec![(epsilon, 0.0)]), 0.05);
        assert!(found <= exact && found > exact - 0.01, "{found} {exact}");
    }

    /// A method may keep a Gaussian promise for each coin and give many of them away together in few of its runs: the size of the
    /// privacy loss is drawn once for all coins, only whether it exceeds a level is kept, and each coin answers by randomized
    /// response that is right as often as losses of that kind are on average. Its tail is summed exactly. A test that takes the
    /// coins for independent would be fooled by it.
    #[test]
    fn coins_that_are_given_away_together_do_not_fool_it() {
        let (mu, m, step) = (0.8_f64, 400_u64, 1e-3);
        let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        // The loss is normal with mean mu^2/2 and deviation mu; of its size both signs count.
        let size = |l: f64| (density(l / mu - mu / 2.0) + density(l / mu + mu / 2.0)) / mu;
        let sizes: Vec<f64> = (0..10_000).map(|i| (f64::from(i) + 0.5) * step).collect();
        let total = |from: f64, to: f64| {
            sizes.iter().filter(|l| (from..to).contains(*l)).fold((0.0, 0.0), |(mass, right), &l| {
                (mass + step * size(l), right + step * size(l) / (1.0 + (-l).exp()))
            })
        };
        for correct in [300_u64, 320, 340] {
            let tail = |(mass, right): (f64, f64)| mass * upper_tail(correct, m, right / mass);
            let levels = (1..40).map(|i| 0.06 * f64::from(i));
            let exact = levels.map(|l| tail(total(0.0, l)) + tail(total(l, 10.0))).fold(0.0, f64::max);
            let count = Count { canaries: m as usize, guesses: m as usize, correct: correct as usize };
            let bound = count.p_value(&TradeOff::Gaussian(mu));
            let independent = upper_tail(correct, m, normal_below(mu / 2.0));
            assert!(exact <= bound && bound < 2.0 * exact, "{correct}: {exact} {bound}");
            assert!(independent < 0.01 * exact, "{correct}: {independent} {exact}");
        }
    }

    #[test]
    fn bounds_move_the_right_way() {
        let pure = |epsilon: f64| TradeOff::Points(vec![(epsilon, 0.0)]);
        let at = |m, r, v, error| Count { canaries: m, guesses: r, correct: v }.lower_bound(pure, error);
        assert_eq!(at(100, 100, 50, 0.05), 0.0);
        assert_eq!(at(100, 0, 0, 0.05), 0.0);
        assert!(at(100, 100, 90, 0.05) > at(100, 100, 80, 0.05));
        assert!(at(100, 100, 90, 1e-3) < at(100, 100, 90, 0.05));
        assert!(at(1_000, 100, 90, 0.05) <= at(100, 100, 90, 0.05) + FINENESS);
        let count = Count { canaries: 4_000, guesses: 250, correct: 225 };
        let with = |delta: f64| count.lower_bound(|epsilon| TradeOff::Points(vec![(epsilon, delta)]), 0.05);
        assert!(with(1e-4) < with(1e-5) && with(1e-5) < with(0.0));
        assert_eq!(Count { canaries: 10, guesses: 10, correct: 0 }.p_value(&pure(1.0)), 1.0);
        // A promise of several points is at least as strong as each of them.
        let points = [(1.0, 1e-3), (2.0, 1e-5)];
        let p = |points: &[(f64, f64)]| count.p_value(&TradeOff::Points(points.to_vec()));
        assert!(p(&points) <= p(&points[..1]) && p(&points) <= p(&points[1..]));
    }

    /// Independent scores about +mu/2 or -mu/2: what a method that is one Gaussian release gives away at best.
    fn gaussian_scores(mu: f64, coins: &[bool], rng: &mut RandomSource) -> Vec<f64> {
        let normal = |rng: &mut RandomSource| {
            let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
            radius * (std::f64::consts::TAU * uniform(rng)).cos()
        };
        coins.iter().map(|&second| if second { -0.5 * mu } else { 0.5 * mu } + normal(rng)).collect()
    }

    /// At a claim of (4, 1e-5), of which mu is 0.925: the claimed curve stands, with half its noise it falls, and more than half of
    /// the claim is proved. Of 6,000 simulated counts of either kind none was on the wrong side.
    #[test]
    fn a_gaussian_release_is_bounded_from_both_sides() {
        let (m, delta) = (4_000, 1e-5);
        let mu = gaussian::largest_mu(4.0, delta);
        let points = (1..=12).map(|i| 10f64.powi(-i)).map(|delta| (gaussian::epsilon(mu, delta), delta));
        let claim = Claim::curve(points.collect()).unwrap();
        let mut rng = RandomSource::insecure_seeded(0x6761_7573_7369_616e);
        for seed in 0..5 {
            let coins = coins(m, &mut rng);
            let honest =
                examine(&gaussian_scores(mu, &coins, &mut rng), &coins, &claim, delta, 0.05).unwrap();
            let gaussian = honest.gaussian.unwrap();
            assert!(!honest.refutes && honest.p_value > 0.05, "{seed}: {honest:?}");
            assert!(
                gaussian.epsilon > 2.2 && gaussian.epsilon < 4.0 && gaussian.mu < mu,
                "{seed}: {honest:?}"
            );
            assert!(honest.epsilon > 1.4 && honest.epsilon < gaussian.epsilon, "{seed}: {honest:?}");
            let halved =
                examine(&gaussian_scores(2.0 * mu, &coins, &mut rng), &coins, &claim, delta, 0.05).unwrap();
            assert!(
                halved.refutes && halved.p_value < 0.05 && halved.gaussian.unwrap().epsilon > 4.0,
                "{seed}: {halved:?}"
            );
        }
    }

    /// Randomized response is refuted at its own epsilon as seldom as promised, and almost always if it keeps its answers more often
    /// than it says.
    #[test]
    fn randomized_response_keeps_its_promise_and_a_broken_one_is_caught() {
        let (m, epsilon, error, repeats) = (300, 1.0_f64, 0.05, 200_u64);
        let mut rng = RandomSource::insecure_seeded(0x006f_6e65_2072_756e);
        let claim = Claim::at(epsilon, 0.0).unwrap();
        let mut refuted = |kept: f64| {
            let count = (0..repeats).filter(|_| {
                let coins = coins(m, &mut rng);
                let scores: Vec<f64> = coins
                    .iter()
                    .map(|&coin| if coin == (uniform(&mut rng) < kept) { -1.0 } else { 1.0 })
                    .collect();
                let found = examine(&scores, &coins, &claim, 0.0, error).unwrap();
                assert_eq!(found.refutes, found.epsilon > epsilon, "{found:?}");
                found.refutes
            });
            count.count() as u64
        };
        let honest = 1.0 / (1.0 + (-epsilon).exp());
        // More refutations than these have probability below 1e-6 at the promised rate.
        let most = repeats - low_count(repeats, 1.0 - error, 1e-6);
        let seen = refuted(honest);
        assert!(seen <= most, "{seen} > {most}");
        let broken = refuted(1.0 / (1.0 + (-2.5_f64).exp()));
        assert!(broken > most && broken > repeats * 9 / 10, "{broken}");
    }

    #[test]
    fn wrong_input_is_refused() {
        let claim = Claim::at(1.0, 0.0).unwrap();
        assert!(examine(&[1.0], &[], &claim, 0.0, 0.05).is_err());
        assert!(examine(&[], &[], &claim, 0.0, 0.05).is_err());
        assert!(examine(&[1.0], &[true], &claim, 1.0, 0.05).is_err());
        assert!(examine(&[1.0], &[true], &claim, 0.0, 0.0).is_err());
        let nothing = examine(&[f64::NAN; 20], &[true; 20], &claim, 0.0, 0.05).unwrap();
        assert!(nothing.gaussian.is_none() && nothing.guesses > 0, "{nothing:?}");
    }
}
