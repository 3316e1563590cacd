//! Response families: everything that differs from one kind of response to another, in one file each.
//!
//! A family says what values its response can take ([`Domain`]), its mean at a linear predictor and back, the score of maximum
//! likelihood, a bounded score, its deviance, and how to simulate it. No other module asks which family it has before it: what is left
//! outside depends on the domain alone. [`Likelihood`] is a family with the public bounds of a response, or one of several classes,
//! which has as many linear predictors.
//!
//! # The bounded score
//! A private gradient step needs a bound on what one row contributes. Clipping the residual `mean - y` bounds it but
//! shifts the solution: the clipped residual no longer has mean zero at the truth. Here each family's score is bounded
//! *and* has conditional mean zero under its model, so the solution stays where it is, and no more is bounded away
//! than has to be:
//!
//! * binary: given x, every mean-zero function of a binary response is a multiple of `p - y`. The multiple
//!   `1 / (2 max(p, 1-p))` bounds it by 1/2, half of the residual's own bound.
//! * multinomial: the multiple `cap / max_k |p - e_k|` of `p - e_y`, likewise.
//! * real: the residual clipped symmetrically (Huber's score): mean zero for symmetric errors; slopes stay
//!   consistent for any errors independent of the features.
//! * Poisson: the clipped residual minus its expectation under the model (Cantoni and Ronchetti 2001), scaled back to the cap.
//!
//! # Guarantee
//! No promise rests on what a family computes: domains, sizes and caps are enforced on its numbers where they are used
//! (`Likelihood::score`, [`BoundedScore::value`]). A panic of a family of the caller's own is an answer that is not a number: a run that ended at a
//! private row would say something of that row. That such a family remembers no row is a condition of its certificates.

mod cloglog;
mod domain;
mod gamma;
mod gaussian;
mod guarded;
mod likelihood;
mod logistic;
mod monotone;
pub mod multinomial;
mod poisson;
mod probit;
mod registered;
pub(crate) mod simulate;
#[cfg(test)]
pub(crate) mod toy;
mod tweedie;

pub use domain::Domain;
pub use likelihood::{Likelihood, RowScore};
pub use monotone::MonotoneLink;

use crate::accounting::Certificate;
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use crate::privacy::conditions;
use guarded::Guarded;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A response family with one linear predictor.
pub trait ResponseFamily: fmt::Debug + Send + Sync {
    /// Its name, in passes and documents: no other family has it.
    fn name(&self) -> &'static str;

    /// What it is for, in a line.
    fn summary(&self) -> &'static str;

    /// The values of the response.
    fn domain(&self) -> Domain;

    /// What its linear predictor is, in words that end a sentence.
    fn predictor(&self) -> &'static str {
        match self.domain() {
            Domain::Real => "the expected target",
            Domain::Binary => "the log-odds of the second level",
            Domain::Count => "the logarithm of the expected count",
            Domain::Positive | Domain::Nonnegative => "the logarithm of the expected amount",
            Domain::Classes(_) => "the log-odds of a level against the first",
        }
    }

    /// What the exponential of a coefficient multiplies, in words before the target's name; nothing for some.
    fn multiplies(&self) -> Option<&'static str> {
        match self.domain() {
            Domain::Count | Domain::Positive | Domain::Nonnegative => Some("the expected"),
            Domain::Real | Domain::Binary | Domain::Classes(_) => None,
        }
    }

    /// The mean of the response at a linear predictor.
    fn mean(&self, predictor: f64) -> f64;

    /// One less the mean, of a binary response: to full precision where the mean is near one.
    fn rest(&self, predictor: f64) -> f64 {
        1.0 - self.mean(predictor)
    }

    /// The derivative of the mean, above zero.
    fn mean_slope(&self, predictor: f64) -> f64;

    /// The largest derivative of the mean, or a usual one where there is none: what steps are planned with.
    fn steepest(&self) -> f64;

    /// The derivative of the mean that steps from this predictor are planned with.
    fn slope_near(&self, predictor: f64) -> f64 {
        self.mean_slope(predictor).max(1e-3)
    }

    /// The linear predictor of a mean within the domain, if it can be told: where a fit starts.
    fn link(&self, mean: f64) -> Option<f64>;

    /// Whether the mean is the linear predictor itself.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether the score of maximum likelihood is the response less its mean.
    fn is_canonical(&self) -> bool {
        true
    }

    /// The variance of a response of this mean, relative to the dispersion; 1 if it is the same for all.
    fn variance(&self, _mean: f64) -> f64 {
        1.0
    }

    /// Whether an exposure multiplies the mean, its logarithm added to the predictor.
    fn takes_exposures(&self) -> bool {
        false
    }

    /// Twice the loss of a response relative to a perfect fit.
    fn deviance(&self, predictor: f64, y: f64) -> f64;

    /// The derivative of the log-likelihood in the predictor, for a response with the logarithm of its exposure. Its slope is the expected
    /// one, not below zero. The size of a binary response is that of the larger of its two scores, of any other that of this one.
    fn likelihood_score(&self, response: (f64, f64), predictor: f64) -> (f64, RowScore);

    /// The score bounded by a cap: of a binary response by 1/2, whatever the cap.
    fn capped(&self, cap: f64) -> Box<dyn Bounded + '_> {
        match self.domain() {
            Domain::Binary => Box::new(Halved(self)),
            _ => Box::new(Clipped { family: self, cap }),
        }
    }

    /// A response drawn at a linear predictor; `deviation` is that of a real response.
    fn simulate(&self, predictor: f64, deviation: f64, rng: &mut RandomSource) -> f64;
}

