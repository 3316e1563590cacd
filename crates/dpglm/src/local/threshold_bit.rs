//! A bounded label as one randomized bit: is it above a random public threshold?
//!
//! # Algorithm
//! 1. Take the label to its public interval `[low, high]`; not a number becomes the middle.
//! 2. Draw a threshold T uniformly from the interval, and let the bit say whether the label is above it.
//! 3. Report the threshold as it is, and the bit by randomized response ([`super::randomized_response`]).
//!
//! The server reads a report as `low + (high - low) d`, with `d = (bit - q) / (1 - 2q)` and q the probability of a
//! flip: a number whose mean is the label. It can do more with it: see [`super::threshold_iht`].
//!
//! # Guarantee
//! Pure epsilon under replacement of the user's label, for every label.
//!
//! # Why private
//! The threshold is drawn before anyone looks at the label, so it has the same law whatever the label is. Given the
//! threshold, the report is a binary randomized response: each value of the bit has probability q or more and `1 - q` or
//! less, and `(1 - q) / q <= e^epsilon` exactly. So the probabilities of every report differ by that factor at most.
//! 64 random bits make the threshold, of which the report holds the first 32; the others only blur the bit before
//! it is flipped, which changes nothing in this argument.
//!
//! # How good
//! The variance is at most `(high - low)^2 / (4 (1 - 2q)^2)`, that of the best one-bit reports with a secret threshold
//! (Duchi, Jordan and Wainwright 2018), and below that of Laplace noise up to epsilon 2.3: 75 against 128 for labels in
//! [-4, 4] at epsilon 1. Because the threshold is public, the server also knows where each bit looked.
//!
//! # The report
//! 5 bytes: the threshold's number k as an unsigned number with its lowest byte first (4 bytes; it stands for
//! `low + (high - low) (k + 1/2) / 2^32`), then 1 for above or 0 for below.
//!
//! # References
//! J. C. Duchi, M. I. Jordan and M. J. Wainwright, "Minimax optimal procedures for locally private estimation", 2018.

use super::randomized_response::RandomizedResponse;
use crate::accounting::Certificate;
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Event, Randomness};

/// Releases labels of a public interval as one bit each.
///
/// ```
/// use dpglm::local::ThresholdBit;
/// use dpglm::noise::RandomSource;
///
/// let bit = ThresholdBit::new((-4.0, 4.0), 1.0)?;
/// let report = bit.randomize(0.7, &mut RandomSource::from_os()?); // on the user's device
/// assert_eq!(report.to_bytes().len(), 5);
/// let unbiased = bit.value(&report); // on the server: mean 0.7
/// assert!(unbiased.abs() < 8.7);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdBit {
    labels: (f64, f64),
    response: RandomizedResponse,
}

/// What leaves the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdReport {
    /// The threshold's place in the interval, in units of its length times `2^-32`.
    pub threshold: u32,
    /// Whether the label is above it, perhaps flipped.
    pub above: bool,
}

impl ThresholdBit {
    /// For labels taken to the public interval `labels`, at a pure `epsilon`.
    pub fn new(labels: (f64, f64), epsilon: f64) -> Result<Self> {
        Ok(Self { labels: require_interval(labels)?, response: RandomizedResponse::new(2, epsilon)? })
    }

    /// The public interval.
    pub fn labels(&self) -> (f64, f64) {
        self.labels
    }

    /// The probability that the bit is flipped.
    pub fn flip(&self) -> f64 {
        self.response.other()
    }

