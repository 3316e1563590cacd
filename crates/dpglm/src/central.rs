//! Estimators for a trusted curator who holds the rows.
//!
//! Each release may depend on the earlier ones; why that is covered: `docs/proofs/composition.md`. Why a person with many rows is:
//! `docs/proofs/units.md`.

pub(crate) mod affordable;
#[cfg(test)]
pub(crate) mod attacks;
pub(crate) mod choice;
pub mod coordinates;
#[cfg(test)]
pub(crate) mod dense_attacks;
mod descent;
pub mod dp_iht;
#[cfg(test)]
mod exposures;
pub mod glm;
pub mod iht;
pub mod interval;
pub mod loss;
pub mod mean;
mod moments;
pub mod multinomial;
pub mod noisy_iht;
mod objective;
#[cfg(test)]
mod range_attacks;
pub mod reference;
pub(crate) mod response;
pub(crate) mod screening;
pub mod select_refine;
mod settle;
#[cfg(test)]
mod sparse_attacks;
pub mod sparse_mean;
pub mod sparse_multinomial;
pub(crate) mod split_refine;
pub mod start;
pub mod statistics;
pub(crate) mod strongly_convex;
pub mod transfer;
pub mod vote;
mod weighting;
pub mod whole_gradient;

pub use crate::release::Prepared;
pub use crate::release::Privacy;
pub use dp_iht::DpIht;
pub use glm::{Fit, Glm};
pub use iht::Iht;
pub use interval::Interval;
pub use loss::{Huber, Loss, LossBounds, LossModel, SquaredHinge};
pub use mean::{MeanFit, PrivateMean};
pub use multinomial::{Multinomial, MultinomialFit};
pub use noisy_iht::{NoisyIht, Selection};
pub use objective::Objective;
pub use select_refine::{Route, SelectRefine, SparseFit};
pub use sparse_mean::{SparseMean, SparseMeanFit};
pub use sparse_multinomial::{SparseMultinomial, SparseMultinomialFit};
pub use split_refine::SplitRefine;
pub use statistics::LinearStatistics;
pub use transfer::Transfer;
pub use whole_gradient::WholeGradient;