/// A family's score for descent: what multiplies a row in the gradient.
pub trait Bounded: Send + Sync {
    /// The score at a linear predictor, of a response in the family's domain.
    fn value(&self, predictor: f64, y: f64) -> f64;

    /// The derivative of its expectation in the linear predictor, at the truth; of real responses with errors of the given share inside
    /// the cap (others know it).
    fn slope(&self, predictor: f64, share_inside: f64) -> f64;
}

/// A family, cheap to copy.
#[derive(Clone)]
pub struct Family {
    response: Arc<dyn ResponseFamily>,
    is_built_in: bool,
}

impl Family {
    /// A family of the caller's own. To be named in passes that are written down it must be [`register`](Self::register)ed.
    pub fn new(family: impl ResponseFamily + 'static) -> Self {
        Self { response: Arc::new(Guarded(family)), is_built_in: false }
    }

    /// A family of this library.
    fn built_in(family: impl ResponseFamily + 'static) -> Self {
        Self { response: Arc::new(family), is_built_in: true }
    }

    /// The certificate with what a promise about code of the caller's own rests on.
    pub(crate) fn provided_for(&self, certificate: Certificate) -> Certificate {
        if self.is_built_in { certificate } else { certificate.provided(conditions::OWN_CODE) }
    }

    /// A real response whose mean is a known monotone function of the linear predictor.
    pub fn monotone(link: MonotoneLink) -> Self {
        Self::new(link)
    }

    /// Refuses a family of classes: they have as many linear predictors, and are [`Likelihood::Multinomial`].
    pub(crate) fn require_one_predictor(&self) -> Result<()> {
        match self.domain() {
            Domain::Classes(_) => Err(Error::Conflict(format!(
                "{} is a family of classes, and a family has one linear predictor: use a multinomial likelihood",
                self.name()
            ))),
            _ => Ok(()),
        }
    }

    /// The bound that scores have by themselves.
    pub(crate) fn own_cap(&self) -> Option<f64> {
        (self.domain() == Domain::Binary).then_some(0.5)
    }

    /// The nearest value of the response's domain: the public rule for a response outside it. Not a number becomes zero.
    pub(crate) fn admit(&self, y: f64) -> f64 {
        self.domain().admit_any(y)
    }

    /// The nearest value within bounds, a whole one of counts. Not a number becomes the middle of real numbers.
    pub(crate) fn admit_within(&self, y: f64, bounds: (f64, f64)) -> f64 {
        let (low, high) = bounds;
        if self.domain() == Domain::Real && y.is_nan() {
            return low / 2.0 + high / 2.0;
        }
        self.admit(y).clamp(low, high)
    }

    /// The bounded score. Those of binary responses have their own cap of 1/2 and ignore `cap`.
    pub fn bounded(&self, cap: f64) -> Result<BoundedScore<'_>> {
        let cap = self.own_cap().unwrap_or(cap);
        if !(cap.is_finite() && cap > 0.0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::ScoreCap,
                range: "a finite number above 0",
                value: cap.to_string(),
                remedy: "a cap about the size of a typical residual is best",
            });
        }
        Ok(BoundedScore { score: self.capped(cap), cap })
    }
}

impl Deref for Family {
    type Target = dyn ResponseFamily;

    fn deref(&self) -> &Self::Target {
        &*self.response
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.response.fmt(f)
    }
}

impl PartialEq for Family {
    /// The same by its registered name, or the very same.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.response, &other.response)
            || (self.name() == other.name() && Self::named(self.name()).is_some())
    }
}

/// A family's score with its bound, public or privately found.
pub struct BoundedScore<'a> {
    score: Box<dyn Bounded + 'a>,
    cap: f64,
}

