//! The privacy of a random projection: what `r` Gaussian combinations of the rows give away.
//!
//! # The release
//! `R A` with A the n rows of length at most B, and R an r by n matrix of independent standard normals: r independent draws
//! from `N(0, A^T A)`.
//!
//! # Guarantee
//! Let one row be replaced and let `A^T A` have all its eigenvalues at or above `B^2 / h`, `h < 1`. Then for every set S,
//! `P(S) <= e^epsilon P'(S) + delta` for every epsilon, with `delta = min_a exp(K(a) - a epsilon + a ln a - (a+1) ln(a+1))` over
//! `0 < a < (1-h)/h` and
//! `K(a) = r/2 [a ln(1-h^2) - ln(1 + a h/(1+h)) - ln(1 - a h/(1-h))]`.
//!
//! # Why private
//! Let `S = A^T A`, and let v be replaced by u. The neighbour's matrix is `S^1/2 M S^1/2` with
//! `M = I - p p^T + q q^T`, `p = S^-1/2 v`, `q = S^-1/2 u`, both of squared length at most h. M differs from I in at most
//! two directions, one eigenvalue in `[1, 1+h]` and one in `[1-h, 1]` (a matrix minus a rank-one term, plus another). So,
//! after a linear map, the two data sets give r draws each from `N(0, 1)` against `N(0, m)` in two independent directions, m
//! being those eigenvalues. An m nearer to 1 gives away no more: adding `N(0, c)` and rescaling turns the pair
//! `(1, m)` into `(1, (m + c)/(1 + c))`. So the worst are `1 + h` and `1 - h`, whose log-moments
//! `ln E e^{a loss} = a/2 ln m - 1/2 ln(1 - a (1/m - 1))` add up to K. The conversion is that of
//! [`crate::accounting::renyi`]. Only the eigenvalues of the data set under the *first* probability are used, so a lower
//! bound on them that holds with probability `1 - d` costs d more, in both orders.
//!
//! # References
//! Blocki, Blum, Datta and Sheffet 2012; Sheffet, *Differentially private ordinary least squares*, ICML 2017. The constants
//! are derived here; the printed ones are larger.

use crate::error::{Error, Result};

/// `ln` of the delta at `epsilon` of a projection to `rows` rows, given `h = B^2 / smallest eigenvalue`.
pub(crate) fn ln_delta(rows: u64, h: f64, epsilon: f64) -> f64 {
    if !(h > 0.0 && h < 1.0) {
        return 0.0;
    }
    let r = rows as f64;
    let largest = (1.0 - h) / h;
    let at = |share: f64| {
        let a = share * largest;
        let moment =
            0.5 * r * (a * (-h * h).ln_1p() - (a * h / (1.0 + h)).ln_1p() - (-a * h / (1.0 - h)).ln_1p());
        // Enlarged by more than its rounding: the terms cancel where h is small.
        let rounding = 4.0 * f64::EPSILON * r * (1.0 + a * h);
        moment * (1.0 + 1e-9) + rounding - a * epsilon - a * (1.0 / a).ln_1p() - a.ln_1p()
    };
    // Any order gives a valid bound; these are spaced closely enough for a tight one.
    (1..2_000).map(|i| at((-12.0 + 0.006 * f64::from(i)).exp().min(0.9999))).fold(0.0, f64::min)
}

/// The largest h, hence the smallest eigenvalue, with which a projection to `rows` rows is (epsilon, delta) private.
pub(crate) fn largest_ratio(rows: u64, epsilon: f64, delta: f64) -> Result<f64> {
    let (mut low, mut high) = (0.0, 0.99);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if ln_delta(rows, middle, epsilon) <= delta.ln() { low = middle } else { high = middle }
    }
    if low > 1e-12 {
        return Ok(low);
    }
    Err(Error::BudgetUnreachable {
        epsilon: epsilon.to_string(),
        delta: delta.to_string(),
        reason: "a projection to so many rows needs a larger budget; project to fewer rows".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::uniform;
    use crate::noise::RandomSource;
    use nalgebra::{DMatrix, DVector};

    /// One row, one direction each: delta by direct integration of the two chi-square losses is below the bound.
    #[test]
    fn the_bound_lies_above_the_integrated_loss() {
        for (h, epsilon) in [(0.2, 0.5), (0.4, 1.0), (0.1, 0.4)] {
            let loss = |m: f64, z: f64| 0.5 * f64::ln(m) + 0.5 * z * z * (1.0 / m - 1.0);
            let step = 0.01;
            let grid: Vec<(f64, f64)> = (-1_000..1_000)
                .map(|i| step * (f64::from(i) + 0.5))
                .map(|z| (z, (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * step))
                .collect();
            let mut exact = 0.0;
            for &(x, p) in &grid {
                for &(y, q) in &grid {
                    let total = loss(1.0 + h, x) + loss(1.0 - h, y);
                    exact += p * q * (1.0 - (epsilon - total).exp()).max(0.0);
                }
            }
            let bound = ln_delta(1, h, epsilon).exp();
            assert!(exact <= bound && exact > 0.05 * bound, "{exact} {bound}");
        }
    }

    /// The eigenvalues of M lie where the proof says, for random and for adversarial replacements.
    #[test]
    fn a_replacement_moves_two_eigenvalues_within_the_ratio() {
        let mut rng = RandomSource::insecure_seeded(4);
        let mut nearest = 0.0_f64;
        for case in 0..3_000 {
            let d = 4;
            let rows = DMatrix::from_fn(12, d, |_, _| uniform(&mut rng));
            let mut unit = || {
                let v = DVector::from_fn(d, |_, _| uniform(&mut rng));
                v.clone() / v.norm()
            };
            let (v, mut u) = (unit(), unit());
            let mut s = rows.transpose() * &rows + &v * v.transpose();
            if case % 3 == 0 {
                // The removed row spans the weakest direction almost alone.
                s = &v * v.transpose() + (DMatrix::identity(d, d) - &v * v.transpose()) * 5.0;
                s += DMatrix::identity(d, d) * 0.5;
                u = v.clone() * 0.01;
            }
            let eigen = s.clone().symmetric_eigen();
            let h = 1.0 / eigen.eigenvalues.min();
            if h >= 1.0 {
                continue;
            }
            let root = {
                let mut e = eigen.clone();
                e.eigenvalues.iter_mut().for_each(|x| *x = 1.0 / x.sqrt());
                e.recompose()
            };
            let neighbour = &s - &v * v.transpose() + &u * u.transpose();
            let m = &root * neighbour * &root;
            let values = m.symmetric_eigenvalues();
            assert!(values.min() >= 1.0 - h - 1e-9 && values.max() <= 1.0 + h + 1e-9);
            nearest = nearest.max((1.0 - values.min()) / h);
        }
        assert!(nearest > 0.9, "{nearest}");
    }

    #[test]
    fn the_ratio_meets_its_budget_and_falls_with_the_rows() {
        let few = largest_ratio(10, 1.0, 1e-6).unwrap();
        let many = largest_ratio(1_000, 1.0, 1e-6).unwrap();
        assert!(few > many && ln_delta(10, few, 1.0) <= 1e-6_f64.ln());
        // About mu / sqrt(rows).
        assert!(many * 1_000f64.sqrt() > 0.1 && many * 1_000f64.sqrt() < 0.5, "{many}");
    }
}
