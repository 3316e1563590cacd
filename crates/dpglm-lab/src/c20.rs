//! C20: *The cost of privacy in generalized linear models*.

pub mod dense;
pub mod figure_1a;
pub mod figure_1b;
pub mod figure_1c;
