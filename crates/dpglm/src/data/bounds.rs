//! Public bounds of a column and the scaling they imply.
//!
//! A column is scaled by its *declared* bounds, never by what its cells say, so scaling costs no privacy.

use crate::error::{Error, Parameter, Result};
use serde::{Deserialize, Serialize};

/// A closed interval that the curator declares, from public knowledge, to hold a column's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    lower: f64,
    upper: f64,
}

impl Bounds {
    /// Refuses what cannot scale a column.
    ///
    /// ```
    /// use dpglm::data::Bounds;
    ///
    /// assert_eq!(Bounds::new(17.0, 90.0)?.midpoint(), 53.5);
    /// assert!(Bounds::new(90.0, 17.0).is_err());
    /// # Ok::<(), dpglm::Error>(())
    /// ```
    pub fn new(lower: f64, upper: f64) -> Result<Self> {
        use super::range::LARGEST;
        let refuse = |range: &'static str, remedy: &'static str| {
            let value = format!("[{lower}, {upper}]");
            Err(Error::OutOfRange { parameter: Parameter::Bounds, range, value, remedy })
        };
        if !(lower.is_finite() && upper.is_finite()) {
            return refuse(
                "finite numbers",
                "declare the smallest and the largest value that public knowledge allows",
            );
        }
        if lower == upper {
            return refuse(
                "two different numbers",
                "a column that can take one value only says nothing: leave it out",
            );
        }
        if lower > upper {
            return refuse("in ascending order", "the bounds are reversed; write [lower, upper]");
        }
        if lower.abs().max(upper.abs()) > LARGEST {
            return refuse(
                "within [-1e100, 1e100], where arithmetic does not overflow",
                "declare the range that values can really take, or change the column's unit",
            );
        }
        if upper - lower < 1e-12 * lower.abs().max(upper.abs()).max(1.0 / LARGEST) {
            return refuse(
                "farther apart: they are too close for double precision",
                "subtract a public constant from the column or widen the bounds",
            );
        }
        Ok(Self { lower, upper })
    }

    /// The lower bound.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// The upper bound.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// The middle of the interval: the fill value when none is declared.
    pub fn midpoint(self) -> f64 {
        0.5 * self.lower + 0.5 * self.upper
    }

    /// True if `x` lies in the interval.
    pub fn contains(self, x: f64) -> bool {
        self.lower <= x && x <= self.upper
    }

    /// The nearest value in the interval.
    pub fn clamp(self, x: f64) -> f64 {
        x.clamp(self.lower, self.upper)
    }

    /// The largest absolute value in the interval.
    pub fn magnitude(self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }
}

/// How numeric columns are scaled from their declared bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// To [-1, 1].
    #[default]
    Symmetric,
    /// To [0, 1].
    Unit,
    /// Not at all: values stay in the user's units, clamped to their bounds.
    None,
}

/// The map `x -> (x - center) / half_width` from a user's unit to the stored one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    /// The user's value that is stored as zero.
    pub center: f64,
    /// The user's units in one stored unit.
    pub half_width: f64,
    /// The smallest stored value.
    pub lower: f64,
    /// The largest stored value.
    pub upper: f64,
}

impl Scaling {
    /// No change: an indicator of a level.
    pub const INDICATOR: Self = Self { center: 0.0, half_width: 1.0, lower: 0.0, upper: 1.0 };

    /// The scaling of a column with these bounds.
    ///
    /// Without an intercept the model's plane goes through the user's own zero, so that zero must stay zero: the
    /// column is divided by its largest magnitude and not centred.
    pub fn new(bounds: Bounds, scale: Scale, intercept: bool) -> Self {
        let (center, half_width) = match (scale, intercept) {
            (Scale::None, _) => (0.0, 1.0),
            (_, false) => (0.0, bounds.magnitude()),
            (Scale::Symmetric, true) => (bounds.midpoint(), 0.5 * bounds.upper - 0.5 * bounds.lower),
            (Scale::Unit, true) => (bounds.lower, bounds.upper - bounds.lower),
        };
        let stored = |x: f64| {
            let scaled = (x - center) / half_width;
            if scale == Scale::None { scaled } else { scaled.clamp(-1.0, 1.0) }
        };
        Self { center, half_width, lower: stored(bounds.lower), upper: stored(bounds.upper) }
    }

    /// The stored value of a user's value; never outside the stored bounds, whatever the rounding.
    #[inline]
    pub fn apply(&self, x: f64) -> f64 {
        ((x - self.center) / self.half_width).clamp(self.lower, self.upper)
    }

    /// A stored value in single precision, rounded to the side that keeps it within the stored bounds.
    #[inline]
    pub fn single(&self, stored: f64) -> f32 {
        let nearest = stored as f32;
        if f64::from(nearest) > self.upper {
            nearest.next_down()
        } else if f64::from(nearest) < self.lower {
            nearest.next_up()
        } else {
            nearest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn useless_bounds_are_refused_with_the_way_out() {
        let message = |lower, upper| Bounds::new(lower, upper).unwrap_err().to_string();
        assert!(message(90.0, 17.0).contains("got [90, 17]: the bounds are reversed"));
        assert!(message(5.0, 5.0).contains("leave it out"));
        assert!(message(f64::NEG_INFINITY, 5.0).contains("finite"));
        assert!(message(0.0, f64::NAN).contains("finite"));
        assert!(message(-1e300, 1e300).contains("overflow"));
        assert!(message(1e15, 1e15 + 1.0).contains("too close"));
        assert!(message(0.0, 1e-200).contains("too close"));
    }

    #[test]
    fn single_precision_stays_within_the_bounds() {
        let bounds = Bounds::new(-0.7, 0.1).unwrap();
        let scaling = Scaling::new(bounds, Scale::None, true);
        assert!(f64::from(0.1_f32) > 0.1, "the nearest single is outside");
        for x in [-0.7, 0.1, 0.05] {
            let stored = f64::from(scaling.single(scaling.apply(x)));
            assert!(bounds.contains(stored) && (stored - x).abs() < 1e-7);
        }
    }

    #[test]
    fn the_ends_of_the_bounds_meet_the_ends_of_the_scale() {
        for (lower, upper) in [(17.0, 90.0), (-1e100, 1e100), (0.1, 0.3), (-7.0, -0.1), (1e-9, 1e9)] {
            let bounds = Bounds::new(lower, upper).unwrap();
            let symmetric = Scaling::new(bounds, Scale::Symmetric, true);
            assert!(
                (symmetric.apply(lower) + 1.0).abs() < 1e-12 && (symmetric.apply(upper) - 1.0).abs() < 1e-12
            );
            let unit = Scaling::new(bounds, Scale::Unit, true);
            assert!(unit.apply(lower) == 0.0 && (unit.apply(upper) - 1.0).abs() < 1e-12);
            let through_zero = Scaling::new(bounds, Scale::Unit, false);
            assert_eq!(through_zero.center, 0.0);
            assert_eq!(through_zero.apply(lower).abs().max(through_zero.apply(upper).abs()), 1.0);
            assert_eq!(Scaling::new(bounds, Scale::None, true).apply(upper), upper);
        }
    }
}
