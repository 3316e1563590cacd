//! How the promise is computed: from events to (epsilon, delta) and back.
//!
//! Several bounds are valid for the same events; the smallest is reported with its name.
//!
//! | bound | for | where |
//! | --- | --- | --- |
//! | exact Gaussian | Gaussian events only: the true curve | [`gaussian`] |
//! | privacy-loss distribution | any mix but zCDP events; selections by their common worst case | [`pld`], [`selections`] |
//! | Rényi | every mix | [`renyi`] |
//! | basic | releases with a pure guarantee: losses add up | this page |
//!
//! Releases that are not planned together, but one after the other's results, are counted by a [`filter`].
//!
//! A release that is only known to be (e, d) private is, with probability `1 - d` at least, dominated by one of pure loss
//! e. So it counts as that, and its d is taken off the delta there is: valid under adaptive composition.
//!
//! Every number errs on the private side: an epsilon is never below the true one. `docs/proofs/composition.md` has the argument.

mod calibrate;
pub mod certificate;
pub mod filter;
pub mod gaussian;
pub mod loss;
pub mod moments;
pub mod part;
pub mod pld;
mod quadrature;
pub mod renyi;
pub mod selections;
pub mod several;
pub mod shuffle;

use crate::error::{Error, Parameter, Result, require_positive};
use crate::parallel;
use crate::privacy::budget::check_delta;
use crate::privacy::{Event, Noise};
pub use calibrate::calibrate;
pub use certificate::{Certificate, Grade};
pub use part::Part;
use serde::{Deserialize, Serialize};
pub use several::Several;

/// Which bound gave a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// Exact composition of Gaussian releases.
    ExactGaussian,
    /// Numerical composition of privacy-loss distributions.
    PrivacyLossDistribution,
    /// Rényi moments with the optimal conversion.
    Renyi,
    /// Sum of losses.
    Basic,
}

/// One point of the privacy curve: the events are (epsilon, delta) differentially private.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    /// The privacy loss.
    pub epsilon: f64,
    /// The failure probability.
    pub delta: f64,
    /// The bound that gave it.
    pub method: Method,
}

/// The smallest epsilon known for the events at `delta`. `delta = 0` asks for a pure guarantee.
///
/// ```
/// use dpglm::accounting::account;
/// use dpglm::privacy::{Event, Noise};
///
/// let events = [
///     Event::new("which columns", Noise::Selection { sensitivity: 1.0, scale: 20.0 }, 10)?,
///     Event::new("their values", Noise::Gaussian { sensitivity: 1.0, sigma: 8.0 }, 1)?,
/// ];
/// let guarantee = account(&events, 1e-6)?;
/// assert!(guarantee.epsilon < 1.4);
/// # Ok::<(), dpglm::Error>(())
/// ```
pub fn account(events: &[Event], delta: f64) -> Result<Guarantee> {
    Accountant::new(events)?.account(delta)
}

/// The smallest epsilon known for the events at `delta`, without the name of the bound.
pub fn epsilon_at(events: &[Event], delta: f64) -> Result<f64> {
    Ok(account(events, delta)?.epsilon)
}

/// The smallest delta known for the events at `epsilon`. It is a certain bound of 1 where nothing better is known, and
/// may underflow to zero only where a pure guarantee holds or the true delta is below 1e-300.
pub fn delta_at(events: &[Event], epsilon: f64) -> Result<f64> {
    if epsilon != 0.0 {
        require_positive(Parameter::Epsilon, epsilon, "ask for the curve at an epsilon of 0 or above")?;
    }
    Ok(Accountant::new(events)?.delta(epsilon))
}