impl<'a> BoundedScore<'a> {
    /// A score that is clipped to a cap, which is finite and above zero.
    pub(crate) fn of(score: Box<dyn Bounded + 'a>, cap: f64) -> Self {
        Self { score, cap }
    }
}

impl BoundedScore<'_> {
    /// The bound that [`value`](Self::value) never exceeds in absolute value.
    pub fn cap(&self) -> f64 {
        self.cap
    }

    /// The score at a linear predictor, for a response in the family's domain: what multiplies the row in the gradient.
    /// At most `cap` in absolute value, whatever the arguments and whatever the family computes.
    pub fn value(&self, predictor: f64, y: f64) -> f64 {
        let score = self.score.value(predictor, y);
        if score.is_nan() { 0.0 } else { score.clamp(-self.cap, self.cap) }
    }

    /// The derivative of the score's expectation in the linear predictor, at the truth ([`Bounded::slope`]).
    pub fn slope(&self, predictor: f64, share_inside: f64) -> f64 {
        self.score.slope(predictor, share_inside)
    }
}

/// `(p - y) / (2 max(p, 1-p))`.
struct Halved<'a, F: ?Sized>(&'a F);

impl<F: ResponseFamily + ?Sized> Halved<'_, F> {
    fn multiple(&self, predictor: f64) -> f64 {
        let p = self.0.mean(predictor);
        0.5 / p.max(1.0 - p)
    }
}

impl<F: ResponseFamily + ?Sized> Bounded for Halved<'_, F> {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        (self.0.mean(predictor) - y) * self.multiple(predictor)
    }

    fn slope(&self, predictor: f64, _: f64) -> f64 {
        self.0.mean_slope(predictor) * self.multiple(predictor)
    }
}

/// The residual clipped symmetrically.
struct Clipped<'a, F: ?Sized> {
    family: &'a F,
    cap: f64,
}

impl<F: ResponseFamily + ?Sized> Bounded for Clipped<'_, F> {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        (self.family.mean(predictor) - y).clamp(-self.cap, self.cap)
    }

    fn slope(&self, predictor: f64, share_inside: f64) -> f64 {
        share_inside * self.family.mean_slope(predictor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families() -> Vec<Family> {
        let link = MonotoneLink::new(|u| 8.0 * u + u.cos(), 7.0, 9.0).unwrap();
        Family::all()
            .into_iter()
            .chain([Family::monotone(link), toy::family(), Family::tweedie(1.1).unwrap()])
            .collect()
    }

    #[test]
    fn scores_never_exceed_their_cap() {
        let extremes =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, 1.0, -1.0, 700.0, -700.0];
        for family in families() {
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
    fn sizes_bound_residuals_and_slopes_are_not_negative() {
        let extremes =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, 0.4, -1.0, 30.0, -30.0];
        for family in families() {
            let likelihood = Likelihood::new(family, (0.0, 9.0));
            for u in extremes {
                for offset in [-50.0, 0.0, 3.0] {
                    let mut sizes = Vec::new();
                    for y in extremes {
                        let mut residual = [f64::NAN];
                        let row =
                            likelihood.score((likelihood.admit(y), offset), &[0.3], &[u], &mut residual);
                        assert!(
                            residual[0].abs() <= row.size && row.size.is_finite(),
                            "{likelihood:?} {u} {y}"
                        );
                        assert!(row.slope >= 0.0 && row.slope.is_finite(), "{likelihood:?} {u} {y}");
                        sizes.push(row.size);
                    }
                    if likelihood.domain() == Domain::Binary {
                        assert!(sizes.iter().all(|size| *size == sizes[0]), "{likelihood:?}: {sizes:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn mean_slopes_match_finite_differences_and_links_lead_back() {
        for family in families() {
            for u in [-3.0, -0.2, 0.0, 1.1, 2.9] {
                let numeric = (family.mean(u + 1e-5) - family.mean(u - 1e-5)) / 2e-5;
                assert!(
                    (numeric - family.mean_slope(u)).abs() < 1e-6 * (1.0 + numeric.abs()),
                    "{family:?} {u}"
                );
                let back = family.link(family.mean(u));
                assert!(back.is_none_or(|back| (back - u).abs() < 1e-6), "{family:?} {u}: {back:?}");
            }
        }
    }

    #[test]
    fn simulated_responses_have_the_mean() {
        let mut rng = RandomSource::insecure_seeded(5);
        for family in families() {
            for u in [-1.0, 0.3] {
                let draws = 20_000;
                let total: f64 = (0..draws).map(|_| family.simulate(u, 0.5, &mut rng)).sum();
                let error = total / f64::from(draws) - family.mean(u);
                assert!(error.abs() < 0.05, "{family:?} {u}: {error}");
            }
        }
    }
}
