//! What a user declares, and gets: a model of columns with public bounds, and its fit in the columns' own units.
//!
//! | model | of |
//! | --- | --- |
//! | [`Logistic`] | a response of 0 or 1 |
//! | [`Linear`] | a real response within public bounds |
//! | [`Poisson`] | a count within public bounds |
//! | [`Mean`] | the means of the columns themselves |
//!
//! A model scales the columns by their bounds, adds the constant column, calls the estimator, and takes coefficients,
//! standard errors and intervals back. None of that looks at the rows for more than the estimator releases.

mod columns;
mod fit;
mod mean;
mod regression;
#[cfg(test)]
mod tests;

pub use fit::{Fit, Term};
pub use mean::{Mean, MeanFit};
pub use regression::{Linear, Logistic, Poisson};
