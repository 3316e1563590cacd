//! Cai et al. 2020: *The cost of privacy in generalized linear models*.

pub mod dense;
pub mod figure_1a;
pub mod figure_1b;
pub mod figure_1c;
pub mod figure_2a;
pub mod figure_2b;
pub mod figure_2c;
pub mod figure_3;
pub mod sparse;
