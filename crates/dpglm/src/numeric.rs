//! Small numerical tools, each once.
//!
//! | module | what it does | why no crate |
//! | --- | --- | --- |
//! | `bisection` | where a condition turns | ten lines, and the end that is returned matters |
//! | `normal` | the normal distribution and its quantiles | relative precision far out in the tails, which crates do not promise |
//! | `hash` | seeds of tests from their names | must never change, on any machine |

mod bisection;
mod hash;
mod normal;

pub(crate) use bisection::{first_on_log_scale, turning_point};
pub use hash::fnv1a;
pub(crate) use normal::{normal_below, normal_quantile};
