//! What a promise lets one replacement do: the trade-off between finding a row and a false alarm.
//!
//! An event of probability b on one table has probability at most F(b) on a neighbour, with F = 1 - f for the trade-off function f of
//! Dong, Roth and Su (2022). F is concave and never falls. An audit reads it from the other side: an event that has probability
//! a here has probability at least `least(a) = inf { b : F(b) >= a }` there.
//!
//! | promise | `least(a)` |
//! | --- | --- |
//! | (epsilon, delta), at several points that all hold | the largest of `(a - delta) / e^epsilon` and `1 - delta - e^epsilon (1 - a)` |
//! | one Gaussian release of this mu | `Phi(Phi^-1(a) - mu)` |
//!
//! Both are rounded down, so that a promise is never refuted by rounding.

use crate::numeric::{normal_below, normal_quantile};

/// More than the rounding of the formulas below, relatively.
const ROUNDING: f64 = 1e-9;

/// A promise for each replacement of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum TradeOff {
    /// (epsilon, delta) for each of these points.
    Points(Vec<(f64, f64)>),
    /// The curve of one Gaussian release whose noise is the sensitivity divided by this.
    Gaussian(f64),
}

impl TradeOff {
    /// The least probability, on a neighbour, of an event of probability `a`; rounded down.
    pub fn least(&self, a: f64) -> f64 {
        let a = a.clamp(0.0, 1.0);
        let exact = match self {
            TradeOff::Points(points) => points.iter().fold(0.0, |least: f64, &(epsilon, delta)| {
                let factor = epsilon.exp();
                // Written so that an epsilon beyond the range of exp promises nothing.
                let other = if a < 1.0 { 1.0 - delta - factor * (1.0 - a) } else { 1.0 - delta };
                least.max((a - delta) / factor).max(other)
            }),
            TradeOff::Gaussian(mu) => normal_below(normal_quantile(a) - mu),
        };
        exact * (1.0 - ROUNDING)
    }

    /// The same promise with every epsilon, or mu, halved.
    pub(super) fn halved(&self) -> Self {
        match self {
            TradeOff::Points(points) => {
                TradeOff::Points(points.iter().map(|&(epsilon, delta)| (0.5 * epsilon, delta)).collect())
            }
            TradeOff::Gaussian(mu) => TradeOff::Gaussian(0.5 * mu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides of every inequality, for pairs of distributions that meet it with equality.
    #[test]
    fn least_inverts_what_a_promise_allows() {
        let (epsilon, delta) = (1.5_f64, 1e-3);
        let pair = TradeOff::Points(vec![(epsilon, delta)]);
        for b in [0.0, 1e-6, 1e-3, 0.1, 0.5, 0.9] {
            let most = (epsilon.exp() * b + delta).min(1.0 - (-epsilon).exp() * (1.0 - delta - b));
            assert!((pair.least(most) - b).abs() <= 2e-9, "{b} {most}");
            let gaussian = TradeOff::Gaussian(0.7);
            let most = normal_below(normal_quantile(b) + 0.7);
            let back = gaussian.least(most);
            assert!(back <= b && back >= b * (1.0 - 1e-8), "{b} {back}");
        }
        // A Gaussian meets every point of its curve: its own bound is the larger.
        let mu = 0.7;
        let point = |epsilon: f64| (epsilon, crate::accounting::gaussian::ln_delta(mu, epsilon).exp());
        let points = TradeOff::Points((0..40).map(|i| point(0.1 * f64::from(i))).collect());
        for a in [1e-4, 0.01, 0.2, 0.6, 0.99] {
            let (exact, bound) = (TradeOff::Gaussian(mu).least(a), points.least(a));
            assert!(bound <= exact * (1.0 + 1e-8) && bound >= 0.98 * exact, "{a} {bound} {exact}");
        }
        // Nothing is promised by an epsilon beyond all range, and everything by zero.
        assert_eq!(TradeOff::Points(vec![(1e4, 0.0)]).least(0.9), 0.0);
        assert!((TradeOff::Points(vec![(0.0, 0.0)]).least(0.3) - 0.3).abs() < 1e-8);
    }
}
