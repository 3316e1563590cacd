//! Means of weighted products of rows, in released coordinates.
//!
//! A row's part is `S (x) u u'`, u the row and S a positive semi-definite matrix of `outputs` rows: a number where there is one
//! linear predictor, and so many blocks of products where there are several.
//!
//! # Guarantee
//! A unit's part is positive semi-definite of trace at most `trace`, which the weights enforce. Two such matrices are at most
//! `sqrt(2) trace` apart in Frobenius norm, because their inner product is not negative; S is computed, so it may be so by
//! rounding, which is charged. Each number is released once, times the root of how often it stands in the matrix: the l2 norm
//! of what is released is the Frobenius norm. Sums are exact on a grid. A row's products `|S_ab z_j z_k|` are at most the trace times the
//! stored bounds of j and k ([`RowMap::stored_bounds`]); their rounding to the grid grows by at most the square of
//! [`RowMap::grid_growth`], and that of the map, which rounds as often as there are columns, twice, by the square of [`RowMap::growth`].

use super::pass::{At, Pass, Rows};
use super::row_map::RowMap;
use super::scores::ScoreBounds;
use crate::data::{Design, Shape};
use crate::error::Result;
use crate::kernels::{Grid, Partial, power_above, weighted_grams};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// The pairs `(a, b)`, `a <= b`, of so many things, by rows of the upper triangle.
pub(crate) fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..count).flat_map(move |a| (a..count).map(move |b| (a, b)))
}

/// How often a number at these places stands in a symmetric matrix.
fn times((a, b): (usize, usize)) -> f64 {
    if a == b { 1.0 } else { 2.0 }
}

/// What a row's S is: by whose size each unit's part is bounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Weights {
    /// The row's share of its unit's vote, times the square of what shortens it to this norm.
    Shortened { reach: f64 },
    /// The slopes that a score pass of these bounds counts in its mean slope.
    Slopes { at: At, bounds: ScoreBounds },
    /// The slope of the residual; a unit's trace is brought down to the bound.
    Curvature { at: At, bound: f64 },
    /// The slope of the score that is shortened to `far`, likewise.
    Far { at: At, far: f64, bound: f64 },
    /// The same, and in a second sum the products of the score itself, shortened to `second`: each row is a unit.
    FarAndSecond { at: At, far: f64, bound: f64, second: f64 },
    /// The products of units' scores, shortened to `far` and then to `second`.
    SecondOfUnits { at: At, far: f64, second: f64 },
}

/// The packed mean of `S (x) u u'`, each unit's part being of this trace at most.
pub(crate) fn read(
    rows: &dyn Rows,
    map: &RowMap,
    outputs: usize,
    weights: Weights,
    trace: f64,
    count: f64,
) -> Result<Vec<f64>> {
    let [packed] = read_several(rows, map, outputs, weights, [trace], count)?;
    Ok(packed)
}

/// Several such means in one read, each of its own trace.
pub(crate) fn read_several<const MEANS: usize>(
    rows: &dyn Rows,
    map: &RowMap,
    outputs: usize,
    weights: Weights,
    traces: [f64; MEANS],
    count: f64,
) -> Result<[Vec<f64>; MEANS]> {
    let pass = Pass::Products { map: map.clone(), outputs, weights, traces: traces.to_vec() };
    Ok(packed(rows.products(&pass)?, map, outputs, traces, count))
}

/// Sums over rows as packed means, in the coordinates of the map.
fn packed<const MEANS: usize>(
    sums: Partial,
    map: &RowMap,
    outputs: usize,
    traces: [f64; MEANS],
    count: f64,
) -> [Vec<f64>; MEANS] {
    let grams = sums.values();
    let (d, triangle) = (map.columns(), outputs * (outputs + 1) / 2);
    let mut means = grams.chunks_exact(triangle * d * d).zip(traces.map(power_above));
    std::array::from_fn(|_| {
        let (mean, unit) = means.next().unwrap_or_default();
        let mut packed = Vec::new();
        for (outer, gram) in pairs(outputs).zip(mean.chunks_exact(d * d)) {
            let mut gram: Vec<f64> = gram.iter().map(|g| g * unit).collect();
            map.apply(&mut gram);
            let mut gram = DMatrix::from_vec(d, d, gram).transpose();
            map.apply(gram.as_mut_slice());
            packed.extend(pairs(d).map(|inner| gram[inner] / count * (times(outer) * times(inner)).sqrt()));
        }
        packed
    })
}

