//! The coordinates in which rows are measured: each column from a centre and in units of its usual size, both found
//! privately.
//!
//! Declared bounds are often far wider than the values, most values lie near one end of them, and a rare level of a
//! category is almost always zero. In stored units a row's length is then that of a few columns and of the constant, noise
//! drowns the rest, and descent hardly moves it. In these coordinates every column counts alike.
//!
//! # Algorithm
//! 1. With an intercept: release the mean of the columns, entries clamped to [-1, 1]. Where rows may have weight zero, means are
//!    divided by that of the constant column, the share of the rows that count. A centre close to -1, 0 or 1, the
//!    ends and the middle of the declared bounds, is taken to be there: a level that few rows have has its mean near 0,
//!    and if the many zeros were measured from it they alone would set the column's scale.
//! 2. A row falls into one of 24 levels for each column: level k if `2^(7-k) < |x - centre| <= 2^(8-k)`, the first also
//!    for all beyond, and none if smaller still. A unit's rows share one vote.
//! 3. Release the share of the units in each level, all columns at once, with Gaussian noise.
//! 4. A column's mean square is the sum of `share * level^2` over the levels that stand out from the noise. If none
//!    does, the column is taken for a rare indicator. Its scale is the power of two nearest to one over the root.
//!
//! A row x becomes z with `z_0 = x_0 = 1` and `z_j = scale_j (x_j - centre_j)`: a linear map, `z = T x`. Without an
//! intercept centres are zero.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A unit's mean row lies in `[-1, 1]^d`: a replacement moves the means by at
//! most `2 sqrt(d) / n`. In each column a unit's votes are not negative and sum to at most 1, so two units' differ by at
//! most `sqrt 2` in l2 norm there, and by `sqrt(2 d)` in all. Entries and votes are whole numbers of `2^-24`, rounded
//! towards zero, and added exactly.
//!
//! # Rounding
//! Gradients and moment matrices are summed in stored units and mapped by T. A stored entry is `x_j = z_j / scale_j + centre_j z_0`,
//! so it is at most `1 / scale_j + |centre_j|` times `norm(z)`: `Coordinates::stored_bounds`. Terms that err by a share e of these bounds
//! err, after T, by at most `e norm(z) (1 + 2 scale_j |centre_j|)` in coordinate j: in norm `sqrt(d)` times
//! `Coordinates::amplification`, `1 + 2 norm(scale * centre)`. A sum that is rounded relative to the sum of absolute values errs by no
//! more than that, without the root.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernels::weighted_row_norms;
use crate::release::{Handle, PlannedRelease, Privacy, ReleaseSession, Vector};
use nalgebra::DMatrix;

const CENTRES: Handle<Vector> = Handle::new("column centres");
const SCALES: Handle<Vector> = Handle::new("column scales");
const LEVELS: usize = 24;
/// The upper end of the first level, as an exponent of two.
const TOP: i32 = 8;
/// One vote, or an entry of 1; 2^36 rows of them fit a 64-bit sum.
const ONE: f64 = 16_777_216.0;
/// Wider than any that is needed, and small enough that rounding stays far below the noise.
const LARGEST_SCALE: f64 = 1024.0;

/// A released linear map of rows.
pub(super) struct Coordinates {
    centre: Vec<f64>,
    scale: Vec<f64>,
}

pub(super) fn planned(
    columns: usize,
    intercept: bool,
    units: usize,
    privacy: Privacy,
) -> Vec<PlannedRelease> {
    // A part in two hundred is close enough; most of the budget belongs to the gradients.
    let wanted = (2.0 * columns as f64).sqrt() / (0.005 * units as f64 * privacy.mu());
    let share = (wanted * wanted).clamp(0.005, 0.03);
    let mut plan = vec![SCALES.planned(share, 1)];
    if intercept {
        plan.push(CENTRES.planned(share, 1));
    }
    plan
}

impl Coordinates {
    pub(super) fn release(data: &Dataset, intercept: bool, session: &mut ReleaseSession<'_>) -> Result<Self> {
        let design = data.design();
        // The map leans on it; a table that was not made with the constant is the caller's mistake, not a private value.
        if intercept && (0..design.rows()).any(|row| design.row(row).next() != Some(1.0)) {
            return Err(Error::Conflict(
                "an intercept needs a design whose first column is constant 1: add it, or fit without".into(),
            ));
        }
        let mut centre = if intercept { centres(data, session)? } else { vec![0.0; design.columns()] };
        if !design.can_be_centred() {
            centre.fill(0.0);
        }
        let mut scale = scales(data, &centre, session)?;
        if intercept {
            scale[0] = 1.0;
        }
        Ok(Self { centre, scale })
    }

    /// Where the columns are measured from.
    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Each row's l2 norm times its weight, rounded up.
    pub(super) fn row_norms(&self, data: &Dataset) -> Vec<f64> {
        weighted_row_norms(data, &self.centre, &self.scale)
    }

