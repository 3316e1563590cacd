//! Wang et al. 2021: generalized linear models in the non-interactive local model, with public unlabeled features.

pub(crate) mod figure_1a;
pub(crate) mod figure_1b;
pub(crate) mod figure_2;
pub mod simulated;
