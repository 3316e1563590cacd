//! Released linear coordinates of rows: each column from a centre in units of its scale, then whitened.
//!
//! A stored row z becomes `x = S z` with `x_j = inverse_j (z_j - centre_j z_0)`, and `u = W x`. Sums over rows are taken of
//! stored entries and mapped afterwards, so sparse and one-byte rows stay as they are.
//!
//! # Rounding
//! *Norms.* `A = W S` is computed, and `A z` from it: together they err by at most `gamma |W| |S| |z|` in Frobenius norms,
//! gamma a bit above twice the number of columns times the unit roundoff, and `|z| <= sqrt(columns)`. Each norm is rounded up by that and by a
//! relative margin.
//!
//! *Rows on a grid.* A stored entry is `z_j = x_j / inverse_j + centre_j x_0`, and `|x_j| <= |row j of W^-1| |u|`: with
//! `|s| |u| <= bound` a term `s z_j` is at most `bound b_j`, b being [`RowMap::stored_bounds`]. Terms that err by a share e of these
//! bounds err after the map by at most `e bound sum_j b_j |A e_j|`, which is [`RowMap::grid_growth`] times `e bound`, and products of two
//! terms by its square. Row j of `W^-1` differs from that of the computed inverse V by at most `|I - V W| |W^-1|`.
//!
//! *Sums.* A sum of `s z` that is rounded by a share e of the sum of absolute values errs, after S, by at most `e` times the sum of
//! `|s| inverse_j (|z_j| + |centre_j|) <= |s| (|x_j| + 2 inverse_j |centre_j|)`. As `|x| >= x_0 = 1` where anything is centred,
//! that has norm at most `e amplification |s| |x|`, with `amplification = 1 + 2 |inverse * centre|`. W multiplies it by at most
//! its norm, and `|x| <= |W^-1| |u|`: in all `e growth |s| |u|`, with `growth = amplification |W| |W^-1|`. The norm of `W^-1` is bounded by
//! that of V over `1 - |I - V W|`.

use crate::data::Design;
use crate::kernels::{mapped_squares, squared_row_norms_from};
use crate::parallel;
use nalgebra::{DMatrix, DMatrixView};
use serde::{Deserialize, Serialize};

/// A released linear map of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowMap {
    centre: Vec<f64>,
    inverse: Vec<f64>,
    /// One over the smallest scale that could be seen: a column that has it may have any smaller one.
    finest: f64,
    whitening: Option<Whitening>,
}

/// A matrix with its inverse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Whitening {
    matrix: DMatrix<f64>,
    inverse: DMatrix<f64>,
    /// A bound on the norm of the exact inverse.
    back: f64,
    /// A bound on how far its rows are from those of the computed one.
    apart: f64,
}

impl RowMap {
    /// Columns from their centres, in units of one over `inverse`. Where a centre differs from zero the first column is
    /// constant 1, and its own centre is 0 and its unit 1.
    pub(crate) fn standard(centre: Vec<f64>, inverse: Vec<f64>) -> Self {
        Self { centre, inverse, finest: f64::MAX, whitening: None }
    }

    /// Says which scale is the smallest that could be seen.
    pub(crate) fn seeing(self, smallest: f64) -> Self {
        Self { finest: 1.0 / smallest, ..self }
    }

    /// Followed by a matrix; `None` if `inverse` is too far from being its inverse.
    pub(crate) fn whitened(&self, matrix: DMatrix<f64>, inverse: &DMatrix<f64>) -> Option<Self> {
        let d = matrix.nrows();
        let (matrix, inverse) = match &self.whitening {
            None => (matrix, inverse.clone()),
            Some(before) => (matrix * &before.matrix, &before.inverse * inverse),
        };
        let residual = (DMatrix::identity(d, d) - &inverse * &matrix).norm();
        let rounding = 4.0 * d as f64 * f64::EPSILON * inverse.norm() * matrix.norm();
        let residual = 1.01 * (residual + rounding);
        let back = 1.01 * inverse.norm() / (1.0 - residual);
        let apart = residual * back;
        (residual < 0.5).then(|| Self {
            centre: self.centre.clone(),
            inverse: self.inverse.clone(),
            finest: self.finest,
            whitening: Some(Whitening { matrix, inverse, back, apart }),
        })
    }

