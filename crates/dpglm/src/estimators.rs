//! Estimators that look at rows only through `passes`.

pub mod bounds;
pub mod dense;
pub mod describe;
pub mod means;