/// The privacy curve: the epsilon that the events meet at each of a range of deltas, from 0.1 down to 1e-12, as
/// (epsilon, delta) pairs. It ends above what approximate releases fail with.
pub fn curve(events: &[Event]) -> Result<Vec<(f64, f64)>> {
    let accountant = Accountant::new(events)?;
    let deltas = (1..=12).map(|i| 10f64.powi(-i)).filter(|delta| *delta > accountant.spent * (1.0 + 1e-9));
    let mut points: Vec<(f64, Result<f64>)> = deltas.map(|delta| (delta, Ok(0.0))).collect();
    parallel::for_each(points.iter_mut(), |(delta, epsilon)| {
        *epsilon = accountant.account(*delta).map(|guarantee| guarantee.epsilon);
    });
    points.into_iter().map(|(delta, epsilon)| Ok((epsilon?, delta))).collect()
}

/// Events made ready to be accounted at any number of points.
struct Accountant {
    /// The events with each approximate one replaced by the pure one that dominates it but for its failure.
    events: Vec<Event>,
    /// What the approximate ones fail with.
    spent: f64,
    /// The total mu if all events are Gaussian: then there is nothing else to ask.
    mu: Option<f64>,
    mix: Option<pld::Mix>,
}

impl Accountant {
    fn new(events: &[Event]) -> Result<Self> {
        require_events(events)?;
        let spent = failure_probability(events);
        let events: Vec<Event> = events
            .iter()
            .map(|e| match e.noise() {
                Noise::Approximate { epsilon, .. } => {
                    Event::new(e.release(), Noise::Pure { epsilon }, e.count())
                }
                _ => Ok(e.clone()),
            })
            .collect::<Result<_>>()?;
        let mu = gaussian_mu(&events);
        let mix = if mu.is_some() { None } else { pld::Mix::of(&events) };
        Ok(Self { events, spent, mu, mix })
    }

    fn account(&self, delta: f64) -> Result<Guarantee> {
        if self.spent == 0.0 {
            return self.account_without_failures(delta);
        }
        // Rounded down: the difference of two positive numbers errs by a part in 2^53.
        let left = (delta - self.spent) * (1.0 - 1e-14);
        if !(left > 0.0 && delta < 1.0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Delta,
                range: "above what the approximate releases fail with, and below 1",
                value: format!("{delta:e} against {:e}", self.spent),
                remedy: "state a larger delta",
            });
        }
        Ok(Guarantee { delta, ..self.account_without_failures(left)? })
    }

    fn account_without_failures(&self, delta: f64) -> Result<Guarantee> {
        let basic = basic_epsilon(&self.events).map(|epsilon| (epsilon, Method::Basic));
        let mut bounds: Vec<(f64, Method)> = Vec::new();
        if delta == 0.0 {
            if basic.is_none() {
                return Err(Error::OutOfRange {
                    parameter: Parameter::Delta,
                    range: "above 0 where a release is Gaussian or zCDP",
                    value: "0".into(),
                    remedy: "state a delta well below 1/n",
                });
            }
        } else {
            check_delta(delta)?;
            if let Some(mu) = self.mu {
                bounds.push((gaussian::epsilon(mu, delta), Method::ExactGaussian));
            } else {
                bounds.push((renyi::epsilon(&self.events, delta), Method::Renyi));
            }
            if let Some(epsilon) = self.mix.as_ref().and_then(|mix| mix.epsilon(delta)) {
                bounds.push((epsilon, Method::PrivacyLossDistribution));
            }
        }
        bounds.extend(basic);
        let best = bounds.into_iter().filter(|b| b.0.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((epsilon, method)) = best else {
            return Err(Error::Conflict(
                "the events' privacy loss leaves the range of double precision: add noise".into(),
            ));
        };
        Ok(Guarantee { epsilon, delta, method })
    }

    fn delta(&self, epsilon: f64) -> f64 {
        let delta = self.delta_without_failures(epsilon);
        if self.spent == 0.0 { delta } else { (delta + self.spent).next_up().min(1.0) }
    }

    fn delta_without_failures(&self, epsilon: f64) -> f64 {
        if basic_epsilon(&self.events).is_some_and(|total| total <= epsilon) {
            return 0.0;
        }
        if let Some(mu) = self.mu {
            return gaussian::ln_delta(mu, epsilon).exp().min(1.0);
        }
        let mut ln_delta = renyi::ln_delta(&self.events, epsilon);
        if let Some(other) = self.mix.as_ref().and_then(|mix| mix.ln_delta(epsilon)) {
            ln_delta = ln_delta.min(other);
        }
        if ln_delta.is_nan() { 1.0 } else { ln_delta.exp().min(1.0) }
    }
}

