//! The local model: what leaves a user's device is already private, and the server is trusted with nothing.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`randomizer`], [`privunit`], [`duchi`] | pure-epsilon randomizers of vectors, and what a server makes of their reports |
//! | [`report`] | a report's bytes |
//! | [`gaussian`] | a vector with Gaussian noise, when every coordinate has to travel |
//! | [`iht`], [`plan`] | sparse regression in rounds: each user answers once |
//! | [`one_shot`], [`scale`] | generalized linear models from one report a user and public features |
//! | [`label_noise`], [`randomized_response`], [`threshold_bit`] | randomizers of labels |
//! | [`label_iht`], [`label_lasso`], [`threshold_iht`] | sparse regression from private labels and public features; `threshold_iht` is the default |
//! | [`statistics`] | second moments and feature-label products together |

mod directions;
pub mod duchi;
pub mod gaussian;
pub mod iht;
mod imitation;
pub mod label_iht;
pub mod label_lasso;
pub mod label_noise;
pub mod one_shot;
pub mod plan;
pub mod privunit;
pub mod randomized_response;
pub mod randomizer;
pub mod report;
pub mod report_sum;
pub mod scale;
mod sphere;
pub mod statistics;
pub mod threshold_bit;
pub mod threshold_iht;
mod weights;

pub use gaussian::LocalGaussian;
pub use iht::{LocalIht, RoundState};
pub use imitation::Imitation;
pub use label_iht::LabelIht;
pub use label_lasso::LabelLasso;
pub use label_noise::LabelNoise;
pub use one_shot::{Gram, OneShotGlm};
pub use plan::{Round, RoundPlan};
pub use randomized_response::RandomizedResponse;
pub use randomizer::{Choices, Kind, Randomizer, Report};
pub use report_sum::ReportSum;
pub use scale::Scale;
pub use statistics::{JointStatistics, MeanStatistics};
pub use threshold_bit::{ThresholdBit, ThresholdReport};
pub use threshold_iht::ThresholdIht;

/// A test's seed from its name, so that no seed is ever chosen by its result.
#[cfg(test)]
pub(crate) fn seed(name: &str) -> u64 {
    crate::numeric::fnv1a(name.bytes())
}
