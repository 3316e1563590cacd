//! Parsers of single flag values. Clap puts the flag's name in front of their messages and exits with code 2.

use crate::failure::said;
use dpglm::privacy::Budget;
use dpglm_workflow::tune::Tune;

/// Any number, finite or not: its range is checked where its meaning is known.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "not a number: write it like 0.5 or 1e-5".into())
}

/// A whole number of releases.
pub fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("count must be a whole number of at least 1, got {text}: write it like 20"))
}

/// How many coefficients or means may differ from zero.
pub fn sparsity(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(sparsity @ 1..) => Ok(sparsity),
        _ => Err(format!(
            "sparsity must be a whole number of at least 1, got {text}: give the number of columns that may matter"
        )),
    }
}

/// A delta above 0. A pure guarantee is asked for by name, never by a number that may be a slip.
pub fn delta(text: &str) -> Result<f64, String> {
    // Any valid epsilon serves to have delta checked.
    match Budget::new(1.0, number(text)?) {
        Ok(budget) => Ok(budget.delta()),
        Err(error) => Err(format!("{error}; --pure asks for delta = 0")),
    }
}

/// A budget's epsilon.
pub fn epsilon(text: &str) -> Result<f64, String> {
    Budget::pure(number(text)?).map(|budget| budget.epsilon()).map_err(|error| error.to_string())
}

/// An epsilon at which to read the privacy curve; 0 is a point of it.
pub fn epsilon_or_zero(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(format!("epsilon must be a finite number of at least 0, got {value}: the privacy curve starts at 0"))
}

/// What is to be tuned, `sparsity=auto,clip=auto`.
pub fn tune(text: &str) -> Result<Tune, String> {
    dpglm_workflow::tune::parse(text).map_err(|message| said(&message))
}
