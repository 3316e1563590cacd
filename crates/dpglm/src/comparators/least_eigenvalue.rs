//! The smallest eigenvalue of a Gram matrix, within a proven distance.
//!
//! # Algorithm
//! Bisection. A number below the smallest eigenvalue leaves `G - number I` positive definite, and elimination meets positive pivots
//! only; a number above it does not.
//! 1. Bracket: zero, and the smallest entry of the diagonal.
//! 2. Halve: the middle is below the eigenvalue if elimination of `G - middle I` ends with all pivots positive.
//! 3. Stop at a width of 2^-14 of a row's squared length: far below the noise that is added to it.
//!
//! # Guarantee
//! The result is within [`error`] of the smallest eigenvalue of the matrix of exact sums, whatever the rows are. In floating point
//! elimination decides for a matrix nearby; how near is shown in `docs/proofs/eigenvalue.md`. An iterative eigenvalue routine would be as good
//! in practice, but its error has no proven constant.

use crate::data::Design;
use crate::kernels::{gram_error, weighted_gram};

/// Unit round-off of f64.
const U: f64 = f64::EPSILON / 2.0;
/// The width at which bisection stops, in squared lengths of a row.
const WIDTH: f64 = 1.0 / 16_384.0;

/// The smallest eigenvalue of `A^T A` for rows of length at most `length`; zero where there are fewer rows than columns.
pub(super) fn least(rows: &Design, length: f64) -> f64 {
    let (n, d) = (rows.rows(), rows.columns());
    if n < d {
        return 0.0;
    }
    let unit = length * length;
    let gram: Vec<f64> = weighted_gram(rows, |_| 1.0).iter().map(|x| x / unit).collect();
    // Step 1
    let (mut low, mut high) = (0.0, (0..d).map(|j| gram[j * d + j]).fold(f64::INFINITY, f64::min));
    let mut work = vec![0.0; d * d];
    while high - low > WIDTH {
        // Step 2
        let middle = 0.5 * (low + high);
        work.copy_from_slice(&gram);
        (0..d).for_each(|j| work[j * d + j] -= middle);
        if is_definite(&mut work, d) { low = middle } else { high = middle }
    }
    // Step 3
    0.5 * (low + high).max(0.0) * unit
}

/// How far [`least`] may be from the exact eigenvalue, in squared lengths of a row, for so many rows and columns.
pub(super) fn error(rows: usize, columns: usize) -> f64 {
    let (n, d) = (rows as f64, columns as f64);
    let sums = n * d * gram_error(rows);
    let elimination = 8.0 * n * d * (d + 4.0) * U;
    (0.5 * WIDTH + sums + elimination) * (1.0 + 1e-9)
}

/// Whether elimination of a symmetric matrix, of which the lower triangle is read, meets positive pivots only. It stops as soon as
/// any entry of the diagonal that is left is not positive: the proof needs that.
fn is_definite(matrix: &mut [f64], d: usize) -> bool {
    let positive = |x: f64| x > 0.0;
    if !(0..d).all(|j| positive(matrix[j * d + j])) {
        return false;
    }
    let mut column = vec![0.0; d];
    for j in 0..d {
        let root = matrix[j * d + j].sqrt();
        for i in j + 1..d {
            column[i] = matrix[i * d + j] / root;
        }
        for i in j + 1..d {
            let factor = column[i];
            let row = &mut matrix[i * d + j + 1..=i * d + i];
            row.iter_mut().zip(&column[j + 1..=i]).for_each(|(entry, other)| *entry -= factor * other);
            if !positive(matrix[i * d + i]) {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::RandomSource;
    use nalgebra::DMatrix;

    /// `a I + b 1 1^T` as a Gram matrix has the smallest eigenvalue a: rows `sqrt(a) e_j`, and one of sqrt(b). Whole numbers, so that the
    /// sums are exact.
    #[test]
    fn known_eigenvalues_are_found_within_the_error() {
        for d in [2_usize, 3, 7, 20] {
            for (a, b, copies) in [(0_u32, 1_u32, 40), (1, 0, 1), (1, 30, 50), (9, 1, 3), (0, 0, 25)] {
                let mut entries = Vec::new();
                for _ in 0..copies {
                    for j in 0..d {
                        entries.extend((0..d).map(|k| if j == k { f64::from(a) } else { 0.0 }));
                    }
                    entries.extend(vec![f64::from(b); d]);
                }
                let rows = Design::from_f64(entries.len() / d, d, entries).unwrap();
                let length = f64::from(a.max(b).max(1)) * (d as f64).sqrt();
                let exact = f64::from(copies * a * a);
                let found = least(&rows, length);
                let allowed = error(rows.rows(), d) * length * length;
                assert!((found - exact).abs() <= allowed, "{d} {a} {b}: {found} {exact} {allowed}");
            }
        }
    }

    /// Against the iterative routine, which errs by little though nobody proves how much.
    #[test]
    fn random_eigenvalues_agree_with_the_iterative_routine() {
        let mut rng = RandomSource::insecure_seeded(0x6569_6765_6e31);
        for trial in 0..200 {
            let d = 1 + trial % 12;
            let n = d + rng.below(60) as usize;
            // Every third table is nearly singular.
            let near = if trial % 3 == 0 { 1e-6 } else { 1.0 };
            let entries: Vec<f64> = (0..n * d)
                .map(|k| (rng.below(2_001) as f64 / 1_000.0 - 1.0) * if k % d == 0 { near } else { 1.0 })
                .collect();
            let table = DMatrix::from_row_slice(n, d, &entries);
            let exact = (table.transpose() * &table).symmetric_eigenvalues().min();
            let length = (d as f64).sqrt();
            let found = least(&Design::from_f64(n, d, entries).unwrap(), length);
            let allowed = (error(n, d) + 1e-10) * length * length;
            assert!((found - exact).abs() <= allowed, "{n} {d}: {found} {exact}");
        }
    }

    /// Matrices whose determinants are known exactly, a last digit from being singular.
    #[test]
    fn elimination_is_right_where_it_must_be() {
        let definite = |a: f64, b: f64, c: f64| is_definite(&mut [a, 0.0, b, c], 2);
        assert!(definite(4.0, 2.0, 1.5) && !definite(4.0, 2.0, 0.5) && !definite(4.0, 2.0, 1.0));
        assert!(!definite(-1.0, 0.0, 1.0) && !definite(1.0, 0.0, -1.0) && !definite(1.0, 5.0, 1.0));
        assert!(!definite(f64::NAN, 0.0, 1.0) && !definite(1.0, f64::NAN, 1.0));
    }
}
