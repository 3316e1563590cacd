//! Sums of points: what all columns add up to, at once.
//!
//! # What is added
//! A row's *point* in a block, multiplied by its weight in [0, 1], and zero where its cell is missing:
//! * a number: `(z, c (z^2 - 1/2), h)` with z in [-1, 1] the entry about a middle, c = [`SQUARE`];
//! * a 0/1 column: `(z, h)`;
//! * a category: 1 at its level and 0 at the others, the reference included where the last coordinate is needed.
//!
//! h, the *height*, is there where the number of rows that count is to be released. Where means are taken by group, a row's point lies in
//! its group's coordinates, and is zero in the others. A unit's point is the mean of its rows'.
//!
//! # Guarantee
//! Two points of a unit in one block are at most D apart: D = 2 for numbers and 0/1 columns, `sqrt 2` for categories of two
//! indicators or more (1 for one of one). Points are hulls of the extreme ones, so it is enough to look at rows of weight 1:
//! * Two numbers of one group: [`crate::passes::columns`] has the argument; the last coordinate does not differ.
//! * A number and a missing one: `1 + c^2/4 + h^2 <= 4`, as `|c (z^2 - 1/2)| <= c/2`.
//! * Numbers of two groups: `2 (1 + c^2/4 + h^2) <= 4`. So h is `sqrt(3 - c^2/4)`, or `sqrt(1 - c^2/4)` with groups; without
//!   the square it is `sqrt 3` and 1.
//! * Indicators: `sqrt 2` at most, of one group or of two, or 1 where one is missing.
//!
//! Heights are this pass's own: whoever asks cannot make them larger. Sums are exact: a row's coordinates are rounded to multiples of
//! `2^-24`, and so is a unit's mean of them, which moves each coordinate by at most `2^-24` on each side of a pair.

use super::{Cell, MeanRows};
use crate::passes::by_unit::{ONE, mean_sensitivity};
use crate::passes::columns::SQUARE;
use serde::{Deserialize, Serialize};

/// A block's point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Point {
    /// An entry about a middle, in units of half a clip's length.
    Number { cell: Cell, middle: f64, half: f64 },
    /// The same without its square.
    Binary { cell: Cell, middle: f64, half: f64 },
    /// A category's indicators, from a column on.
    Category { block: usize, column: usize, indicators: usize },
}

/// The sums over units of these points, group after group, in units of `2^-24`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Points {
    pub blocks: Vec<Point>,
    /// Whether there are groups, and how many.
    pub groups: Option<usize>,
    /// Whether the number of rows that count is wanted too.
    pub heights: bool,
}

impl Points {
    /// The last coordinate of a row that counts; `None` where all rows do.
    pub(crate) fn height(&self, point: &Point) -> Option<f64> {
        let reach: f64 = if self.groups.is_some() { 1.0 } else { 3.0 };
        let height = match point {
            Point::Number { .. } => (reach - SQUARE * SQUARE / 4.0).sqrt(),
            Point::Binary { .. } => reach.sqrt(),
            Point::Category { .. } => 1.0,
        };
        self.heights.then_some(height * (1.0 - 1e-9))
    }

    /// How many coordinates a point has.
    pub(crate) fn dimension(&self, point: &Point) -> usize {
        let last = usize::from(self.heights);
        match point {
            Point::Number { .. } => 2 + last,
            Point::Binary { .. } => 1 + last,
            Point::Category { indicators, .. } => indicators + last,
        }
    }

    /// How many coordinates all points of a group have.
    pub(crate) fn width(&self) -> usize {
        self.blocks.iter().map(|point| self.dimension(point)).sum()
    }

    /// How far two points of a unit are apart in a block.
    pub(crate) fn distance(&self, point: &Point) -> f64 {
        match point {
            // The reference is a coordinate too where the last one is needed.
            Point::Category { indicators: 1, .. } if !self.heights => 1.0,
            Point::Category { .. } => 2f64.sqrt(),
            _ => 2.0,
        }
    }

    /// What a replaced unit moves the means over `units` by, each block multiplied by its scale.
    pub(crate) fn sensitivity(&self, scales: &[f64], units: usize) -> f64 {
        let squares = self.blocks.iter().zip(scales).map(|(p, scale)| (scale * self.distance(p)).powi(2));
        // Rounded twice, so each coordinate counts four times.
        let coordinates = 4 * self.groups.unwrap_or(1) * self.width();
        mean_sensitivity(squares.sum::<f64>().sqrt(), coordinates, units, units as f64)
    }

    /// Adds the coordinates of one row, as whole numbers.
    fn add_row(&self, rows: &MeanRows<'_>, row: usize, out: &mut [i64]) {
        let weight = rows.weight(row);
        let mut first = 0;
        for point in &self.blocks {
            let height = self.height(point);
            let mut add = |at: usize, value: f64| out[first + at] += (weight * value * ONE).round() as i64;
            match *point {
                Point::Category { block, column, indicators } if !rows.is_missing(row, block) => {
                    match (rows.level(row, column, indicators), height) {
                        (0, Some(height)) => add(indicators, height),
                        (0, None) => {}
                        (level, _) => add(level - 1, 1.0),
                    }
                }
                Point::Number { cell, middle, half } | Point::Binary { cell, middle, half }
                    if !rows.is_missing(row, cell.block) =>
                {
                    let z = ((rows.number(row, cell) - middle) / half).clamp(-1.0, 1.0);
                    add(0, z);
                    let mut next = 1;
                    if matches!(point, Point::Number { .. }) {
                        add(1, SQUARE * (z * z - 0.5));
                        next = 2;
                    }
                    if let Some(height) = height {
                        add(next, height);
                    }
                }
                _ => {}
            }
            first += self.dimension(point);
        }
    }

    /// The exact sums of all coordinates.
    pub(super) fn sums(&self, rows: &MeanRows<'_>) -> Vec<i64> {
        let (groups, width) = (self.groups.unwrap_or(1), self.width());
        let mut totals = vec![0_i64; groups * width];
        let mut unit = vec![0_i64; groups * width];
        let mut touched: Vec<usize> = Vec::new();
        rows.by_unit(|members| {
            for &member in members {
                let Some(group) = rows.group(member).filter(|&group| group < groups) else { continue };
                let out = if members.len() == 1 { &mut totals } else { &mut unit };
                self.add_row(rows, member, &mut out[group * width..][..width]);
                if members.len() > 1 && !touched.contains(&group) {
                    touched.push(group);
                }
            }
            for group in touched.drain(..) {
                let range = group * width..(group + 1) * width;
                for (total, sum) in totals[range.clone()].iter_mut().zip(&mut unit[range]) {
                    *total += rounded_quotient(std::mem::take(sum), members.len() as i64);
                }
            }
        });
        totals
    }
}

/// The nearest whole number to a quotient of whole numbers, exactly.
fn rounded_quotient(sum: i64, count: i64) -> i64 {
    (2 * sum + count).div_euclid(2 * count)
}
