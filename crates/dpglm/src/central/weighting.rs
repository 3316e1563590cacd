//! How much a unit may contribute: the typical size, found privately, and the rows' weights that enforce it.
//!
//! A unit's size is the sum of its rows' l2 norms (the norm itself where each row is a unit). With R the private median
//! size, a row's weight is `min(1, R / size of its unit)`, a function of the features alone, so that weighted scores keep
//! their mean of zero, and `sum over a unit of weight * norm <= R` for every data set.

use super::purse::{Planned, Purse};
use crate::data::Dataset;
use crate::error::Result;
use crate::mechanisms::Candidates;

const SIZE: &str = "typical size";

/// The weights, and the bound they enforce.
pub(super) struct Weighting {
    /// Each row's l2 norm, rounded up.
    pub norms: Vec<f64>,
    /// R, as released.
    pub size: f64,
    /// Each row's weight.
    pub weights: Vec<f64>,
}

pub(super) fn planned() -> Planned {
    Planned::selection(SIZE, 0.01, 1)
}

pub(super) fn release(data: &Dataset, purse: &mut Purse<'_>) -> Result<Weighting> {
    let norms = data.row_norms();
    let sizes = data.sum_by_unit(|row| norms[row]);
    // Scaled features have norm sqrt(d) at most, and several rows a unit add up.
    let reach = (data.design().columns() as f64).sqrt();
    let (least, most) = (reach * 2f64.powi(-16), reach * 2f64.powi(16));
    let size = purse.quantile(SIZE, &sizes, Candidates::geometric(least, most, 32)?, 0.5)?.abs().max(least);
    // Shrunk by more than the rounding of the sizes, the quotient and the products (relatively below 1e-10 for units of
    // up to 100,000 rows; the sum of a unit's norms is rounded like any sum).
    let bound = size * (1.0 - 1e-9);
    let weights = (0..data.design().rows())
        .map(|row| data.weight(row) * (bound / sizes[data.unit_of(row)]).min(1.0 - 1e-9))
        .collect();
    Ok(Weighting { norms, size, weights })
}