    /// One over the scale of each column.
    pub(crate) fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// How far apart the rows of a column lie that make up its variance, in units of its scale. With mean m and variance v of
    /// entries in [-1, 1] that is `2 v / (1 - m^2)`, or `v / (|m| (1 - |m|))` should zero be one of two levels: from level to level for a
    /// column of two, however rare one of them is, but no more than the scale for a column that fills little of its bounds. Where
    /// the scale was not seen it may be a level of few rows: from end to end.
    pub(crate) fn reach(&self) -> Vec<f64> {
        let pairs = self.centre.iter().zip(&self.inverse);
        let reach = |(m, &inverse): (&f64, &f64)| {
            let (m, variance) = (m.abs(), 1.0 / (inverse * inverse));
            let ends = (2.0 * inverse).max(1.0);
            if inverse >= 0.999 * self.finest {
                return ends;
            }
            let of_signs = 2.0 * variance / (1.0 - m * m).max(1e-9);
            let of_zero = (variance / (m * (1.0 - m)).max(1e-9)).min(1.0);
            (inverse * of_signs.max(of_zero)).clamp(1.0, ends)
        };
        pairs.map(reach).collect()
    }

    /// Whether it maps rows of so many columns.
    pub(super) fn is_for(&self, columns: usize) -> bool {
        let square = |matrix: &DMatrix<f64>| matrix.shape() == (columns, columns);
        let whitening = self.whitening.as_ref();
        (self.centre.len(), self.inverse.len()) == (columns, columns)
            && whitening.is_none_or(|w| square(&w.matrix) && square(&w.inverse))
    }

    pub(crate) fn columns(&self) -> usize {
        self.centre.len()
    }

    /// By how much rounding errors of sums of stored entries may grow.
    pub(crate) fn growth(&self) -> f64 {
        let squares = self.centre.iter().zip(&self.inverse).map(|(c, i)| (c * i).powi(2));
        let amplification = 1.0 + 2.001 * squares.sum::<f64>().sqrt();
        amplification * self.whitening.as_ref().map_or(1.0, |w| w.back * w.matrix.norm() * 1.001)
    }

    /// What bounds each stored entry of a row of length one in these coordinates.
    pub(crate) fn stored_bounds(&self) -> Vec<f64> {
        let back = |j: usize| self.whitening.as_ref().map_or(1.0, |w| w.inverse.row(j).norm() + w.apart);
        let bound = |j: usize| (back(j) / self.inverse[j] + self.centre[j].abs() * back(0)) * 1.001;
        (0..self.columns()).map(bound).collect()
    }

    /// By how much errors of a share of these bounds may grow under the map; products of two by its square.
    pub(crate) fn grid_growth(&self) -> f64 {
        let matrix = self.matrix();
        let each = self.stored_bounds().into_iter().zip(matrix.column_iter());
        1.001 * each.map(|(bound, column)| bound * column.norm()).sum::<f64>()
    }

    /// `W S g` for vectors of one entry a column, one after the other.
    pub(crate) fn apply(&self, vectors: &mut [f64]) {
        let d = self.columns();
        for g in vectors.chunks_exact_mut(d) {
            let constant = g[0];
            for ((g, centre), inverse) in g.iter_mut().zip(&self.centre).zip(&self.inverse) {
                *g = inverse * (*g - centre * constant);
            }
            if let Some(whitening) = &self.whitening {
                let mapped = &whitening.matrix * DMatrixView::from_slice(g, d, 1);
                g.copy_from_slice(mapped.as_slice());
            }
        }
    }

