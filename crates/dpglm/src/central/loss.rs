//! Losses of the caller's own, for noisy iterative hard thresholding of any smooth loss of a linear predictor.
//!
//! # What a loss says
//! Its value and its derivative in the predictor, and two numbers: how large the derivative, and how steep it may become. Steps and noise
//! are planned with these two.
//!
//! # Guarantee
//! No promise rests on what a loss computes. A derivative is clipped to the declared bound where it is used, one that is not a number counts
//! as zero, and so does a call that panics. What a row adds is then a bounded function of that row and of released
//! coefficients, as long as a loss is a function: an answer that depends on earlier calls would let one row change what others
//! add. [`Loss`] asks for that, no program can check it, and certificates of losses that are not this library's list it as a condition.
//!
//! # Why a value is asked for
//! [`LossModel::new`] compares derivative and value, and the derivative's change with the declared curvature, at public points. A wrong sign, the most
//! common mistake, is found before any private row is seen.

use super::start::Start;
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::data::range::{require_interval, require_magnitude};
use crate::error::{Error, Parameter, Result};
use crate::families::{Bounded, BoundedScore};
use crate::privacy::conditions;
use std::any::TypeId;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// How large the derivative of a loss may be, and how steep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossBounds {
    /// The largest size of the derivative in the predictor. Larger ones are clipped to it.
    pub slope: f64,
    /// The largest derivative of that derivative: steps are one over it. A smaller number makes longer steps; no promise rests on it.
    pub curvature: f64,
}

/// A smooth loss of a linear predictor and a response.
///
/// Its answers depend on their arguments alone: nothing is remembered from call to call. Calls come from several threads.
///
/// ```
/// use dpglm::central::{Loss, LossBounds, LossModel, NoisyIht, Selection};
///
/// /// The logarithm of the hyperbolic cosine of the residual: nearly least squares for small ones, absolute for large ones.
/// #[derive(Debug)]
/// struct LogCosh;
///
/// impl Loss for LogCosh {
///     fn value(&self, predictor: f64, y: f64) -> f64 {
///         let r = (predictor - y).abs();
///         r + (-2.0 * r).exp().ln_1p() - 2f64.ln()
///     }
///     fn slope(&self, predictor: f64, y: f64) -> f64 {
///         (predictor - y).tanh()
///     }
///     fn bounds(&self) -> LossBounds {
///         LossBounds { slope: 1.0, curvature: 1.0 }
///     }
///     fn is_of_residual(&self) -> bool {
///         true
///     }
/// }
///
/// let model = LossModel::new(LogCosh, (-5.0, 5.0))?;
/// let three_columns = NoisyIht::new(model, 3, 1.0, Selection::Gumbel)?;
/// # Ok::<(), dpglm::Error>(())
/// ```
pub trait Loss: Debug + Send + Sync {
    /// The loss at a linear predictor.
    fn value(&self, predictor: f64, y: f64) -> f64;

    /// Its derivative in the predictor.
    fn slope(&self, predictor: f64, y: f64) -> f64;

    /// How large and how steep the derivative may be.
    fn bounds(&self) -> LossBounds;

    /// Whether the loss is a function of `predictor - y`. With an intercept the response is then measured from the middle of
    /// its bounds, so that nothing depends on where zero is.
    fn is_of_residual(&self) -> bool {
        false
    }
}

/// Huber's loss: squares of small residuals, absolute values of large ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    cap: f64,
}

impl Huber {
    /// With residuals beyond `cap` counted by their absolute value.
    pub fn new(cap: f64) -> Result<Self> {
        let remedy = "about the size of a typical residual is usual";
        Ok(Self { cap: require_magnitude(Parameter::ResidualCap, cap, remedy)? })
    }
}

impl Loss for Huber {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        let r = (predictor - y).abs();
        if r <= self.cap { 0.5 * r * r } else { self.cap * (r - 0.5 * self.cap) }
    }

    fn slope(&self, predictor: f64, y: f64) -> f64 {
        (predictor - y).clamp(-self.cap, self.cap)
    }

    fn bounds(&self) -> LossBounds {
        LossBounds { slope: self.cap, curvature: 1.0 }
    }

    fn is_of_residual(&self) -> bool {
        true
    }
}

/// The squared hinge of a response of 0 or 1: with `t = 2y - 1`, half the square of `max(0, 1 - t predictor)`, and beyond a margin of
/// `1 - cap` its tangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredHinge {
    cap: f64,
}

impl SquaredHinge {
    /// With derivatives of at most `cap` in size: 1 is that of a predictor of zero.
    pub fn new(cap: f64) -> Result<Self> {
        let remedy = "1 is the derivative at a predictor of zero, 2 lets wrong predictions count for more";
        Ok(Self { cap: require_magnitude(Parameter::ScoreCap, cap, remedy)? })
    }

    /// How far a predictor falls short of the margin.
    fn shortfall(predictor: f64, y: f64) -> (f64, f64) {
        let t = 2.0 * y - 1.0;
        ((1.0 - t * predictor).max(0.0), t)
    }
}

