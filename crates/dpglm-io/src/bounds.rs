//! Public bounds as declared: the library's own, refused with the key they were declared under.

use crate::error::{Error, Result};
pub use dpglm::data::{Bounds, Scale, Scaling};
use dpglm::error::Message;

/// Bounds as declared under `key`; refuses what cannot scale a column.
pub fn declared(key: impl Into<Message>, lower: f64, upper: f64) -> Result<Bounds> {
    Bounds::new(lower, upper).map_err(|error| match error {
        _ if lower == upper => Error::declaration(
            key,
            format!("the lower bound must lie below the upper one, got [{lower}, {upper}]"),
            "a column that can take one value only says nothing; declare it `kind = \"ignore\"`",
        ),
        dpglm::Error::OutOfRange { range, value, remedy, .. } => {
            Error::declaration(key, format!("bounds must be {range}, got {value}"), remedy)
        }
        other => Error::declaration(key, other.to_string(), "declare other bounds"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn useless_bounds_are_refused_with_their_key_and_value() {
        let message = |lower, upper| declared("columns.age.bounds", lower, upper).unwrap_err().to_string();
        assert!(message(90.0, 17.0).contains("columns.age.bounds"));
        assert!(message(90.0, 17.0).contains("reversed"));
        assert!(message(90.0, 17.0).contains("got [90, 17]"));
        assert!(message(5.0, 5.0).contains("ignore"));
        assert!(message(0.0, f64::NAN).contains("finite"));
        assert!(message(-1e300, 1e300).contains("overflow"));
    }
}
