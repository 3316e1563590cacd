//! Methods of other authors, each a real implementation made private for every data set, to compare with.
//!
//! All of them protect the replacement of one row ([`SparseFrankWolfe`] of a person's rows too), bound every entry and response by clamping to public bounds, plan all
//! releases before data is seen and spend one budget. They differ from the printed algorithms only where privacy asks for it;
//! each page says where.

pub mod best_subset;
pub mod frank_wolfe;
pub mod johnson_lindenstrauss;
pub mod karwa_vadhan;
mod least_eigenvalue;
pub mod objective_perturbation;
pub mod projection;
pub mod sparse_frank_wolfe;
pub mod two_stage;

pub use best_subset::BestSubset;
pub use frank_wolfe::FrankWolfe;
pub use johnson_lindenstrauss::JohnsonLindenstrauss;
pub use karwa_vadhan::KarwaVadhan;
pub use sparse_frank_wolfe::SparseFrankWolfe;
pub use two_stage::TwoStage;
