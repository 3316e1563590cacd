//! Sums of the products of all pairs of columns.
//!
//! # What is added
//! An entry counts as `z`, its distance from a centre of its group in a unit, clamped to [-1, 1]; a missing one as 0. The sums over rows of
//! `z_i z_j`, i < j, row after row of the matrix; where marks are wanted, then [`HEIGHT`] for each row that has both.
//!
//! # Guarantee
//! With p columns, the products of two rows z and w of one group differ by A = z z' - w w' above the diagonal, whose squares add up to at
//! most `|A|^2 / 2 = (|z|^4 + |w|^4 - 2 (z w)^2) / 2 <= p^2`. Rows of two groups: `p (p - 1)`, as each has at most `p (p - 1) / 2`. Marks of
//! pairs differ by at most `h` each in one group, and lie in other coordinates in two: at most `h^2 p (p - 1) / 2`, or twice that.
//! So the squared distance is the larger of `p^2 + h^2 p (p - 1) / 2` and `(1 + h^2) p (p - 1)`. Sums are exact: products are rounded to
//! multiples of `2^-24`.

use super::{Cell, MeanRows};
use crate::passes::by_unit::ONE;
use serde::{Deserialize, Serialize};

/// What a row that has both columns of a pair counts.
pub(crate) const HEIGHT: f64 = 0.5;

/// The sums of products of these columns, group after group, in units of `2^-24`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Products {
    pub columns: Vec<Cell>,
    /// Of each group, the centre and the unit of each column.
    pub scales: Vec<Vec<(f64, f64)>>,
    /// Whether pairs of which a row has both are counted too.
    pub marks: bool,
}

impl Products {
    /// How many pairs there are.
    pub(crate) fn pairs(&self) -> usize {
        let p = self.columns.len();
        p * p.saturating_sub(1) / 2
    }

    /// How many coordinates a group has.
    pub(crate) fn width(&self) -> usize {
        if self.marks { 2 * self.pairs() } else { self.pairs() }
    }

    /// What a replaced row moves all sums by.
    pub(crate) fn distance(&self) -> f64 {
        let p = self.columns.len() as f64;
        let off = 2.0 * self.pairs() as f64;
        let marks = if self.marks { HEIGHT * HEIGHT } else { 0.0 };
        (p * p + marks * off / 2.0).max((1.0 + marks) * off).sqrt()
    }

    pub(super) fn sums(&self, rows: &MeanRows<'_>) -> Vec<i64> {
        let (p, pairs, width) = (self.columns.len(), self.pairs(), self.width());
        let mut sums = vec![0_i64; self.scales.len() * width];
        let mut z = vec![0.0; p];
        let mut here = vec![false; p];
        for row in 0..rows.design().rows() {
            let Some((group, scales)) = rows.group(row).and_then(|g| Some((g, self.scales.get(g)?))) else {
                continue;
            };
            for (k, (&cell, (centre, unit))) in self.columns.iter().zip(scales).enumerate() {
                here[k] = rows.counts(row, cell.block);
                let scaled = ((rows.number(row, cell) - centre) / unit).clamp(-1.0, 1.0);
                z[k] = if here[k] { scaled } else { 0.0 };
            }
            let sums = &mut sums[group * width..][..width];
            let mut at = 0;
            for i in 0..p {
                for j in i + 1..p {
                    sums[at] += (z[i] * z[j] * ONE).round() as i64;
                    if self.marks && here[i] && here[j] {
                        sums[pairs + at] += (HEIGHT * ONE) as i64;
                    }
                    at += 1;
                }
            }
        }
        sums
    }
}