/// What the approximate releases fail with, together, rounded up.
pub(crate) fn failure_probability(events: &[Event]) -> f64 {
    let sum: f64 = events
        .iter()
        .map(|e| match e.noise() {
            Noise::Approximate { delta, .. } => e.count() as f64 * delta,
            _ => 0.0,
        })
        .sum();
    sum * (1.0 + 1e-14 * (1.0 + events.len() as f64))
}

/// The sum of the events' pure losses, or `None` if one of them has no pure guarantee.
fn basic_epsilon(events: &[Event]) -> Option<f64> {
    let sum: f64 = events
        .iter()
        .map(|e| match e.noise() {
            Noise::Gaussian { .. } | Noise::Zcdp { .. } | Noise::Approximate { .. } => None,
            noise => Some(e.count() as f64 * noise.intensity()),
        })
        .sum::<Option<f64>>()?;
    // Nothing is added up or divided: a single pure release costs what it says.
    if let [only] = events
        && only.count() == 1
        && matches!(only.noise(), Noise::Pure { .. })
    {
        return Some(sum);
    }
    // The rounding of the sum is charged.
    Some(sum * (1.0 + 1e-14 * (1.0 + events.len() as f64)))
}

/// The total mu if all events are Gaussian.
fn gaussian_mu(events: &[Event]) -> Option<f64> {
    let square: f64 = events
        .iter()
        .map(|e| match e.noise() {
            noise @ Noise::Gaussian { .. } => Some(e.count() as f64 * noise.intensity().powi(2)),
            _ => None,
        })
        .sum::<Option<f64>>()?;
    Some(square.sqrt() * (1.0 + 1e-15 * (2.0 + events.len() as f64)))
}

fn require_events(events: &[Event]) -> Result<()> {
    if events.is_empty() {
        return Err(Error::Conflict("there is nothing to account: give at least one event".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approximate(epsilon: f64, delta: f64, count: u64) -> Event {
        Event::new("approximate", Noise::Approximate { epsilon, delta }, count).unwrap()
    }

    #[test]
    fn approximate_releases_add_up_and_their_failures_are_charged() {
        let events = [approximate(0.5, 1e-6, 3)];
        assert!((epsilon_at(&events, 3.1e-6).unwrap() - 1.5).abs() < 1e-6);
        assert!(account(&events, 3e-6).is_err() && account(&events, 0.0).is_err());
        assert!(delta_at(&events, 1.5001).unwrap() >= 3e-6);
        assert!(delta_at(&events, 1.5001).unwrap() < 3.0001e-6);
        assert!(curve(&events).unwrap().iter().all(|(_, delta)| *delta > 3e-6));
        // Beside a Gaussian: less than both apart, more than either.
        let gaussian = Event::new("g", Noise::Gaussian { sensitivity: 1.0, sigma: 4.0 }, 1).unwrap();
        let both = epsilon_at(&[events[0].clone(), gaussian.clone()], 1e-5).unwrap();
        let alone = epsilon_at(&[gaussian], 7e-6).unwrap();
        assert!(both > 1.5 && both < 1.5 + alone, "{both} {alone}");
        let json = serde_json::to_string(&events[0]).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), events[0]);
        assert!(Event::new("a", Noise::Approximate { epsilon: 1.0, delta: 1.0 }, 1).is_err());
    }
}
