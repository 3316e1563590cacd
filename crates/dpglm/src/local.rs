//! The local model: users' devices randomize, and only the randomized report travels.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`randomizer`] | pure-epsilon randomizers of vectors, and what a server makes of their reports |
//! | [`report`] | the report's bytes |

mod directions;
pub mod duchi;
pub mod privunit;
pub mod randomizer;
pub mod report;
mod sphere;
mod weights;

pub use randomizer::{Choices, Kind, Randomizer, Report};
