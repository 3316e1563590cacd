//! Exact Gaussian noise on a grid.
//!
//! # Algorithm
//!
//! Kahn's rejection method for the absolute value of a standard normal:
//!
//! 1. Draw an exact exponential `E`.
//! 2. Accept it with probability `exp(-t)`, `t = (E - 1)^2 / 2`; otherwise go to 1.
//! 3. Attach a fair sign, multiply by `sigma` and round to the grid.
//!
//! The accepted density is proportional to `exp(-x) exp(-(x - 1)^2 / 2)`, hence to `exp(-x^2 / 2)`.
//!
//! Step 2 tosses the coin of [`exponential`](mod@super::exponential) once for each whole unit of `t` and once for
//! its fractional part. That needs `floor(t)` and a comparison of `t - floor(t)` with a uniform. Both are done on
//! intervals that contain `t`, in integers. If an interval leaves the answer open, more digits of `E` and of the
//! uniform are drawn.
//!
//! # Guarantee
//!
//! [`GaussianNoise::sample`] returns the integer `k` with probability `P(k - 1/2 <= sigma X / g < k + 1/2)`, `X`
//! standard normal, exactly. Added to a value rounded to the same grid it is the Gaussian mechanism of noise `sigma`
//! and l2-sensitivity [`Grid::enlarged_l2`].
//!
//! # Why private
//!
//! For an integer `a`, `a + round(y) = round(a + y)`: the output is a function of the exact sum of the grid value and
//! the continuous noise.

use dashu_int::UBig;

use super::exponential::{exponential, finish_run, finish_run_exactly, inverse_e_coin};
use super::grid::Grid;
use super::lazy::{LazyReal, LazyUniform, WORD_BITS};
use super::rounding::GridScale;
use super::source::RandomSource;
use crate::error::{Parameter, Result};

/// Gaussian noise of a given standard deviation, rounded to a grid.
///
/// ```
/// use dpglm::noise::{GaussianNoise, Grid, RandomSource};
///
/// let grid = Grid::for_l2(1.0, 3)?;
/// let noise = GaussianNoise::new(grid, 4.0)?;
/// let mut released = [0.25, -0.5, 0.125];
/// noise.add_to(&mut released, &mut RandomSource::from_os()?);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianNoise {
    grid: Grid,
    scale: GridScale,
}

impl GaussianNoise {
    /// Noise of standard deviation `sigma` on `grid`.
    pub fn new(grid: Grid, sigma: f64) -> Result<Self> {
        let scale = GridScale::new(Parameter::Sigma, sigma, &grid)?;
        Ok(Self { grid, scale })
    }

    /// The grid that values and noise are rounded to.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// One noise value, in grid units.
    #[inline]
    pub fn sample(&self, rng: &mut RandomSource) -> i128 {
        let mut magnitude = half_normal(rng);
        self.scale.signed_round(&mut magnitude, rng)
    }

    /// Replaces each value by its grid point plus independent noise.
    pub fn add_to(&self, values: &mut [f64], rng: &mut RandomSource) {
        for value in values {
            *value = self.grid.value(self.grid.round(*value) + self.sample(rng));
        }
    }
}

/// The absolute value of a standard normal deviate, exact.
#[inline]
pub fn half_normal(rng: &mut RandomSource) -> LazyReal {
    loop {
        let mut candidate = exponential(rng);
        if accept(&mut candidate, rng) {
            return candidate;
        }
    }
}

/// Bits of `t` below the binary point when `E` is known to one word: `(E - 1)^2` has 64, halving adds one.
const EXPONENT_BITS: usize = 2 * WORD_BITS + 1;

/// A coin that shows heads with probability `exp(-t)`, `t = (E - 1)^2 / 2`.
#[inline]
fn accept(candidate: &mut LazyReal, rng: &mut RandomSource) -> bool {
    let first = candidate.fraction.first();
    // |E - 1| lies between `distance` and `distance + 1` in units of 2^-32.
    let distance = match candidate.integer {
        0 => u64::from(!first),
        integer => u64::from(integer - 1) << WORD_BITS | u64::from(first),
    };
    // Neither square overflows: integer < 2^32 keeps distance + 1 below 2^64.
    let (low, high) = (u128::from(distance).pow(2), (u128::from(distance) + 1).pow(2));
    let whole = low >> EXPONENT_BITS;
    if whole != high >> EXPONENT_BITS {
        return accept_exactly(candidate, rng);
    }
    if !(0..whole).all(|_| inverse_e_coin(rng)) {
        return false;
    }
    let offset = whole << EXPONENT_BITS;
    let first = rng.next_u32();
    let challenger = u128::from(first) << (EXPONENT_BITS - WORD_BITS);
    let challenger_end = challenger + (1 << (EXPONENT_BITS - WORD_BITS));
    if challenger >= high - offset {
        true
    } else if challenger_end <= low - offset {
        finish_run(first, rng)
    } else {
        accept_fraction_exactly(candidate, &UBig::from(whole), LazyUniform::from_first(first), rng)
    }
}

