//! Wang and Xu 2021: sparse linear regression in the local model, labels private or whole records, and sparse empirical risk.

pub mod figure_1;
pub mod figure_2;
pub mod figure_3;
pub mod figure_4;
pub mod figure_5;
pub mod figure_6;
pub mod labels;
pub mod records;
pub mod risk;
pub mod simulated;
