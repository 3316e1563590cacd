//! Where randomness enters.
//!
//! A guarantee proved for real numbers holds for this program because no rounding touches a private value together
//! with its noise:
//!
//! 1. The value is rounded to a [`Grid`] of spacing `g`, a power of two that depends on public numbers only. The
//!    sensitivity is enlarged to pay for it ([`Grid::enlarged_l2`] and its siblings).
//! 2. The noise is an *exact* deviate: a real number whose binary digits are drawn one word at a time
//!    ([`LazyReal`]). It is rounded to the same grid, and digits are drawn until the rounding is certain.
//! 3. The two integers are added. The sum, and its conversion to `f64`, are functions of the exact continuous
//!    mechanism's output, hence post-processing.
//!
//! A selection outputs indices only, so [`Race`] compares exactly instead of rounding.
//!
//! The proofs are in `docs/proofs/noise.md`. They assume that the output of ChaCha20 cannot be told from uniform
//! bits, and they do not cover what an observer learns from running times.

pub mod exponential;
pub mod gaussian;
pub mod grid;
pub mod laplace;
pub mod lazy;
pub mod race;
mod rounding;
pub mod source;

pub use gaussian::GaussianNoise;
pub use grid::Grid;
pub use laplace::LaplaceNoise;
pub use lazy::LazyReal;
pub use race::Race;
pub use source::RandomSource;
