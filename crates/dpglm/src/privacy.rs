//! What is promised: the budget a user grants, the events a fit releases, and whom both protect.
//!
//! An *event* says what was released and with how much noise. It carries no epsilon of its own: only
//! [`crate::accounting`] turns events into a guarantee, so that no estimator can make a claim by itself.

pub mod adjacency;
pub mod budget;
pub mod conditions;
pub mod decimal;
pub mod event;

pub use adjacency::Adjacency;
pub use budget::Budget;
pub use conditions::Randomness;
pub use event::{Event, Noise};
