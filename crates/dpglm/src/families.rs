//! Response families: the mean of the response given the linear predictor, and a bounded score.
//!
//! # The bounded score
//! A private gradient step needs a bound on what one row contributes. Clipping the residual `mean - y` bounds it but
//! shifts the solution: the clipped residual no longer has mean zero at the truth. Here each family's score is bounded
//! *and* has conditional mean zero under its model, so the solution stays where it is, and no more is bounded away
//! than has to be:
//!
//! * logistic: given x, every mean-zero function of a binary response is a multiple of `p - y`. The multiple
//!   `1 / (2 max(p, 1-p))` bounds it by 1/2, half of the residual's own bound. It is the derivative of a convex loss
//!   (`e^-m / 2` for margins m > 0, `(1 - m) / 2` below), with the logistic curvature 1/4 at zero.
//! * multinomial: the multiple `cap / max_k |p - e_k|` of `p - e_y`, likewise.
//! * Gaussian and monotone links: the residual clipped symmetrically (Huber's score): mean zero for symmetric errors; slopes stay
//!   consistent for any errors independent of the features.
//! * Poisson: the clipped residual minus its expectation under the model (Cantoni and Ronchetti 2001), scaled back to the cap.

pub mod likelihood;
pub mod monotone;
pub mod multinomial;
pub mod poisson;

pub use likelihood::Likelihood;
pub use monotone::MonotoneLink;

use crate::error::{Error, Parameter, Result};
use poisson::ClippedPoisson;

/// A response family with one linear predictor.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// A real response with a linear mean.
    Gaussian,
    /// A binary response, 0 or 1.
    Logistic,
    /// A count with a log-linear mean, times the exposure.
    Poisson,
    /// A real response whose mean is a known monotone function of the linear predictor.
    Monotone(MonotoneLink),
}

/// A family with its score bounded by a public or privately found cap.
#[derive(Debug, Clone)]
pub struct BoundedScore<'a> {
    family: &'a Family,
    cap: f64,
    /// The clipped residual's expectation, for Poisson responses.
    expectation: Option<ClippedPoisson>,
}

impl Family {
    /// The mean of the response at a linear predictor.
    pub fn mean(&self, predictor: f64) -> f64 {
        match self {
            Family::Gaussian => predictor,
            Family::Logistic => logistic(predictor),
            Family::Poisson => predictor.min(LARGEST_LOG_MEAN).exp(),
            Family::Monotone(link) => link.value(predictor),
        }
    }

    /// The derivative of the mean.
    pub fn mean_slope(&self, predictor: f64) -> f64 {
        match self {
            Family::Gaussian => 1.0,
            Family::Logistic => {
                let p = logistic(predictor);
                p * (1.0 - p)
            }
            Family::Poisson => self.mean(predictor),
            Family::Monotone(link) => link.slope(predictor),
        }
    }

    /// The nearest value of the response's domain: the public rule for a label outside it. Not a number becomes the
    /// domain's middle or its least value.
    pub(crate) fn admit(&self, y: f64) -> f64 {
        match self {
            Family::Gaussian | Family::Monotone(_) => {
                if y.is_nan() {
                    0.0
                } else {
                    y.clamp(-1e150, 1e150)
                }
            }
            Family::Logistic => f64::from(u8::from(y >= 0.5)),
            Family::Poisson => {
                if y > 0.0 {
                    y.min(1e15).round()
                } else {
                    0.0
                }
            }
        }
    }

    /// Twice the loss relative to a perfect fit, for reports on held-out data: deviance of one response.
    pub fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let mean = self.mean(predictor);
        match self {
            Family::Gaussian | Family::Monotone(_) => (y - mean) * (y - mean),
            Family::Logistic => {
                let signed = if y >= 0.5 { predictor } else { -predictor };
                2.0 * softplus(-signed)
            }
            Family::Poisson => {
                let ratio = if y > 0.0 { y * (y / mean).ln() } else { 0.0 };
                2.0 * (ratio - (y - mean))
            }
        }
    }

    /// The bounded score. Logistic scores have their own cap of 1/2 and ignore `cap`.
    pub fn bounded(&self, cap: f64) -> Result<BoundedScore<'_>> {
        let cap = if matches!(self, Family::Logistic) { 0.5 } else { cap };
        if !(cap.is_finite() && cap > 0.0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::ScoreCap,
                range: "a finite number above 0",
                value: cap.to_string(),
                remedy: "a cap about the size of a typical residual is best",
            });
        }
        let expectation = matches!(self, Family::Poisson).then(|| ClippedPoisson::new(cap));
        Ok(BoundedScore { family: self, cap, expectation })
    }
}

