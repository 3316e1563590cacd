//! Private rows and the public bounds enforced on them.

pub mod bounds;
pub(crate) mod boxed;
pub mod clipping;
pub mod csr;
pub mod dataset;
pub mod design;
pub(crate) mod range;
mod select;
mod shape;
pub mod unit_means;
pub(crate) mod unit_sums;
pub mod user_units;

pub use bounds::{Bounds, Scale, Scaling};
pub use csr::{Csr, Values};
pub use dataset::Dataset;
pub use design::Design;
pub use unit_means::{MeanTable, UnitMeans};
pub use user_units::UserUnits;

use dataset::MOST_ROWS;
pub use shape::Shape;
