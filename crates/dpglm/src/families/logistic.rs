//! Binary responses with a linear logit.

use super::{Bounded, Domain, Family, ResponseFamily, RowScore, likelihood::finite, simulate};
use crate::noise::RandomSource;

/// A response of 0 or 1 with a linear logit.
#[derive(Debug)]
struct Logistic;

impl Family {
    /// A response of 0 or 1 with a linear logit.
    pub fn logistic() -> Self {
        Self::built_in(Logistic)
    }
}

impl ResponseFamily for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn summary(&self) -> &'static str {
        "A response of two levels: logistic regression"
    }

    fn multiplies(&self) -> Option<&'static str> {
        Some("the odds of")
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    fn mean(&self, predictor: f64) -> f64 {
        logistic(predictor)
    }

    fn rest(&self, predictor: f64) -> f64 {
        logistic(-predictor)
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        let p = logistic(predictor);
        p * (1.0 - p)
    }

    fn steepest(&self) -> f64 {
        0.25
    }

    fn slope_near(&self, _: f64) -> f64 {
        self.steepest()
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some((mean / (1.0 - mean)).ln())
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let signed = if y >= 0.5 { predictor } else { -predictor };
        2.0 * softplus(-signed)
    }

    fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let u = finite(predictor).clamp(-40.0, 40.0);
        let p = 1.0 / (1.0 + (-u).exp());
        (y - p, RowScore { size: p.max(1.0 - p), slope: p * (1.0 - p) })
    }

    fn capped(&self, _: f64) -> Box<dyn Bounded + '_> {
        Box::new(HalfResidual)
    }

    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        simulate::binary(self.mean(predictor), rng)
    }
}

/// `(p - y) / (2 max(p, 1-p))`, by margins: no cancellation and no overflow. It is the derivative of a convex loss
/// (`e^-m / 2` for margins m > 0, `(1 - m) / 2` below), with the logistic curvature 1/4 at zero.
struct HalfResidual;

impl Bounded for HalfResidual {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        let margin = if y >= 0.5 { predictor } else { -predictor };
        let size = if margin > 0.0 { 0.5 * (-margin).exp() } else { 0.5 };
        if y >= 0.5 { -size } else { size }
    }

    fn slope(&self, predictor: f64, _: f64) -> f64 {
        let p = logistic(predictor);
        0.5 * p.min(1.0 - p)
    }
}

fn logistic(u: f64) -> f64 {
    if u >= 0.0 {
        1.0 / (1.0 + (-u).exp())
    } else {
        let e = u.exp();
        e / (1.0 + e)
    }
}

fn softplus(u: f64) -> f64 {
    if u > 0.0 { u + (-u).exp().ln_1p() } else { u.exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_has_mean_zero_and_its_slope_is_the_derivative() {
        let logit = Family::logistic();
        let logit = logit.bounded(1.0).unwrap();
        for u in [-4.0, -0.3, 0.0, 0.7, 5.0] {
            let p = logistic(u);
            let at = |v: f64| p * logit.value(v, 1.0) + (1.0 - p) * logit.value(v, 0.0);
            assert!(at(u).abs() < 1e-15, "{u} {}", at(u));
        }
        for u in [-2.0, -0.5, 0.4, 1.5] {
            let p = logistic(u);
            let at = |v: f64| p * logit.value(v, 1.0) + (1.0 - p) * logit.value(v, 0.0);
            let numeric = (at(u + 1e-5) - at(u - 1e-5)) / 2e-5;
            assert!((numeric - logit.slope(u, 1.0)).abs() < 1e-6, "{u}");
        }
    }
}
