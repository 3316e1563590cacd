//! Exact selection of the largest Gumbel-noised scores.
//!
//! # Algorithm
//!
//! Item `j` has the key `score_j / scale + ln(multiplicity_j) - ln(E_j)`, `E_j` an exact standard exponential. The
//! items with the `s` largest keys are the winners.
//!
//! 1. Find the `s`-th largest score, the reference. Only differences to it are used: the winners' keys are then
//!    moderate numbers however large the scores are, and equal scores differ by exactly zero.
//! 2. For each item draw `E_j` and compute bounds of its key in `f64`. Keep the item unless its upper bound lies
//!    below the `s`-th largest lower bound seen so far: then `s` items certainly beat it.
//! 3. If more than `s` items are left, compute tighter bounds of their keys from further digits of `E_j`, with
//!    directed rounding, and drop the certain losers again. Double the precision until `s` items are left.
//!
//! The output is the set of winners in ascending order of index. Their ranking is not released.
//!
//! # Guarantee
//!
//! The set has exactly the distribution of `s` rounds of the exponential mechanism without replacement, with weights
//! `multiplicity_j exp(score_j / scale)`. If one row moves each score by at most `lambda`, each round has bounded
//! range `2 lambda / scale`. Scores are clamped to `+-2^900`, and a score that is not a number becomes the lowest:
//! the sensitivity must be that of the scores after this public rule.
//!
//! # Why private
//!
//! `E_j / w_j` is an exponential of rate `w_j`, and the `s` smallest of such clocks are the successive choices of the
//! exponential mechanism. The bounds only decide how many digits are drawn before a comparison that is then exact.
//!
//! # References
//!
//! D. Durfee, R. Rogers, "Practical differentially private top-k selection with pay-what-you-get composition", 2019.

use std::fmt;

use dashu_float::round::ErrorBounds;
use dashu_float::round::mode::{Down, Up};
use dashu_float::{Context, Repr};
use dashu_int::IBig;

use super::exponential::exponential;
use super::grid::decompose;
use super::lazy::{LazyReal, WORD_BITS};
use super::source::RandomSource;
use crate::error::{Error, Parameter, Result};

/// A rational `m 2^e`, added and multiplied without rounding.
type Dyadic = Repr<2>;

/// Scores are clamped to this magnitude, `2^900`, so that no quotient by a valid scale overflows.
const LARGEST_SCORE: f64 = f64::from_bits((900 + 1023) << 52);
/// The scale lies between `2^-100` and `2^100`.
const LARGEST_SCALE: f64 = f64::from_bits((100 + 1023) << 52);
/// Error of a key computed in `f64`, relative to one plus the sum of its terms' magnitudes.
///
/// The difference, the quotient and each sum are correctly rounded (2^-53 each), the logarithm is assumed right to
/// 4 units in the last place (2^-50), its argument to 2^-53. All of that is below 2^-48; the rest is reserve.
const SLACK: f64 = f64::from_bits((1023 - 45) << 52);
/// Items kept at least between two prunings.
const SMALLEST_CAPACITY: usize = 1024;
/// Bits of the first evaluation beyond `f64`.
const FIRST_PRECISION: usize = 128;

/// A reusable workspace for exact selections: no allocation per call once it has grown.
///
/// ```
/// use dpglm::noise::{Race, RandomSource};
///
/// let mut race = Race::new();
/// let winners = race.select(&[0.0, 900.0, -3.0, 800.0], 1.0, 2, &mut RandomSource::from_os()?)?;
/// assert_eq!(winners, [1, 3]);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Default)]
pub struct Race {
    contenders: Vec<Contender>,
    numbers: Vec<f64>,
    winners: Vec<usize>,
}

/// An item that may still win, with bounds of its key.
struct Contender {
    index: usize,
    lower: f64,
    upper: f64,
    exponential: LazyReal,
}

/// What the keys are made of.
struct Weights<'a> {
    scores: &'a [f64],
    /// All one if absent.
    multiplicities: Option<&'a [u64]>,
    scale: f64,
    /// Subtracted from every score.
    reference: f64,
}

