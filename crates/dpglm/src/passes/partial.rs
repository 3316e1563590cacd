//! What a pass adds up to, over some of the rows.

use crate::error::{Error, Result};
use crate::kernels::Partial as Sums;
use crate::mechanisms::Tally;
use serde::{Deserialize, Serialize};

/// The answer to a pass over some rows: exact, so that those over other rows can be added in any order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Partial {
    /// Sums of whole numbers.
    Whole(Vec<i64>),
    /// Counts by candidate, and the largest number.
    Tally {
        tally: Tally,
        #[serde(with = "perhaps_none")]
        largest: f64,
    },
    /// Sums of the columns and of their squares, and whether the first column is constant 1.
    Columns { sums: Sums, constant: bool },
    /// Sums of products.
    Sums(Sums),
    /// Sums of scores, and of slopes as a whole number.
    Scores { gradient: Sums, trace: i64 },
}

impl Partial {
    /// Adds the answer over other rows to the same pass.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        let fits = match (self, other) {
            (Self::Whole(sums), Self::Whole(others)) if sums.len() == others.len() => {
                sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.saturating_add(*other));
                true
            }
            (Self::Tally { tally, largest }, Self::Tally { tally: other, largest: others }) => {
                *largest = largest.max(*others);
                tally.merge(other)
            }
            (Self::Columns { sums, constant }, Self::Columns { sums: other, constant: others }) => {
                *constant &= others;
                sums.merge(other)
            }
            (Self::Sums(sums), Self::Sums(other)) => sums.merge(other),
            (Self::Scores { gradient, trace }, Self::Scores { gradient: other, trace: others }) => {
                *trace = trace.saturating_add(*others);
                gradient.merge(other)
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(another()) }
    }
}

/// The largest of no numbers is below all of them, which JSON cannot say of a number.
mod perhaps_none {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(largest: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*largest).filter(|largest| largest.is_finite()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
    }
}

/// Rows answered another pass than they were asked.
pub(super) fn another() -> Error {
    Error::Conflict("the rows answered another question than was asked: nothing is released".into())
}
