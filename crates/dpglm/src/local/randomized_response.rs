//! Randomized response: a label from a public list of levels, kept or replaced by another.
//!
//! # Algorithm (Warner 1965, with several levels)
//! 1. A label that is not on the list becomes level 0.
//! 2. Each of the other `k - 1` levels is reported with probability `q`, the label itself otherwise.
//!
//! `q = m / 2^64` with the least whole m for which the promise holds, so step 2 is one comparison of 64 random bits.
//!
//! # Guarantee
//! Pure epsilon under replacement of the user's label, for every label.
//!
//! # Why private
//! A level is reported with probability `1 - (k-1) q` by users who have it and `q` by all others. As
//! `q >= 1 / (e^epsilon + k - 1)`, their quotient is at most `e^epsilon`. Both probabilities are whole multiples of
//! `2^-64`, and m is rounded upward: nothing is approximated on the way to the report.
//!
//! # The report
//! 4 bytes: the level, from 0, as an unsigned number with its lowest byte first.
//!
//! # References
//! S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias", 1965.

use crate::accounting::Certificate;
use crate::accounting::calibrate;
use crate::error::{Error, Parameter, Result};
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Budget, Event, Noise, Randomness};

/// All outcomes of 64 random bits.
const OUTCOMES: f64 = 18_446_744_073_709_551_616.0;

/// Releases labels from a public list of levels.
///
/// ```
/// use dpglm::local::RandomizedResponse;
/// use dpglm::noise::RandomSource;
///
/// let response = RandomizedResponse::new(2, 1.0)?;
/// let report = response.randomize(1, &mut RandomSource::from_os()?); // on the user's device
/// let unbiased = response.indicator(report, 1); // on the server: mean 1 if the label is 1, else 0
/// assert!(unbiased > 1.5 || unbiased < -0.5);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RandomizedResponse {
    levels: u32,
    epsilon: f64,
    /// `2^64 q`.
    outcomes_of_other: u64,
}

