//! The papers' algorithms exactly as printed, with the papers' noise, drawn in ordinary floating point.
//!
//! What had to be corrected to run at all is said where it is done. None of this is private for every data set: no bound
//! is enforced that the paper only assumes.

pub mod dp_iht;
pub mod frank_wolfe;
pub(crate) mod frank_wolfe_regression;
pub mod gradient;
pub mod label_iht;
pub mod linear;
pub mod local_iht;
pub mod mean;
pub mod one_shot;
pub mod peeling;
pub mod transfer;

pub use dp_iht::{RiskNoise, dp_iht};
pub use frank_wolfe_regression::{FrankWolfeNoise, frank_wolfe};
pub use gradient::GradientNoise;
pub(crate) use gradient::noisy_gradient;
pub(crate) use label_iht::{PrintedLabelNoise, label_iht};
pub use linear::LiteralLinear;
pub use local_iht::{LocalConstants, local_iht};
pub use mean::{LiteralMean, Truncate};
pub use one_shot::{OneShotNoise, Sums, one_shot};
pub use peeling::Thresholding;
pub use transfer::{TransferNoise, transfer};