impl Race {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The indices of the `winners` items with the largest `scores[j] / scale + Gumbel_j`, ascending.
    pub fn select(
        &mut self,
        scores: &[f64],
        scale: f64,
        winners: usize,
        rng: &mut RandomSource,
    ) -> Result<&[usize]> {
        require_scale(scale)?;
        if winners == 0 || winners > scores.len() {
            return Err(Error::OutOfRange {
                parameter: Parameter::Winners,
                range: "at least 1 and at most the number of scores",
                value: format!("{winners} of {}", scores.len()),
                remedy: "ask for fewer winners or offer more candidates",
            });
        }
        self.run(scores, None, scale, winners, SLACK, rng);
        Ok(&self.winners)
    }

    /// One index, drawn with probability proportional to `multiplicities[j] exp(scores[j] / scale)`.
    ///
    /// An item of multiplicity zero is never chosen.
    pub fn select_weighted(
        &mut self,
        scores: &[f64],
        multiplicities: &[u64],
        scale: f64,
        rng: &mut RandomSource,
    ) -> Result<usize> {
        require_scale(scale)?;
        if scores.len() != multiplicities.len() {
            return Err(Error::Conflict(format!(
                "each score needs one multiplicity, got {} scores and {} multiplicities",
                scores.len(),
                multiplicities.len()
            )));
        }
        if multiplicities.iter().all(|&multiplicity| multiplicity == 0) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Multiplicities,
                range: "above 0 for at least one candidate",
                value: "none".to_string(),
                remedy: "offer at least one candidate",
            });
        }
        self.run(scores, Some(multiplicities), scale, 1, SLACK, rng);
        Ok(self.winners[0])
    }

    /// The race itself, on valid arguments. A larger `slack` sends more items to the exact evaluation and changes
    /// nothing else.
    fn run(
        &mut self,
        scores: &[f64],
        multiplicities: Option<&[u64]>,
        scale: f64,
        count: usize,
        slack: f64,
        rng: &mut RandomSource,
    ) {
        // Step 1
        let enters = |index: usize| multiplicities.is_none_or(|counts| counts[index] > 0);
        self.numbers.clear();
        self.numbers
            .extend((0..scores.len()).filter(|&index| enters(index)).map(|index| clamp_score(scores[index])));
        let reference = largest(&mut self.numbers, count);
        let weights = Weights { scores, multiplicities, scale, reference };

        // Step 2
        self.contenders.clear();
        let mut capacity = SMALLEST_CAPACITY.max(2 * count);
        let mut bar = f64::NEG_INFINITY;
        for index in (0..scores.len()).filter(|&index| enters(index)) {
            let mut exponential = exponential(rng);
            let (lower, upper) = weights.key_bounds(index, &mut exponential, slack, rng);
            if upper < bar {
                continue;
            }
            self.contenders.push(Contender { index, lower, upper, exponential });
            if self.contenders.len() >= capacity {
                bar = self.prune(count);
                // Too many undecided items to prune often: keep the total work linear.
                capacity = capacity.max(2 * self.contenders.len());
            }
        }
        self.prune(count);

        self.winners.clear();
        if self.contenders.len() > count {
            // Step 3
            self.refine(&weights, count, rng);
        } else {
            // Pruning keeps the order of insertion, so the indices ascend.
            self.winners.extend(self.contenders.iter().map(|contender| contender.index));
        }
        self.contenders.clear();
    }

    /// Drops every item that `count` others certainly beat. Returns the lower bound that decided.
    fn prune(&mut self, count: usize) -> f64 {
        self.numbers.clear();
        self.numbers.extend(self.contenders.iter().map(|contender| contender.lower));
        let bar = largest(&mut self.numbers, count);
        self.contenders.retain(|contender| contender.upper >= bar);
        bar
    }

    /// Decides between the items left by evaluating their keys to ever higher precision, and fills in the winners.
    #[cold]
    #[inline(never)]
    fn refine(&mut self, weights: &Weights<'_>, count: usize, rng: &mut RandomSource) {
        // An item above all but `count` upper bounds, its own included, wins for certain.
        self.numbers.clear();
        self.numbers.extend(self.contenders.iter().map(|contender| contender.upper));
        let bar = largest(&mut self.numbers, count + 1);
        self.winners.extend(self.contenders.iter().filter(|item| item.lower > bar).map(|item| item.index));
        let open = count - self.winners.len();
        self.contenders.retain(|contender| contender.lower <= bar);

        let mut precision = FIRST_PRECISION;
        while self.contenders.len() > open {
            let bounds = |item: &mut Contender| {
                weights.refined_key_bounds(item.index, &mut item.exponential, precision, rng)
            };
            let (mut lowers, uppers): (Vec<_>, Vec<_>) = self.contenders.iter_mut().map(bounds).unzip();
            let (_, bar, _) = lowers.select_nth_unstable_by(open - 1, |left, right| right.cmp(left));
            let mut uppers = uppers.into_iter();
            self.contenders.retain(|_| uppers.next().is_some_and(|upper| upper >= *bar));
            precision *= 2;
        }
        self.winners.extend(self.contenders.iter().map(|contender| contender.index));
        self.winners.sort_unstable();
    }
}

