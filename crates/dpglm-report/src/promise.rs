//! What a promise means to somebody who is in the data.
//!
//! # Setting
//! An attacker knows everything but one row, sees everything that was released, and must tell two values of that row apart: this
//! person's from any other. P and Q are the probabilities of the results under the one and the other. A certificate's points say that
//! for each (e, d) among them P(S) <= exp(e) Q(S) + d for every set S of results, and the same with P and Q exchanged.
//!
//! # How sure
//! Let L = ln(P/Q) at the result. The odds that the attacker gives to the first value are multiplied by exp(L). A point (e, d) bounds
//! how often L is large: d >= E_P max(0, 1 - exp(e - L)) >= P(L > t) (1 - exp(e - t)) for t > e, so P(L > t) <= d / (1 - exp(e - t)).
//! Asked for a chance q > d, this is at most q where t = e - ln(1 - d/q): with probability at least 1 - q over the results the odds
//! grow at most by exp(t). The smallest t of all points counts. Under Q it is rarer still. With d = 0 it never happens, and q = 0.
//! The familiar exp(e) / (1 + exp(e)) holds for d = 0 only; with d > 0 no number below 1 holds for every result, so the
//! chance q is part of the sentence. It is the promise's own delta if the curve has a point below it, else ten times delta.
//!
//! # How often right
//! Any rule that names a person has a rate of members found and a rate of others taken for members. Their difference, the membership
//! advantage, is at most (exp(e) - 1 + 2 d) / (exp(e) + 1) by the two inequalities of any point; the smallest over the points counts.
//! A certificate's points end at delta 0.1, so of large losses this overstates what an attacker can do.
//! A guesser between two equally likely values is right with probability at most (1 + advantage) / 2.
//!
//! Only the certificate's own points are used, never its events: the points hold also where a plan was chosen on the way.

use dpglm::accounting::Certificate;
use dpglm::privacy::decimal::rounded_up_to;

/// What arithmetic may have lost.
const ROUNDING: f64 = 1e-12;
/// How sure an attacker was before.
const BEFORE: [f64; 4] = [0.01, 0.1, 0.5, 0.9];

/// What a promise means.
pub(crate) struct Meaning {
    /// The logarithm of what odds are multiplied by at most.
    growth: f64,
    /// But for results of this probability.
    pub exception: f64,
    /// The most that members found exceed others taken for members.
    pub advantage: f64,
}

impl Meaning {
    /// Of a certificate; nothing where nothing is promised.
    pub(crate) fn of(certificate: &Certificate) -> Option<Self> {
        let claim = certificate.guarantee()?;
        let points = points(certificate);
        let advantage =
            points.iter().map(|(e, d)| (0.5 * e).tanh() + 2.0 * d / (1.0 + e.exp())).fold(1.0, f64::min);
        let (exception, growth) = growth(&points, claim.delta);
        Some(Self { growth, exception, advantage: (advantage * (1.0 + ROUNDING)).min(1.0) })
    }

    /// How sure an attacker can become who was this sure before.
    pub(crate) fn sure(&self, before: f64) -> f64 {
        let after = 1.0 / (1.0 + (1.0 - before) / before * (-self.growth).exp());
        (after * (1.0 + ROUNDING)).min(1.0)
    }

    /// The same of several attackers: before and after, in percent.
    pub(crate) fn table(&self) -> Vec<[String; 2]> {
        BEFORE.iter().map(|&before| [format!("{}%", 100.0 * before), percent_up(self.sure(before))]).collect()
    }

    /// How often somebody is right who guesses between two equally likely values.
    pub(crate) fn right(&self) -> f64 {
        0.5 * (1.0 + self.advantage)
    }
}

/// The claim and the curve.
pub(crate) fn points(certificate: &Certificate) -> Vec<(f64, f64)> {
    let claim = certificate.guarantee().map(|claim| (claim.epsilon, claim.delta));
    claim.into_iter().chain(certificate.curve().iter().copied()).collect()
}

/// The chance that is left out, and the growth of log-odds beside it.
fn growth(points: &[(f64, f64)], delta: f64) -> (f64, f64) {
    let at = |chance: f64| {
        let below = points.iter().filter(|(_, d)| *d < chance || *d == 0.0);
        let growths = below.map(|(e, d)| if *d == 0.0 { *e } else { e - (-d / chance).ln_1p() });
        growths.fold(f64::INFINITY, f64::min) * (1.0 + ROUNDING) + ROUNDING
    };
    match at(delta) {
        growth if growth.is_finite() => (delta, growth),
        _ => (10.0 * delta, at(10.0 * delta)),
    }
}

