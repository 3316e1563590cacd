//! What most programs need: `use dpglm::prelude::*;`.

pub use crate::accounting::Certificate;
pub use crate::data::Bounds;
pub use crate::error::{Error, Result};
pub use crate::model::{Fit, Linear, Logistic, Mean, Poisson, Term};
pub use crate::noise::RandomSource;
pub use crate::privacy::Budget;
