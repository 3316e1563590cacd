//! The local model: users' devices randomize, and only the randomized report travels.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`randomizer`] | pure-epsilon randomizers of vectors, and what a server makes of their reports |
//! | [`report`] | the report's bytes |
//! | [`threshold_bit`], [`randomized_response`], [`label_noise`] | randomizers of one label |
//! | [`threshold_iht`] | sparse regression from threshold bits and public features: the default for private labels |
//! | [`label_iht`], [`label_lasso`] | sparse regression from noisy labels and public features |
//! | [`statistics`] | second moments and feature-label products in one release |

mod directions;
pub mod duchi;
pub mod label_iht;
pub mod label_lasso;
pub mod label_noise;
pub mod privunit;
pub mod randomized_response;
pub mod randomizer;
pub mod report;
mod sphere;
pub mod statistics;
pub mod threshold_bit;
pub mod threshold_iht;
mod weights;

pub use label_iht::LabelIht;
pub use label_lasso::LabelLasso;
pub use label_noise::LabelNoise;
pub use randomized_response::RandomizedResponse;
pub use randomizer::{Choices, Kind, Randomizer, Report};
pub use statistics::{JointStatistics, MeanStatistics};
pub use threshold_bit::{ThresholdBit, ThresholdReport};
pub use threshold_iht::ThresholdIht;

/// A test's seed from its name, so that no seed is ever chosen by its result.
#[cfg(test)]
pub(crate) fn seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
