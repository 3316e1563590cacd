//! What a pass has added up so far: exact, so that parts of a table can be added up apart and merged in any order.

use serde::{Deserialize, Serialize};

/// One exact sum for each number, as two doubles: the nearest to it, and the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Partial {
    high: Vec<f64>,
    low: Vec<f64>,
    /// What the sums are multiplied by at the end.
    scale: f64,
}

impl Partial {
    /// Sums of two doubles each; they need not be the nearest and the rest.
    pub(super) fn new(pairs: impl IntoIterator<Item = (f64, f64)>, scale: f64) -> Self {
        let (high, low) = pairs.into_iter().map(|(high, low)| two_sum(high, low)).unzip();
        Self { high, low, scale }
    }

    /// Adds the sums over other rows; false, and nothing done, if they are not of the same pass.
    #[must_use]
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        let same = (self.high.len(), self.scale) == (other.high.len(), other.scale);
        if !same || other.low.len() != self.low.len() {
            return false;
        }
        let sums = self.high.iter_mut().zip(&mut self.low).zip(other.high.iter().zip(&other.low));
        for ((high, low), (other_high, other_low)) in sums {
            let (sum, lost) = two_sum(*high, *other_high);
            (*high, *low) = two_sum(sum, *low + other_low + lost);
        }
        true
    }

    /// The sums, each rounded once, and once more where they are scaled.
    pub(crate) fn values(self) -> Vec<f64> {
        if self.scale == 1.0 {
            return self.high;
        }
        self.high.into_iter().map(|sum| sum * self.scale).collect()
    }
}

/// Knuth's TwoSum: the rounded sum and, exactly, what rounding lost.
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}