    /// What the rounding of sums in stored units is to be multiplied by; once for a gradient, twice for a matrix.
    pub(super) fn amplification(&self) -> f64 {
        let squares = self.centre.iter().zip(&self.scale).map(|(c, s)| (c * s).powi(2));
        1.0 + 2.001 * squares.sum::<f64>().sqrt()
    }

    /// What bounds each stored entry of a row of length one in these coordinates.
    pub(super) fn stored_bounds(&self) -> impl Iterator<Item = f64> {
        self.centre.iter().zip(&self.scale).map(|(c, s)| (1.0 / s + c.abs()) * (1.0 + 1e-9))
    }

    /// `T x`, for a gradient of several outputs too.
    pub(super) fn map(&self, gradient: &mut [f64]) {
        for g in gradient.chunks_exact_mut(self.scale.len()) {
            let constant = g[0];
            for ((g, centre), scale) in g.iter_mut().zip(&self.centre).zip(&self.scale) {
                *g = scale * (*g - centre * constant);
            }
        }
    }

    /// `T G T^T` of a symmetric matrix, row-major.
    pub(super) fn map_matrix(&self, matrix: &mut [f64]) {
        let d = self.scale.len();
        self.map(matrix);
        for j in 1..d {
            for i in 0..j {
                matrix.swap(i * d + j, j * d + i);
            }
        }
        self.map(matrix);
    }

    /// The coefficients of the stored columns, `T^T b`.
    pub(super) fn stored(&self, iterate: &[f64]) -> Vec<f64> {
        let d = self.scale.len();
        let mut stored = Vec::with_capacity(iterate.len());
        for b in iterate.chunks_exact(d) {
            let start = stored.len();
            stored.extend(b.iter().zip(&self.scale).map(|(b, s)| b * s));
            let shift: f64 = stored[start..].iter().zip(&self.centre).map(|(b, c)| b * c).sum();
            stored[start] -= shift;
        }
        stored
    }

    /// The covariance of the coefficients of the stored columns, `T^T V T`.
    pub(super) fn stored_covariance(&self, covariance: &DMatrix<f64>) -> DMatrix<f64> {
        let d = self.scale.len();
        let back = DMatrix::from_fn(d, d, |i, j| match (i, j) {
            _ if i == j => self.scale[i],
            (0, j) => -self.scale[j] * self.centre[j],
            _ => 0.0,
        });
        &back * covariance * back.transpose()
    }

    /// What a penalty of 1 on the square of a stored coefficient is in these coordinates.
    pub(super) fn penalty(&self, column: usize) -> f64 {
        self.scale[column].powi(2)
    }

    /// The sum over each unit's rows of `value(row) z`, of l2 norm at most `bound`, as a design with one row per unit.
    pub(super) fn score_sums(
        &self,
        data: &Dataset,
        value: impl Fn(usize) -> f64,
        bound: f64,
    ) -> Result<crate::data::design::Design> {
        data.score_sums(value, |j, x| self.scale[j] * (x - self.centre[j]), bound)
    }

    /// Stored units: nothing is moved or scaled.
    pub(super) fn identity(columns: usize) -> Self {
        Self { centre: vec![0.0; columns], scale: vec![1.0; columns] }
    }
}

/// Step 1
fn centres(data: &Dataset, session: &mut ReleaseSession<'_>) -> Result<Vec<f64>> {
    let (d, n) = (data.design().columns(), data.units() as f64);
    let mut sums = vec![0_i64; d];
    each_vote(data, |j, x, vote| sums[j] += (x.clamp(-1.0, 1.0) * vote) as i64);
    let mut centre: Vec<f64> = sums.into_iter().map(|s| s as f64 / (ONE * n)).collect();
    let sensitivity = 2.0 * (d as f64).sqrt() / n * (1.0 + 1e-9) + d as f64 * 2f64.powi(-50);
    let noise = session.noise_per_sensitivity(CENTRES) * sensitivity;
    session.vector(CENTRES, &mut centre, sensitivity)?;
    // An indicator of twice the visible share is seen in step 3 almost surely; one whose mean is smaller may not be.
    let close = (2.0 * visible_share(d, n, session)).max(3.0 * noise);
    // Rows that count have a one in the first column: their share, as released. Means are to be theirs.
    let share = if data.has_weights() { centre[0].clamp(close.clamp(1e-6, 1.0), 1.0) } else { 1.0 };
    let close = close / share;
    centre.iter_mut().for_each(|c| *c /= share);
    for c in &mut centre {
        let landmark = c.round().clamp(-1.0, 1.0);
        *c = if (*c - landmark).abs() < close { landmark } else { c.clamp(-1.0, 1.0) };
    }
    centre[0] = 0.0;
    Ok(centre)
}

