//! Estimators for a trusted curator who holds the rows.

#[cfg(test)]
mod dense_attacks;
mod coordinates;
mod descent;
pub mod glm;
pub mod interval;
pub mod mean;
mod moments;
pub mod multinomial;
mod prepared;
mod purse;
pub mod reference;
pub mod select_refine;
pub mod sparse_mean;
mod start;
pub mod statistics;
mod weighting;

pub use glm::{Fit, Glm};
pub use interval::Interval;
pub use mean::{MeanFit, PrivateMean};
pub use multinomial::{Multinomial, MultinomialFit};
pub use prepared::Prepared;
pub use purse::Privacy;
pub use select_refine::{SelectRefine, SparseFit};
pub use sparse_mean::{SparseMean, SparseMeanFit};
pub use statistics::LinearStatistics;
