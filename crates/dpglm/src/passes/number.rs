//! One number per row, and what becomes of a unit's.

use super::pass::At;
use super::row_map::RowMap;
use crate::families::Likelihood;
use serde::{Deserialize, Serialize};

/// A number of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Number {
    /// This, if the unit has a row that counts.
    Counted(f64),
    /// The response's distance from a centre in a unit, as said.
    Response { likelihood: Likelihood, centre: f64, unit: f64, form: Form },
    /// Whether the response is of this class.
    Class { likelihood: Likelihood, class: usize },
    /// The exposure in units of a level, at most 1.
    Exposure { level: f64 },
    /// The sampling weight in units of a level, at most 1.
    SampleWeight { level: f64 },
    /// The row's squared distance from its mean in units of its variance, weighted, as a share of a level, at most 1.
    Pearson { at: At, level: f64 },
    /// An entry as stored, or the response as given where no column is named, clamped.
    Entry { column: Option<usize>, low: f64, high: f64 },
    /// How far that lies above a centre, or below it.
    Side { column: Option<usize>, low: f64, high: f64, centre: f64, upper: bool },
    /// The row's norm in these coordinates.
    Norm { map: RowMap },
    /// A bound on the norm of the row's score.
    ScoreSize { map: RowMap, at: At },
    /// The slope of the residual times the squared norm.
    SlopeTrace { map: RowMap, at: At },
    /// The trace of the slope of the score that is shortened to `far`, times the squared norm.
    FarTrace { map: RowMap, at: At, far: f64 },
}

/// What of a distance is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Form {
    Signed,
    Absolute,
    /// Clamped to [-1, 1].
    Clipped,
    /// The square of that.
    ClippedSquare,
}

impl Number {
    /// Whether rows of so many columns have it.
    pub(super) fn is_for(&self, columns: usize) -> bool {
        match self {
            Self::Counted(_)
            | Self::Response { .. }
            | Self::Class { .. }
            | Self::Exposure { .. }
            | Self::SampleWeight { .. } => true,
            Self::Entry { column, low, high } | Self::Side { column, low, high, .. } => {
                column.is_none_or(|column| column < columns) && low <= high
            }
            Self::Norm { map } => map.is_for(columns),
            Self::Pearson { at, .. } => at.view.outputs() == 1 && at.is_for(columns),
            Self::ScoreSize { map, at } | Self::SlopeTrace { map, at } | Self::FarTrace { map, at, .. } => {
                map.is_for(columns) && at.is_for(columns)
            }
        }
    }

    /// The response itself.
    pub(crate) fn response(likelihood: Likelihood) -> Self {
        Self::Response { likelihood, centre: 0.0, unit: 1.0, form: Form::Signed }
    }
}

/// What of a unit's rows that count makes its number. Of a unit without such rows it is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OfUnit {
    Mean,
    /// The largest, and at least zero.
    Largest,
    Sum,
}

/// What units without rows that count are taken for, where numbers are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Absent {
    Zero,
    /// Below all others.
    Lowest,
    /// They do not count.
    LeftOut,
}

impl Form {
    pub(super) fn of(self, distance: f64) -> f64 {
        match self {
            Form::Signed => distance,
            Form::Absolute => distance.abs(),
            Form::Clipped => distance.clamp(-1.0, 1.0),
            Form::ClippedSquare => distance.clamp(-1.0, 1.0).powi(2),
        }
    }
}