impl fmt::Debug for Race {
    /// Hides the workspace: it holds traces of the last race's scores.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Race").finish_non_exhaustive()
    }
}

impl Weights<'_> {
    /// Bounds of a key, in `f64`.
    #[inline]
    fn key_bounds(
        &self,
        index: usize,
        exponential: &mut LazyReal,
        slack: f64,
        rng: &mut RandomSource,
    ) -> (f64, f64) {
        let fixed = exponential.fixed_64(rng);
        if fixed >> 32 == 0 {
            // So small a number that its known digits do not determine its logarithm.
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let deviate = fixed as f64 * 2f64.powi(-64);
        let logarithm = libm::log(deviate);
        let quotient = (clamp_score(self.scores[index]) - self.reference) / self.scale;
        let multiplicity = self.multiplicities.map_or(0.0, |counts| libm::log(counts[index] as f64));
        let key = quotient + multiplicity - logarithm;
        // The digits not drawn yet add less than 2^-64 to the deviate, relatively at most 2^-32.
        let unknown = 2f64.powi(-63) / deviate;
        let error = slack * (1.0 + quotient.abs() + multiplicity + logarithm.abs()) + unknown;
        (key - error, key + error)
    }

    /// Bounds of a key times the scale, from `precision` binary digits of the deviate and of the logarithms.
    ///
    /// Scores and scale are dyadic rationals: only the logarithms are rounded, outward.
    fn refined_key_bounds(
        &self,
        index: usize,
        exponential: &mut LazyReal,
        precision: usize,
        rng: &mut RandomSource,
    ) -> (Dyadic, Dyadic) {
        let words = precision.div_ceil(WORD_BITS);
        let deviate = IBig::from(exponential.fixed(words, rng));
        let exponent = -((WORD_BITS * words) as isize);
        let deviate_high = Dyadic::new(&deviate + IBig::ONE, exponent);
        let deviate_low = Dyadic::new(deviate, exponent);

        let difference = dyadic(clamp_score(self.scores[index])) - dyadic(self.reference);
        let multiplicity = Dyadic::new(self.multiplicities.map_or(1, |counts| counts[index]).into(), 0);
        let key = |multiplicity: Dyadic, deviate: Dyadic| {
            &difference + dyadic(self.scale) * (multiplicity - deviate)
        };
        let lower =
            logarithm::<Down>(&multiplicity, precision).zip(logarithm::<Up>(&deviate_high, precision));
        let upper = logarithm::<Up>(&multiplicity, precision).zip(logarithm::<Down>(&deviate_low, precision));
        (
            lower.map_or(Dyadic::neg_infinity(), |(weight, clock)| key(weight, clock)),
            upper.map_or(Dyadic::infinity(), |(weight, clock)| key(weight, clock)),
        )
    }
}

/// The logarithm rounded in the given direction; none if it is not known to be right, or infinite.
fn logarithm<R: ErrorBounds>(value: &Dyadic, precision: usize) -> Option<Dyadic> {
    let rounded = Context::<R>::new(precision).ln(value, None).ok()?.value().into_repr();
    rounded.is_finite().then_some(rounded)
}