impl Loss for SquaredHinge {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        let (short, _) = Self::shortfall(predictor, y);
        if short <= self.cap { 0.5 * short * short } else { self.cap * (short - 0.5 * self.cap) }
    }

    fn slope(&self, predictor: f64, y: f64) -> f64 {
        let (short, t) = Self::shortfall(predictor, y);
        -t * short.min(self.cap)
    }

    fn bounds(&self) -> LossBounds {
        LossBounds { slope: self.cap, curvature: 1.0 }
    }
}

/// The loss of logistic regression, of a response of 0 or 1.
#[derive(Debug)]
pub(super) struct Logistic;

impl Loss for Logistic {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        predictor.max(0.0) + (-predictor.abs()).exp().ln_1p() - y * predictor
    }

    fn slope(&self, predictor: f64, y: f64) -> f64 {
        1.0 / (1.0 + (-predictor).exp()) - y
    }

    fn bounds(&self) -> LossBounds {
        LossBounds { slope: 1.0, curvature: 0.25 }
    }
}

/// A loss with the public bounds of its response.
#[derive(Debug, Clone)]
pub struct LossModel {
    loss: Arc<dyn Loss>,
    bounds: LossBounds,
    target: (f64, f64),
    pub(super) intercept: bool,
    is_built_in: bool,
}

impl PartialEq for LossModel {
    /// Of the very same loss.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.loss, &other.loss)
            && (self.bounds, self.target, self.intercept) == (other.bounds, other.target, other.intercept)
    }
}

impl LossModel {
    /// A loss of a response in the public interval `target`: responses outside it count as its nearer end, what is not a number as its middle.
    pub fn new<L: Loss + 'static>(loss: L, target: (f64, f64)) -> Result<Self> {
        let ours = [TypeId::of::<Huber>(), TypeId::of::<SquaredHinge>(), TypeId::of::<Logistic>()];
        let is_built_in = ours.contains(&TypeId::of::<L>());
        let target =
            require_interval(Parameter::TargetBounds, target, "declare the public range of the response")?;
        let bounds = loss.bounds();
        let remedy = "declare a bound that the derivative of the loss never exceeds; larger ones are clipped";
        require_magnitude(Parameter::ScoreCap, bounds.slope, remedy)?;
        let remedy = "declare the largest second derivative of the loss";
        require_magnitude(Parameter::Curvature, bounds.curvature, remedy)?;
        let model = Self { loss: Arc::new(loss), bounds, target, intercept: false, is_built_in };
        model.require_consistent()?;
        Ok(model)
    }

    /// The design's first column is constant 1: its coefficient is the intercept.
    pub fn with_intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    /// The mean loss of a linear model on rows that are public, or whose curator looks at it: it is not private.
    pub fn mean_loss(&self, rows: &Dataset, coefficients: &[f64]) -> f64 {
        let mut predictors = vec![0.0; rows.design().rows()];
        crate::kernels::predict(rows.design(), coefficients, &mut predictors);
        let each = predictors.iter().zip(rows.response()).map(|(&u, &y)| self.loss.value(u, self.admit(y)));
        each.sum::<f64>() / rows.design().rows() as f64
    }

    /// Refuses a derivative that is not that of the value, or steeper than declared, at public points about the response's bounds.
    fn require_consistent(&self) -> Result<()> {
        let (low, high) = self.target;
        let reach = (high - low).max(low.abs()).max(high.abs()).max(1.0);
        let LossBounds { slope: cap, curvature } = self.bounds;
        let step = 1e-4 * reach;
        for y in (0..=4).map(|k| low + 0.25 * f64::from(k) * (high - low)) {
            for u in (-20..=20).map(|k| 0.0971 * f64::from(k) * reach) {
                let [before, here, after] = [u - step, u, u + step].map(|u| self.loss.slope(u, y));
                let secant = (self.loss.value(u + step, y) - self.loss.value(u - step, y)) / (2.0 * step);
                // A kink of the derivative, and the rounding of values.
                let values = self.loss.value(u + step, y).abs().max(self.loss.value(u - step, y).abs());
                let error = 2.0 * curvature * step + 8.0 * f64::EPSILON * values / step;
                let beyond = |gap: f64, most: f64| gap.is_nan() || gap > most;
                let fault = if beyond((secant - here).abs(), error + 1e-3 * cap) {
                    format!("its value changes by {secant} a unit of the predictor, its derivative is {here}")
                } else if beyond((after - before).abs(), 2.001 * step * curvature + 1e-9 * cap) {
                    let steepness = (after - before).abs() / (2.0 * step);
                    format!(
                        "its derivative changes by {steepness} a unit, the declared curvature is {curvature}"
                    )
                } else {
                    continue;
                };
                return Err(Error::Conflict(format!(
                    "the loss {:?} at predictor {u} and response {y}: {fault}; correct the loss or its bounds",
                    self.loss
                )));
            }
        }
        Ok(())
    }

    /// The public rule for responses.
    fn admit(&self, y: f64) -> f64 {
        let (low, high) = self.target;
        if y.is_nan() { low / 2.0 + high / 2.0 } else { y.clamp(low, high) }
    }

    /// The certificate with what a promise about code of the caller's own rests on.
    pub(super) fn provided_for(&self, certificate: Certificate) -> Certificate {
        if self.is_built_in { certificate } else { certificate.provided(conditions::OWN_CODE) }
    }

    /// Where responses and intercept are measured from.
    pub(super) fn middle(&self) -> f64 {
        let moves = self.intercept && self.loss.is_of_residual();
        if moves { self.target.0 / 2.0 + self.target.1 / 2.0 } else { 0.0 }
    }

    /// The responses, admitted, from the middle.
    pub(super) fn responses(&self, data: &Dataset) -> Vec<f64> {
        let middle = self.middle();
        data.response().iter().map(|&y| self.admit(y) - middle).collect()
    }

    /// Descents start at zero, and nothing is released for it.
    pub(super) fn start(&self) -> Start {
        Start { base: 0.0, cap: self.bounds.slope }
    }

    pub(super) fn curvature(&self) -> f64 {
        self.bounds.curvature
    }

    /// The derivative, bounded whatever the loss does.
    pub(super) fn score(&self) -> BoundedScore<'_> {
        BoundedScore::of(Box::new(Guarded(&*self.loss)), self.bounds.slope)
    }
}

