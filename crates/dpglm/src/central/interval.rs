//! Standard errors and confidence intervals that include sampling and privacy noise.
//!
//! # Algorithm
//! The estimate is the average of iterates `b <- b - a P (s(b) + noise)`. Near the root of the expected score s, with
//! slope H, its covariance has two parts:
//! 1. sampling: `H^-1 M H^-1 / n`, with M the second moment of a unit's score (the sandwich);
//! 2. privacy: each noise vector enters every later iterate. In the eigenbasis of `S = P^1/2 H P^1/2` the recursion is
//!    diagonal, and its covariance is a sum of geometric series, computed term by term.
//!
//! H and M are released with noise of their own, from the same budget; both are lifted to what noise cannot explain.
//!
//! # What it assumes
//! A correct mean model; intervals cover the parameter under sampling and privacy noise at the nominal rate where n is
//! large enough that noise does not dominate (simulated coverage is in the documentation). Privacy does not rest on it.

use crate::error::{Error, Result};
use nalgebra::{DMatrix, SymmetricEigen};

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The standard error, sampling and privacy together.
    pub standard_error: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The noise of a two-phase averaged descent.
pub(super) struct Descent {
    /// Steps of length 1 before averaging, and the deviation of each one's gradient noise.
    pub burn_in: (u64, f64),
    /// Averaged steps, the deviation of each one's gradient noise, and their length.
    pub averaged: (u64, f64, f64),
}

/// The privacy part of the covariance: step 2 above.
pub(super) fn privacy_covariance(
    inverse: &DMatrix<f64>,
    slope: &DMatrix<f64>,
    descent: &Descent,
) -> DMatrix<f64> {
    let d = slope.nrows();
    let root = square_root(inverse);
    let eigen = SymmetricEigen::new(&root * slope * &root);
    let (burn_in, first_noise) = descent.burn_in;
    let (steps, noise, length) = descent.averaged;
    let t = steps as f64;
    // Eigenvalues beyond 2 would not have converged; below zero is noise.
    let speed: Vec<f64> = eigen.eigenvalues.iter().map(|l| l.clamp(1e-6, 1.9)).collect();
    let keep: Vec<f64> = speed.iter().map(|l| 1.0 - length * l).collect();
    // What remains in the average of a start one unit off the root.
    let carried: Vec<f64> =
        keep.iter().map(|k| (1..=steps).map(|m| k.powi(m as i32)).sum::<f64>() / t).collect();
    let driving = eigen.eigenvectors.transpose() * inverse * &eigen.eigenvectors;
    let mut covariance = DMatrix::zeros(d, d);
    for i in 0..d {
        for j in i..d {
            let shrink = (1.0 - speed[i]) * (1.0 - speed[j]);
            let before: f64 = (0..burn_in).map(|k| shrink.powi(k as i32)).sum();
            let during: f64 = (1..=steps)
                .map(|m| (1.0 - keep[i].powi(m as i32)) * (1.0 - keep[j].powi(m as i32)))
                .sum::<f64>()
                / (t * t * speed[i] * speed[j]);
            let weight = first_noise.powi(2) * carried[i] * carried[j] * before + noise.powi(2) * during;
            covariance[(i, j)] = driving[(i, j)] * weight;
            covariance[(j, i)] = covariance[(i, j)];
        }
    }
    let back = root * eigen.eigenvectors;
    &back * covariance * back.transpose()
}

fn square_root(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut eigen = matrix.clone().symmetric_eigen();
    eigen.eigenvalues.iter_mut().for_each(|e| *e = e.max(0.0).sqrt());
    eigen.recompose()
}

/// Refuses a level at which no interval makes sense.
pub(super) fn require_level(level: f64) -> Result<f64> {
    if (0.5..1.0).contains(&level) {
        return Ok(level);
    }
    Err(Error::OutOfRange {
        parameter: "interval level",
        range: "from 0.5 to below 1",
        value: level.to_string(),
        remedy: "0.95 is usual",
    })
}

/// Intervals of the given level from estimates and their variances.
pub(super) fn intervals(
    estimates: &[f64],
    variances: impl Iterator<Item = f64>,
    level: f64,
) -> Vec<Interval> {
    let width = normal_quantile(0.5 + 0.5 * level);
    estimates
        .iter()
        .zip(variances)
        .map(|(&b, variance)| {
            let standard_error = variance.max(0.0).sqrt();
            Interval { standard_error, low: b - width * standard_error, high: b + width * standard_error }
        })
        .collect()
}

/// The standard normal quantile of p in (1/2, 1), by bisection on the error function.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle: f64 = 0.5 * (low + high);
        if 1.0 - 0.5 * libm::erfc(middle / std::f64::consts::SQRT_2) < p {
            low = middle
        } else {
            high = middle
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((normal_quantile(0.995) - 2.575_829_303_548_901).abs() < 1e-12);
    }

    /// The closed covariance equals that of the recursion carried out on matrices.
    #[test]
    fn the_covariance_is_that_of_the_recursion() {
        let slope = DMatrix::from_row_slice(2, 2, &[0.5, 0.2, 0.2, 0.3]);
        let inverse = DMatrix::from_row_slice(2, 2, &[1.5, -0.4, -0.4, 2.0]);
        let descent = Descent { burn_in: (4, 0.7), averaged: (9, 0.3, 0.5) };
        let got = privacy_covariance(&inverse, &slope, &descent);
        // Each noise vector's linear effect on the average, found by running the recursion on unit vectors.
        let effect = |at: u64| -> DMatrix<f64> {
            let mut e = DMatrix::zeros(2, 2);
            let mut average = DMatrix::zeros(2, 2);
            for step in 0..13 {
                let length = if step < 4 { 1.0 } else { 0.5 };
                let mut gradient = &slope * &e;
                if step == at {
                    gradient += DMatrix::identity(2, 2);
                }
                e -= length * (&inverse * gradient);
                if step >= 4 {
                    average += &e / 9.0;
                }
            }
            average
        };
        let mut expected = DMatrix::zeros(2, 2);
        for at in 0..13 {
            let a = effect(at);
            let noise: f64 = if at < 4 { 0.7 } else { 0.3 };
            expected += &a * a.transpose() * noise.powi(2);
        }
        assert!((got - expected).norm() < 1e-12);
    }
}