/// [`accept`] where one word of `E` leaves the integer part of `t` open.
#[cold]
#[inline(never)]
fn accept_exactly(candidate: &mut LazyReal, rng: &mut RandomSource) -> bool {
    let mut words = 2;
    let whole = loop {
        let (low, high) = exponent_bounds(candidate, words, rng);
        let shift = 2 * WORD_BITS * words + 1;
        if (&low >> shift) == (&high >> shift) {
            break low >> shift;
        }
        words += 1;
    };
    let mut tossed = UBig::ZERO;
    while tossed < whole {
        if !inverse_e_coin(rng) {
            return false;
        }
        tossed += UBig::ONE;
    }
    accept_fraction_exactly(candidate, &whole, LazyUniform::draw(rng), rng)
}

/// The coin for `t - whole`, whose first challenger is given.
#[cold]
#[inline(never)]
fn accept_fraction_exactly(
    candidate: &mut LazyReal,
    whole: &UBig,
    mut challenger: LazyUniform,
    rng: &mut RandomSource,
) -> bool {
    !is_below_fraction(&mut challenger, candidate, whole, rng) || finish_run_exactly(challenger, false, rng)
}

/// Whether `whole + challenger < t`. Draws digits of both sides until their intervals part.
fn is_below_fraction(
    challenger: &mut LazyUniform,
    candidate: &mut LazyReal,
    whole: &UBig,
    rng: &mut RandomSource,
) -> bool {
    let mut words = 1;
    loop {
        let (low, high) = exponent_bounds(candidate, words, rng);
        let total_bits = 2 * WORD_BITS * words + 1;
        let unit_bits = total_bits - WORD_BITS * words;
        let start = (whole << total_bits) + (challenger.leading(words, rng) << unit_bits);
        let end = &start + (UBig::ONE << unit_bits);
        if start >= high {
            return false;
        }
        if end <= low {
            return true;
        }
        words += 1;
    }
}

