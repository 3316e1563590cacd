//! Wang and Gu 2020: Wang and Gu, *Differentially private sparse learning by knowledge transfer*.

pub(crate) mod figure_2a;
pub(crate) mod figure_2b;
pub(crate) mod figure_2c;
pub(crate) mod figure_2d;
pub mod simulated;
pub(crate) mod table_2;
pub(crate) mod table_3;
pub mod text;
