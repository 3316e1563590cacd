//! Means of weighted products of rows, in released coordinates.
//!
//! # Guarantee
//! A unit's part is positive semi-definite of trace at most `trace`, which the weights enforce. Two such matrices are at most
//! `sqrt(2) trace` apart in Frobenius norm, because their inner product is not negative. The upper triangle with
//! off-diagonal entries times `sqrt 2` has the Frobenius norm as its l2 norm. Summation errs by at most [`gram_error`] times
//! the sum of absolute values before the map, and mapping rounds as often as there are columns, twice; both grow by at most
//! the square of [`RowMap::growth`].

use super::row_map::RowMap;
use crate::data::Design;
use crate::data::dataset::MOST_ROWS;
use crate::kernels::{gram_error, weighted_gram};
use nalgebra::DMatrix;

/// The packed mean `sum weight(row) u u' / count`, upper triangle by rows.
pub(crate) fn read(
    design: &Design,
    map: &RowMap,
    weight: impl Fn(usize) -> f64 + Sync,
    count: f64,
) -> Vec<f64> {
    let d = design.columns();
    let mut gram = weighted_gram(design, weight);
    map.apply(&mut gram);
    let mut gram = DMatrix::from_vec(d, d, gram).transpose();
    map.apply(gram.as_mut_slice());
    let root = 2f64.sqrt();
    let mut packed = Vec::with_capacity(d * (d + 1) / 2);
    for i in 0..d {
        for j in i..d {
            packed.push(gram[(i, j)] / count * if i == j { 1.0 } else { root });
        }
    }
    packed
}

/// What a replaced unit moves the packed mean by.
pub(crate) fn sensitivity(map: &RowMap, trace: f64, units: usize, count: f64) -> f64 {
    let roundings = 2.0 * map.columns() as f64 + 24.0;
    let error = 2.0 * (gram_error(MOST_ROWS) + roundings * f64::EPSILON) * map.growth().powi(2) * trace;
    2f64.sqrt() * trace / count * (1.0 + 1e-9) + error * units as f64 / count
}

/// The symmetric matrix of a packed one.
pub(crate) fn unpacked(packed: Vec<f64>, columns: usize) -> DMatrix<f64> {
    let root = 2f64.sqrt();
    let mut matrix = DMatrix::zeros(columns, columns);
    let mut entries = packed.into_iter();
    for i in 0..columns {
        for j in i..columns {
            let x = entries.next().unwrap_or(0.0) / if i == j { 1.0 } else { root };
            matrix[(i, j)] = x;
            matrix[(j, i)] = x;
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packed mean is that of rows mapped one by one, and unpacks to itself.
    #[test]
    fn products_are_those_of_mapped_rows() {
        let rows = [[1.0, 0.25, -0.5], [1.0, -1.0, 0.5]];
        let design = Design::from_f64(2, 3, rows.concat()).unwrap();
        let map = RowMap::standard(vec![0.0, 0.5, -1.0], vec![1.0, 4.0, 0.5]);
        let matrix = DMatrix::from_row_slice(3, 3, &[2.0, 0.5, 0.0, 0.5, 1.0, 0.25, 0.0, 0.25, 1.5]);
        let inverse = matrix.clone().try_inverse().unwrap();
        let map = map.whitened(matrix.clone(), &inverse).unwrap();
        let found = unpacked(read(&design, &map, |row| 1.0 + row as f64, 4.0), 3);
        let mut wanted = DMatrix::zeros(3, 3);
        let norms = map.norms(&design);
        for (row, z) in rows.iter().enumerate() {
            let x = [1.0, 4.0 * (z[1] - 0.5), 0.5 * (z[2] + 1.0)];
            let u = &matrix * DMatrix::from_column_slice(3, 1, &x);
            wanted += &u * u.transpose() * (1.0 + row as f64) / 4.0;
            assert!(norms[row] >= u.norm() && norms[row] < u.norm() * (1.0 + 1e-9));
            let b = [0.3, -1.0, 0.7];
            let direct: f64 = u.iter().zip(&b).map(|(u, b)| u * b).sum();
            let stored: f64 = z.iter().zip(map.stored(&b)).map(|(z, b)| z * b).sum();
            assert!((direct - stored).abs() < 1e-12);
        }
        assert!((found - wanted).norm() < 1e-12);
    }
}
