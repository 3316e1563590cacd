//! A bounded label with Laplace or Gaussian noise.
//!
//! # Algorithm (Wang and Xu 2021 Algorithm 2, lines 1 to 3)
//! 1. Take the label to its public interval `[low, high]`, and measure it from the middle; not a number becomes the middle.
//! 2. Round it to the grid and add exact noise, rounded to the same grid.
//!
//! # Guarantee
//! Replacement of the user's label, for every label: pure epsilon with Laplace noise, one Gaussian event with Gaussian noise. The
//! sensitivity is the length of the interval, a little enlarged for the grid.
//!
//! # Why private
//! Two labels of an interval differ by its length at most; the rest is `docs/proofs/noise.md`, section 1.
//!
//! # Differs from the paper
//! The printed `tau^2 = 32 C^2 ln(1.25/delta) / epsilon^2` takes labels to differ by 4C, with C the bound of the *errors*: labels
//! range over `|theta|_1 + C`, and nothing enforces even that. Here labels are clipped and the noise comes from the exact curve.
//!
//! # When to prefer it
//! Laplace noise has less variance than a [`super::threshold_bit`] read as a label from epsilon 2.3 on. Gaussian noise is there to
//! compare with the paper: at (1, 1e-3) its variance is 3.3 times that of Laplace noise at a pure 1.
//!
//! # The report
//! 8 bytes: the released number in IEEE double precision, lowest byte first.

use super::threshold_bit::require_interval;
use crate::accounting::Certificate;
use crate::error::{Error, Result};
use crate::mechanisms::{GaussianVector, LaplaceVector};
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Budget, Event, Noise, Randomness};

/// Releases labels of a public interval with additive noise.
///
/// ```
/// use dpglm::local::LabelNoise;
/// use dpglm::noise::RandomSource;
/// use dpglm::privacy::Budget;
///
/// let noise = LabelNoise::laplace((-4.0, 4.0), 1.0)?;
/// let report = noise.randomize(0.7, &mut RandomSource::from_os()?)?; // mean 0.7
/// assert!(report.is_finite() && (noise.deviation() - 8.0 * 2f64.sqrt()).abs() < 1e-5);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabelNoise {
    labels: (f64, f64),
    delta: f64,
    mechanism: Additive,
}

#[derive(Debug, Clone)]
enum Additive {
    Laplace(LaplaceVector),
    Gaussian(GaussianVector),
}

impl LabelNoise {
    /// Laplace noise of a pure `epsilon` for labels taken to the public interval `labels`.
    pub fn laplace(labels: (f64, f64), epsilon: f64) -> Result<Self> {
        let labels = require_interval(labels)?;
        let mechanism = LaplaceVector::for_budget(sensitivity(labels), 1, Budget::pure(epsilon)?)?;
        Ok(Self { labels, delta: 0.0, mechanism: Additive::Laplace(mechanism) })
    }

    /// The least Gaussian noise that meets the budget, for labels taken to the public interval `labels`.
    pub fn gaussian(labels: (f64, f64), budget: Budget) -> Result<Self> {
        let labels = require_interval(labels)?;
        let mechanism = GaussianVector::for_budget(sensitivity(labels), 1, budget)?;
        Ok(Self { labels, delta: budget.delta(), mechanism: Additive::Gaussian(mechanism) })
    }

    /// The noise's standard deviation.
    pub fn deviation(&self) -> f64 {
        match self.events().first().map(Event::noise) {
            Some(Noise::Laplace { scale, .. }) => 2f64.sqrt() * scale,
            Some(Noise::Gaussian { sigma, .. }) => sigma,
            _ => unreachable!("one event of a mechanism's own kind"),
        }
    }

    /// What a report costs its user.
    pub fn events(&self) -> Vec<Event> {
        match &self.mechanism {
            Additive::Laplace(mechanism) => mechanism.events(),
            Additive::Gaussian(mechanism) => mechanism.events(),
        }
    }

    /// What the user is promised, by where the device draws its noise from.
    pub fn certificate<'a>(&self, randomness: impl Into<Randomness<'a>>) -> Result<Certificate> {
        let adjacency = Adjacency::ReplaceUserLabel;
        let certificate = Certificate::certified(adjacency, self.events(), self.delta, randomness)?;
        let (low, high) = self.labels;
        Ok(certificate.enforcing(format!("labels outside [{low}, {high}] count as its nearest end")))
    }

    /// Steps 1 and 2, on the user's device: a number whose mean is the label.
    pub fn randomize(&self, label: f64, rng: &mut RandomSource) -> Result<f64> {
        let (low, high) = self.labels;
        let middle = low / 2.0 + high / 2.0;
        // Step 1. Subtraction is monotone, so differences stay within those of the interval's ends.
        let centred = if label.is_nan() { 0.0 } else { label.clamp(low, high) - middle };
        // Step 2
        let released = match &self.mechanism {
            Additive::Laplace(mechanism) => mechanism.release(&[centred], rng)?,
            Additive::Gaussian(mechanism) => mechanism.release(&[centred], rng)?,
        };
        Ok(released.value.iter().sum::<f64>() + middle)
    }

    /// A report's bytes.
    pub fn to_bytes(report: f64) -> [u8; 8] {
        report.to_le_bytes()
    }

    /// Reads a report; one that no device can have sent is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<f64> {
        let report =
            <[u8; 8]>::try_from(bytes).map(f64::from_le_bytes).ok().filter(|value| value.is_finite());
        report.ok_or_else(|| Error::Malformed {
            what: "label report",
            reason: "8 bytes of a finite number are expected".into(),
        })
    }
}

