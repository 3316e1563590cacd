//! Private rows and the public bounds enforced on them.

pub mod clipping;
pub mod design;

pub use design::Design;
