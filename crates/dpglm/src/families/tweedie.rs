//! Amounts that are often zero, with a log-linear mean: claims per policy, rain per day, spending per person.
//!
//! The variance is a multiple of a power of the mean between 1 and 2: sums of a Poisson number of gamma amounts have such a distribution. The
//! score is `(y - mean) mean^(1 - power)`: of a power near 1 that of a Poisson regression, near 2 that of a gamma regression. A family is
//! known by its name, so its power is part of that, and has two decimals.

use super::gamma::LARGEST_LOG_MEAN;
use super::{Domain, Family, ResponseFamily, RowScore, likelihood::finite, simulate};
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use std::sync::LazyLock;

/// An amount of at least zero with a log-linear mean.
#[derive(Debug)]
struct Tweedie {
    /// In hundredths beyond 1: 50 for a power of 1.5.
    hundredths: usize,
}

/// The names, by hundredths.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..100).map(|k| format!("tweedie-{}", f64::from(100 + k) / 100.0)).collect());
/// The usual power, in hundredths beyond 1: the plain name is that of its family.
const USUAL: usize = 50;

impl Family {
    /// An amount of at least zero with a log-linear mean, times the exposure, and a variance that grows with this power of the mean: from
    /// 1.01 to 1.99, in hundredths.
    pub fn tweedie(power: f64) -> Result<Self> {
        let hundredths = (100.0 * (power - 1.0)).round();
        if (1.0..100.0).contains(&hundredths) && (power - 1.0 - hundredths / 100.0).abs() < 1e-9 {
            return Ok(Self::built_in(Tweedie { hundredths: hundredths as usize }));
        }
        Err(Error::OutOfRange {
            parameter: Parameter::Power,
            range: "from 1.01 to 1.99, with at most two decimals",
            value: power.to_string(),
            remedy: "1.5 is usual; near 1 counts of claims matter more, near 2 their sizes",
        })
    }

    /// The family of a name like `tweedie-1.7`; `tweedie` alone has a power of 1.5.
    pub(super) fn tweedie_named(name: &str) -> Option<Self> {
        let hundredths = NAMES.iter().skip(1).position(|own| own == name)? + 1;
        (hundredths != USUAL).then(|| Self::built_in(Tweedie { hundredths }))
    }

    /// Of the usual power, 1.5.
    pub(super) fn usual_tweedie() -> Self {
        Self::built_in(Tweedie { hundredths: USUAL })
    }

    /// Whether it is such a family, of any power.
    pub fn is_tweedie(&self) -> bool {
        self.name().starts_with("tweedie")
    }
}

impl Tweedie {
    fn power(&self) -> f64 {
        (100 + self.hundredths) as f64 / 100.0
    }
}

impl ResponseFamily for Tweedie {
    fn name(&self) -> &'static str {
        NAMES.get(self.hundredths).filter(|_| self.hundredths != USUAL).map_or("tweedie", String::as_str)
    }

    fn summary(&self) -> &'static str {
        "An amount that may be 0, such as the claims of a policy: log-linear regression"
    }

    fn domain(&self) -> Domain {
        Domain::Nonnegative
    }

    fn mean(&self, predictor: f64) -> f64 {
        predictor.clamp(-LARGEST_LOG_MEAN, LARGEST_LOG_MEAN).exp()
    }

    fn mean_slope(&self, predictor: f64) -> f64 {
        self.mean(predictor)
    }

    /// That of a mean of one: there is no largest.
    fn steepest(&self) -> f64 {
        1.0
    }

    fn link(&self, mean: f64) -> Option<f64> {
        Some(mean.ln())
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn takes_exposures(&self) -> bool {
        true
    }

    fn variance(&self, mean: f64) -> f64 {
        mean.powf(self.power())
    }

    fn deviance(&self, predictor: f64, y: f64) -> f64 {
        let (mean, p) = (self.mean(predictor), self.power());
        let (one, two) = (1.0 - p, 2.0 - p);
        2.0 * (y.max(0.0).powf(two) / (one * two) - y * mean.powf(one) / one + mean.powf(two) / two)
    }

    fn likelihood_score(&self, (y, offset): (f64, f64), predictor: f64) -> (f64, RowScore) {
        let mean = self.mean(finite(predictor) + offset);
        let residual = (y - mean) * mean.powf(1.0 - self.power());
        (residual, RowScore { size: residual.abs(), slope: mean.powf(2.0 - self.power()) })
    }

    /// A Poisson number of gamma amounts, of dispersion 1.
    fn simulate(&self, predictor: f64, _: f64, rng: &mut RandomSource) -> f64 {
        let (mean, p) = (self.mean(predictor), self.power());
        let count = simulate::poisson(mean.powf(2.0 - p) / (2.0 - p), rng);
        let shape = (2.0 - p) / (p - 1.0);
        let scale = (p - 1.0) * mean.powf(p - 1.0);
        scale * simulate::gamma(count * shape, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_part_of_the_name() {
        for (power, name) in
            [(1.5, "tweedie"), (1.01, "tweedie-1.01"), (1.99, "tweedie-1.99"), (1.9, "tweedie-1.9")]
        {
            let family = Family::tweedie(power).unwrap();
            assert_eq!((family.name(), Family::named(name).as_ref()), (name, Some(&family)));
        }
        for power in [1.0, 2.0, 0.0, 1.005, 2.5, f64::NAN, f64::INFINITY, -1.5] {
            let message = Family::tweedie(power).unwrap_err().to_string();
            assert!(message.contains("from 1.01 to 1.99"), "{message}");
        }
        for name in ["tweedie-1", "tweedie-2", "tweedie-1.5", "tweedie-1.500", "tweedie-"] {
            assert!(Family::named(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_score_is_half_the_slope_of_the_deviance() {
        for power in [1.1, 1.5, 1.9] {
            let family = Family::tweedie(power).unwrap();
            for (y, u) in [(3.0, 0.5), (0.0, -1.0), (7.0, 2.5)] {
                let numeric = (family.deviance(u - 1e-5, y) - family.deviance(u + 1e-5, y)) / 4e-5;
                let score = family.likelihood_score((y, 0.0), u).0;
                assert!(
                    (score - numeric).abs() < 1e-5 * (1.0 + score.abs()),
                    "{power} {y} {u}: {score} {numeric}"
                );
            }
        }
    }

    #[test]
    fn simulated_amounts_have_the_variance() {
        let family = Family::tweedie(1.5).unwrap();
        let mut rng = RandomSource::insecure_seeded(9);
        let mean: f64 = 2.0;
        let draws: Vec<f64> = (0..200_000).map(|_| family.simulate(mean.ln(), 0.0, &mut rng)).collect();
        let n = draws.len() as f64;
        let found = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|y| (y - found).powi(2)).sum::<f64>() / n;
        assert!(
            (found - mean).abs() < 0.03 && (variance / family.variance(mean) - 1.0).abs() < 0.05,
            "{found} {variance}"
        );
    }
}