impl BoundedScore<'_> {
    /// The bound that [`value`](Self::value) never exceeds in absolute value.
    pub fn cap(&self) -> f64 {
        self.cap
    }

    /// The expectation of the clipped residual, for Poisson responses.
    fn centre(&self, mean: f64) -> f64 {
        self.expectation.as_ref().map_or(0.0, |table| table.clipped_mean(mean))
    }

    /// The score at a linear predictor, for a response in the family's domain: what multiplies the row in the gradient.
    /// At most `cap` in absolute value, whatever the arguments.
    pub fn value(&self, predictor: f64, y: f64) -> f64 {
        let score = match self.family {
            Family::Logistic => {
                // (p - y) / (2 max(p, 1-p)), by margins: no cancellation and no overflow.
                let margin = if y >= 0.5 { predictor } else { -predictor };
                let size = if margin > 0.0 { 0.5 * (-margin).exp() } else { 0.5 };
                if y >= 0.5 { -size } else { size }
            }
            Family::Gaussian | Family::Monotone(_) => {
                (self.family.mean(predictor) - y).clamp(-self.cap, self.cap)
            }
            Family::Poisson => {
                let mean = self.family.mean(predictor);
                let centre = self.centre(mean);
                // Shrunk by a factor of the mean alone, so that it stays within the cap and keeps its mean of zero.
                ((mean - y).clamp(-self.cap, self.cap) - centre) * self.cap / (self.cap + centre.abs())
            }
        };
        // The last word on the bound; a NaN can only come from a NaN predictor.
        if score.is_nan() { 0.0 } else { score.clamp(-self.cap, self.cap) }
    }

    /// The derivative of the score's expectation in the linear predictor, at the truth, with errors of the given
    /// share inside the cap (Gaussian and monotone families only; others know it).
    pub fn slope(&self, predictor: f64, share_inside: f64) -> f64 {
        match self.family {
            Family::Logistic => {
                let p = logistic(predictor);
                0.5 * p.min(1.0 - p)
            }
            Family::Gaussian => share_inside,
            Family::Monotone(link) => share_inside * link.slope(predictor),
            Family::Poisson => {
                let mean = self.family.mean(predictor);
                let slope = self.expectation.as_ref().map_or(mean, |table| table.slope(mean));
                slope * self.cap / (self.cap + self.centre(mean).abs())
            }
        }
    }
}

/// Log-means beyond this are cut: e^30 events a row are no count data.
const LARGEST_LOG_MEAN: f64 = 30.0;

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

    /// The score's conditional mean is zero at the truth, for discrete responses by summation.
    #[test]
    fn scores_have_mean_zero_under_their_model() {
        let logit = Family::Logistic.bounded(1.0).unwrap();
        for u in [-4.0, -0.3, 0.0, 0.7, 5.0] {
            let p = logistic(u);
            let mean = p * logit.value(u, 1.0) + (1.0 - p) * logit.value(u, 0.0);
            assert!(mean.abs() < 1e-15, "{u} {mean}");
        }
        for cap in [0.3, 1.0, 2.5, 8.0] {
            let score = Family::Poisson.bounded(cap).unwrap();
            for u in [-4.0_f64, -1.0, 0.0, 1.3, 3.0] {
                let rate = u.exp();
                let mut mass = (-rate).exp();
                let mut mean = 0.0;
                for k in 0..400 {
                    mean += mass * score.value(u, f64::from(k));
                    mass *= rate / f64::from(k + 1);
                }
                // Interpolation between the nodes of the table is all that is left.
                assert!(mean.abs() < 2e-3 * cap.max(1.0), "cap {cap} u {u}: {mean}");
            }
        }
    }

    #[test]
    fn slopes_are_the_derivatives_of_expected_scores() {
        let logit = Family::Logistic.bounded(1.0).unwrap();
        for u in [-2.0, -0.5, 0.4, 1.5] {
            let p = logistic(u);
            let at = |v: f64| p * logit.value(v, 1.0) + (1.0 - p) * logit.value(v, 0.0);
            let numeric = (at(u + 1e-5) - at(u - 1e-5)) / 2e-5;
            assert!((numeric - logit.slope(u, 1.0)).abs() < 1e-6, "{u}");
        }
    }

    #[test]
    fn scores_never_exceed_their_cap() {
        let extremes =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, 1.0, -1.0, 700.0, -700.0];
        let link = MonotoneLink::new(|u| 8.0 * u + u.cos(), 7.0, 9.0).unwrap();
        for family in [Family::Gaussian, Family::Logistic, Family::Poisson, Family::Monotone(link)] {
            for cap in [1e-3, 0.5, 3.0] {
                let score = family.bounded(cap).unwrap();
                for u in extremes {
                    for y in extremes {
                        let s = score.value(u, family.admit(y));
                        assert!(s.abs() <= score.cap(), "{family:?} {u} {y}: {s}");
                    }
                }
            }
        }
    }

    #[test]
    fn mean_slopes_match_finite_differences() {
        let link = MonotoneLink::new(|u| 8.0 * u + u.cos(), 7.0, 9.0).unwrap();
        for family in [Family::Gaussian, Family::Logistic, Family::Poisson, Family::Monotone(link)] {
            for u in [-3.0, -0.2, 0.0, 1.1, 2.9] {
                let numeric = (family.mean(u + 1e-5) - family.mean(u - 1e-5)) / 2e-5;
                assert!(
                    (numeric - family.mean_slope(u)).abs() < 1e-6 * (1.0 + numeric.abs()),
                    "{family:?} {u}"
                );
            }
        }
    }
}
