//! Rounding a lazily known real multiple of the noise scale to the grid, exactly.
//!
//! # Algorithm
//!
//! The quotient of scale and spacing is `m 2^s` with an integer `m`. With the real known to lie in
//! `[K, K + 1) 2^-b`, its multiple lies in `[m K, m (K + 1)) 2^(s - b)`. If both ends round to the same integer, that
//! integer is the answer; if not, more digits are drawn. Numbers half-way between two grid points have probability
//! zero, so it ends with probability one.

use dashu_int::UBig;

use super::grid::{Grid, decompose};
use super::lazy::{LazyReal, WORD_BITS};
use super::source::RandomSource;
use crate::error::{Error, Parameter, Result, require_positive};

/// Largest binary logarithm of scale over spacing.
const LARGEST_RATIO: i32 = 60;

/// A noise scale in grid units: `mantissa * 2^exponent`, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GridScale {
    /// In `2^52 .. 2^53`.
    mantissa: u64,
    exponent: i32,
}

impl GridScale {
    /// Refuses a scale that is no positive number, or so large that 64 digits of the deviate do not nearly always
    /// settle its rounding.
    pub(super) fn new(parameter: Parameter, scale: f64, grid: &Grid) -> Result<Self> {
        require_positive(parameter, scale, "calibrate the noise to a budget first")?;
        let (mantissa, exponent) = decompose(scale);
        let unused_bits = mantissa.leading_zeros() as i32 - 11;
        let ratio =
            Self { mantissa: mantissa << unused_bits, exponent: exponent - unused_bits - grid.exponent() };
        let smallest_excess = LARGEST_RATIO - 52;
        if ratio.exponent > smallest_excess || (ratio.exponent == smallest_excess && ratio.mantissa > 1 << 52)
        {
            return Err(Error::OutOfRange {
                parameter,
                range: "at most 2^60 times the grid spacing (about 2^36 times the sensitivity)",
                value: format!("{scale:e} on a grid of spacing {:e}", grid.spacing()),
                remedy: "raise epsilon, or choose the grid for the sensitivity that the noise protects",
            });
        }
        Ok(ratio)
    }

    /// `scale * real / g` with a fair sign, rounded to the nearest integer.
    #[inline]
    pub(super) fn signed_round(&self, real: &mut LazyReal, rng: &mut RandomSource) -> i128 {
        let magnitude = self.round(real, rng);
        if rng.coin() { magnitude } else { -magnitude }
    }

    /// `scale * real / g`, rounded to the nearest integer.
    #[inline]
    pub(super) fn round(&self, real: &mut LazyReal, rng: &mut RandomSource) -> i128 {
        let shift = 64 - self.exponent;
        // Below 2^10 the products stay below 2^53 * 2^74 = 2^127, so no sum overflows.
        if real.integer < 1 << 10 {
            if shift >= 128 {
                return 0;
            }
            let low = u128::from(self.mantissa) * real.fixed_64(rng);
            let high = low + u128::from(self.mantissa);
            let half = 1u128 << (shift - 1);
            let rounded = (low + half) >> shift;
            // `high` is excluded from the interval: what lies just below it decides.
            if rounded == (high - 1 + half) >> shift {
                return rounded as i128;
            }
        }
        self.round_exactly(real, rng)
    }

