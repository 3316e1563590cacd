//! Cai et al. 2020: *The cost of privacy in generalized linear models*.

pub mod dense;
pub(crate) mod figure_1a;
pub(crate) mod figure_1b;
pub(crate) mod figure_1c;
pub(crate) mod figure_2a;
pub(crate) mod figure_2b;
pub(crate) mod figure_2c;
pub(crate) mod figure_3;
pub mod sparse;
