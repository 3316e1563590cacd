//! Sums of a unit's numbers that do not depend on the order of its rows, to the last bit.
//!
//! Rows of a person may stand in any order, in a file or on a cluster, and the result must be the same. So numbers are added as
//! whole multiples of a grid that follows from the largest of them: [`DEPTH`] bits below its leading one. Whole numbers add up exactly.
//!
//! Each number is cut to the grid, towards zero, which loses less than `2^(1 - DEPTH)` times the largest: with `2^36` rows less than `2^-53` times
//! it. The sum is rounded once. So the result is within `2^-52` of the sum of the sizes.

/// Bits of a grid below the largest number; 36 more hold `2^36` of them.
const DEPTH: i32 = 90;

/// Numbers that are to be added, of which the largest is known first.
#[derive(Clone, Copy)]
pub(crate) struct UnitSum {
    /// All numbers are below 2 to this in size; [`Self::ENDLESS`] if one is not finite.
    top: i32,
    total: i128,
    /// The sum of those that are not finite.
    endless: f64,
}

impl UnitSum {
    const ENDLESS: i32 = i32::MAX;

    /// Of no numbers so far.
    pub(crate) fn new() -> Self {
        Self { top: i32::MIN, total: 0, endless: 0.0 }
    }

    /// Makes room for a number of this size. All that are to be added must be seen before the first is.
    #[inline]
    pub(crate) fn see(&mut self, x: f64) {
        self.top = self.top.max(if x.is_finite() { exponent(x) } else { Self::ENDLESS });
    }

    /// Adds a number that was seen.
    #[inline]
    pub(crate) fn add(&mut self, x: f64) {
        if self.top != Self::ENDLESS {
            self.total += on_grid(x, self.top);
        } else if !x.is_finite() {
            self.endless += x;
        }
    }

    /// The sum.
    pub(crate) fn value(&self) -> f64 {
        if self.top == Self::ENDLESS {
            return self.endless;
        }
        // In two steps, as the power alone may be beyond the range of doubles.
        let half = self.top / 2;
        self.total as f64 * 2f64.powi(-DEPTH) * 2f64.powi(half) * 2f64.powi(self.top - half)
    }
}

/// The sum of a few numbers.
pub(crate) fn sum(values: &[f64]) -> f64 {
    // Two numbers add up to the same either way.
    if let [] | [_] | [_, _] = values {
        return values.iter().sum();
    }
    let mut sum = UnitSum::new();
    values.iter().for_each(|&x| sum.see(x));
    values.iter().for_each(|&x| sum.add(x));
    sum.value()
}

/// A finite number is below 2 to this in size.
#[inline]
fn exponent(x: f64) -> i32 {
    biased(x) - 1022
}

#[inline]
fn biased(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32
}

/// A number below `2^top` in size in units of `2^(top - DEPTH)`, cut towards zero.
#[inline]
fn on_grid(x: f64, top: i32) -> i128 {
    let fraction = x.to_bits() & ((1 << 52) - 1);
    let (exponent, whole) = match biased(x) {
        0 => (1, fraction),
        exponent => (exponent, fraction | (1 << 52)),
    };
    // The number is `whole * 2^(exponent - 1075)`.
    let shift = exponent - 1075 - top + DEPTH;
    let size = match shift {
        0.. => i128::from(whole) << shift,
        -63..0 => i128::from(whole >> -shift),
        _ => 0,
    };
    if x.is_sign_negative() { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::RandomSource;

    #[test]
    fn the_order_does_not_matter_and_the_sum_is_right() {
        let mut rng = RandomSource::insecure_seeded(5);
        let mut differed = false;
        for case in 0..200 {
            let count = 3 + rng.below(60) as usize;
            let draw = |rng: &mut RandomSource| {
                let x = rng.below(1 << 53) as f64 / f64::from(1 << 20) - 4e9;
                x * 2f64.powi(rng.below(if case % 2 == 0 { 8 } else { 70 }) as i32 - 35)
            };
            let mut values: Vec<f64> = (0..count).map(|_| draw(&mut rng)).collect();
            let found = sum(&values);
            let (plain, sizes): (f64, f64) = (values.iter().sum(), values.iter().map(|x| x.abs()).sum());
            assert!((found - plain).abs() <= count as f64 * f64::EPSILON * sizes);
            for _ in 0..5 {
                (1..count).rev().for_each(|i| values.swap(i, rng.below(i as u64 + 1) as usize));
                assert_eq!(sum(&values).to_bits(), found.to_bits());
                differed |= values.iter().sum::<f64>().to_bits() != plain.to_bits();
            }
        }
        // Plain sums depend on it.
        assert!(differed);
    }

    #[test]
    fn the_ends_of_the_range_add_up() {
        let least = f64::from_bits(1);
        assert_eq!(sum(&[least; 5]), 5.0 * least);
        assert_eq!(sum(&[f64::MIN_POSITIVE; 3]), 3.0 * f64::MIN_POSITIVE);
        assert_eq!(sum(&[f64::MAX / 4.0; 4]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, -f64::MAX, 1.0]), 0.0);
        assert_eq!(sum(&[1.0, f64::INFINITY, 2.0]), f64::INFINITY);
        assert!(sum(&[1.0, f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[1.0, f64::NAN, 2.0]).is_nan());
        assert_eq!(sum(&[0.0, -0.0, 0.0]), 0.0);
        assert_eq!(sum(&[1e15, 1.0, -1e15]), 1.0);
        // Cut at 90 bits below the largest.
        assert_eq!(sum(&[1e15, 2f64.powi(-38), -1e15]), 2f64.powi(-38));
        assert_eq!(sum(&[1e15, 2f64.powi(-42), -1e15]), 0.0);
    }
}
