//! What values a response can take: what its public bounds mean, and the public rule for a value outside them.

use serde::{Deserialize, Serialize};

/// The values of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Domain {
    /// Real numbers within bounds.
    Real,
    /// 0 or 1.
    Binary,
    /// Counts within bounds.
    Count,
    /// Amounts above 0, within bounds.
    Positive,
    /// Amounts of at least 0, within bounds, whose mean is above 0.
    Nonnegative,
    /// So many classes, numbered from 0.
    Classes(usize),
}

impl Domain {
    /// Whether the size of a response is not known beforehand.
    pub(crate) fn has_scale(self) -> bool {
        matches!(self, Domain::Real) || self.has_positive_mean()
    }

    /// Whether the mean is above 0 and has no upper end: it has a logarithm.
    pub(crate) fn has_positive_mean(self) -> bool {
        matches!(self, Domain::Count | Domain::Positive | Domain::Nonnegative)
    }

    /// The least bound there may be.
    pub(super) fn least(self) -> f64 {
        match self {
            Domain::Real => f64::NEG_INFINITY,
            Domain::Positive => f64::MIN_POSITIVE,
            Domain::Binary | Domain::Count | Domain::Nonnegative | Domain::Classes(_) => 0.0,
        }
    }

    /// The nearest value within bounds. What is not a number becomes the middle of real numbers, and the least of all others.
    pub(crate) fn admit(self, y: f64, (low, high): (f64, f64)) -> f64 {
        match self {
            Domain::Real if y.is_nan() => 0.5 * low + 0.5 * high,
            Domain::Count | Domain::Positive | Domain::Nonnegative if y.is_nan() => low,
            Domain::Real | Domain::Count | Domain::Positive | Domain::Nonnegative => y.clamp(low, high),
            Domain::Binary => f64::from(u8::from(y >= 0.5)),
            Domain::Classes(classes) if y >= 0.0 && y < classes as f64 => y.floor(),
            Domain::Classes(_) => 0.0,
        }
    }

    /// The nearest value, of a response without bounds.
    pub(crate) fn admit_any(self, y: f64) -> f64 {
        match self {
            Domain::Real if y.is_nan() => 0.0,
            Domain::Real => y.clamp(-1e150, 1e150),
            Domain::Count if y > 0.0 => y.min(1e15).round(),
            Domain::Count => 0.0,
            Domain::Nonnegative if y > 0.0 => y.min(1e150),
            Domain::Nonnegative => 0.0,
            Domain::Positive if y > 1e-150 => y.min(1e150),
            Domain::Positive => 1e-150,
            Domain::Binary | Domain::Classes(_) => self.admit(y, (0.0, 1.0)),
        }
    }
}
