//! How much a unit may contribute: the typical size, found privately, and the rows' weights that enforce it.
//!
//! A unit's size is the sum of its rows' l2 norms (the norm itself where each row is a unit). With R the private median
//! size, a row's weight is `min(1, R / size of its unit)`, a function of the features alone, so that weighted scores keep
//! their mean of zero, and `sum over a unit of weight * norm <= R` for every data set.

use super::purse::{Planned, Privacy, Purse};
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

/// Scaled features have norm sqrt(d) at most, and several rows a unit add up.
fn candidates(columns: usize) -> Result<Candidates> {
    let reach = (columns as f64).sqrt();
    Candidates::positive_geometric(reach * 2f64.powi(-10), reach * 2f64.powi(10), 8)
}

pub(super) fn planned(columns: usize, units: usize, privacy: Privacy) -> Result<Planned> {
    Ok(Planned::quantiles(SIZE, candidates(columns)?, 1, units, privacy))
}

pub(super) fn release(data: &Dataset, purse: &mut Purse<'_>) -> Result<Weighting> {
    let norms = data.row_norms();
    let sizes = data.sum_by_unit(|row| norms[row]);
    let size = purse.quantile(SIZE, &sizes, candidates(data.design().columns())?, 0.5)?;
    // Shrunk by more than the rounding of the sizes, the quotient and the products (relatively below 1e-10 for units of
    // up to 100,000 rows; the sum of a unit's norms is rounded like any sum).
    let bound = size * (1.0 - 1e-9);
    let weights = (0..data.design().rows())
        .map(|row| data.weight(row) * (bound / sizes[data.unit_of(row)]).min(1.0 - 1e-9))
        .collect();
    Ok(Weighting { norms, size, weights })
}
