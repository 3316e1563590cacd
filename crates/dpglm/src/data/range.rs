//! How large and how small the numbers may be that a model is given.
//!
//! Claimed sensitivities are proven for sums whose rounding is relative to their terms. Two things break that. A sum that
//! overflows is infinite, or no number, and one row can decide which. And a factor below the normal range, about `2e-308`,
//! rounds by up to `2^-1075` whatever its size, which an entry of `1e30` makes visible again. So what a caller declares is
//! bounded here, once for all models.
//!
//! # The rule
//! * Declared sizes (caps, radii, lengths of rows, slopes, penalties) lie in `[1e-100, 1e100]`.
//! * Declared intervals have ends within `1e100` of zero that are at least `1e-90` apart: `2^-16` of that is still a size, and
//!   is the smallest that is looked for privately.
//! * Entries of a design are private, so nothing is refused: they are clamped to `1e30` in size ([`super::design`]), and small
//!   ones are kept. Responses are clamped to their interval.
//!
//! # Why that is enough
//! Rows are at most `2^36`, released scales of columns at most `2^10`, released sizes of rows between `2^-16` and `2^26`
//! (from `2^-10` where moment matrices are released).
//! * *Overflow.* The largest sums are those of a score times a row, below `2^36 * 1e100 * 1e100 < 1e211`, and of their squares,
//!   below `2^36 (1e100 * 2^26)^2 < 1e227`. A byte design sums whole numbers first, up to `1e20` times more.
//! * *Underflow.* Every claim contains the rounding of its sum, at least `2^-52` of a unit's largest contribution. That is at
//!   least `2^-16 * 1e-90 * 1e-100` for a gradient, and `(2^-26 * 1e-90)^2` for a matrix, so this part of a claim is above
//!   `1e-212`. A factor below the normal range errs by at most `2^-1075`. Times two entries of `1e30` in units of `2^10`, and
//!   `2^36` rows to a unit, that is below `1e-246`.

use crate::error::{Error, Parameter, Result};

/// The smallest size that may be declared.
pub(crate) const LEAST: f64 = 1e-100;
/// The largest.
pub(crate) const LARGEST: f64 = 1e100;
/// The least width of a declared interval.
const NARROWEST: f64 = 1e-90;

/// Refuses a size that is not within `[1e-100, 1e100]`.
pub(crate) fn require_magnitude(parameter: Parameter, value: f64, remedy: &'static str) -> Result<f64> {
    if (LEAST..=LARGEST).contains(&value) {
        return Ok(value);
    }
    Err(Error::OutOfRange {
        parameter,
        range: "above 0, and within [1e-100, 1e100]",
        value: value.to_string(),
        remedy,
    })
}

/// Refuses a penalty that is neither zero nor such a size.
pub(crate) fn require_penalty(parameter: Parameter, value: f64) -> Result<f64> {
    if value == 0.0 || (LEAST..=LARGEST).contains(&value) {
        return Ok(value);
    }
    Err(Error::OutOfRange {
        parameter,
        range: "at least 0, and 0 or within [1e-100, 1e100]",
        value: value.to_string(),
        remedy: "0 means no penalty",
    })
}

/// Refuses an interval whose ends are reversed, equal, nearly so, or too far from zero.
pub(crate) fn require_interval(
    parameter: Parameter,
    (low, high): (f64, f64),
    remedy: &'static str,
) -> Result<(f64, f64)> {
    if low >= -LARGEST && high <= LARGEST && high - low >= NARROWEST {
        return Ok((low, high));
    }
    Err(Error::OutOfRange {
        parameter,
        range: "two numbers within [-1e100, 1e100], the lower first, at least 1e-90 apart",
        value: format!("[{low}, {high}]"),
        remedy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_overflow_or_underflow_is_refused() {
        for value in [0.0, -1.0, 1e-101, 1.1e100, f64::NAN, f64::INFINITY, 5e-324] {
            let message =
                require_magnitude(Parameter::Radius, value, "give another").unwrap_err().to_string();
            assert!(message.contains("radius must be above 0, and within [1e-100, 1e100]"), "{message}");
            assert_eq!(require_penalty(Parameter::Ridge, value).is_ok(), value == 0.0);
        }
        for value in [1e-100, 1.0, 1e100] {
            assert_eq!(require_magnitude(Parameter::Radius, value, ""), Ok(value));
            assert_eq!(require_penalty(Parameter::Ridge, value), Ok(value));
        }
        for interval in [
            (1.0, 1.0),
            (2.0, 1.0),
            (f64::NAN, 1.0),
            (0.0, f64::NAN),
            (f64::NEG_INFINITY, 0.0),
            (-4e304, 4e304),
            (0.0, 1e-91),
        ] {
            assert!(require_interval(Parameter::Range, interval, "").is_err(), "{interval:?}");
        }
        for interval in [(-1e100, 1e100), (0.0, 1e-90), (1990.0, 2020.0)] {
            assert_eq!(require_interval(Parameter::Range, interval, ""), Ok(interval));
        }
    }
}
