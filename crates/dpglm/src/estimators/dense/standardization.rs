//! Step 2: the location and scale of each column, from one Gaussian release of means and mean squares.
//!
//! A mean is shrunk towards zero, the middle of the public bounds, by its known noise. A scale is the root of the variance, never
//! below what noise may have taken from it: a constant column, or a level that no row has, keeps a unit of its own. Without
//! an intercept columns are measured from zero.

use super::noise_of;
use super::plan::{COLUMNS, Plan};
use crate::error::{Error, Result};
use crate::passes::Rows;
use crate::passes::columns::{SQUARE, sensitivity};
use crate::passes::row_map::RowMap;
use crate::release::ReleaseSession;

/// The smallest variance that a column is taken to have.
const LEAST_VARIANCE: f64 = 1e-4;

/// The standard coordinates of the rows.
pub(super) fn release(
    rows: &dyn Rows,
    plan: &Plan,
    share: f64,
    intercept: bool,
    count: f64,
    session: &mut ReleaseSession<'_>,
) -> Result<RowMap> {
    let (sums, constant) = rows.columns()?;
    // A table that was not made with the constant is the caller's mistake, not a private value.
    if intercept && !constant {
        return Err(Error::Conflict(
            "an intercept needs a design whose first column is constant 1: add it, or fit without".into(),
        ));
    }
    let first = usize::from(intercept);
    let all = plan.shape.columns;
    let columns = all - first;
    let (means, squares) = sums.split_at(all);
    let (mut centre, mut inverse) = (vec![0.0; all], vec![1.0; all]);
    let mut smallest = LEAST_VARIANCE.sqrt();
    let squares = squares[first..].iter().map(|s| SQUARE * s / count);
    let mut moments: Vec<f64> = match intercept {
        true => means[first..].iter().map(|s| s / count).chain(squares).collect(),
        false => squares.collect(),
    };
    if columns > 0 {
        let sensitivity = sensitivity(columns, intercept, plan.shape, count);
        let noise = noise_of(plan, session, COLUMNS, share) * sensitivity;
        session.vector(COLUMNS, &mut moments, sensitivity)?;
        let least = (3.0 * noise).clamp(LEAST_VARIANCE, 1.0);
        smallest = least.sqrt();
        let (means, squares) = moments.split_at(if intercept { columns } else { 0 });
        for j in 0..columns {
            let mean = means.get(j).map_or(0.0, |mean| {
                // A uniform column has the variance 1/3.
                (mean / (1.0 + 3.0 * noise * noise)).clamp(-1.0, 1.0)
            });
            let variance = (squares[j] / SQUARE - mean * mean).clamp(0.0, 1.0).max(least);
            centre[first + j] = mean;
            inverse[first + j] = 1.0 / variance.sqrt();
        }
    }
    Ok(RowMap::standard(centre, inverse).seeing(smallest))
}
