//! Families of a caller's own, whose panics count as answers that are not a number.
//!
//! A run that ended at a private row would say something of that row. What is not a number counts as zero, or as the worst, where it is used, as
//! whatever else a family computes; families of this library are called as they are.

use super::{Bounded, Domain, ResponseFamily, RowScore};
use crate::noise::RandomSource;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A family, guarded.
pub(super) struct Guarded<F>(pub F);

/// Its score, guarded.
struct GuardedScore<'a>(Box<dyn Bounded + 'a>);

impl<F: fmt::Debug> fmt::Debug for Guarded<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn or<T>(fallback: T, answer: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or(fallback)
}

impl<F: ResponseFamily> ResponseFamily for Guarded<F> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn summary(&self) -> &'static str {
        self.0.summary()
    }

    fn domain(&self) -> Domain {
        self.0.domain()
    }

    fn predictor(&self) -> &'static str {
        self.0.predictor()
    }

    fn multiplies(&self) -> Option<&'static str> {
        self.0.multiplies()
    }

    fn mean(&self, predictor: f64) -> f64 {
        or(f64::NAN, || self.0.mean(predictor))
    }

    fn rest(&self, predictor: f64) -> f64 {
        or(f64::NAN, || self.0.rest(predictor))
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        or(f64::NAN, || self.0.mean_slope(predictor))
    }

    fn steepest(&self) -> f64 {
        self.0.steepest()
    }

    fn slope_near(&self, predictor: f64) -> f64 {
        or(f64::NAN, || self.0.slope_near(predictor))
    }

    fn link(&self, mean: f64) -> Option<f64> {
        or(None, || self.0.link(mean))
    }

    fn is_linear(&self) -> bool {
        self.0.is_linear()
    }

    fn is_canonical(&self) -> bool {
        self.0.is_canonical()
    }

    fn variance(&self, mean: f64) -> f64 {
        or(f64::NAN, || self.0.variance(mean))
    }

    fn takes_exposures(&self) -> bool {
        self.0.takes_exposures()
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        or(f64::NAN, || self.0.deviance(predictor, y))
    }

    fn likelihood_score(&self, response: (f64, f64), predictor: f64) -> (f64, RowScore) {
        or((0.0, RowScore { size: 0.0, slope: 0.0 }), || self.0.likelihood_score(response, predictor))
    }

    fn capped(&self, cap: f64) -> Box<dyn Bounded + '_> {
        Box::new(GuardedScore(self.0.capped(cap)))
    }

    fn simulate(&self, predictor: f64, deviation: f64, rng: &mut RandomSource) -> f64 {
        self.0.simulate(predictor, deviation, rng)
    }
}

impl Bounded for GuardedScore<'_> {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        or(f64::NAN, || self.0.value(predictor, y))
    }

    fn slope(&self, predictor: f64, share_inside: f64) -> f64 {
        or(f64::NAN, || self.0.slope(predictor, share_inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::{Glm, Privacy};
    use crate::data::{Dataset, Design};
    use crate::estimators::dense::{Likelihood, Regression};
    use crate::families::Family;
    use crate::privacy::Budget;
    use crate::release::Estimator;
    use crate::tuning::{TunedRidge, TunedSparsity};

    /// A linear family that panics at amounts above 3.
    #[derive(Debug)]
    struct Delicate;

    fn require_small(x: f64) {
        assert!(x.abs() < 3.0, "a panic that depends on a private cell");
    }

    impl ResponseFamily for Delicate {
        fn name(&self) -> &'static str {
            "delicate"
        }

        fn summary(&self) -> &'static str {
            "A linear family that panics at large amounts"
        }

        fn domain(&self) -> Domain {
            Domain::Real
        }

        fn mean(&self, predictor: f64) -> f64 {
            require_small(predictor);
            predictor
        }

        fn mean_slope(&self, predictor: f64) -> f64 {
            require_small(predictor);
            1.0
        }

        fn steepest(&self) -> f64 {
            1.0
        }

        fn link(&self, mean: f64) -> Option<f64> {
            require_small(mean);
            Some(mean)
        }

        fn is_linear(&self) -> bool {
            true
        }

        fn variance(&self, mean: f64) -> f64 {
            require_small(mean);
            1.0
        }

        fn deviance(&self, predictor: f64, y: f64) -> f64 {
            require_small(y);
            (predictor - y).powi(2)
        }

        fn likelihood_score(&self, (y, _): (f64, f64), predictor: f64) -> (f64, RowScore) {
            require_small(y);
            (y - predictor, RowScore { size: (y - predictor).abs(), slope: 1.0 })
        }

        fn capped(&self, cap: f64) -> Box<dyn Bounded + '_> {
            Box::new(DelicateScore(cap))
        }

        fn simulate(&self, predictor: f64, _: f64, _: &mut RandomSource) -> f64 {
            predictor
        }
    }

    struct DelicateScore(f64);

    impl Bounded for DelicateScore {
        fn value(&self, predictor: f64, y: f64) -> f64 {
            require_small(y);
            (predictor - y).clamp(-self.0, self.0)
        }

        fn slope(&self, _: f64, share_inside: f64) -> f64 {
            share_inside
        }
    }

    /// Whether there is a result does not depend on a row: neither in a fit, nor where a family judges candidates.
    #[test]
    fn a_panic_of_the_callers_own_family_ends_no_fit() {
        const ROWS: usize = 400;
        let cells = (0..ROWS * 3).map(|i| ((i * 37 % 101) as f64 / 50.0 - 1.0) * 0.9).collect();
        let response = (0..ROWS).map(|i| if i % 7 == 0 { 5.0 } else { (i % 5) as f64 / 5.0 }).collect();
        let data = Dataset::new(Design::from_f64(ROWS, 3, cells).unwrap(), response).unwrap();
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-5).unwrap());
        let rng = &mut RandomSource::from_os().unwrap();
        let bounds = (-6.0, 6.0);
        let likelihood = Likelihood::new(Family::new(Delicate), bounds);
        let mut residual = [f64::NAN];
        let row = likelihood.score((5.0, 0.0), &[0.0], &[0.5], &mut residual);
        assert_eq!((residual, row), ([0.0], RowScore { size: 0.0, slope: 0.0 }));
        assert_eq!(likelihood.pearson((1.0, 0.0), 5.0), 0.0);
        let family = Family::new(Delicate);
        assert_eq!([5.0, 1.0].map(|y| family.bounded(1.0).unwrap().value(0.0, y)), [0.0, -1.0]);
        let fits = Regression::new(likelihood).unwrap().fit(&data, privacy, rng).unwrap();
        assert!(fits.coefficients[0].iter().all(|b| b.is_finite()));
        let glm = || Glm::new(Family::new(Delicate), bounds).unwrap();
        let found = glm().fit(&data, privacy, rng).unwrap();
        assert!(found.coefficients.iter().all(|b| b.is_finite()));
        assert!(TunedRidge::new(glm(), vec![0.0, 1.0]).unwrap().fit(&data, privacy, rng).is_ok());
        assert!(TunedSparsity::new(glm(), 2).unwrap().fit(&data, privacy, rng).is_ok());
    }
}
