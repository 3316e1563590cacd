//! Does the program keep its promise? Runs on neighbouring data, and what their outcomes prove about epsilon.

pub mod binomial;
pub mod empirical;

pub use empirical::{Audit, Claim, Finding, Report};
