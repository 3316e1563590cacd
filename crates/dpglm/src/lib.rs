//! Private estimation of means, linear regression and generalized linear models.

pub mod accounting;
pub mod error;
pub mod noise;
pub mod privacy;

pub use error::{Error, Result};
