//! The grid that values and noise are rounded to.
//!
//! The spacing `g` is a power of two, so multiplying and dividing by it is exact. It depends on the sensitivity and
//! the dimension only, which are public.
//!
//! # Guarantee
//!
//! Two real vectors at distance at most `D` have grid vectors at distance at most [`Grid::enlarged_l2`]`(D, d)` (and
//! likewise for l1 and l-infinity), because rounding moves each coordinate by at most `g / 2`. Coordinates beyond
//! `2^100` grid steps are clamped, which never increases a distance. A coordinate that is not a number follows a
//! public rule, it becomes 0: the sensitivity must be that of the vectors after this rule.

use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};

/// The spacing is at most this power of two times the sensitivity, in the norm of the sensitivity.
const FINENESS: i32 = -24;
/// Grid points beyond this power of two grid steps from zero are clamped.
const LARGEST_POINT: i32 = 100;

/// The integer multiples of a power of two.
///
/// ```
/// use dpglm::noise::Grid;
///
/// let grid = Grid::for_l2(1.0, 4)?;
/// assert_eq!(grid.spacing(), 2f64.powi(-25));
/// assert_eq!(grid.value(grid.round(0.75)), 0.75);
/// assert!(grid.enlarged_l2(1.0, 4) <= 1.0 + 2f64.powi(-23));
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    exponent: i32,
}

impl Grid {
    /// A spacing `g` with `g sqrt(dimension) <= 2^-24 sensitivity`, for a vector of known l2-sensitivity.
    pub fn for_l2(sensitivity: f64, dimension: usize) -> Result<Self> {
        // sqrt(d) <= sqrt(2^ceil(log2 d)) <= 2^ceil(ceil(log2 d) / 2).
        Self::below(sensitivity, dimension, |bits| bits.div_ceil(2))
    }

    /// A spacing `g` with `g dimension <= 2^-24 sensitivity`, for a vector of known l1-sensitivity.
    pub fn for_l1(sensitivity: f64, dimension: usize) -> Result<Self> {
        Self::below(sensitivity, dimension, |bits| bits)
    }

    fn below(sensitivity: f64, dimension: usize, bits_lost: impl Fn(u32) -> u32) -> Result<Self> {
        require_positive(
            Parameter::Sensitivity,
            sensitivity,
            "give the public bound on one row's influence",
        )?;
        require_nonzero(Parameter::Dimension, dimension as u64, "give the number of released coordinates")?;
        let dimension_bits = usize::BITS - (dimension - 1).leading_zeros();
        let exponent = floor_log2(sensitivity) + FINENESS - bits_lost(dimension_bits) as i32;
        if exponent < f64::MIN_EXP - 1 {
            return Err(Error::OutOfRange {
                parameter: Parameter::Sensitivity,
                range: "large enough for a grid within the range of normal numbers (about 2^-998 sqrt(dimension))",
                value: format!("{sensitivity:e} in dimension {dimension}"),
                remedy: "rescale the data",
            });
        }
        Ok(Self { exponent })
    }

    /// The distance of neighbouring grid points.
    pub fn spacing(&self) -> f64 {
        power_of_two(self.exponent)
    }

    /// The binary logarithm of the spacing.
    pub(super) fn exponent(&self) -> i32 {
        self.exponent
    }

    /// An l2-sensitivity after rounding to the grid: at least `sensitivity + g sqrt(dimension)`, never below it.
    pub fn enlarged_l2(&self, sensitivity: f64, dimension: usize) -> f64 {
        let root = (dimension as f64).next_up().sqrt().next_up();
        self.enlarged(sensitivity, root)
    }

    /// An l1-sensitivity after rounding to the grid: at least `sensitivity + g dimension`, never below it.
    pub fn enlarged_l1(&self, sensitivity: f64, dimension: usize) -> f64 {
        self.enlarged(sensitivity, (dimension as f64).next_up())
    }

    /// An l-infinity sensitivity after rounding to the grid: at least `sensitivity + g`, never below it.
    pub fn enlarged_linf(&self, sensitivity: f64) -> f64 {
        self.enlarged(sensitivity, 1.0)
    }

    /// `sensitivity + g steps`, rounded up. The product is exact, or infinite, which is upward too.
    fn enlarged(&self, sensitivity: f64, steps: f64) -> f64 {
        (sensitivity + self.spacing() * steps).next_up()
    }

