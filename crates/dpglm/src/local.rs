//! The local model: what leaves a user's device is already private, and the server is trusted with nothing.

pub mod label_iht;
pub mod label_lasso;
pub mod label_noise;
pub mod randomized_response;
pub mod statistics;
pub mod threshold_bit;
pub mod threshold_iht;

pub use label_iht::LabelIht;
pub use label_lasso::LabelLasso;
pub use label_noise::LabelNoise;
pub use randomized_response::RandomizedResponse;
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
