//! How much a unit may contribute: the coordinates of the rows and their typical size, found privately, and the rows' weights
//! that enforce it.
//!
//! Rows are measured, and noise is added, in released coordinates ([`super::coordinates`]). A unit's size is the sum of
//! its rows' l2 norms (the norm itself where each row is a unit). With R a private quantile of the sizes, a row's weight is
//! `min(1, R / size of its unit)`, so that `sum over a unit of weight * norm <= R` for every data set.
//!
//! Only units that count have a size: rows of weight zero have none, and a unit with no other row is left out of the quantile, which
//! allows for it ([`crate::mechanisms::quantile`]). Counted as zeros they would be R once half of the rows were dropped.
//!
//! # Rounding
//! Norms are rounded up. A unit's size is within `1e-10` of the sum of its rows' norms, however many they are
//! ([`Dataset::sum_by_unit`]), and its quotient and the product with the norm round three times more: less than the `1e-9` that weights
//! are shrunk by. Weights lie above `1e-60`, far from the end of the normal range ([`crate::data`], `range`).
//!
//! Where each row is a unit R is the median: weights are functions of the features alone, and weighted scores keep their
//! mean of zero. With several rows a unit their number may go with the response (people who come back have more
//! visits), and few units should be weighted down: R is the ninth decile.

use super::coordinates::{self, Coordinates};
use crate::data::Dataset;
use crate::error::Result;
use crate::kernels::rounding;
use crate::mechanisms::Candidates;
use crate::release::{Chosen, Handle, PlannedRelease, Privacy, ReleaseSession};

const SIZE: Handle<Chosen> = Handle::new("typical size");

/// The weights, and the bound they enforce.
pub(super) struct Weighting {
    pub coordinates: Coordinates,
    /// Each row's l2 norm, rounded up.
    pub norms: Vec<f64>,
    /// R, as released.
    pub size: f64,
    /// Each row's weight.
    pub weights: Vec<f64>,
}

impl Weighting {
    /// What one unit moves the mean gradient of so many outputs by, for scores of l2 norm at most `cap`: its part, and on both sides the
    /// rounding of its rows to the grid of the sum, of the sum and of its map.
    pub(super) fn sensitivity(&self, data: &Dataset, cap: f64, outputs: usize) -> f64 {
        let numbers = (data.design().columns() * outputs) as f64;
        let grid = data.shape().rows_per_unit() * rounding(data.design()) * numbers.sqrt();
        let n = data.units() as f64;
        let error = (grid / n + 5.0 * f64::EPSILON) * self.coordinates.amplification();
        2.0 * cap * self.size * (1.0 / n + error)
    }
}

/// Scaled features have norms about sqrt(d), and several rows a unit add up.
fn candidates(columns: usize) -> Result<Candidates> {
    let reach = (columns as f64).sqrt();
    Candidates::positive_geometric(reach * 2f64.powi(-10), reach * 2f64.powi(10), 8)
}

pub(super) fn planned(
    columns: usize,
    intercept: bool,
    units: usize,
    privacy: Privacy,
) -> Result<Vec<PlannedRelease>> {
    let mut plan = coordinates::planned(columns, intercept, units, privacy);
    plan.push(SIZE.planned_quantiles(candidates(columns)?, 1, units, privacy));
    Ok(plan)
}

/// Releases the coordinates and the typical size. With an intercept, the first column is constant.
pub(super) fn release(
    data: &Dataset,
    intercept: bool,
    session: &mut ReleaseSession<'_>,
) -> Result<Weighting> {
    let coordinates = Coordinates::release(data, intercept, session)?;
    let norms = coordinates.row_norms(data);
    let sizes = data.sum_by_unit(|row| norms[row]);
    let share = if data.unit_name().is_some() { 0.9 } else { 0.5 };
    let counted = data.counted(sizes.clone());
    let size = session.quantile(SIZE, &counted, candidates(data.design().columns())?, share)?;
    // Shrunk by more than all rounding, as said above.
    let bound = size * (1.0 - 1e-9);
    let weights = (0..data.design().rows())
        .map(|row| data.weight(row) * (bound / sizes[data.unit_of(row)]).min(1.0 - 1e-9))
        .collect();
    Ok(Weighting { coordinates, norms, size, weights })
}