/// A finite `f64` as an exact dyadic rational.
fn dyadic(value: f64) -> Dyadic {
    let (mantissa, exponent) = decompose(value);
    let magnitude = Dyadic::new(mantissa.into(), exponent as isize);
    if value < 0.0 { -magnitude } else { magnitude }
}

/// The public rule for scores: not a number counts as the lowest, everything else is clamped.
#[inline]
fn clamp_score(score: f64) -> f64 {
    if score.is_nan() { -LARGEST_SCORE } else { score.clamp(-LARGEST_SCORE, LARGEST_SCORE) }
}

/// The `rank`-th largest number, reordering them.
fn largest(numbers: &mut [f64], rank: usize) -> f64 {
    *numbers.select_nth_unstable_by(rank - 1, |left, right| right.total_cmp(left)).1
}

/// Refuses a scale that no race can be run with.
pub(crate) fn require_scale(scale: f64) -> Result<()> {
    if (LARGEST_SCALE.recip()..=LARGEST_SCALE).contains(&scale) {
        return Ok(());
    }
    Err(Error::OutOfRange {
        parameter: Parameter::Scale,
        range: "between 2^-100 and 2^100",
        value: scale.to_string(),
        remedy: "rescale the scores together with the scale",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Winners with the given slack, on a source seeded with `seed`.
    fn winners(
        scores: &[f64],
        counts: Option<&[u64]>,
        scale: f64,
        count: usize,
        slack: f64,
        seed: u64,
    ) -> Vec<usize> {
        let mut race = Race::new();
        race.run(scores, counts, scale, count, slack, &mut RandomSource::insecure_seeded(seed));
        race.winners
    }

    #[test]
    fn every_slack_selects_the_same_winners() {
        let setup = &mut RandomSource::insecure_seeded(41);
        for case in 0..60u64 {
            let size = 2 + setup.below(60) as usize;
            let magnitude = 2f64.powi(setup.below(40) as i32 - 20);
            let scores: Vec<f64> = (0..size).map(|_| setup.below(1000) as f64 * magnitude).collect();
            let counts: Vec<u64> = (0..size).map(|_| 1 + setup.below(u64::MAX)).collect();
            let scale = magnitude * (1.0 + setup.below(300) as f64);
            let count = 1 + setup.below(size as u64 - 1) as usize;
            // 1e-3 leaves a few items open, 1e9 all of them: the big-number evaluation decides alone.
            for (counts, count) in [(None, count), (Some(counts.as_slice()), 1)] {
                let fast = winners(&scores, counts, scale, count, SLACK, case);
                assert_eq!(fast.len(), count);
                assert!(fast.is_sorted());
                for slack in [1e-3, 1.0, 1e9] {
                    assert_eq!(fast, winners(&scores, counts, scale, count, slack, case));
                }
            }
        }
    }

    #[test]
    fn pruning_on_the_way_does_not_change_the_winners() {
        let setup = &mut RandomSource::insecure_seeded(42);
        for case in 0..5 {
            let scores: Vec<f64> = (0..3000).map(|index| f64::from(index * (case % 2)) * 1e-3).collect();
            let fast = winners(&scores, None, 1.0, 20, SLACK, setup.next_u64());
            assert_eq!(fast.len(), 20);
            let seed = setup.next_u64();
            assert_eq!(
                winners(&scores, None, 1.0, 20, SLACK, seed),
                winners(&scores, None, 1.0, 20, 1e9, seed)
            );
        }
    }

    #[test]
    fn bounds_in_both_arithmetics_contain_the_key() {
        let rng = &mut RandomSource::insecure_seeded(43);
        for _ in 0..500 {
            let scores = [rng.next_u32() as f64 * 1e-8, 3.0];
            let counts = [(rng.next_u64() >> rng.below(64)) | 1, 1];
            let weights =
                Weights { scores: &scores, multiplicities: Some(&counts), scale: 0.37, reference: 3.0 };
            let mut deviate = exponential(rng);
            let (lower, upper) = weights.key_bounds(0, &mut deviate, SLACK, rng);
            let scaled = |bound: f64| dyadic(bound) * dyadic(weights.scale);
            let mut previous = (scaled(lower), scaled(upper));
            // Each evaluation lies within the coarser one before it.
            for precision in [128, 256, 512, 1024] {
                let (lower, upper) = weights.refined_key_bounds(0, &mut deviate, precision, rng);
                assert!(lower <= upper && previous.0 <= lower && upper <= previous.1);
                previous = (lower, upper);
            }
        }
    }

    #[test]
    fn a_deviate_of_many_zero_digits_is_resolved() {
        // Item 0 draws a deviate whose first 9 words are zero (x = 0, challenger 1), item 1 one of 0.5.
        let mut script = vec![0, 1, 0, 1 << 31, u32::MAX, 7];
        script.extend([0; 7]);
        let mut race = Race::new();
        let rng = &mut RandomSource::scripted(&script);
        assert_eq!(race.select(&[0.0, 0.0], 1.0, 1, rng).unwrap(), [0]);
        // Both have zeros only: the word that differs decides, whatever it takes.
        let mut script = vec![0, 1, 0, 0, 1, 0];
        // 128 bits: two more words each; then 256: four more; then 512, in which item 1 gets a smaller word first.
        script.extend([0; 2 + 2 + 4 + 4]);
        script.extend([9, 1, 1, 1, 1, 1, 1, 1]);
        script.extend([8, 1, 1, 1, 1, 1, 1, 1]);
        let rng = &mut RandomSource::scripted(&script);
        assert_eq!(race.select(&[0.0, 0.0], 1.0, 1, rng).unwrap(), [1]);
    }

    #[test]
    fn extreme_scores_follow_the_public_rule() {
        let mut race = Race::new();
        let rng = &mut RandomSource::insecure_seeded(44);
        let scores = [f64::NAN, f64::NEG_INFINITY, -1e300, 0.0, f64::INFINITY, f64::MAX];
        for scale in [2f64.powi(-100), 1.0, 2f64.powi(100)] {
            assert_eq!(race.select(&scores, scale, 3, rng).unwrap(), [3, 4, 5]);
            assert_eq!(race.select(&scores, scale, 6, rng).unwrap(), [0, 1, 2, 3, 4, 5]);
        }
        // The lowest three are tied after the rule: each is dropped now and then.
        let dropped: Vec<usize> = (0..200)
            .map(|_| {
                let chosen = race.select(&scores, 1.0, 5, rng).unwrap();
                (0..6).find(|index| !chosen.contains(index)).unwrap()
            })
            .collect();
        assert!((0..3).all(|index| dropped.contains(&index)) && dropped.iter().all(|&index| index < 3));
    }

    #[test]
    fn many_equal_huge_scores_need_no_refinement() {
        let mut scores = vec![1e200; 100_000];
        scores[17] = 1e201;
        scores[18] = -1e201;
        let mut race = Race::new();
        let rng = &mut RandomSource::insecure_seeded(45);
        let chosen = race.select(&scores, 1e-3, 10, rng).unwrap();
        assert!(chosen.len() == 10 && chosen.contains(&17) && !chosen.contains(&18));
    }

    #[test]
    fn wrong_arguments_are_errors() {
        let mut race = Race::new();
        let rng = &mut RandomSource::insecure_seeded(46);
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 2f64.powi(-101), 2f64.powi(101)] {
            assert!(race.select(&[1.0], scale, 1, rng).is_err());
            assert!(race.select_weighted(&[1.0], &[1], scale, rng).is_err());
        }
        assert!(race.select(&[1.0], 1.0, 0, rng).is_err());
        assert!(race.select(&[1.0], 1.0, 2, rng).is_err());
        assert!(race.select(&[], 1.0, 1, rng).is_err());
        assert!(race.select_weighted(&[1.0], &[], 1.0, rng).is_err());
        assert!(race.select_weighted(&[1.0, 2.0], &[0, 0], 1.0, rng).is_err());
        assert!(race.select_weighted(&[], &[], 1.0, rng).is_err());
        assert_eq!(race.select_weighted(&[1.0, 2.0], &[1, 0], 1.0, rng), Ok(0));
    }
}