/// The distance of the interval's ends as the program measures them from the middle, rounded upward.
fn sensitivity((low, high): (f64, f64)) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    ((high - middle) - (low - middle)).next_up()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::epsilon_at;
    use crate::local::seed;
    use statrs::distribution::{ContinuousCDF, Normal};

    #[test]
    fn promises_are_what_was_asked_for() {
        let laplace = LabelNoise::laplace((-4.0, 4.0), 1.0).unwrap();
        let promised = laplace.certificate(Randomness::Devices).unwrap().guarantee().unwrap();
        assert!(promised.delta == 0.0 && promised.epsilon <= 1.0 && promised.epsilon > 0.999);
        let gaussian = LabelNoise::gaussian((-4.0, 4.0), Budget::new(1.0, 1e-3).unwrap()).unwrap();
        assert!(epsilon_at(&gaussian.events(), 1e-3).unwrap() <= 1.0);
        // What the paper prints for errors within 0.05 is below a hundredth of what labels in [-4, 4] need.
        let printed = (32.0 * 0.05_f64.powi(2) * (1.25_f64 / 1e-3).ln()).sqrt();
        assert!(gaussian.deviation() > 20.0 * printed, "{} and {printed}", gaussian.deviation());
    }

    #[test]
    fn no_pair_of_labels_is_farther_apart_than_the_sensitivity() {
        let extremes = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e300, -1e300, 3.7, 1e-310];
        for labels in [(-4.0, 4.0), (0.0, 1.0), (1e9, 1e9 + 1.0), (-1e-140, 1e-149), (0.1, 0.3)] {
            let noise = LabelNoise::laplace(labels, 1.0).unwrap();
            let Noise::Laplace { sensitivity, .. } = noise.events()[0].noise() else { unreachable!() };
            let middle = labels.0 / 2.0 + labels.1 / 2.0;
            let centred: Vec<f64> = extremes
                .iter()
                .chain(&[labels.0, labels.1])
                .map(|y| if y.is_nan() { 0.0 } else { y.clamp(labels.0, labels.1) - middle })
                .collect();
            let span = centred.iter().copied().fold(f64::MIN, f64::max)
                - centred.iter().copied().fold(f64::MAX, f64::min);
            assert!(span <= sensitivity && span > 0.999 * sensitivity, "{labels:?}");
        }
    }

    #[test]
    fn reports_have_the_label_as_mean_and_the_stated_deviation() {
        let runs = 40_000;
        let rng = &mut RandomSource::insecure_seeded(seed("reports_have_the_label_as_mean"));
        let gaussian = LabelNoise::gaussian((0.0, 10.0), Budget::new(1.0, 1e-3).unwrap()).unwrap();
        // The mean of exact Gaussians is Gaussian: level 1e-6. A label left 3% of the interval off is caught.
        let limit = Normal::new(0.0, 1.0).unwrap().inverse_cdf(1.0 - 5e-7) * gaussian.deviation()
            / f64::from(runs).sqrt();
        for (label, mean) in [(2.0, 2.0), (f64::NAN, 5.0), (1e9, 10.0)] {
            let average =
                (0..runs).map(|_| gaussian.randomize(label, rng).unwrap()).sum::<f64>() / f64::from(runs);
            assert!((average - mean).abs() < limit, "{label}: {average}");
            assert!((average + 0.1 * gaussian.deviation() - mean).abs() > limit);
        }
    }

    #[test]
    fn reports_travel_as_eight_bytes_and_wrong_parameters_are_refused() {
        assert_eq!(LabelNoise::from_bytes(&LabelNoise::to_bytes(-0.25)).unwrap(), -0.25);
        for bad in [&f64::NAN.to_le_bytes()[..], &f64::INFINITY.to_le_bytes(), &[0; 7], &[0; 9], &[]] {
            assert!(LabelNoise::from_bytes(bad).is_err());
        }
        assert!(LabelNoise::laplace((1.0, 0.0), 1.0).is_err());
        assert!(LabelNoise::laplace((0.0, 1.0), 0.0).is_err());
        assert!(LabelNoise::gaussian((0.0, 1.0), Budget::pure(1.0).unwrap()).is_err());
    }
}
