//! Whom the promise protects: which data sets are neighbours.

use serde::{Deserialize, Serialize};

/// Two data sets are neighbours when they differ in this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjacency {
    /// One row is replaced; the number of rows is public.
    ReplaceRow,
    /// All rows of one unit (a person, named by the column) are replaced; the number of units is public.
    ReplaceUnit(String),
    /// One user's record is replaced before it leaves the user's device.
    ReplaceUserRecord,
    /// One user's label is replaced before it leaves the user's device; the features are public.
    ReplaceUserLabel,
    /// One row is replaced, and a row describes two people.
    ReplacePair,
}

impl Adjacency {
    /// Whom a promise about these neighbours protects, in words.
    pub fn protected(&self) -> String {
        match self {
            Self::ReplaceRow => "one row".into(),
            Self::ReplaceUnit(column) => format!("one {column}: all rows that carry the same `{column}`"),
            Self::ReplaceUserRecord => "one user's record".into(),
            Self::ReplaceUserLabel => "one user's label".into(),
            Self::ReplacePair => "one row, which describes two people".into(),
        }
    }
}