/// A loss whose panics count as zero. A run that ended at a private row would say something of that row.
struct Guarded<'a>(&'a dyn Loss);

impl Bounded for Guarded<'_> {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        catch_unwind(AssertUnwindSafe(|| self.0.slope(predictor, y))).unwrap_or(0.0)
    }

    fn slope(&self, _: f64, _: f64) -> f64 {
        self.0.bounds().curvature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wrong sign, a bound or a curvature that is too small.
    #[derive(Debug)]
    struct Wrong(f64, LossBounds);

    impl Loss for Wrong {
        fn value(&self, predictor: f64, y: f64) -> f64 {
            0.5 * (predictor - y).powi(2)
        }

        fn slope(&self, predictor: f64, y: f64) -> f64 {
            self.0 * (predictor - y)
        }

        fn bounds(&self) -> LossBounds {
            self.1
        }
    }

    #[test]
    fn mistakes_are_found_at_public_points() {
        let fair = LossBounds { slope: 100.0, curvature: 1.0 };
        assert!(LossModel::new(Wrong(1.0, fair), (-1.0, 1.0)).is_ok());
        for (sign, bounds, word) in [
            (-1.0, fair, "its value changes"),
            (1.0, LossBounds { curvature: 0.5, ..fair }, "curvature"),
            (f64::NAN, fair, "its value changes"),
        ] {
            let refused = LossModel::new(Wrong(sign, bounds), (-1.0, 1.0)).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
        // Derivatives beyond their bound are clipped, as least squares must be.
        assert!(LossModel::new(Wrong(1.0, LossBounds { slope: 0.1, ..fair }), (-1.0, 1.0)).is_ok());
        for slope in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(LossModel::new(Wrong(1.0, LossBounds { slope, ..fair }), (-1.0, 1.0)).is_err());
        }
        assert!(LossModel::new(Wrong(1.0, fair), (1.0, 1.0)).is_err());
    }

    #[test]
    fn the_losses_are_consistent_and_bounded() {
        for target in [(0.0, 1.0), (-3.0, 8.0), (1990.0, 2010.0)] {
            assert!(Huber::new(1.5).and_then(|loss| LossModel::new(loss, target)).is_ok());
        }
        let hinge = SquaredHinge::new(2.0).unwrap();
        assert!(LossModel::new(hinge, (0.0, 1.0)).is_ok());
        assert_eq!([hinge.slope(0.0, 1.0), hinge.slope(0.0, 0.0), hinge.slope(2.0, 1.0)], [-1.0, 1.0, 0.0]);
        assert_eq!([hinge.slope(-9.0, 1.0), hinge.slope(9.0, 0.0)], [-2.0, 2.0]);
        assert!(Huber::new(0.0).is_err() && SquaredHinge::new(f64::NAN).is_err());
    }

    /// Whatever a loss returns, and when it panics.
    #[derive(Debug)]
    struct Hostile;

    impl Loss for Hostile {
        fn value(&self, predictor: f64, _: f64) -> f64 {
            predictor
        }

        fn slope(&self, _: f64, y: f64) -> f64 {
            assert!(y < 0.9, "a panic that depends on a private response");
            if y > 0.8 {
                1e300
            } else if y > 0.7 {
                f64::NAN
            } else {
                1.0
            }
        }

        fn bounds(&self) -> LossBounds {
            LossBounds { slope: 1.0, curvature: 1.0 }
        }
    }

    #[test]
    fn scores_are_bounded_whatever_a_loss_returns() {
        let model = LossModel {
            loss: Arc::new(Hostile),
            bounds: Hostile.bounds(),
            target: (0.0, 1.0),
            intercept: false,
            is_built_in: false,
        };
        let score = model.score();
        let answers = [0.95, 0.85, 0.75, 0.5].map(|y| score.value(0.0, y));
        assert_eq!(answers, [0.0, 1.0, 0.0, 1.0]);
    }
}
