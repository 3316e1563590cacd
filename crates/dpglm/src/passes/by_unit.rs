//! One number per unit: means, largest values and sums over the rows of a unit that count.
//!
//! # Guarantee
//! A replaced unit changes its own number only. Means of numbers in [-1, 1] are rounded to multiples of `2^-24` and added as
//! whole numbers: the sum has no error, and the rounding moves a vector of d such means by at most `2^-25 sqrt(d)` on each
//! side of a pair.

use crate::data::Dataset;
use std::borrow::Cow;

/// One, as a whole number; 2^36 of them fit a 64-bit sum.
pub(super) const ONE: f64 = 16_777_216.0;

/// A data set seen unit by unit.
pub(super) struct ByUnit<'a> {
    data: Cow<'a, Dataset>,
    /// How many rows of each unit count, where units may have several.
    rows: Option<Vec<f64>>,
}

impl<'a> ByUnit<'a> {
    pub(super) fn new(data: Cow<'a, Dataset>) -> Self {
        let rows = data.unit_name().map(|_| data.sum_by_unit(|row| data.weight(row)));
        Self { data, rows }
    }

    pub(super) fn data(&self) -> &Dataset {
        &self.data
    }

    /// What a row counts in its unit's mean: the shares of a unit's rows sum to at most 1 but for rounding.
    pub(super) fn share(&self, row: usize) -> f64 {
        match &self.rows {
            None => self.data.weight(row),
            Some(rows) => self.data.weight(row) / rows[self.data.unit_of(row)].max(1.0),
        }
    }

    /// The mean over each unit's rows that count; zero for a unit without any.
    pub(super) fn means(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        match &self.rows {
            None => self.rows_of_weight_one(value),
            Some(_) => self.data.sum_by_unit(|row| self.share(row) * value(row)),
        }
    }

    /// The largest over each unit's rows that count, and at least zero.
    pub(super) fn largest(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        if self.rows.is_none() {
            return self.rows_of_weight_one(|row| value(row).max(0.0));
        }
        let mut largest = vec![0.0_f64; self.data.units()];
        for row in (0..self.data.design().rows()).filter(|&row| self.data.weight(row) > 0.0) {
            let unit = &mut largest[self.data.unit_of(row)];
            *unit = unit.max(value(row));
        }
        largest
    }

    /// The sum over each unit's rows that count.
    pub(super) fn sums(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        match &self.rows {
            None => self.rows_of_weight_one(value),
            Some(_) => self.data.sum_by_unit(|row| self.data.weight(row) * value(row)),
        }
    }

    /// 1 for a unit with a row that counts, 0 for the others.
    pub(super) fn counted(&self) -> Vec<f64> {
        match &self.rows {
            None => self.rows_of_weight_one(|_| 1.0),
            Some(rows) => rows.iter().map(|rows| rows.min(1.0)).collect(),
        }
    }

    fn rows_of_weight_one(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let value = |row: usize| if self.data.weight(row) > 0.0 { value(row) } else { 0.0 };
        (0..self.data.design().rows()).map(value).collect()
    }
}

/// The sum of numbers in [-1, 1] (others count as the nearest), each rounded to a multiple of `2^-24`: in units of that.
pub(super) fn exact_sum(values: &[f64]) -> i64 {
    values.iter().map(|v| (v.clamp(-1.0, 1.0) * ONE).round() as i64).sum()
}

/// Such a sum over a count.
pub(crate) fn exact_mean(sum: i64, count: f64) -> f64 {
    sum as f64 / (ONE * count)
}

/// What a replaced unit moves a vector of `dimension` such means by, given that its own numbers move by at most `distance`.
/// The quotient rounds too: the sum is at most `units`.
pub(crate) fn mean_sensitivity(distance: f64, dimension: usize, units: usize, count: f64) -> f64 {
    let root = (dimension as f64).sqrt();
    (distance + root * 2f64.powi(-24)) / count * (1.0 + 1e-9)
        + 8.0 * f64::EPSILON * root * units as f64 / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;

    #[test]
    fn units_see_only_their_rows_that_count() {
        let design = Design::from_f64(5, 1, vec![0.0; 5]).unwrap();
        let data = Dataset::new(design, vec![0.0; 5]).unwrap();
        let data = data.with_weights(vec![1.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        let values = [3.0, -1.0, 9.0, 9.0, 0.5];
        let rows = ByUnit::new(Cow::Borrowed(&data));
        assert_eq!(rows.means(|row| values[row]), [3.0, -1.0, 0.0, 0.0, 0.5]);
        assert_eq!(rows.counted(), [1.0, 1.0, 0.0, 0.0, 1.0]);
        let data = data.with_units(vec![0, 0, 0, 1, 2], 4, "person").unwrap();
        let units = ByUnit::new(Cow::Borrowed(&data));
        assert_eq!(units.means(|row| values[row]), [1.0, 0.0, 0.5, 0.0]);
        assert_eq!(units.largest(|row| values[row]), [3.0, 0.0, 0.5, 0.0]);
        assert_eq!(units.sums(|row| values[row]), [2.0, 0.0, 0.5, 0.0]);
        assert_eq!(units.counted(), [1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn means_are_exact_on_the_grid() {
        assert_eq!(exact_mean(exact_sum(&[0.5, -0.25, 9.0, f64::NEG_INFINITY]), 4.0), 0.0625);
    }
}
