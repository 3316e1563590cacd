//! Whole-number weights whose ratio is at most `e^epsilon`: how a report is drawn with exact probabilities.

use crate::error::{Error, Parameter, Result, require_positive};
use crate::noise::RandomSource;

/// The largest epsilon of a local randomizer.
pub(super) const MAX_EPSILON: f64 = 32.0;
/// The smallest.
const MIN_EPSILON: f64 = 1e-6;

/// Checks the privacy loss of a report.
pub(super) fn check_epsilon(epsilon: f64) -> Result<f64> {
    require_positive(
        Parameter::Epsilon,
        epsilon,
        "choose the privacy loss of one report, often between 0.5 and 4",
    )?;
    if (MIN_EPSILON..=MAX_EPSILON).contains(&epsilon) {
        return Ok(epsilon);
    }
    Err(Error::OutOfRange {
        parameter: Parameter::Epsilon,
        range: "from 1e-6 to 32",
        value: epsilon.to_string(),
        remedy: "below nothing can be learnt from reports, above they protect nobody",
    })
}

/// `likely` outcomes of weight `inside` and the others of weight `outside`, a power of two.
///
/// # Why private
/// `outside <= inside <= e^epsilon outside`: `inside` is `e^epsilon outside` rounded down by more than the error of the
/// exponential function. A draw is uniform among `total` whole numbers, so each outcome has probability `inside / total` or
/// `outside / total`, exactly, and `total` does not depend on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weights {
    pub(super) inside: u64,
    pub(super) outside: u64,
    likely: u64,
    total: u64,
}

impl Weights {
    /// Weights for `likely` of `outcomes`, at most 2^16 of them.
    pub(super) fn new(epsilon: f64, likely: u32, outcomes: u32) -> Self {
        // The exponential function errs by less than 2^-52 relatively.
        let ratio = libm::exp(epsilon) * (1.0 - 2f64.powi(-50));
        let (likely, others) = (u64::from(likely), u64::from(outcomes - likely));
        let weigh = |bits: u32| -> Option<Self> {
            let outside = 1u64 << bits;
            let scaled = (ratio * outside as f64).floor();
            // Above 2^62 the total would not fit in 64 bits with room to spare.
            (scaled < 2f64.powi(62)).then_some(())?;
            let inside = (scaled as u64).max(outside);
            let total = likely.checked_mul(inside)?.checked_add(others.checked_mul(outside)?)?;
            (total < 1 << 62).then_some(Self { inside, outside, likely, total })
        };
        let one = Self { inside: 1, outside: 1, likely, total: likely + others };
        (0..=45).rev().find_map(weigh).unwrap_or(one)
    }

    /// How many whole numbers a draw is made from.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// A draw.
    pub(super) fn draw(&self, rng: &mut RandomSource) -> u64 {
        rng.below(self.total)
    }

    /// Which outcome a draw means: the number of a likely outcome, or the number of another one.
    pub(super) fn outcome(&self, draw: u64) -> std::result::Result<u64, u64> {
        let border = self.likely * self.inside;
        if draw < border { Ok(draw / self.inside) } else { Err((draw - border) / self.outside) }
    }

    /// The probability of a likely outcome.
    pub(super) fn likely(&self) -> f64 {
        self.likely as f64 * (self.inside as f64 / self.total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Binary numbers of any precision, rounded towards zero.
    type Exact = dashu_float::FBig<dashu_float::round::mode::Zero, 2>;

    /// The ratio of the weights is at most `e^epsilon`, in many digits, and nearly reaches it.
    #[test]
    fn the_ratio_is_on_the_private_side() {
        for i in 0..=400 {
            let epsilon = 1e-6 * (32e6f64).powf(f64::from(i) / 400.0);
            let epsilon = epsilon.clamp(1e-6, 32.0);
            for (likely, outcomes) in [(1, 2), (1, 16_384), (3_000, 16_384), (20, 128)] {
                let weights = Weights::new(epsilon, likely, outcomes);
                let exact = Exact::try_from(epsilon).unwrap().with_precision(200).value().exp()
                    * Exact::from(weights.outside);
                assert!(Exact::from(weights.inside) <= exact, "{epsilon}");
                assert!(weights.inside >= weights.outside && weights.total < 1 << 62);
                let lost = epsilon - (weights.inside as f64 / weights.outside as f64).ln();
                // At the largest epsilon and 16,384 outcomes there is room for fewer bits.
                assert!(lost < 1e-3 * epsilon, "{epsilon} {likely} {outcomes}: {lost}");
            }
        }
    }

    #[test]
    fn every_outcome_has_its_weight() {
        let weights = Weights { inside: 5, outside: 2, likely: 3, total: 3 * 5 + 4 * 2 };
        let mut counts = [0; 7];
        for draw in 0..weights.total() {
            let outcome = match weights.outcome(draw) {
                Ok(likely) => likely,
                Err(other) => 3 + other,
            };
            counts[outcome as usize] += 1;
        }
        assert_eq!(counts, [5, 5, 5, 2, 2, 2, 2]);
    }
}
