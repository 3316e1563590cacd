//! A filter: when to stop, where each release, its noise and its budget included, may be chosen after the results of all earlier ones.
//!
//! # Algorithm
//! 1. At the start a total is fixed: an (epsilon, delta), a part of delta (the *reserve*) for releases of which no more is known than that
//!    they are (e, d) private, and a rule. The rule turns the total into a limit on the *loss*.
//! 2. Every release costs a loss, counted in squared `mu` (in epsilon under [`Rule::Pure`]), and an (e, d) private one also its d. Rows in public parts cost the largest of
//!    the parts.
//! 3. A release is admitted if the losses of all, its own included, stay within the limit and the failures within the reserve.
//!
//! | release | loss under [`Rule::Gdp`] | under [`Rule::Zcdp`] | under [`Rule::Pure`] |
//! | --- | --- | --- | --- |
//! | Gaussian | `(sensitivity / sigma)^2` | the same | refused |
//! | pure e, Laplace | `(2 Phi^-1(1 / (1 + exp -e)))^2` | `e^2` | `e` |
//! | selection of bounded range w | that of pure w/2 | `w^2 / 4` | `w` |
//! | zCDP rho | refused | `2 rho` | refused |
//! | (e, d) private | that of pure e, and d from the reserve | the same | the same; all of delta is the reserve |
//! | the limit | the largest `mu^2` whose exact Gaussian curve meets (epsilon, delta - reserve) | twice the largest `rho` that does | epsilon |
//!
//! # Guarantee
//! All admitted releases together are (epsilon, delta) private, whoever chose them and after whatever results:
//! `docs/proofs/filter.md`. Costs are rounded up and limits down.
//!
//! # References
//! Smith and Thakurta, *Fully adaptive composition for Gaussian differential privacy*, 2022; Feldman and Zrnic, *Individual privacy
//! accounting via a Rényi filter*, NeurIPS 2021; Whitehouse, Ramdas, Rogers and Wu, *Fully adaptive composition in differential privacy*,
//! ICML 2023; Dong, Roth and Su, *Gaussian differential privacy*, JRSS B 2022.

use super::part::Part;
use super::{gaussian, renyi};
use crate::error::{Error, Parameter, Result};
use crate::numeric::{normal_below, normal_quantile, turning_point};
use crate::privacy::budget::check_delta;
use crate::privacy::{Budget, Event, Noise};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Relative error of an elementary computation here, charged against the user many times over.
const ROUNDING: f64 = 1e-12;
/// Budgets below this are refused: no release of use fits them, and they leave the range of the arithmetic.
const SMALLEST_EPSILON: f64 = 1e-9;

/// By which measure of loss releases add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Gaussian differential privacy: exact for Gaussian releases.
    Gdp,
    /// Zero-concentrated privacy: counts selections and Laplace noise for less, and Gaussian noise for more.
    Zcdp,
    /// Epsilons add up: for releases without Gaussian noise, such as answers from devices. Its total needs no delta.
    Pure,
}

/// What releases cost, rounded up, or what is left, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// In squared `mu`; in epsilon under [`Rule::Pure`].
    pub loss: f64,
    /// The probability with which (e, d) private releases may fail.
    pub failure: f64,
}

impl Cost {
    /// The sum, rounded up.
    pub fn and(self, other: Self) -> Self {
        let sum = |a: f64, b: f64| if b == 0.0 { a } else { (a + b).next_up() };
        Self { loss: sum(self.loss, other.loss), failure: sum(self.failure, other.failure) }
    }
}

/// A total that releases may cost together, however they are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    rule: Rule,
    budget: Budget,
    limit: Cost,
}

