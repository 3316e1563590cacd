//! Private second-moment matrices: a mean over units of positive semi-definite matrices of bounded trace.
//!
//! # Guarantee
//! Two positive semi-definite matrices of trace at most `a` are at most `sqrt(2) a` apart in Frobenius norm (their inner
//! product is not negative), so replacing one unit moves the mean by at most `sqrt(2) a / n`, plus the bounded error of
//! summation. The upper triangle with off-diagonal entries times `sqrt 2` has the Frobenius norm as its l2 norm; it is
//! one Gaussian release.

use super::coordinates::Coordinates;
use super::descent::{Drive, Phase};
use super::weighting::Weighting;
use crate::data::design::Design;
use crate::data::{Dataset, Shape};
use crate::error::Result;
use crate::kernels::{Grid, weighted_grams};
use crate::release::{Handle, ReleaseSession, Vector};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// A released symmetric matrix, the deviation of the noise on its diagonal, and how far noise may have moved its
/// eigenvalues.
pub(super) struct Moments {
    pub matrix: DMatrix<f64>,
    pub noise: f64,
    pub spread: f64,
}

/// The trace allowed to a unit's moment matrix, in units of the squared typical size.
pub(super) const TRACE: f64 = 1.5;

/// Row weights shortened so that each unit's `sum of weight * x x^T` has trace at most `trace`. `norms` are the rows' l2
/// norms, rounded up.
pub(super) fn shortened(
    data: &Dataset,
    norms: &[f64],
    weight: impl Fn(usize) -> f64,
    trace: f64,
) -> Vec<f64> {
    let traces = data.sum_by_unit(|row| weight(row) * norms[row] * norms[row]);
    // The margin covers the rounding of the trace, which is within 1e-10, of the quotient and of the products.
    let allowed = trace * (1.0 - 1e-9);
    (0..norms.len())
        .map(|row| {
            let share = (allowed / traces[data.unit_of(row)]).min(1.0);
            if share > 0.0 { weight(row) * share } else { 0.0 }
        })
        .collect()
}

/// Releases `(1/n) sum_rows weight(row) x x^T` of the rows in their coordinates, where each unit's matrix is shortened to a trace of at
/// most `trace`.
pub(super) fn release(
    what: Handle<Vector>,
    data: &Dataset,
    weighting: &Weighting,
    weight: impl Fn(usize) -> f64,
    trace: f64,
    session: &mut ReleaseSession<'_>,
) -> Result<Moments> {
    let weights = shortened(data, &weighting.norms, weight, trace);
    release_gram(
        what,
        data.design(),
        &weighting.coordinates,
        |row| weights[row],
        trace,
        data.shape(),
        session,
    )
}

/// Releases the weighted gram matrix of a design over `units` in these coordinates, given that each unit's trace is then
/// at most `trace`.
pub(super) fn release_gram(
    what: Handle<Vector>,
    design: &Design,
    coordinates: &Coordinates,
    weight: impl Fn(usize) -> f64 + Sync,
    trace: f64,
    shape: Shape,
    session: &mut ReleaseSession<'_>,
) -> Result<Moments> {
    let (d, n) = (design.columns(), shape.units as f64);
    let grid = Grid::of_columns(coordinates.stored_bounds().map(|stored| stored * trace.sqrt()));
    let mut gram = weighted_grams(design, 1, &grid, |row, out| out[0] = weight(row)).values();
    coordinates.map_matrix(&mut gram);
    let root = 2f64.sqrt();
    let mut packed = Vec::with_capacity(d * (d + 1) / 2);
    for i in 0..d {
        for j in i..d {
            packed.push(gram[i * d + j] / n * if i == j { 1.0 } else { root });
        }
    }
    // A unit's rows are rounded to the grid, on both sides of a pair; rounding, mapping and scaling the sum rounds it a few times.
    let grid = shape.rows_per_unit() * Grid::product_rounding() * d as f64 / n;
    let error = 2.0 * (grid + 9.0 * f64::EPSILON) * coordinates.amplification().powi(2);
    let sensitivity = trace * (root / n + error);
    let noise = session.noise_per_sensitivity(what) * sensitivity;
    session.vector(what, &mut packed, sensitivity)?;
    let mut matrix = DMatrix::zeros(d, d);
    let mut entries = packed.into_iter();
    for i in 0..d {
        for j in i..d {
            let x = entries.next().unwrap_or(0.0) / if i == j { 1.0 } else { root };
            matrix[(i, j)] = x;
            matrix[(j, i)] = x;
        }
    }
    // The spectral norm of a symmetric Gaussian matrix with off-diagonal deviation noise / sqrt 2.
    Ok(Moments { matrix, noise, spread: noise * (2.0 * d as f64).sqrt() })
}

impl Moments {
    /// The matrix with its eigenvalues lifted to at least `floor`.
    pub(super) fn lifted(&self, floor: f64) -> DMatrix<f64> {
        let mut eigen = self.matrix.clone().symmetric_eigen();
        eigen.eigenvalues.iter_mut().for_each(|e| *e = e.max(floor));
        eigen.recompose()
    }

    /// A preconditioner whose steps do not overshoot, with as much momentum as brings the slowest direction that noise
    /// does not hide to the solution within a phase.
    pub(super) fn drive(&self, phase: Phase) -> Drive {
        let eigenvalues = self.matrix.clone().symmetric_eigenvalues();
        let lift = self.spread.max(1e-9 * eigenvalues.max().abs()).max(f64::MIN_POSITIVE);
        let smallest = eigenvalues.min().max(0.1 * lift);
        let speed = smallest / (smallest + lift);
        let momentum = (1.0 - phase.steps as f64 * phase.length * speed / 8.0).clamp(0.0, 0.8);
        let stir = eigenvalues.iter().map(|e| 1.0 / (e.max(0.0) + lift)).sum();
        Drive { phase, conditioner: Conditioner::new(&self.matrix, lift), momentum, stir }
    }

    /// The matrix with its eigenvalues lowered by a tenth of what noise may have added, down to that tenth.
    pub(super) fn lowered(&self) -> DMatrix<f64> {
        let mut eigen = self.matrix.clone().symmetric_eigen();
        let floor = (0.1 * self.spread).max(1e-9 * eigen.eigenvalues.max().abs()).max(f64::MIN_POSITIVE);
        eigen.eigenvalues.iter_mut().for_each(|e| *e = (*e - 0.1 * self.spread).max(floor));
        eigen.recompose()
    }
}

/// Solves with a symmetric matrix made safely positive definite.
pub(super) struct Conditioner {
    factor: Cholesky<f64, Dyn>,
}

impl Conditioner {
    /// From a matrix whose eigenvalues are uncertain by `lift`.
    pub(super) fn new(matrix: &DMatrix<f64>, mut lift: f64) -> Self {
        loop {
            let mut lifted = matrix.clone();
            for j in 0..lifted.nrows() {
                lifted[(j, j)] += lift;
            }
            if let Some(factor) = lifted.cholesky() {
                return Self { factor };
            }
            // The matrix is finite, so a large enough lift makes it diagonally dominant.
            lift *= 2.0;
        }
    }

    pub(super) fn apply(&self, vector: Vec<f64>) -> DVector<f64> {
        self.factor.solve(&DVector::from_vec(vector))
    }

    /// The inverse itself.
    pub(super) fn inverse(&self) -> DMatrix<f64> {
        self.factor.inverse()
    }
}
