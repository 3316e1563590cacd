//! The papers' algorithms exactly as printed, with the papers' noise, drawn in ordinary floating point.
//!
//! What had to be corrected to run at all is said where it is done. None of this is private for every data set: no bound
//! is enforced that the paper only assumes.

pub mod gradient;

pub use gradient::{GradientNoise, noisy_gradient};