impl Filter {
    /// Fixes the total; `reserve` is the part of delta for (e, d) private releases.
    pub fn new(budget: Budget, reserve: f64, rule: Rule) -> Result<Self> {
        if budget.epsilon() < SMALLEST_EPSILON {
            return Err(Error::OutOfRange {
                parameter: Parameter::Epsilon,
                range: "at least 1e-9",
                value: format!("{:e}", budget.epsilon()),
                remedy: "nothing of use can be released for less",
            });
        }
        if rule == Rule::Pure {
            if reserve != 0.0 {
                return Err(Error::OutOfRange {
                    parameter: Parameter::Reserve,
                    range: "left out where epsilons add up",
                    value: reserve.to_string(),
                    remedy: "all of delta is for releases that are (e, d) private",
                });
            }
            return Ok(Self {
                rule,
                budget,
                limit: Cost { loss: budget.epsilon(), failure: budget.delta() },
            });
        }
        let delta = check_delta(budget.delta())?;
        if !(reserve >= 0.0 && reserve < delta) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Reserve,
                range: "at least 0 and below delta",
                value: reserve.to_string(),
                remedy: "a tenth of delta is enough for most",
            });
        }
        let left = if reserve == 0.0 { delta } else { check_delta((delta - reserve).next_down())? };
        let largest = match rule {
            Rule::Gdp => gaussian::largest_mu(budget.epsilon(), left).powi(2),
            // Above.
            Rule::Pure => budget.epsilon(),
            Rule::Zcdp => 2.0 * largest_rho(budget.epsilon(), left)?,
        };
        Ok(Self { rule, budget, limit: Cost { loss: largest * (1.0 - ROUNDING), failure: reserve } })
    }

    /// What all releases together promise.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What releases may cost together.
    pub fn limit(&self) -> Cost {
        self.limit
    }

    /// What releases cost: `events` from all rows, each part's from its rows alone.
    pub fn cost(&self, events: &[Event], parts: &[Part]) -> Result<Cost> {
        let common = self.sum(events)?;
        let mut worst = Cost::default();
        for part in parts {
            let own = self.sum(&part.events)?;
            worst = Cost { loss: worst.loss.max(own.loss), failure: worst.failure.max(own.failure) };
        }
        let cost = common.and(worst);
        if cost == Cost::default() {
            return Err(Error::Conflict("there is nothing to account: give at least one event".into()));
        }
        Ok(cost)
    }

    /// Whether releases may cost so much.
    pub fn admits(&self, spent: Cost) -> bool {
        spent.loss <= self.limit.loss && spent.failure <= self.limit.failure
    }

    /// What is left, rounded down.
    pub fn left(&self, spent: Cost) -> Cost {
        let rest =
            |limit: f64, spent: f64| if spent == 0.0 { limit } else { (limit - spent).next_down().max(0.0) };
        Cost { loss: rest(self.limit.loss, spent.loss), failure: rest(self.limit.failure, spent.failure) }
    }

    /// The largest epsilon of one more Gaussian release that is (epsilon, delta) private by itself, rounded down; zero if nothing is left.
    /// Where epsilons add up, that of a pure release.
    pub fn room(&self, spent: Cost, delta: f64) -> Result<f64> {
        let left = self.left(spent).loss;
        if self.rule == Rule::Pure {
            return Ok(left);
        }
        let delta = check_delta(delta)?;
        if left <= 0.0 {
            return Ok(0.0);
        }
        let epsilon = gaussian::epsilon(left.sqrt(), delta) * (1.0 - 1e-9);
        // The same question the other way round decides.
        let fits = |epsilon: f64| gaussian::largest_mu(epsilon, delta).powi(2) * (1.0 + ROUNDING) <= left;
        Ok(if epsilon >= SMALLEST_EPSILON && fits(epsilon) { epsilon } else { 0.0 })
    }

    /// Whether a release that uses up this budget cannot fit, whatever it consists of: known before it is planned. Less than a certain
    /// answer; [`Self::admits`] gives that.
    pub fn is_hopeless(&self, spent: Cost, budget: Budget) -> bool {
        /// What an accountant's epsilon may lie above the true one.
        const SLACK: f64 = 0.97;
        if self.rule == Rule::Pure {
            return SLACK * budget.epsilon() > self.left(spent).loss;
        }
        // A pure loss of e^2 has the squared mu pi/2 e^2.
        let unit = if self.rule == Rule::Zcdp { FRAC_2_PI } else { 1.0 };
        let left = self.left(spent);
        let delta = (budget.delta() - left.failure).max(budget.delta() * 1e-3);
        check_delta(delta).is_ok()
            && budget.epsilon() >= SMALLEST_EPSILON
            && unit * gaussian::largest_mu(SLACK * budget.epsilon(), delta).powi(2) > left.loss
    }

    fn sum(&self, events: &[Event]) -> Result<Cost> {
        events.iter().try_fold(Cost::default(), |sum, event| Ok(sum.and(self.of(event)?)))
    }

    /// What an event costs. Never zero.
    fn of(&self, event: &Event) -> Result<Cost> {
        let pure = |epsilon: f64| match self.rule {
            Rule::Gdp => mu_of_pure(epsilon).powi(2),
            Rule::Zcdp => epsilon * epsilon,
            Rule::Pure => epsilon,
        };
        let noise = event.noise();
        let (loss, failure) = match noise {
            Noise::Gaussian { .. } | Noise::Zcdp { .. } if self.rule == Rule::Pure => {
                return Err(Error::Conflict(format!(
                    "the release of the {} has no finite epsilon without a delta, and epsilons add up here: keep it in a ledger of the rule gdp \
                     or zcdp",
                    event.release()
                )));
            }
            Noise::Gaussian { .. } => (noise.intensity().powi(2), 0.0),
            Noise::Laplace { .. } | Noise::Pure { .. } => (pure(noise.intensity()), 0.0),
            Noise::Selection { .. } if self.rule == Rule::Pure => (pure(noise.intensity()), 0.0),
            Noise::Selection { .. } => (pure(0.5 * noise.intensity()), 0.0),
            Noise::Approximate { epsilon, delta } => (pure(epsilon), delta),
            Noise::Zcdp { rho } if self.rule == Rule::Zcdp => (2.0 * rho, 0.0),
            Noise::Zcdp { .. } => {
                return Err(Error::Conflict(format!(
                    "of the release of the {} only zero-concentrated privacy is known, which Gaussian privacy cannot count: keep it in a \
                     ledger of the rule zcdp",
                    event.release()
                )));
            }
        };
        // What underflows is at least the smallest normal number here.
        let up = |x: f64| {
            if x == 0.0 { 0.0 } else { x * event.count() as f64 * (1.0 + ROUNDING) + f64::MIN_POSITIVE }
        };
        Ok(Cost { loss: up(loss.max(f64::MIN_POSITIVE)), failure: up(failure) })
    }
}