/// A probability in percent, rounded up to three digits, or to as many more, up to seven, as keep it from looking certain.
pub(crate) fn percent_up(share: f64) -> String {
    let percent = (100.0 * share).min(100.0);
    let shown = (3..=7).map(|digits| rounded_up_to(percent, digits)).find(|text| text != "100");
    format!("{}%", shown.unwrap_or_else(|| "100".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpglm::noise::RandomSource;
    use dpglm::privacy::{Adjacency, Event, Noise};

    fn certificate(noise: Noise, delta: f64) -> Certificate {
        let rng = RandomSource::from_os().unwrap();
        let events = vec![Event::new("mean", noise, 1).unwrap()];
        Certificate::certified(Adjacency::ReplaceRow, events, delta, &rng).unwrap()
    }

    /// Randomized response at log 3 says the truth in three of four cases: the bound is reached.
    #[test]
    fn of_a_pure_promise_both_bounds_are_exact() {
        let meaning = Meaning::of(&certificate(Noise::Pure { epsilon: 3f64.ln() }, 0.0)).unwrap();
        assert_eq!(meaning.exception, 0.0);
        assert!(meaning.sure(0.5) >= 0.75 && meaning.sure(0.5) < 0.75 + 1e-9);
        assert!(meaning.advantage >= 0.5 && meaning.advantage < 0.5 + 1e-9);
        assert!(meaning.right() >= 0.75 && meaning.right() < 0.75 + 1e-9);
    }

    /// What a Gaussian release gives away is known in closed form: the bounds lie above it, and not far.
    #[test]
    fn of_a_gaussian_release_the_bounds_hold_and_are_near_where_little_is_lost() {
        for sigma in [0.5, 1.0, 4.0, 20.0] {
            let mu = 1.0 / sigma;
            let meaning =
                Meaning::of(&certificate(Noise::Gaussian { sensitivity: 1.0, sigma }, 1e-6)).unwrap();
            // Members found less others taken for members: 2 Phi(mu/2) - 1, by integration.
            let steps = 20_000;
            let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
            let true_advantage: f64 =
                (0..steps).map(|i| density((f64::from(i) + 0.5) / f64::from(steps) * mu / 2.0)).sum::<f64>()
                    * mu
                    / f64::from(steps);
            assert!(meaning.advantage >= true_advantage, "{sigma}: {} {true_advantage}", meaning.advantage);
            // Points of the curve end at delta 0.1: of large losses the bound holds and is far.
            let near = 1.3 * true_advantage + 0.02;
            assert!(sigma < 4.0 || meaning.advantage < near, "{sigma}: {} {near}", meaning.advantage);
            // L is normal with mean mu^2/2 and variance mu^2; how often it exceeds the growth, by integration.
            assert_eq!(meaning.exception, 1e-6);
            let from = (meaning.growth - mu * mu / 2.0) / mu;
            let tail: f64 = (0..steps).map(|i| density(from + (f64::from(i) + 0.5) * 5e-4) * 5e-4).sum();
            assert!(tail <= 1e-6, "{sigma}: {tail:e}");
            // The sentence without its exception would be wrong: the familiar number is exceeded more often than delta.
            let epsilon =
                certificate(Noise::Gaussian { sensitivity: 1.0, sigma }, 1e-6).guarantee().unwrap().epsilon;
            assert!(meaning.growth > epsilon);
            let naive = (epsilon - mu * mu / 2.0) / mu;
            let tail: f64 = (0..steps).map(|i| density(naive + (f64::from(i) + 0.5) * 5e-4) * 5e-4).sum();
            assert!(tail > 1e-6, "{sigma}: {tail:e}");
        }
    }

    #[test]
    fn a_delta_below_the_curve_is_multiplied_and_printed_numbers_are_rounded_up() {
        let meaning =
            Meaning::of(&certificate(Noise::Gaussian { sensitivity: 1.0, sigma: 4.0 }, 1e-13)).unwrap();
        assert_eq!(meaning.exception, 10.0 * 1e-13);
        assert!(meaning.sure(0.5) > meaning.right() && meaning.sure(0.5) < 1.0);
        let printed = [0.731_01, 0.999_83, 1.0 - 1e-12, 1.0].map(percent_up);
        assert_eq!(printed, ["73.2%", "99.99%", "100%", "100%"]);
        assert_eq!(meaning.table().len(), BEFORE.len());
        let rng = RandomSource::insecure_seeded(1);
        let events = vec![Event::new("mean", Noise::Pure { epsilon: 1.0 }, 1).unwrap()];
        assert!(
            Meaning::of(&Certificate::certified(Adjacency::ReplaceRow, events, 0.0, &rng).unwrap()).is_none()
        );
    }
}
