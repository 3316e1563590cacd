//! Wang and Gu 2020: Wang and Gu, *Differentially private sparse learning by knowledge transfer*.

pub mod figure_2a;
pub mod figure_2b;
pub mod figure_2c;
pub mod figure_2d;
pub mod simulated;
pub mod table_2;
pub mod table_3;
pub mod text;