    /// What a report costs its user.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.response.events()
    }

    /// What the user is promised, by where the device draws its noise from.
    pub fn certificate<'a>(&self, randomness: impl Into<Randomness<'a>>) -> Result<Certificate> {
        let certificate =
            Certificate::certified(Adjacency::ReplaceUserLabel, self.events()?, 0.0, randomness)?;
        let (low, high) = self.labels;
        Ok(certificate.enforcing(format!("labels outside [{low}, {high}] count as its nearest end")))
    }

    /// Steps 1 to 3, on the user's device.
    pub fn randomize(&self, label: f64, rng: &mut RandomSource) -> ThresholdReport {
        let (low, high) = self.labels;
        // Step 1
        let share = if label.is_nan() { 0.5 } else { (label.clamp(low, high) - low) / (high - low) };
        // Step 2. The cast cuts at the largest number: a label at the upper end is below no threshold but the last.
        let draw = rng.next_u64();
        let above = draw < (share * 18_446_744_073_709_551_616.0) as u64;
        // Step 3
        let above = self.response.randomize(u32::from(above), rng) == 1;
        ThresholdReport { threshold: (draw >> 32) as u32, above }
    }

    /// A number whose mean is the user's label.
    pub fn value(&self, report: &ThresholdReport) -> f64 {
        let (low, high) = self.labels;
        low + (high - low) * self.above(report)
    }

    /// A number whose mean, given the threshold, is the probability that the label is above it.
    pub(crate) fn above(&self, report: &ThresholdReport) -> f64 {
        self.response.indicator(u32::from(report.above), 1)
    }

    /// The threshold's place on the scale of labels.
    pub fn threshold(&self, report: &ThresholdReport) -> f64 {
        let (low, high) = self.labels;
        low + (high - low) * ((f64::from(report.threshold) + 0.5) * 2f64.powi(-32))
    }

    /// The variance of [`value`](Self::value) for a label.
    pub fn variance(&self, label: f64) -> f64 {
        let ((low, high), q) = (self.labels, self.flip());
        let share = if label.is_nan() { 0.5 } else { (label.clamp(low, high) - low) / (high - low) };
        let above = q + (1.0 - 2.0 * q) * share;
        (high - low).powi(2) * above * (1.0 - above) / (1.0 - 2.0 * q).powi(2)
    }
}

impl ThresholdReport {
    /// The report's bytes.
    pub fn to_bytes(&self) -> [u8; 5] {
        let [a, b, c, d] = self.threshold.to_le_bytes();
        [a, b, c, d, u8::from(self.above)]
    }

    /// Reads a report; one that no device can have sent is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match *bytes {
            [a, b, c, d, bit @ (0 | 1)] => {
                Ok(Self { threshold: u32::from_le_bytes([a, b, c, d]), above: bit == 1 })
            }
            _ => Err(Error::Malformed {
                what: "threshold report",
                reason: "5 bytes of which the last is 0 or 1 are expected".into(),
            }),
        }
    }
}

