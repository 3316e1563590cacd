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
    Tally { tally: Tally, largest: f64 },
    /// Sums of the columns and of their squares, and whether the first column is constant 1.
    Columns { sums: Sums, constant: bool },
    /// Sums of products.
    Sums(Sums),
    /// Sums of scores, and of slopes as a whole number.
    Scores { gradient: Sums, trace: i64 },
}

impl Partial {
    /// Adds the answer over other rows to the same pass.
    #[cfg_attr(not(test), expect(dead_code, reason = "tables in one piece need no merging"))]
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Whole(sums), Self::Whole(others)) if sums.len() == others.len() => {
                sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
            }
            (Self::Tally { tally, largest }, Self::Tally { tally: other, largest: others }) => {
                tally.merge(other);
                *largest = largest.max(*others);
            }
            (Self::Columns { sums, constant }, Self::Columns { sums: other, constant: others }) => {
                sums.merge(other);
                *constant &= others;
            }
            (Self::Sums(sums), Self::Sums(other)) => sums.merge(other),
            (Self::Scores { gradient, trace }, Self::Scores { gradient: other, trace: others }) => {
                gradient.merge(other);
                *trace += others;
            }
            _ => return Err(another()),
        }
        Ok(())
    }
}

/// Rows answered another pass than they were asked.
pub(super) fn another() -> Error {
    Error::Conflict("the rows answered another question than was asked: nothing is released".into())
}
