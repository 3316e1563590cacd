//! What is promised: the budget a user grants, the events a fit releases, and the certificate that binds both.
//!
//! An *event* says what was released and with how much noise. It carries no epsilon of its own: only
//! [`crate::accounting`] turns events into a guarantee, so that no estimator can make a claim by itself.

pub mod budget;
pub mod certificate;
pub mod conditions;
pub mod decimal;
pub mod event;
pub mod part;

pub use budget::Budget;
pub use certificate::{Adjacency, Certificate, Grade};
pub use conditions::Randomness;
pub use event::{Event, Noise};
pub use part::Part;
