//! Rényi accounting: valid for every mix of events, zCDP ones included.
//!
//! # Algorithm
//! Log-moments of all events add ([`super::moments`]); the sum converts to (epsilon, delta) by
//! `ln delta = K(a) - a epsilon + a ln a - (a+1) ln(a+1)` for every order `a > 0`, and the best order is searched.
//! Whatever order the search ends on, the bound is valid.
//!
//! # References
//! Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, NeurIPS 2020, Proposition 12;
//! Asoodeh et al., *Three variants of differential privacy*, 2021.

use super::moments::log_moment;
use crate::privacy::Event;

/// Relative error granted to the evaluation of the log-moments, charged against the user.
const ROUNDING: f64 = 1e-11;

/// The sum of the events' log-moments, rounded up.
pub(crate) fn total_log_moment(events: &[Event], order: f64) -> f64 {
    let sum: f64 = events.iter().map(|e| e.count() as f64 * log_moment(&e.noise(), order)).sum();
    sum * (1.0 + ROUNDING)
}

/// `a ln a - (a+1) ln(a+1)`, negative.
fn conversion(order: f64) -> f64 {
    -order * (1.0 / order).ln_1p() - order.ln_1p()
}

/// An epsilon that the events meet at `delta`.
pub(crate) fn epsilon(events: &[Event], delta: f64) -> f64 {
    epsilon_of(|order| total_log_moment(events, order), delta)
}

/// An epsilon that a release with these log-moments meets at `delta`.
pub(crate) fn epsilon_of(log_moment: impl Fn(f64) -> f64, delta: f64) -> f64 {
    let ln_delta = delta.ln();
    let at = |order: f64| (log_moment(order) - ln_delta + conversion(order)) / order;
    (minimise(at) * (1.0 + ROUNDING)).max(0.0)
}

/// `ln` of a delta that the events meet at `epsilon`.
pub(crate) fn ln_delta(events: &[Event], epsilon: f64) -> f64 {
    let at = |order: f64| total_log_moment(events, order) - order * epsilon + conversion(order);
    minimise(at).min(0.0) + ROUNDING
}

/// The smallest value of `f(order)` found over orders from 1e-6 to 1e9: a scan, then golden sections around its best
/// point. The functions above have one valley; a missed minimum would only loosen the bound.
fn minimise(f: impl Fn(f64) -> f64) -> f64 {
    let g = |log_order: f64| {
        let value = f(log_order.exp());
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let (start, step) = (1e-6_f64.ln(), 0.25);
    let best =
        (0..=140).map(|i| start + step * f64::from(i)).min_by(|a, b| g(*a).total_cmp(&g(*b))).unwrap_or(0.0);
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (best - step, best + step);
    let mut smallest = g(best);
    for _ in 0..40 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        let (at_left, at_right) = (g(left), g(right));
        smallest = smallest.min(at_left).min(at_right);
        if at_left < at_right { high = right } else { low = left }
    }
    smallest
}
