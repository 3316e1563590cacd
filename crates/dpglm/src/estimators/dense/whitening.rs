//! Step 3: products of standard columns, once with noise, and the coordinates in which they are nearly uncorrelated.
//!
//! Rows of norm above R are multiplied by `R / norm`. With eigenvalues a and eigenvectors Q of the noisy matrix, the map is
//! `W = Q (a + k)^(-1/2) Q'`, with k the size of its noise: a direction in which columns hardly vary, or that noise hides, is not
//! stretched without end. Beyond [`MOST_PRODUCTS`] columns nothing is released, and `W = I`.

use super::noise_of;
use super::plan::{MOST_PRODUCTS, PRODUCTS, Plan, ROW_LEVEL, SEEN, SlopePlan};
use crate::error::Result;
use crate::mechanisms::Candidates;
use crate::passes::products::{self, Weights};
use crate::passes::row_map::RowMap;
use crate::passes::{Absent, Number, OfUnit, Rows};
use crate::release::ReleaseSession;
use nalgebra::{DMatrix, DVector};

/// Coordinates, and what is known of the rows in them.
pub(super) struct Whitened {
    pub map: RowMap,
    /// The eigenvectors; `None` beyond [`MOST_PRODUCTS`] columns, where every matrix here is diagonal.
    pub basis: Option<DMatrix<f64>>,
    /// `a + k` by direction: standard coefficients are `(a + k)^(-1/2)` times whitened ones.
    pub lifted: DVector<f64>,
    /// The second moment of whitened rows by direction, at least 1/2.
    pub spread: DVector<f64>,
    /// The same, less where columns certainly vary less.
    pub seen: DVector<f64>,
    /// The effective number of columns.
    pub dimension: f64,
}

/// How far rows reach before their products are shortened, in units of the root of the columns.
const REACH: f64 = 0.7;
/// The least second moment that a direction of standard columns is taken to have.
const LEAST_SEEN: f64 = 1e-6;
/// How many deviations of its noise a second moment may be larger than it looks.
const CERTAIN: f64 = 2.0;

pub(super) fn release(
    rows: &dyn Rows,
    standard: RowMap,
    plan: &Plan,
    slopes: &SlopePlan,
    count: f64,
    session: &mut ReleaseSession<'_>,
) -> Result<Whitened> {
    let d = standard.columns();
    let Some(share) = slopes.products.filter(|_| d <= MOST_PRODUCTS) else {
        let ones = DVector::from_element(d, 1.0);
        return Ok(Whitened {
            map: standard,
            basis: None,
            lifted: ones.clone(),
            spread: ones.clone(),
            seen: ones,
            dimension: d as f64,
        });
    };
    let root = (d as f64).sqrt();
    let reach = match slopes.row_level {
        None => REACH * growth(plan.ratio) * root,
        Some(share) => {
            let n = plan.shape.units as f64;
            let level_mu = plan.mu_of(share);
            let beyond = (5.0 * root / plan.mu).max(SEEN / level_mu).min(0.5 * n);
            let grid = Candidates::positive_geometric(0.25 * root, 16.0 * root, 4)?;
            let number = Number::Norm { map: standard.clone() };
            let (tally, _) = rows.tally(number, OfUnit::Largest, Absent::Zero, grid)?;
            session.quantile_of(ROW_LEVEL, &tally, 1.0 - beyond / n)?
        }
    };
    let sensitivity = products::sensitivity(&standard, 1, reach * reach, plan.shape, count);
    let mut packed = products::read(rows, &standard, 1, Weights::Shortened { reach }, reach * reach, count)?;
    let noise = noise_of(plan, session, PRODUCTS, share) * sensitivity;
    session.vector(PRODUCTS, &mut packed, sensitivity)?;
    let mut eigen = products::unpacked(packed, d, 1).symmetric_eigen();
    let likely = at_most(&eigen.eigenvalues, noise);
    eigen.eigenvalues.iter_mut().for_each(|a| *a = a.max(0.0));
    let mut lift = noise * root + 1e-6;
    loop {
        let lifted = eigen.eigenvalues.add_scalar(lift);
        let scaled = |power: f64| {
            let mut matrix = eigen.eigenvectors.clone();
            for (mut column, l) in matrix.column_iter_mut().zip(lifted.iter()) {
                column *= l.powf(power);
            }
            matrix * eigen.eigenvectors.transpose()
        };
        let (matrix, inverse) = (scaled(-0.5), scaled(0.5));
        if let Some(map) = standard.whitened(matrix, &inverse) {
            let spread = eigen.eigenvalues.zip_map(&lifted, |a, l| (a / l).max(0.5));
            // Without noise nothing has to be guessed.
            let seen = match plan.private {
                true => likely.zip_zip_map(&lifted, &spread, |a, l, spread| (a / l).min(spread)),
                false => spread.clone(),
            };
            let dimension = eigen.eigenvalues.zip_map(&lifted, |a, l| a / l).sum().max(1.0);
            return Ok(Whitened { map, basis: Some(eigen.eigenvectors), lifted, spread, seen, dimension });
        }
        // Too far from orthonormal for the bound on rounding: only a matrix of extreme condition is.
        lift *= 16.0;
    }
}

/// How large the second moments along the eigenvectors of a noisy matrix may be. Noise of this deviation drives eigenvalues `a_i` apart
/// by half the sum of `noise^2 / (a_i - a_j)`, and turns eigenvectors towards each other, which costs as much again.
fn at_most(eigenvalues: &DVector<f64>, noise: f64) -> DVector<f64> {
    let variance = noise * noise;
    eigenvalues.map(|a| {
        let driven: f64 = eigenvalues.iter().map(|b| (a - b) / ((a - b).powi(2) + variance)).sum();
        (a - variance * driven + CERTAIN * noise).max(LEAST_SEEN)
    })
}

/// How bounds grow with what there is per coefficient.
pub(super) fn growth(ratio: f64) -> f64 {
    (ratio / 100.0).powf(0.33).max(1.0)
}

impl Whitened {
    /// `Q diag Q'`, or the diagonal itself where no basis was released.
    pub(super) fn symmetric(&self, diagonal: &DVector<f64>) -> DMatrix<f64> {
        match &self.basis {
            None => DMatrix::from_diagonal(diagonal),
            Some(basis) => {
                let mut scaled = basis.clone();
                for (mut column, x) in scaled.column_iter_mut().zip(diagonal.iter()) {
                    column *= *x;
                }
                scaled * basis.transpose()
            }
        }
    }

    /// `Q diag Q' v`.
    pub(super) fn multiply(&self, diagonal: &DVector<f64>, vector: &DVector<f64>) -> DVector<f64> {
        match &self.basis {
            None => diagonal.component_mul(vector),
            Some(basis) => basis * diagonal.component_mul(&basis.tr_mul(vector)),
        }
    }
}
