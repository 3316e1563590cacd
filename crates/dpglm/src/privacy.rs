//!
//! An *event* says what was released and with how much noise. It carries no epsilon of its own: only
//! [`crate::accounting`] turns events into a guarantee, so that no estimator can make a claim by itself.

pub mod budget;
pub mod event;

pub use budget::Budget;
pub use event::{Event, Noise};