/// The smallest `mu` whose Gaussian pair dominates every pair with log-ratios in `[-epsilon, epsilon]`, rounded up. It also dominates
/// every pair whose log-ratios lie in an interval of length `2 epsilon` around any place.
pub(crate) fn mu_of_pure(epsilon: f64) -> f64 {
    // An upper bound everywhere, and right to a part in 1e7 where epsilon is small.
    let tangent = epsilon * FRAC_PI_2.sqrt() * (1.0 + ROUNDING);
    if !(1e-3..=700.0).contains(&epsilon) {
        return tangent;
    }
    let tail = 1.0 / (1.0 + epsilon.exp());
    let mut half = -normal_quantile(tail) * (1.0 + 1e-9);
    // The tail beyond half of mu decides, and it can be computed to a few units of round-off.
    for _ in 0..100 {
        if normal_below(-half) <= tail * (1.0 - ROUNDING) {
            return (2.0 * half).min(tangent);
        }
        half *= 1.0 + 1e-8;
    }
    tangent
}

/// The largest `rho` whose conversion meets (epsilon, delta), rounded down.
fn largest_rho(epsilon: f64, delta: f64) -> Result<f64> {
    let fits = |rho: f64| {
        let order_moment = |a: f64| rho * a * (a + 1.0) * (1.0 + ROUNDING);
        renyi::epsilon_of(order_moment, delta) <= epsilon
    };
    // rho + 2 sqrt(rho ln 1/delta) <= epsilon is enough; no conversion beats the exact curve.
    let log = -delta.ln();
    let low = (epsilon / ((log + epsilon).sqrt() + log.sqrt())).powi(2) * (1.0 - 1e-9);
    let high = 0.5 * gaussian::largest_mu(epsilon, delta).powi(2);
    let found = turning_point((low, high.max(low)), 60, fits).0;
    match fits(found) {
        true => Ok(found * (1.0 - ROUNDING)),
        false => Err(Error::Conflict(
            "no zero-concentrated loss is known to meet this total: take the rule gdp".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::account;

    fn event(noise: Noise, count: u64) -> Event {
        Event::new("release", noise, count).unwrap()
    }

    fn gaussian_of(mu: f64) -> Event {
        event(Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 1)
    }

    fn filter(epsilon: f64, delta: f64, reserve: f64, rule: Rule) -> Filter {
        Filter::new(Budget::new(epsilon, delta).unwrap(), reserve, rule).unwrap()
    }

    /// Costs of releases that fill the total up are within it, and their exact account is too.
    #[test]
    fn what_fills_the_total_keeps_its_promise() {
        for (epsilon, delta) in [(0.1, 1e-9), (1.0, 1e-6), (4.0, 1e-6), (20.0, 1e-3)] {
            for rule in [Rule::Gdp, Rule::Zcdp] {
                let filter = filter(epsilon, delta, 0.0, rule);
                let mu = (filter.limit().loss / 50.0).sqrt() * (1.0 - 1e-9);
                let events = vec![event(Noise::Gaussian { sensitivity: mu, sigma: 1.0 }, 50)];
                let cost = filter.cost(&events, &[]).unwrap();
                assert!(
                    filter.admits(cost)
                        && !filter.admits(cost.and(filter.cost(&[gaussian_of(1e-3 * mu)], &[]).unwrap()))
                );
                let exact = account(&events, delta).unwrap().epsilon;
                assert!(exact <= epsilon, "{exact} {epsilon}");
                if rule == Rule::Gdp {
                    assert!(exact > epsilon * (1.0 - 1e-6), "{exact} {epsilon}");
                }
            }
        }
    }

    /// For Gaussian, pure and selection events, the Gaussian curve of their cost lies above an account of them by other means.
    #[test]
    fn a_cost_is_at_least_what_its_events_cost() {
        let gdp = filter(50.0, 1e-3, 1e-4, Rule::Gdp);
        let zcdp = filter(50.0, 1e-3, 1e-4, Rule::Zcdp);
        for size in [1e-3, 0.05, 0.7, 3.0] {
            for (noise, count) in [
                (Noise::Pure { epsilon: size }, 1),
                (Noise::Pure { epsilon: size }, 7),
                (Noise::Laplace { sensitivity: size, scale: 1.0 }, 3),
                (Noise::Selection { sensitivity: size, scale: 2.0 }, 1),
                (Noise::Selection { sensitivity: size, scale: 2.0 }, 9),
                (Noise::Gaussian { sensitivity: size, sigma: 2.0 }, 4),
            ] {
                let events = [event(noise, count), gaussian_of(0.3)];
                for (filter, delta) in [(gdp, 1e-6), (gdp, 1e-2), (zcdp, 1e-6)] {
                    let cost = filter.cost(&events, &[]).unwrap();
                    let promised = gaussian::epsilon(cost.loss.sqrt(), delta);
                    let exact = account(&events, delta).unwrap().epsilon;
                    // A zCDP loss converts to no less than the Gaussian of the same rho.
                    let promised = match filter.rule {
                        Rule::Gdp => promised,
                        Rule::Zcdp => renyi::epsilon_of(|a| 0.5 * cost.loss * a * (a + 1.0), delta),
                        Rule::Pure => cost.loss,
                    };
                    assert!(
                        promised >= exact * (1.0 - 1e-3),
                        "{noise:?} {count} {delta}: {promised} {exact}"
                    );
                }
            }
        }
    }

    /// The two-point pair with log-ratios t - w and t: its knot lies on or above the Gaussian trade-off of the cost, for every t, and on it
    /// for t = w/2. A cost smaller by a thousandth fails.
    #[test]
    fn the_middle_shift_is_the_worst_for_selections() {
        for w in [1e-2, 0.3, 1.0, 4.0, 15.0] {
            let mu = mu_of_pure(0.5 * w);
            let needed = |t: f64| {
                let q = (t - w).exp_m1() / ((-w).exp_m1() * t.exp());
                normal_quantile(q * t.exp()) - normal_quantile(q)
            };
            let worst = (1..2000).map(|k| needed(w * f64::from(k) / 2000.0)).fold(0.0, f64::max);
            assert!(worst <= mu * (1.0 + 1e-12), "{w}: {worst} {mu}");
            assert!(worst >= mu * (1.0 - 1e-6), "{w}: {worst} {mu}");
            assert!((needed(0.5 * w) - worst).abs() <= 1e-9 * worst);
        }
    }

    #[test]
    fn pure_losses_are_rounded_up_everywhere() {
        let mut last = 0.0;
        for k in -3000..=300 {
            let epsilon = 10f64.powf(f64::from(k) / 100.0);
            let mu = mu_of_pure(epsilon);
            assert!(mu >= last && mu <= epsilon * 1.253_314_137_4, "{epsilon}: {mu} {last}");
            if (1e-3..700.0).contains(&epsilon) {
                let (tail, wanted) = (normal_below(-0.5 * mu), 1.0 / (1.0 + epsilon.exp()));
                assert!(tail <= wanted && tail >= wanted * (1.0 - 1e-5), "{epsilon}");
            }
            last = mu * (1.0 - 1e-6);
        }
    }

    #[test]
    fn extreme_totals_and_releases_have_an_answer() {
        for epsilon in [1e-9, 1e-6, 1e-3, 1.0, 50.0, 700.0] {
            for delta in [1e-100, 1e-30, 1e-6, 0.5, 0.999] {
                for (share, rule) in
                    [(0.0, Rule::Gdp), (0.1, Rule::Gdp), (0.0, Rule::Zcdp), (0.1, Rule::Zcdp)]
                {
                    if let Ok(filter) = Filter::new(Budget::new(epsilon, delta).unwrap(), share * delta, rule)
                    {
                        let limit = filter.limit().loss;
                        assert!(limit > 0.0 && limit.is_finite(), "{epsilon} {delta}");
                        let room = filter.room(Cost::default(), delta).unwrap();
                        assert!(room <= epsilon, "{room} {epsilon} {delta}");
                    }
                }
            }
        }
        for (epsilon, delta, reserve) in
            [(1e-10, 1e-6, 0.0), (1.0, 1e-6, 1e-6), (1.0, 1e-6, f64::NAN), (1.0, 1e-6, -1e-9)]
        {
            assert!(Filter::new(Budget::new(epsilon, delta).unwrap(), reserve, Rule::Gdp).is_err());
        }
        assert!(Filter::new(Budget::pure(1.0).unwrap(), 0.0, Rule::Gdp).is_err());
        let filter = filter(1.0, 1e-6, 0.0, Rule::Gdp);
        for noise in [
            Noise::Gaussian { sensitivity: 1e-200, sigma: 1e100 },
            Noise::Laplace { sensitivity: 1e-200, scale: 1e100 },
            Noise::Selection { sensitivity: 1e-310, scale: 1e3 },
        ] {
            assert!(filter.cost(&[event(noise, 1)], &[]).unwrap().loss > 0.0);
        }
        for noise in [Noise::Gaussian { sensitivity: 1e200, sigma: 1e-100 }, Noise::Pure { epsilon: 1e300 }] {
            assert!(!filter.admits(filter.cost(&[event(noise, 1_000_000)], &[]).unwrap()));
        }
        assert!(filter.cost(&[], &[]).is_err());
        assert!(filter.cost(&[event(Noise::Zcdp { rho: 0.1 }, 1)], &[]).is_err());
    }

    #[test]
    fn failures_are_paid_from_the_reserve() {
        let filter = filter(2.0, 1e-6, 1e-7, Rule::Gdp);
        let release =
            |delta| filter.cost(&[event(Noise::Approximate { epsilon: 0.1, delta }, 1)], &[]).unwrap();
        assert!(filter.admits(release(0.9e-7)) && !filter.admits(release(1.1e-7)));
        assert!(!filter.admits(release(0.6e-7).and(release(0.6e-7))));
        assert_eq!(
            release(0.9e-7).loss,
            filter.cost(&[event(Noise::Pure { epsilon: 0.1 }, 1)], &[]).unwrap().loss
        );
    }

    #[test]
    fn parts_cost_their_maximum() {
        let filter = filter(4.0, 1e-6, 0.0, Rule::Gdp);
        let part = |mu| Part { rows: "some".into(), events: vec![gaussian_of(mu)] };
        let cost = filter.cost(&[gaussian_of(0.3)], &[part(0.1), part(0.4), part(0.2)]).unwrap().loss;
        assert!((cost - 0.25).abs() < 1e-9, "{cost}");
    }

    /// Where epsilons add up, a total needs no delta, and what has no epsilon of its own is refused.
    #[test]
    fn epsilons_add_up() {
        let filter = Filter::new(Budget::pure(2.0).unwrap(), 0.0, Rule::Pure).unwrap();
        let one = |noise| filter.cost(&[event(noise, 1)], &[]).unwrap();
        let pure = one(Noise::Pure { epsilon: 1.0 });
        assert!(pure.loss >= 1.0 && pure.loss < 1.0 + 1e-9);
        let selection = one(Noise::Selection { sensitivity: 1.0, scale: 2.0 });
        assert!(selection.loss >= Noise::Selection { sensitivity: 1.0, scale: 2.0 }.intensity());
        let half = one(Noise::Pure { epsilon: 0.999_999 });
        assert!(filter.admits(half.and(half)) && !filter.admits(pure.and(pure)));
        assert!(filter.is_hopeless(pure, Budget::pure(1.1).unwrap()));
        assert!(!filter.is_hopeless(pure, Budget::pure(0.9).unwrap()));
        let room = filter.room(pure, 1e-6).unwrap();
        assert!(room < 1.0 && room > 1.0 - 1e-9);
        for noise in [Noise::Gaussian { sensitivity: 1e-6, sigma: 1.0 }, Noise::Zcdp { rho: 1e-9 }] {
            assert!(filter.cost(&[event(noise, 1)], &[]).is_err());
        }
        // Failures need a delta.
        let approximate = [event(Noise::Approximate { epsilon: 0.1, delta: 1e-7 }, 1)];
        assert!(!filter.admits(filter.cost(&approximate, &[]).unwrap()));
        let wide = Filter::new(Budget::new(2.0, 1e-6).unwrap(), 0.0, Rule::Pure).unwrap();
        assert!(wide.admits(wide.cost(&approximate, &[]).unwrap()));
        assert!(Filter::new(Budget::new(2.0, 1e-6).unwrap(), 1e-7, Rule::Pure).is_err());
    }

    /// Ten fits of epsilon 0.5 cost 1.7 together, not 5.
    #[test]
    fn ten_gaussian_releases_cost_what_they_cost_together() {
        let (epsilon, delta) = (0.5, 1e-6);
        let one = gaussian_of(gaussian::largest_mu(epsilon, delta));
        let spent = |filter: &Filter, count: usize| {
            let cost = filter.cost(std::slice::from_ref(&one), &[]).unwrap();
            (0..count).fold(Cost::default(), |sum, _| sum.and(cost))
        };
        let sum = 10.0 * epsilon;
        let total = filter(0.7 * sum, delta, 0.0, Rule::Gdp);
        assert!(total.admits(spent(&total, 10)));
        let total = filter(1.76, delta, 0.0, Rule::Gdp);
        assert!(total.admits(spent(&total, 10)) && !total.admits(spent(&total, 11)));
    }

    #[test]
    fn what_is_said_to_fit_fits() {
        for rule in [Rule::Gdp, Rule::Zcdp] {
            let filter = filter(2.0, 1e-6, 0.0, rule);
            let mut spent = Cost::default();
            for _ in 0..5 {
                let room = filter.room(spent, 1e-7).unwrap();
                let half = gaussian_of(gaussian::largest_mu(0.5 * room, 1e-7));
                assert!(!filter.is_hopeless(spent, Budget::new(room, 1e-7).unwrap()));
                assert!(filter.is_hopeless(spent, Budget::new(1.4 * room, 1e-7).unwrap()));
                let whole = gaussian_of(gaussian::largest_mu(room, 1e-7));
                assert!(filter.admits(spent.and(filter.cost(&[whole], &[]).unwrap())));
                spent = spent.and(filter.cost(&[half], &[]).unwrap());
            }
        }
    }
}
