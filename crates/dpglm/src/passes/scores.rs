//! A score pass: the mean of weighted scores `w r u'`, r the residuals of a row and u the row in released coordinates, and
//! the mean slope of the residuals.
//!
//! A row keeps its predictor whatever its length; its score is multiplied by `w = min(1, bound / (|u| size))`, where `size` bounds
//! its residuals: over all responses it might have had, so that weights depend on features alone, or its own. Where units have
//! several rows, all of a unit's rows are multiplied by one factor `min(1, bound / sum of |u| size)`; the rows are then read
//! twice, for the sum must be known before the first of them is weighted.
//!
//! # Guarantee
//! A unit's weighted score has Frobenius norm at most `bound`, enforced on the computed numbers: norms are rounded up, and
//! the factor is short by more than its own rounding. A replaced unit moves the mean by at most `2 bound / count`, plus, on both
//! sides, the rounding of its rows to the grid of the sums and the roundings of the map ([`RowMap`]). The slopes of a unit, times `|u|^2`, count
//! as at most `trace` in their mean; they are rounded to multiples of `2^-24 trace` and added as whole numbers: the mean moves by at
//! most `trace / count`.

use super::by_unit::ONE;
use super::pass::{At, Pass, Rows};
use super::row_map::RowMap;
use crate::data::Shape;
use crate::error::Result;
use crate::kernels::Grid;
use serde::{Deserialize, Serialize};

/// The bounds on what one unit adds to a score pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScoreBounds {
    /// Of the Frobenius norm of its weighted score.
    pub score: f64,
    /// Of its slopes times squared norms, in the mean slope.
    pub trace: f64,
    /// The same, not smaller, in the slopes of rows.
    pub slopes: f64,
}

/// What a score pass gives, before noise.
pub(crate) struct Scores {
    /// The mean score, one vector of one entry a column for each output.
    pub gradient: Vec<f64>,
    /// The mean of `slope |u|^2`.
    pub trace: f64,
}

/// Shorter than 1 by more than the rounding of a size, a quotient and a product.
pub(super) const SHORT: f64 = 1.0 - 1e-9;
/// Shorter by the rounding of a unit's sum of as many rows as there can be, too: `2^36 2^-53 < 2^-16`.
pub(super) const SHORT_SUM: f64 = 1.0 - 1.0 / 32_768.0;

/// The grid of sums of scores of at most this norm.
pub(super) fn grid(map: &RowMap, bound: f64) -> Grid {
    Grid::of_columns(map.stored_bounds().into_iter().map(|stored| stored * bound))
}

/// Mean scores and slopes over a count, in the coordinates of the map.
pub(crate) fn read(rows: &dyn Rows, map: &RowMap, at: At, bounds: ScoreBounds, count: f64) -> Result<Scores> {
    let (gradient, trace) = rows.scores(&Pass::Scores { map: map.clone(), at, bounds })?;
    let mut gradient = gradient.values();
    map.apply(&mut gradient);
    gradient.iter_mut().for_each(|g| *g /= count);
    Ok(Scores { gradient, trace: bounds.trace * (trace as f64 / (ONE * count)) })
}

/// What a replaced unit moves the mean score of so many outputs by.
pub(crate) fn sensitivity(
    map: &RowMap,
    bound: f64,
    outputs: usize,
    (shape, sparse): (Shape, bool),
    count: f64,
) -> f64 {
    let grid = Grid::rounding(sparse) * (outputs as f64).sqrt() * map.grid_growth();
    let roundings = (map.columns() as f64 + 24.0) * f64::EPSILON * map.growth();
    let error = shape.rows_per_unit() * grid + shape.units as f64 * roundings;
    (1.0 + 1e-9 + error) * 2.0 * bound / count
}

/// What a replaced unit moves the mean slope by.
pub(crate) fn trace_sensitivity(trace: f64, shape: Shape, count: f64) -> f64 {
    trace / count * (1.0 + 1e-9) + 8.0 * f64::EPSILON * trace * shape.units as f64 / count
}
