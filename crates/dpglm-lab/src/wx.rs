//! Wang and Xu 2021: sparse linear regression in the local model, labels private or whole records, and sparse empirical risk.

pub(crate) mod figure_1;
pub(crate) mod figure_2;
pub(crate) mod figure_3;
pub(crate) mod figure_4;
pub(crate) mod figure_5;
pub(crate) mod figure_6;
pub mod labels;
pub mod records;
pub mod risk;
pub mod simulated;
