//! Estimators that look at rows only through [`crate::passes`].

pub mod dense;