/// Steps 2 to 4
fn scales(data: &Dataset, centre: &[f64], session: &mut ReleaseSession<'_>) -> Result<Vec<f64>> {
    let (d, n) = (centre.len(), data.units() as f64);
    let mut votes = vec![0_u64; d * LEVELS];
    each_vote(data, |j, x, vote| {
        if let Some(level) = level(x - centre[j]) {
            votes[j * LEVELS + level] += vote as u64;
        }
    });
    let mut shares: Vec<f64> = votes.into_iter().map(|v| v as f64 / (ONE * n)).collect();
    session.vector(SCALES, &mut shares, share_sensitivity(d, n))?;
    let visible = visible_share(d, n, session);
    let scale = |levels: &[f64]| {
        let square = |(k, &share): (usize, &f64)| share * (0.75 * 2f64.powi(TOP - k as i32)).powi(2);
        let mean_square: f64 =
            levels.iter().enumerate().filter(|&(_, &share)| share > visible).map(square).sum();
        let mean_square = if mean_square > 0.0 { mean_square } else { (0.5 * visible).clamp(1e-6, 1.0) };
        2f64.powi((-0.5 * mean_square.log2()).round() as i32).min(LARGEST_SCALE)
    };
    Ok(shares.chunks_exact(LEVELS).map(scale).collect())
}

/// What one unit moves all shares by; each was rounded, on both sides of a pair.
fn share_sensitivity(columns: usize, units: f64) -> f64 {
    (2.0 * columns as f64).sqrt() / units * (1.0 + 1e-9) + columns as f64 * 2f64.powi(-50)
}

/// A share that noise alone hardly reaches in any level of any column.
fn visible_share(columns: usize, units: f64, session: &ReleaseSession<'_>) -> f64 {
    let noise = session.noise_per_sensitivity(SCALES) * share_sensitivity(columns, units);
    noise * (2.0 * (20.0 * (columns * LEVELS) as f64).ln()).sqrt()
}

/// Calls `count(column, entry, vote)` for every entry; the votes of a unit's rows are whole and sum to at most [`ONE`].
fn each_vote(data: &Dataset, mut count: impl FnMut(usize, f64, f64)) {
    let rows = data.sum_by_unit(|_| 1.0);
    for row in 0..data.design().rows() {
        let vote = (data.weight(row) * ONE / rows[data.unit_of(row)]).floor();
        if vote > 0.0 {
            data.design().stored(row).for_each(|(j, x)| count(j, x, vote));
        }
    }
}

/// The level that `x` falls into.
fn level(x: f64) -> Option<usize> {
    // The exponent of the next number towards zero, so that a power of two belongs to the level that it ends.
    let below = x.abs().to_bits().saturating_sub(1);
    let exponent = (below >> 52) as i32 - 1023;
    let level = TOP - 1 - exponent;
    (level < LEVELS as i32).then_some(level.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_half_open() {
        assert_eq!(level(1.0), Some(8));
        assert_eq!(level(-1.0), Some(8));
        assert_eq!(level(0.75), Some(8));
        assert_eq!(level(0.5), Some(9));
        assert_eq!(level(1.000_000_1), Some(7));
        assert_eq!(level(256.0), Some(0));
        assert_eq!(level(1e30), Some(0));
        assert_eq!(level(2f64.powi(-15)), Some(23));
        assert_eq!(level(2f64.powi(-16)), None);
        assert_eq!(level(0.0), None);
        assert_eq!(level(5e-324), None);
    }

    /// Predictors, gradients, matrices and covariances agree with rows mapped one by one.
    #[test]
    fn the_maps_belong_together() {
        let map = Coordinates { centre: vec![0.0, 0.5, -1.0], scale: vec![1.0, 4.0, 0.5] };
        let rows = [[1.0, 0.25, 3.0], [1.0, -2.0, 0.5]];
        let mapped = rows.map(|x| [1.0, 4.0 * (x[1] - 0.5), 0.5 * (x[2] + 1.0)]);
        let theta = [0.3, -0.7, 1.1];
        let stored = map.stored(&theta);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (x, z) in rows.iter().zip(&mapped) {
            assert!((dot(x, &stored) - dot(z, &theta)).abs() < 1e-12);
        }
        let mut gradient: Vec<f64> = (0..3).map(|j| rows[0][j] + 2.0 * rows[1][j]).collect();
        map.map(&mut gradient);
        for j in 0..3 {
            assert!((gradient[j] - mapped[0][j] - 2.0 * mapped[1][j]).abs() < 1e-12);
        }
        let gram = |rows: &[[f64; 3]; 2]| -> Vec<f64> {
            (0..9).map(|k| rows.iter().map(|x| x[k / 3] * x[k % 3]).sum()).collect()
        };
        let mut matrix = gram(&rows);
        map.map_matrix(&mut matrix);
        for (got, wanted) in matrix.iter().zip(gram(&mapped)) {
            assert!((got - wanted).abs() < 1e-12);
        }
        // The covariance of T^T theta for theta of covariance v v^T is that of one vector.
        let v = DMatrix::from_column_slice(3, 1, &theta);
        let covariance = map.stored_covariance(&(&v * v.transpose()));
        for k in 0..9 {
            assert!((covariance[(k / 3, k % 3)] - stored[k / 3] * stored[k % 3]).abs() < 1e-12);
        }
    }
}
