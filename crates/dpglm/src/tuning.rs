//! Choosing what an estimator leaves open, privately and from the same budget.
//!
//! | what | how | module |
//! | --- | --- | --- |
//! | truncation level | none, theoretical, or private quantiles | [`truncation`] |
//! | sparsity | one nested path on one part of the rows, a private choice on the other | [`sparsity`] |
//! | ridge | likewise | [`ridge`] |
//! | rows and epsilon for a wanted error | simulation with the real estimators, before any table is read | [`planner`] |
//! | anything whose trials are private | random stopping | [`random_stopping`] |
//!
//! Cross-validation is not among them. Where a row sits in k - 1 of the k training folds and the fold fits are not private, one
//! row moves the averaged error by about `B (k-1)/k`, not by `B/n`: [`validation`] has the pair of tables that shows it.

pub mod planner;
pub mod random_stopping;
pub mod ridge;
pub mod sparse_mean;
pub mod sparsity;
pub mod truncation;
pub mod validation;

pub use random_stopping::RandomStopping;
pub use ridge::TunedRidge;
pub use sparse_mean::{PreparedSparseMean, TunedSparseMean};
pub use sparsity::TunedSparsity;
pub use truncation::{Truncation, TruncationLevel};