impl RandomizedResponse {
    /// For labels `0..levels` at a pure `epsilon`.
    pub fn new(levels: u32, epsilon: f64) -> Result<Self> {
        if !(2..=65_536).contains(&levels) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Levels,
                range: "from 2 to 65536",
                value: levels.to_string(),
                remedy: "list the public levels of the label, or group rare ones",
            });
        }
        let budget = Budget::pure(epsilon)?;
        if epsilon < 1e-6 {
            return Err(Error::OutOfRange {
                parameter: Parameter::Epsilon,
                range: "at least 1e-6 for a label",
                value: format!("{epsilon:e}"),
                remedy: "a report this private says nothing; choose a larger epsilon or do not ask",
            });
        }
        // A hair below what was asked for, so that the accountant's own rounding stays within it.
        let template = [Event::new("label", Noise::Pure { epsilon }, 1)?];
        let Some(Noise::Pure { epsilon }) = calibrate(&template, &[], budget)?.first().map(Event::noise)
        else {
            unreachable!("calibration keeps each event's kind")
        };
        // The relative errors of exp, two additions and a division stay below four units; m is rounded upward by eight.
        let least = OUTCOMES / (libm::exp(epsilon) + f64::from(levels - 1)) * (1.0 + 8.0 * f64::EPSILON);
        Ok(Self { levels, epsilon, outcomes_of_other: least.ceil() as u64 })
    }

    /// The number of levels.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The probability of each level other than the label.
    pub fn other(&self) -> f64 {
        self.outcomes_of_other as f64 / OUTCOMES
    }

    /// What a report costs its user.
    pub fn events(&self) -> Result<Vec<Event>> {
        Ok(vec![Event::new("label", Noise::Pure { epsilon: self.epsilon }, 1)?])
    }

    /// What the user is promised, by where the device draws its noise from.
    pub fn certificate<'a>(&self, randomness: impl Into<Randomness<'a>>) -> Result<Certificate> {
        let certificate =
            Certificate::certified(Adjacency::ReplaceUserLabel, self.events()?, 0.0, randomness)?;
        Ok(certificate
            .enforcing(format!("a label outside the {} declared levels counts as the first", self.levels)))
    }

    /// Steps 1 and 2, on the user's device.
    pub fn randomize(&self, label: u32, rng: &mut RandomSource) -> u32 {
        let label = if label < self.levels { label } else { 0 };
        let draw = rng.next_u64();
        // The first m draws stand for the first other level, and so on; what is left over keeps the label.
        let other = draw / self.outcomes_of_other;
        if other < u64::from(self.levels - 1) {
            let other = other as u32;
            if other < label { other } else { other + 1 }
        } else {
            label
        }
    }

    /// A number whose mean is 1 if the user's label is `level`, and 0 if not. A report off the list counts as level 0.
    pub fn indicator(&self, report: u32, level: u32) -> f64 {
        let report = if report < self.levels { report } else { 0 };
        let q = self.other();
        (f64::from(u8::from(report == level)) - q) / (1.0 - f64::from(self.levels) * q)
    }

    /// The largest variance of [`indicator`](Self::indicator), whatever the label.
    pub fn largest_variance(&self) -> f64 {
        let (q, k) = (self.other(), f64::from(self.levels));
        let keep = 1.0 - (k - 1.0) * q;
        (q * (1.0 - q)).max(keep * (1.0 - keep)) / (1.0 - k * q).powi(2)
    }

    /// A report's bytes.
    pub fn to_bytes(report: u32) -> [u8; 4] {
        report.to_le_bytes()
    }

    /// Reads a report; one that no device of this study can have sent is refused.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<u32> {
        let report =
            <[u8; 4]>::try_from(bytes).map(u32::from_le_bytes).ok().filter(|level| *level < self.levels);
        report.ok_or_else(|| Error::Malformed {
            what: "label report",
            reason: format!("4 bytes with a level below {} are expected", self.levels),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dashu_int::UBig;
    use statrs::distribution::{Binomial, DiscreteCDF};

    const BITS: usize = 400;

    /// A number within 2^-380 below `e^x`, times 2^400: Taylor's sum in whole numbers, every term rounded down.
    pub(crate) fn exponential_from_below(x: f64) -> UBig {
        let bits = x.to_bits();
        let (exponent, mantissa) = ((bits >> 52) as i32 - 1075, bits & ((1 << 52) - 1) | 1 << 52);
        assert!((-100..0).contains(&exponent), "written for ordinary numbers");
        let (mut sum, mut term) = (UBig::ZERO, UBig::ONE << BITS);
        for k in 1u32..2_000 {
            sum += &term;
            term = ((term * UBig::from(mantissa)) >> exponent.unsigned_abs() as usize) / UBig::from(k);
        }
        sum
    }

    const EPSILONS: [f64; 8] = [1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 7.5, 40.0];

    /// The law of the report by counting outcomes of the 64 bits, in units of 2^-64.
    fn law(response: &RandomizedResponse, label: u32) -> Vec<u128> {
        let m = u128::from(response.outcomes_of_other);
        let others = u128::from(response.levels - 1) * m;
        (0..response.levels).map(|level| if level == label { (1 << 64) - others } else { m }).collect()
    }

    #[test]
    fn exact_probabilities_keep_the_promise_and_waste_nothing() {
        for epsilon in EPSILONS {
            for levels in [2, 3, 10, 65_536] {
                let response = RandomizedResponse::new(levels, epsilon).unwrap();
                let m = UBig::from(response.outcomes_of_other);
                let keep = (UBig::ONE << 64) - UBig::from(levels - 1) * &m;
                let e = exponential_from_below(response.epsilon);
                assert!(response.epsilon <= epsilon && response.epsilon > epsilon * (1.0 - 1e-9));
                assert!(&keep << BITS <= &m * &e, "epsilon {epsilon}, {levels} levels: above its promise");
                assert!(keep > m);
                // One outcome less for the others would break it, but for the eight units of rounding.
                let slack = UBig::from(response.outcomes_of_other >> 47) + UBig::ONE;
                let less = &m - slack.min(&m - UBig::ONE);
                let more = (UBig::ONE << 64) - UBig::from(levels - 1) * &less;
                assert!(less == m || more << BITS > less * &e, "epsilon {epsilon}, {levels} levels: loose");
            }
        }
    }

    #[test]
    fn the_program_draws_the_law_it_claims() {
        let response = RandomizedResponse::new(4, 1.0).unwrap();
        let m = response.outcomes_of_other;
        let draw = |value: u64, label: u32| {
            let words = [(value >> 32) as u32, value as u32];
            response.randomize(label, &mut RandomSource::scripted(&words))
        };
        // The edges of every run of outcomes.
        for label in 0..4 {
            let others: Vec<u32> = (0..4).filter(|level| *level != label).collect();
            for (k, &other) in others.iter().enumerate() {
                assert_eq!(draw(k as u64 * m, label), other);
                assert_eq!(draw((k as u64 + 1) * m - 1, label), other);
            }
            assert_eq!(draw(3 * m, label), label);
            assert_eq!(draw(u64::MAX, label), label);
        }
        assert_eq!(draw(3 * m, 77), 0);
        assert_eq!(law(&response, 2).iter().sum::<u128>(), 1 << 64);
    }

    #[test]
    fn indicators_are_unbiased_exactly() {
        for epsilon in EPSILONS {
            for levels in [2, 5] {
                let response = RandomizedResponse::new(levels, epsilon).unwrap();
                for (label, level) in [(0, 0), (0, 1), (1, 0)] {
                    let law = law(&response, label);
                    let moment = |power: i32| -> f64 {
                        (0..levels)
                            .map(|r| {
                                law[r as usize] as f64 / OUTCOMES * response.indicator(r, level).powi(power)
                            })
                            .sum()
                    };
                    let truth = f64::from(u8::from(label == level));
                    let variance = moment(2) - moment(1).powi(2);
                    assert!((moment(1) - truth).abs() < 1e-13 * response.indicator(level, level));
                    assert!(variance <= response.largest_variance() * (1.0 + 1e-9));
                }
            }
        }
    }

    #[test]
    fn frequencies_are_those_of_the_law() {
        // 1e-6 shared by two tails; a flip probability off by 2% is 6 deviations away.
        let runs = 400_000;
        let response = RandomizedResponse::new(2, 1.0).unwrap();
        let flips = |keep_half: bool, rng: &mut RandomSource| {
            (0..runs).filter(|i| response.randomize(0, rng) == 1 && !(keep_half && i % 50 == 0)).count()
                as u64
        };
        let law = Binomial::new(response.other(), runs).unwrap();
        let (low, high) = (law.inverse_cdf(5e-7), law.inverse_cdf(1.0 - 5e-7));
        let rng = &mut RandomSource::insecure_seeded(crate::local::seed("frequencies_are_those_of_the_law"));
        assert!((low..=high).contains(&flips(false, rng)));
        assert!(!(low..=high).contains(&flips(true, rng)), "the test misses flips that are 2% too rare");
    }

    #[test]
    fn reports_travel_as_four_bytes_and_wrong_parameters_are_refused() {
        let response = RandomizedResponse::new(3, 1.0).unwrap();
        assert_eq!(response.from_bytes(&RandomizedResponse::to_bytes(2)).unwrap(), 2);
        assert_eq!(RandomizedResponse::to_bytes(0x0102), [2, 1, 0, 0]);
        for bad in [&[3, 0, 0, 0][..], &[0, 0, 0], &[0, 0, 0, 0, 0], &[]] {
            assert!(response.from_bytes(bad).is_err());
        }
        for levels in [0, 1, 65_537] {
            assert!(RandomizedResponse::new(levels, 1.0).is_err());
        }
        for epsilon in [0.0, -1.0, 1e-7, 701.0, f64::NAN, f64::INFINITY] {
            assert!(RandomizedResponse::new(2, epsilon).is_err());
        }
        let promised = response.certificate(Randomness::Devices).unwrap().guarantee().unwrap();
        assert!(promised.delta == 0.0 && (1.0 - 1e-9..=1.0).contains(&promised.epsilon));
    }
}
