//! The papers' algorithms exactly as printed, with the papers' noise, drawn in ordinary floating point.
//!
//! What had to be corrected to run at all is said where it is done. None of this is private for every data set: no bound
//! is enforced that the paper only assumes.

pub mod frank_wolfe;
pub mod gradient;
pub mod linear;
pub mod mean;
pub mod peeling;

pub use gradient::{GradientNoise, noisy_gradient};
pub use linear::LiteralLinear;
pub use mean::{LiteralMean, Truncate};
pub use peeling::Thresholding;
