//! Private rows and the public bounds enforced on them.

pub(crate) mod boxed;
pub mod clipping;
pub mod dataset;
pub mod design;

pub use dataset::Dataset;
pub use design::Design;