/// Refuses all but two finite numbers in order, at an ordinary distance.
pub(super) fn require_interval((low, high): (f64, f64)) -> Result<(f64, f64)> {
    if low.is_finite() && high.is_finite() && (1e-150..=1e150).contains(&(high - low)) {
        return Ok((low, high));
    }
    Err(Error::OutOfRange {
        parameter: Parameter::LabelBounds,
        range: "two finite numbers, the lower first, at most 1e150 and at least 1e-150 apart",
        value: format!("[{low}, {high}]"),
        remedy: "declare the public interval of the label",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::seed;
    use statrs::distribution::{Binomial, DiscreteCDF};

    /// Probability that the report says "above", in units of 2^-96, for labels whose share of the interval is
    /// `place / 2^64`, given the threshold's first 32 bits: by counting the other 32 bits and the 64 bits of the flip.
    fn law(bit: &ThresholdBit, place: u64, threshold: u32) -> u128 {
        let start = u64::from(threshold) << 32;
        let below = u128::from(place.saturating_sub(start).min(1 << 32));
        let flips = (bit.flip() * 18_446_744_073_709_551_616.0) as u128;
        below * ((1 << 64) - flips) + ((1 << 32) - below) * flips
    }

    #[test]
    fn every_threshold_and_bit_keeps_the_promise_for_every_pair_of_labels() {
        for epsilon in [0.1, 0.5, 1.0, 3.0] {
            let bit = ThresholdBit::new((0.0, 1.0), epsilon).unwrap();
            let places = [0, 1, 1 << 31, (1 << 32) + 7, 1 << 63, (1 << 63) + (1 << 31), u64::MAX];
            let thresholds = [0, 1, 2, 1 << 30, 1 << 31, (1 << 31) + 1, u32::MAX];
            let mut worst = 0.0_f64;
            for threshold in thresholds {
                for a in places {
                    for b in places {
                        let (p, q) = (law(&bit, a, threshold), law(&bit, b, threshold));
                        let all = 1u128 << 96;
                        worst = worst
                            .max((p as f64 / q as f64).ln())
                            .max(((all - p) as f64 / (all - q) as f64).ln());
                    }
                }
            }
            // The flip probability itself is checked in whole numbers with the randomized response.
            assert!(worst <= epsilon + 1e-12, "{worst} of {epsilon}");
            assert!(worst > epsilon - 1e-9, "the pair at the two ends costs all of {epsilon}: {worst}");
        }
    }

    #[test]
    fn the_program_compares_the_label_with_the_threshold_it_reports() {
        let bit = ThresholdBit::new((-4.0, 4.0), 1.0).unwrap();
        // 64 bits for the threshold, then 64 that keep the bit.
        let report = |label: f64, high: u32, low: u32| {
            bit.randomize(label, &mut RandomSource::scripted(&[high, low, u32::MAX, u32::MAX]))
        };
        for (label, high, above) in [
            (0.0, (1 << 31) - 1, true),
            (0.0, 1 << 31, false),
            (-4.0, 0, false),
            (4.0, u32::MAX, true),
            (-1e9, 0, false),
            (1e9, u32::MAX, true),
            (f64::INFINITY, u32::MAX, true),
            (f64::NEG_INFINITY, 0, false),
            (f64::NAN, (1 << 31) - 1, true),
            (f64::NAN, 1 << 31, false),
        ] {
            let low = if above { 5 } else { 0 };
            assert_eq!(
                report(label, high, low),
                ThresholdReport { threshold: high, above },
                "{label}, {high}"
            );
        }
        // And a flip turns it round.
        let flipped = bit.randomize(0.0, &mut RandomSource::scripted(&[0, 0, 0, 0]));
        assert_eq!(flipped, ThresholdReport { threshold: 0, above: false });
        assert_eq!(bit.threshold(&ThresholdReport { threshold: 1 << 31, above: true }), 8.0 * 2f64.powi(-33));
    }

    #[test]
    fn values_have_the_label_as_mean_and_the_stated_variance() {
        for epsilon in [0.2, 1.0, 4.0] {
            for labels in [(-4.0, 4.0), (0.0, 1.0), (1e6, 1e6 + 3.0)] {
                let bit = ThresholdBit::new(labels, epsilon).unwrap();
                for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
                    let label = labels.0 + (labels.1 - labels.0) * share;
                    let q = bit.flip();
                    let p = q + (1.0 - 2.0 * q) * share;
                    let [no, yes] =
                        [false, true].map(|above| bit.value(&ThresholdReport { threshold: 0, above }));
                    let mean = p * yes + (1.0 - p) * no;
                    assert!((mean - label).abs() < 1e-8, "{mean} for {label}");
                    let variance = p * (1.0 - p) * (yes - no).powi(2);
                    assert!((variance / bit.variance(label) - 1.0).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn frequencies_of_the_bit_are_those_of_the_label() {
        // 1e-6 over three labels and two tails. A label read as if the interval were 5% longer is 12 deviations away.
        let runs = 400_000;
        let bit = ThresholdBit::new((-4.0, 4.0), 1.0).unwrap();
        let rng = &mut RandomSource::insecure_seeded(seed("frequencies_of_the_bit_are_those_of_the_label"));
        let mut accepted = |label: f64, claimed: f64| {
            let q = bit.flip();
            let law = Binomial::new(q + (1.0 - 2.0 * q) * (claimed + 4.0) / 8.0, runs).unwrap();
            let count = (0..runs).filter(|_| bit.randomize(label, rng).above).count() as u64;
            (law.inverse_cdf(1e-6 / 6.0)..=law.inverse_cdf(1.0 - 1e-6 / 6.0)).contains(&count)
        };
        for label in [-3.0, 0.5, 4.0] {
            assert!(accepted(label, label));
            assert!(!accepted(label, label - 0.4));
        }
    }

    #[test]
    fn reports_travel_as_five_bytes_and_wrong_parameters_are_refused() {
        let report = ThresholdReport { threshold: 0x0403_0201, above: true };
        assert_eq!(report.to_bytes(), [1, 2, 3, 4, 1]);
        assert_eq!(ThresholdReport::from_bytes(&[1, 2, 3, 4, 1]).unwrap(), report);
        for bad in [&[1, 2, 3, 4, 2][..], &[1, 2, 3, 4], &[1, 2, 3, 4, 0, 0], &[]] {
            assert!(ThresholdReport::from_bytes(bad).is_err());
        }
        for labels in
            [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308), (0.0, 1e-320)]
        {
            assert!(ThresholdBit::new(labels, 1.0).is_err(), "{labels:?}");
        }
        assert!(ThresholdBit::new((0.0, 1.0), 0.0).is_err());
    }
}
