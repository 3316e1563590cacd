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
    /// So many classes, numbered from 0.
    Classes(usize),
}

impl Domain {
    /// Whether the size of a response is not known beforehand.
    pub(crate) fn has_scale(self) -> bool {
        matches!(self, Domain::Real | Domain::Count)
    }

    /// The least bound there may be.
    pub(super) fn least(self) -> f64 {
        match self {
            Domain::Real => f64::NEG_INFINITY,
            Domain::Binary | Domain::Count | Domain::Classes(_) => 0.0,
        }
    }

    /// The nearest value within bounds. What is not a number becomes the middle of real numbers, and the least of all others.
    pub(crate) fn admit(self, y: f64, (low, high): (f64, f64)) -> f64 {
        match self {
            Domain::Real if y.is_nan() => 0.5 * low + 0.5 * high,
            Domain::Count if y.is_nan() => low,
            Domain::Real | Domain::Count => y.clamp(low, high),
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
            Domain::Binary | Domain::Classes(_) => self.admit(y, (0.0, 1.0)),
        }
    }
}
