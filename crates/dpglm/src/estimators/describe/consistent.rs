//! What noise made impossible is made possible again: shares that add up to one, correlations that some table has.

use nalgebra::{DMatrix, SymmetricEigen};

/// The nearest numbers, by least squares, that are at least 0 and add up to `total`.
pub(super) fn simplex(values: &[f64], total: f64) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (k, value) in sorted.iter().enumerate() {
        sum += value;
        let next = (sum - total) / (k + 1) as f64;
        if value - next > 0.0 {
            shift = next;
        }
    }
    values.iter().map(|v| if v.is_finite() { (v - shift).max(0.0) } else { (-shift).max(0.0) }).collect()
}

/// A matrix of correlations near this one: ones on the diagonal, no eigenvalue below zero.
pub(super) fn correlations(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let p = matrix.nrows();
    let mut eigen = SymmetricEigen::new(matrix);
    eigen.eigenvalues.iter_mut().for_each(|e| *e = e.max(0.0));
    let lifted = eigen.recompose();
    let scale: Vec<f64> = (0..p).map(|i| lifted[(i, i)].max(1e-12).sqrt()).collect();
    DMatrix::from_fn(p, p, |i, j| match i == j {
        true => 1.0,
        false => (0.5 * (lifted[(i, j)] + lifted[(j, i)]) / (scale[i] * scale[j])).clamp(-1.0, 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_projected_on_the_simplex() {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&simplex(&[0.2, 0.3, 0.5], 1.0), &[0.2, 0.3, 0.5]));
        assert!(near(&simplex(&[0.7, 0.5, -0.2], 1.0), &[0.6, 0.4, 0.0]));
        assert!(near(&simplex(&[-3.0, -3.0], 1.0), &[0.5, 0.5]));
        assert!(near(&simplex(&[f64::NAN, 0.4], 1.0), &[0.3, 0.7]));
    }

    #[test]
    fn correlations_are_those_of_some_table() {
        let impossible = DMatrix::from_row_slice(3, 3, &[1.0, 0.9, -0.9, 0.9, 1.0, 0.9, -0.9, 0.9, 1.0]);
        let made = correlations(impossible);
        assert!(SymmetricEigen::new(made.clone()).eigenvalues.iter().all(|e| *e > -1e-12));
        assert!((0..3).all(|i| made[(i, i)] == 1.0));
        let possible = DMatrix::from_row_slice(2, 2, &[1.0, 0.3, 0.3, 1.0]);
        assert!((correlations(possible.clone()) - possible).norm() < 1e-12);
    }
}