/// Bounds of `t` in units of `2^-(64 words + 1)`, from the first `words` fraction words of `E`.
fn exponent_bounds(candidate: &mut LazyReal, words: usize, rng: &mut RandomSource) -> (UBig, UBig) {
    let one = UBig::ONE << (WORD_BITS * words);
    let fixed = candidate.fixed(words, rng);
    let distance = if candidate.integer == 0 { one - UBig::ONE - fixed } else { fixed - one };
    (distance.sqr(), (distance + UBig::ONE).sqr())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words enough to settle any comparison met here.
    const DEEP: usize = 12;

    /// A candidate whose integer part and first `DEEP` words are fixed.
    fn candidate(integer: u32, words: &[u32; DEEP]) -> LazyReal {
        let mut real = LazyReal { integer, fraction: LazyUniform::from_first(words[0]) };
        real.fixed(DEEP, &mut RandomSource::scripted(&words[1..]));
        real
    }

    /// A uniform that shares `known` words with the given binary fraction and continues at random.
    fn uniform_near(
        fraction: &UBig,
        fraction_bits: usize,
        known: usize,
        rng: &mut RandomSource,
    ) -> LazyUniform {
        let word = |position: usize| {
            let shifted = fraction >> (fraction_bits - WORD_BITS * (position + 1));
            u32::try_from(shifted & UBig::from(u32::MAX)).unwrap()
        };
        let words: Vec<u32> = (0..known).map(word).collect();
        let mut uniform = LazyUniform::from_first(words[0]);
        uniform.leading(known, &mut RandomSource::scripted(&words[1..]));
        uniform.leading(DEEP, rng);
        uniform
    }

    #[test]
    fn near_ties_with_the_exponent_are_decided_as_big_integers_decide_them() {
        let rng = &mut RandomSource::insecure_seeded(21);
        for case in 0..2000 {
            let words: [u32; DEEP] = std::array::from_fn(|_| rng.next_u32());
            let mut real = candidate(case % 5, &words);
            let bits = 2 * WORD_BITS * DEEP + 1;
            let (low, high) = exponent_bounds(&mut real, DEEP, rng);
            let whole = &low >> bits;
            let fraction = &low - (&whole << bits);
            let mut challenger = uniform_near(&fraction, bits, 1 + (case as usize) % 5, rng);
            let digits = challenger.leading(DEEP, rng) << (bits - WORD_BITS * DEEP);
            let expected = (&whole << bits) + &digits < low;
            assert_eq!(expected, (&whole << bits) + digits < high, "too few digits to know the answer");
            assert_eq!(is_below_fraction(&mut challenger, &mut real, &whole, rng), expected);
        }
    }

    #[test]
    fn a_first_word_that_ties_with_the_exponent_takes_the_exact_path() {
        // E = 0.0...: t is just below 1/2, and a challenger with the first word 0x7fff_ffff ties with it.
        // Second words: E's is largest, so t is smaller; the challenger's is largest too, so it lies above t: heads.
        let mut real = LazyReal { integer: 0, fraction: LazyUniform::from_first(0) };
        let rng = &mut RandomSource::scripted(&[0x7fff_ffff, 0xffff_ffff, 0xffff_ffff]);
        assert!(accept(&mut real, rng));
        // Challenger's second word zero: it lies below t. The next uniform, above it, ends the run at 2: tails.
        let mut real = LazyReal { integer: 0, fraction: LazyUniform::from_first(0) };
        let rng = &mut RandomSource::scripted(&[0x7fff_ffff, 0, 0, 0x9000_0000]);
        assert!(!accept(&mut real, rng));
    }

    #[test]
    fn a_challenger_that_starts_inside_the_interval_is_not_decided_by_one_word() {
        let mut met = 0;
        let rng = &mut RandomSource::insecure_seeded(23);
        for _ in 0..100 {
            let first = rng.next_u32() >> 1;
            let (low, high) = (u128::from(!first).pow(2), (u128::from(!first) + 1).pow(2));
            let challenger = low.div_ceil(1 << 33);
            if challenger << 33 >= high - (1 << 20) {
                continue;
            }
            met += 1;
            // E continues with zeros, so t is at the upper end; the challenger continues with zeros, so it is at its
            // lower end and lies below t. The next uniform is largest and ends the run at 2: tails.
            let zeros: Vec<u32> = std::iter::once(first).chain([0; DEEP - 1]).collect();
            let mut real = candidate(0, &zeros.try_into().unwrap());
            let script = [challenger as u32, 0, u32::MAX, 77];
            let rng = &mut RandomSource::scripted(&script);
            assert!(!accept(&mut real, rng));
            assert_eq!(rng.next_u32(), 77);
        }
        assert!(met > 20);
    }

    #[test]
    fn an_open_integer_part_takes_the_exact_path() {
        // t passes 1 where E passes 1 + sqrt(2) = 2.414...: choose E's first word as that of sqrt(2) - 1.
        let first = 0x6a09_e667;
        let distance = (1u128 << 32) + u128::from(first);
        assert_ne!(distance.pow(2) >> EXPONENT_BITS, (distance + 1).pow(2) >> EXPONENT_BITS);
        for (second, whole) in [(0u32, 0u32), (u32::MAX, 1)] {
            let mut real = LazyReal { integer: 2, fraction: LazyUniform::from_first(first) };
            // If t >= 1, one coin of probability 1/e comes first (5, 9: tails). Else the challenger 0 lies below t
            // and the next uniform decides (9: tails, at once). Either way all words but E's second are counted.
            let script: &[u32] = if whole == 1 { &[second, 5, 9, 77] } else { &[second, 0, 9, 77] };
            let rng = &mut RandomSource::scripted(script);
            assert!(!accept(&mut real, rng));
            assert_eq!(rng.next_u32(), 77);
            assert_eq!(real.fraction.word(1, rng), second);
        }
    }

    #[test]
    fn fast_and_exact_acceptance_agree() {
        // Both take the challenger after the coins for the whole units, so equal words give equal answers, up to
        // the digits of E drawn by the exact path. Those are known beforehand here.
        let rng = &mut RandomSource::insecure_seeded(22);
        for case in 0..20_000u32 {
            let words: [u32; DEEP] = std::array::from_fn(|_| rng.next_u32());
            let script: [u32; 200] = std::array::from_fn(|_| rng.next_u32());
            let integer = case % 6;
            let fast = accept(&mut candidate(integer, &words), &mut RandomSource::scripted(&script));
            // The exact path compares two words of the challenger only if one leaves the answer open.
            let exact = accept_exactly(&mut candidate(integer, &words), &mut RandomSource::scripted(&script));
            assert_eq!(fast, exact);
        }
    }
}