    /// The matrix that follows the standard coordinates; the identity where nothing was whitened.
    pub(crate) fn whitening(&self) -> DMatrix<f64> {
        let d = self.columns();
        self.whitening.as_ref().map_or_else(|| DMatrix::identity(d, d), |whitening| whitening.matrix.clone())
    }

    /// The coefficients of stored columns, `S' W' b`, of vectors one after the other.
    pub(crate) fn stored(&self, coefficients: &[f64]) -> Vec<f64> {
        let d = self.columns();
        let mut stored = coefficients.to_vec();
        for b in stored.chunks_exact_mut(d) {
            if let Some(whitening) = &self.whitening {
                let mapped = whitening.matrix.tr_mul(&DMatrixView::from_slice(b, d, 1));
                b.copy_from_slice(mapped.as_slice());
            }
            b.iter_mut().zip(&self.inverse).for_each(|(b, inverse)| *b *= inverse);
            let shift: f64 = b.iter().zip(&self.centre).map(|(b, c)| b * c).sum();
            b[0] -= shift;
        }
        stored
    }

    /// The map as a matrix, A.
    pub(crate) fn matrix(&self) -> DMatrix<f64> {
        let d = self.columns();
        let mut matrix = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(&self.inverse));
        for j in (0..d).filter(|&j| self.centre[j] != 0.0) {
            matrix[(j, 0)] = -self.inverse[j] * self.centre[j];
        }
        match &self.whitening {
            Some(whitening) => &whitening.matrix * matrix,
            None => matrix,
        }
    }

    /// Each row's l2 norm in these coordinates, never below the true one. Entries lie in [-1, 1].
    pub(crate) fn norms(&self, design: &Design) -> Vec<f64> {
        let (d, epsilon) = (self.columns() as f64, f64::EPSILON);
        let pairs = self.centre.iter().zip(&self.inverse);
        let standard = pairs.map(|(c, i)| i * i * (1.0 + c * c)).sum::<f64>().sqrt();
        let (mut norms, length) = match &self.whitening {
            Some(whitening) => {
                // Row after row of the map.
                let rows = self.matrix().transpose();
                (mapped_squares(design, rows.as_slice()), whitening.matrix.norm() * standard * d.sqrt())
            }
            None => (self.standard_squares(design), standard * (d.sqrt() + 2.0 * standard)),
        };
        // gamma of twice the columns and then some, for the map and the product; |z| is at most sqrt(d).
        let absolute = (2.0 * d + 24.0) * epsilon * length * 1.01;
        let relative = 1.0 + (d + 16.0) * epsilon;
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt() * relative + absolute);
        norms
    }

    /// `|S z|^2`, rounded; within the margins of [`RowMap::norms`].
    fn standard_squares(&self, design: &Design) -> Vec<f64> {
        if design.can_be_centred() || self.centre.iter().all(|&c| c == 0.0) {
            return squared_row_norms_from(design, &self.centre, &self.inverse);
        }
        // What a row of zeros has, and what each stored entry adds to it. The constant keeps the norm at 1 or more, so that the
        // norm errs by at most half as much as its square, whose terms are at most 3 inverse^2 in size.
        let pairs = self.centre.iter().zip(&self.inverse);
        let of_zeros: f64 = pairs.map(|(c, i)| (c * i) * (c * i)).sum();
        let mut squares = vec![0.0; design.rows()];
        let step = parallel::rows_per_piece(design.rows(), self.columns());
        parallel::for_each(squares.chunks_mut(step).enumerate(), |(piece, squares)| {
            for (row, square) in (piece * step..).zip(squares) {
                let mut added = 0.0;
                for (j, z) in design.stored(row) {
                    added += self.inverse[j] * self.inverse[j] * z * (z - 2.0 * self.centre[j]);
                }
                *square = (of_zeros + added).max(1.0);
            }
        });
        squares
    }
}