/// The sums over rows: `weights` sets the upper triangle of a row's S, one for each trace after the other.
pub(super) fn sums(
    design: &Design,
    map: &RowMap,
    outputs: usize,
    traces: &[f64],
    weights: impl Fn(usize, &mut [f64]) + Sync,
) -> Partial {
    let triangle = outputs * (outputs + 1) / 2;
    // In units of a power of two each, so that one grid serves them all.
    let units: Vec<f64> = traces.iter().map(|&trace| power_above(trace)).collect();
    let in_units = |row: usize, out: &mut [f64]| {
        weights(row, out);
        for (out, unit) in out.chunks_exact_mut(triangle).zip(&units) {
            out.iter_mut().for_each(|w| *w /= unit);
        }
    };
    let grid = Grid::of_columns(map.stored_bounds());
    weighted_grams(design, units.len() * triangle, &grid, in_units)
}

/// What a replaced unit moves the packed mean by.
pub(crate) fn sensitivity(map: &RowMap, outputs: usize, trace: f64, shape: Shape, count: f64) -> f64 {
    let columns = map.columns() as f64;
    let roundings = (2.0 * columns + 8.0 * outputs as f64 + 24.0) * f64::EPSILON;
    // Of a row, for each pair of outputs; the unit of its trace may be twice the trace.
    let grid = 2.0 * Grid::product_rounding() * outputs as f64 * map.grid_growth().powi(2);
    let error = shape.rows_per_unit() * grid + roundings * shape.units as f64 * map.growth().powi(2);
    (2f64.sqrt() * (1.0 + 1e-9) + 2.0 * error) * trace / count
}

/// The symmetric matrix of a packed one, a block for each pair of outputs.
pub(crate) fn unpacked(packed: Vec<f64>, columns: usize, outputs: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(columns * outputs, columns * outputs);
    let mut entries = packed.into_iter();
    for (a, b) in pairs(outputs) {
        for (i, j) in pairs(columns) {
            let x = entries.next().unwrap_or(0.0) / (times((a, b)) * times((i, j))).sqrt();
            for (row, column) in [(i, j), (j, i)] {
                matrix[(a * columns + row, b * columns + column)] = x;
                matrix[(b * columns + row, a * columns + column)] = x;
            }
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
        let sums = sums(&design, &map, 1, &[1e3], |row, w| w[0] = 1.0 + row as f64);
        let [found] = packed(sums, &map, 1, [1e3], 4.0);
        let found = unpacked(found, 3, 1);
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
        assert!((found - wanted).norm() < 1e-9);
    }
    /// Of several outputs it is the mean of Kronecker products, and its packed form has their Frobenius norm.
    #[test]
    fn products_of_several_outputs_are_kronecker_products() {
        let rows = [[1.0, 0.25], [1.0, -1.0], [1.0, 0.5]];
        let design = Design::from_f64(3, 2, rows.concat()).unwrap();
        let map = RowMap::standard(vec![0.0, 0.5], vec![1.0, 4.0]);
        let of_row = |row: usize| {
            let r = DMatrix::from_column_slice(3, 1, &[0.5, -0.25 * row as f64, 1.0]);
            &r * r.transpose()
        };
        let weights = |row: usize, out: &mut [f64]| {
            for (out, pair) in out.iter_mut().zip(pairs(3)) {
                *out = of_row(row)[pair];
            }
        };
        let [packed] = packed(sums(&design, &map, 3, &[1e3], weights), &map, 3, [1e3], 3.0);
        let norm = packed.iter().map(|x| x * x).sum::<f64>().sqrt();
        let found = unpacked(packed, 2, 3);
        let mut wanted = DMatrix::zeros(6, 6);
        for (row, z) in rows.iter().enumerate() {
            let u = DMatrix::from_column_slice(2, 1, &[1.0, 4.0 * (z[1] - 0.5)]);
            wanted += of_row(row).kronecker(&(&u * u.transpose())) / 3.0;
        }
        assert!((norm - wanted.norm()).abs() < 1e-9);
        assert!((found - wanted).norm() < 1e-9);
    }
}
