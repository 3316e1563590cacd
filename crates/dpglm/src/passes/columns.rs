//! The mean and the mean square of each column, entries clamped to [-1, 1].
//!
//! # Guarantee
//! One unit's part of column j is `(z, c z^2)`, c = [`SQUARE`], or a mean of such points over its rows. Two such points of
//! entries z, z' are `delta sqrt(1 + c^2 sigma^2)` apart with `delta = |z - z'|`, `sigma = |z + z'| <= 2 - delta`. For
//! c = 1.6 that is at most 2 for every delta in [0, 2] (checked below), and points of the hull are no farther apart. So d
//! columns move by at most `2 sqrt(d)` in all, over the count. Without means, a square moves by at most c.
//!
//! A row's numbers are at most 1 in size and rounded to a grid, of which the sums are exact; the two last roundings, of the sum and of
//! its quotient, are relative to at most 1 per unit.

use crate::data::Shape;
use crate::kernels::Grid;

/// The factor of the squares in the release: it costs nothing.
pub(crate) const SQUARE: f64 = 1.6;

/// What a replaced unit moves `columns` pairs (or squares alone) by.
pub(crate) fn sensitivity(columns: usize, with_means: bool, shape: Shape, count: f64) -> f64 {
    let each = if with_means { 2.0 } else { SQUARE };
    let root = (columns as f64).sqrt();
    let rounding = shape.rows_per_unit() * Grid::rounding(false) + 8.0 * f64::EPSILON * shape.units as f64;
    each * root / count * (1.0 + 1e-9) + 2.0 * rounding * (1.0 + SQUARE) * root / count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No pair of entries is farther apart than claimed, and some are as far.
    #[test]
    fn pairs_of_mean_and_square_are_at_most_two_apart() {
        let steps = 2_000;
        let entry = |k: i32| f64::from(k) / f64::from(steps);
        let mut largest = 0.0_f64;
        for i in -steps..=steps {
            for j in (-steps..=i).step_by(7) {
                let (z, other) = (entry(i), entry(j));
                let square = SQUARE * (z * z - other * other);
                largest = largest.max(((z - other).powi(2) + square * square).sqrt());
            }
        }
        assert!((1.9..=2.0).contains(&largest), "{largest}");
        // A larger factor would break the claim.
        let beyond = |c: f64| {
            (0..=2000).map(|k| f64::from(k) / 1000.0).any(|d| d * d * (1.0 + (c * (2.0 - d)).powi(2)) > 4.0)
        };
        assert!(!beyond(SQUARE) && beyond(1.8));
    }
}