    /// The nearest grid point, in grid units. Not a number becomes 0; beyond `2^100` units it is clamped.
    #[inline]
    pub fn round(&self, value: f64) -> i128 {
        // Scaling by a power of two is exact but for overflow, which the clamp absorbs, and underflow, which rounds
        // to zero as it should.
        let units = value * power_of_two(-self.exponent);
        if units.abs() < power_of_two(51) {
            // Near 1.5 * 2^52 the numbers of f64 are the integers: the sum is the nearest one, the difference exact.
            let shift = 1.5 * power_of_two(52);
            return i128::from((units + shift - shift) as i64);
        }
        let limit = power_of_two(LARGEST_POINT);
        // The cast takes NaN to 0.
        units.clamp(-limit, limit).round_ties_even() as i128
    }

    /// The value of a grid point as `f64`, rounded to nearest and kept finite. To be used on released points only.
    #[inline]
    pub fn value(&self, units: i128) -> f64 {
        let units = i64::try_from(units).map_or_else(|_| units as f64, |small| small as f64);
        (units * self.spacing()).clamp(f64::MIN, f64::MAX)
    }
}

/// The largest `e` with `2^e <= value`, for a positive finite value.
fn floor_log2(value: f64) -> i32 {
    let (mantissa, exponent) = decompose(value);
    exponent + mantissa.ilog2() as i32
}

/// Writes a finite `|value|` as `mantissa * 2^exponent` exactly, mantissa below `2^53`.
pub(super) fn decompose(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let stored = bits & ((1 << 52) - 1);
    if biased == 0 { (stored, -1074) } else { (stored | 1 << 52, biased - 1075) }
}

/// `2^exponent` for an exponent of a normal number. A grid's exponent lies in `-1022..1000`, and so does its negative
/// but for `1022`.
#[inline]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_is_the_promised_power_of_two() {
        for (sensitivity, dimension, exponent) in
            [(1.0, 1, -24), (1.0, 2, -25), (1.0, 4, -25), (1.0, 5, -26), (1.9, 16, -26), (0.5, 17, -28)]
        {
            assert_eq!(Grid::for_l2(sensitivity, dimension).unwrap().spacing(), 2f64.powi(exponent));
        }
        for (dimension, exponent) in [(1, -24), (2, -25), (3, -26), (4, -26), (5, -27), (1 << 20, -44)] {
            assert_eq!(Grid::for_l1(1.0, dimension).unwrap().spacing(), 2f64.powi(exponent));
        }
    }

    #[test]
    fn rounding_goes_to_the_nearest_point() {
        let grid = Grid::for_l2(2f64.powi(24), 1).unwrap();
        let points = [
            (0.4, 0),
            (0.6, 1),
            (-0.4, 0),
            (-0.6, -1),
            (2.5, 2),
            (3.5, 4),
            (1e15 + 0.5, 1_000_000_000_000_000),
        ];
        for (value, point) in points {
            assert_eq!(grid.round(value), point);
        }
        // Either side of the switch between the two ways of rounding.
        let switch = 2f64.powi(51);
        for value in [switch - 0.75, switch - 0.5, switch - 0.25, switch, switch + 0.5, 2.0 * switch + 1.0] {
            assert_eq!(grid.round(value), value.round_ties_even() as i128);
            assert_eq!(grid.round(-value), -(value.round_ties_even() as i128));
        }
    }

    #[test]
    fn bad_cells_and_huge_values_follow_the_public_rule() {
        for sensitivity in [1e-290, 1.0, f64::MAX] {
            let grid = Grid::for_l2(sensitivity, 1).unwrap();
            assert_eq!(grid.round(f64::NAN), 0);
            assert_eq!(grid.round(f64::INFINITY), 1 << 100);
            assert_eq!(grid.round(f64::NEG_INFINITY), -(1 << 100));
            assert!(grid.value(1 << 101).is_finite() && grid.value(-(1 << 101)).is_finite());
        }
    }

    #[test]
    fn values_beyond_63_bits_convert_alike() {
        let grid = Grid::for_l2(1.0, 1).unwrap();
        for units in [i128::from(i64::MAX), i128::from(i64::MAX) + 1, -(1 << 80) - 12345, 1 << 100] {
            assert_eq!(grid.value(units), units as f64 * 2f64.powi(-24));
        }
    }

    #[test]
    fn wrong_parameters_are_errors() {
        for sensitivity in [0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324, 1e-305] {
            assert!(Grid::for_l2(sensitivity, 3).is_err());
            assert!(Grid::for_l1(sensitivity, 3).is_err());
        }
        assert!(Grid::for_l2(1.0, 0).is_err() && Grid::for_l1(1.0, 0).is_err());
        assert!(Grid::for_l1(1.0, usize::MAX).is_ok());
    }
}