    #[cold]
    #[inline(never)]
    fn round_exactly(&self, real: &mut LazyReal, rng: &mut RandomSource) -> i128 {
        let mantissa = UBig::from(self.mantissa);
        let mut words = 2;
        loop {
            // Positive: the exponent is at most 8.
            let shift = ((WORD_BITS * words) as i64 - i64::from(self.exponent)) as usize;
            let half = UBig::ONE << (shift - 1);
            let low = &mantissa * real.fixed(words, rng) + half;
            let high = &low + &mantissa - UBig::ONE;
            let rounded = low >> shift;
            if rounded == high >> shift {
                // Below 2^60 * 2^32 + 1: the integer part of a deviate is a u32.
                return i128::try_from(rounded).unwrap_or(i128::MAX);
            }
            words += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lazy::LazyUniform;
    use super::*;

    const DEEP: usize = 12;

    /// A real with the given integer part and leading words, continued at random to `DEEP` words.
    fn real(integer: u32, words: &[u32], rng: &mut RandomSource) -> LazyReal {
        let mut real = LazyReal { integer, fraction: LazyUniform::from_first(words[0]) };
        real.fixed(words.len(), &mut RandomSource::scripted(&words[1..]));
        real.fixed(DEEP, rng);
        real
    }

    /// `scale * real / g` to the nearest integer, from `DEEP` words at once.
    fn nearest(scale: f64, grid: &Grid, real: &mut LazyReal, rng: &mut RandomSource) -> i128 {
        let (mantissa, exponent) = decompose(scale);
        let shift = (WORD_BITS * DEEP) as i64 - i64::from(exponent - grid.exponent());
        let doubled = (UBig::from(mantissa) * real.fixed(DEEP, rng)) << 1;
        let floor = doubled >> usize::try_from(shift).unwrap();
        i128::try_from((floor + UBig::ONE) >> 1).unwrap()
    }

    #[test]
    fn roundings_near_a_half_are_decided_as_big_integers_decide_them() {
        let rng = &mut RandomSource::insecure_seeded(31);
        let grid = Grid::for_l2(1.0, 1).unwrap();
        let mut ambiguous = 0;
        for case in 0..3000u32 {
            let scale = f64::from(rng.next_u32() | 1) * 2f64.powi((case % 60) as i32 - 56);
            let ratio = GridScale::new(Parameter::Scale, scale, &grid).unwrap();
            // The real nearest to a random half-integer: (k + 1/2) / ratio, to 2..5 words.
            let words = 2 + (case as usize) % 4;
            let target = UBig::from(1 + 2 * rng.below(1 << (1 + case % 40)));
            let shift = WORD_BITS as i64 * words as i64 - i64::from(ratio.exponent) - 1;
            let fixed = (target << usize::try_from(shift).unwrap()) / UBig::from(ratio.mantissa);
            let Ok(integer) = u32::try_from(&fixed >> (WORD_BITS * words)) else { continue };
            let digits: Vec<u32> = (0..words)
                .map(|word| &fixed >> (WORD_BITS * (words - 1 - word)))
                .map(|digits| u32::try_from(digits & UBig::from(u32::MAX)).unwrap())
                .collect();
            let mut real = real(integer, &digits, rng);
            let expected = nearest(scale, &grid, &mut real, rng);
            assert_eq!(ratio.round(&mut real, rng), expected);
            assert_eq!(ratio.round_exactly(&mut real, rng), expected);
            let low = UBig::from(ratio.mantissa) * real.fixed(2, rng);
            let ends = [low.clone(), low + UBig::from(ratio.mantissa - 1)];
            let shift = usize::try_from(63 - ratio.exponent).unwrap();
            let [low, high] = ends.map(|end| ((end >> shift) + UBig::ONE) >> 1);
            ambiguous += u32::from(low != high);
        }
        assert!(ambiguous > 2000, "the cases miss the ambiguous path");
    }

    #[test]
    fn an_ambiguous_rounding_draws_further_words() {
        // Ratio 2^59: 64 digits leave 1/2 open when they read 0...0 10000: digits 60 to 64 are 1, 0, 0, 0, 0.
        let grid = Grid::for_l2(2f64.powi(24), 1).unwrap();
        assert_eq!(grid.spacing(), 1.0);
        let ratio = GridScale::new(Parameter::Scale, 1.5 * 2f64.powi(58), &grid).unwrap();
        // 1.5 * 2^58 * K / 2^64 = 3 K / 2^7 = 1/2 between K = 21 and K = 22: the third word decides.
        // It passes 1/2 at the fraction 1/3 of the 64-digit step, 0x5555....
        for (third, expected) in [(0x5555_5554u32, 0), (0x5555_5556, 1)] {
            let mut real = LazyReal { integer: 0, fraction: LazyUniform::from_first(0) };
            let rng = &mut RandomSource::scripted(&[21, third, 99]);
            assert_eq!(ratio.round(&mut real, rng), expected);
            assert_eq!(rng.next_u32(), 99);
        }
        let mut real = LazyReal { integer: 0, fraction: LazyUniform::from_first(0) };
        let rng = &mut RandomSource::scripted(&[21, 0x5555_5555, 0x5555_5555, 0xffff_ffff, 99]);
        assert_eq!(ratio.round(&mut real, rng), 1);
        assert_eq!(rng.next_u32(), 99);
    }

    #[test]
    fn fast_and_exact_rounding_agree_for_scales_of_all_sizes() {
        let rng = &mut RandomSource::insecure_seeded(32);
        let grid = Grid::for_l2(1.0, 1).unwrap();
        let scales = [5e-324, 1e-300, 1e-30, 2f64.powi(-24), 3.0, 1e5, 1.9 * 2f64.powi(35), 2f64.powi(36)];
        for scale in scales {
            let ratio = GridScale::new(Parameter::Scale, scale, &grid).unwrap();
            for integer in [0, 1, 40, 1023, 1024, u32::MAX] {
                let first = rng.next_u32();
                let mut real = real(integer, &[first], rng);
                let expected = nearest(scale, &grid, &mut real, rng);
                assert_eq!(ratio.round(&mut real, rng), expected);
                assert_eq!(ratio.round_exactly(&mut real, rng), expected);
            }
        }
    }

    #[test]
    fn scales_beyond_the_limit_are_refused() {
        let grid = Grid::for_l2(1.0, 1).unwrap();
        assert!(GridScale::new(Parameter::Sigma, 2f64.powi(36), &grid).is_ok());
        for scale in [2f64.powi(36).next_up(), f64::MAX, f64::INFINITY, f64::NAN, 0.0, -1.0] {
            let message = GridScale::new(Parameter::Sigma, scale, &grid).unwrap_err().to_string();
            assert!(message.starts_with("sigma must be"), "{message}");
        }
    }
}
