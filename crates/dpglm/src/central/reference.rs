//! The exact optimum, without privacy: what scikit-learn or statsmodels would give.
//!
//! # Algorithm
//! Newton's method on the mean negative log-likelihood (plus `ridge/2 * norm^2`, intercept excluded), halving the step while
//! the loss does not fall.
//!
//! # Guarantee
//! None: the certificate says so.

use super::coordinates::Coordinates;
use super::glm::{Fit, add_ridge};
use super::multinomial::MultinomialFit;
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::families::Family;
use crate::families::multinomial::probabilities;
use crate::kernels::{fused_pass, fused_pass_multi, predict, weighted_gram};
use nalgebra::{DMatrix, DVector};

const ITERATIONS: usize = 100;
/// What the diagonal is raised by, relatively.
const LIFT: f64 = 1e-12;
/// Twice the loss that the next step would gain, relatively, below which that step is the last. With n rows each coefficient is then
/// within about `sqrt(n * DECREMENT)` standard errors of the optimum before the step, and its square after it.
const DECREMENT: f64 = 1e-20;
/// How much a loss summed over many rows can rise by rounding alone, relatively: above it, steps near the optimum would be refused.
const ROUNDING: f64 = 1e-12;
const REASON: &str = "the exact optimum was asked for (no noise)";

/// The exact optimum of a model with one linear predictor. `intercept` says that the first column is constant.
pub fn glm(family: &Family, data: &Dataset, ridge: f64, intercept: bool) -> Result<Fit> {
    let (design, n) = (data.design(), data.design().rows() as f64);
    let d = design.columns();
    let response: Vec<f64> = data.response().iter().map(|&y| family.admit(y)).collect();
    let weight = |i: usize| data.weight(i) * data.sample_weight(i);
    // Fisher's scoring where the score is not the residual.
    let residual = |i: usize, u: f64| match family.is_canonical() {
        true => family.mean(u + data.offset(i)) - response[i],
        false => -family.likelihood_score((response[i], data.offset(i)), u).0,
    };
    let slope = |i: usize, u: f64| match family.is_canonical() {
        true => family.mean_slope(u + data.offset(i)),
        false => family.likelihood_score((response[i], data.offset(i)), u).1.slope,
    };
    let loss = |beta: &[f64]| {
        let mut u = vec![0.0; response.len()];
        predict(design, beta, &mut u);
        let sum: f64 =
            (0..u.len()).map(|i| weight(i) * family.deviance(u[i] + data.offset(i), response[i])).sum();
        0.5 * sum / n + penalty(beta, ridge, intercept, d)
    };
    let derivatives = |beta: &[f64]| {
        let mut gradient = vec![0.0; d];
        fused_pass(design, beta, |i, u| weight(i) * residual(i, u), &mut gradient);
        let mut u = vec![0.0; response.len()];
        predict(design, beta, &mut u);
        let gram = weighted_gram(design, |i| weight(i) * slope(i, u[i]));
        let mut hessian = DMatrix::from_row_slice(d, d, &gram) / n;
        add_ridge(&mut hessian, ridge, intercept, &Coordinates::identity(d));
        for (j, g) in gradient.iter_mut().enumerate() {
            *g = *g / n + if intercept && j == 0 { 0.0 } else { ridge * beta[j] };
        }
        (DVector::from_vec(gradient), hessian)
    };
    let coefficients = newton(vec![0.0; d], loss, derivatives)?;
    let certificate = Certificate::without_promise(data.adjacency(), Vec::new(), REASON);
    Ok(Fit { coefficients, intervals: None, covariance: None, certificate })
}

/// The exact optimum of a multinomial model, class 0 as reference.
pub fn multinomial(classes: usize, data: &Dataset, ridge: f64, intercept: bool) -> Result<MultinomialFit> {
    let (design, n) = (data.design(), data.design().rows() as f64);
    let (d, outputs) = (design.columns(), classes - 1);
    let response: Vec<usize> = data.response().iter().map(|&y| y as usize).collect();
    let weight = |i: usize| data.weight(i) * data.sample_weight(i);
    let class_probabilities = |beta: &[f64]| -> Vec<Vec<f64>> {
        let predictors: Vec<Vec<f64>> = beta
            .chunks_exact(d)
            .map(|b| {
                let mut u = vec![0.0; response.len()];
                predict(design, b, &mut u);
                u
            })
            .collect();
        let mut at = vec![0.0; outputs];
        (0..response.len())
            .map(|i| {
                at.iter_mut().zip(&predictors).for_each(|(a, u)| *a = u[i]);
                let mut p = vec![0.0; outputs + 1];
                p[0] = probabilities(&at, &mut p[1..]);
                p
            })
            .collect()
    };
    let loss = |beta: &[f64]| {
        let p = class_probabilities(beta);
        let sum: f64 = p.iter().zip(&response).enumerate().map(|(i, (p, &y))| -weight(i) * p[y].ln()).sum();
        sum / n + penalty(beta, ridge, intercept, d)
    };
    let derivatives = |beta: &[f64]| {
        let mut gradient = vec![0.0; outputs * d];
        let residual = |i: usize, u: &[f64], out: &mut [f64]| {
            probabilities(u, out);
            for (k, r) in out.iter_mut().enumerate() {
                *r = weight(i) * (*r - f64::from(u8::from(response[i] == k + 1)));
            }
        };
        fused_pass_multi(design, outputs, beta, residual, &mut gradient);
        let p = class_probabilities(beta);
        let mut hessian = DMatrix::zeros(outputs * d, outputs * d);
        for k in 0..outputs {
            for l in k..outputs {
                let same = f64::from(u8::from(k == l));
                let gram = weighted_gram(design, |i| weight(i) * p[i][k + 1] * (same - p[i][l + 1]));
                let block = DMatrix::from_row_slice(d, d, &gram) / n;
                hessian.view_mut((k * d, l * d), (d, d)).copy_from(&block);
                hessian.view_mut((l * d, k * d), (d, d)).copy_from(&block.transpose());
            }
        }
        for (j, g) in gradient.iter_mut().enumerate() {
            let free = intercept && j % d == 0;
            *g = *g / n + if free { 0.0 } else { ridge * beta[j] };
            hessian[(j, j)] += if free { 0.0 } else { ridge };
        }
        (DVector::from_vec(gradient), hessian)
    };
    let coefficients = newton(vec![0.0; outputs * d], loss, derivatives)?;
    let certificate = Certificate::without_promise(data.adjacency(), Vec::new(), REASON);
    Ok(MultinomialFit {
        coefficients: coefficients.chunks_exact(d).map(<[f64]>::to_vec).collect(),
        certificate,
    })
}

fn penalty(beta: &[f64], ridge: f64, intercept: bool, columns: usize) -> f64 {
    let free = |j: usize| intercept && j.is_multiple_of(columns);
    0.5 * ridge * beta.iter().enumerate().filter(|(j, _)| !free(*j)).map(|(_, b)| b * b).sum::<f64>()
}

fn newton(
    mut beta: Vec<f64>,
    loss: impl Fn(&[f64]) -> f64,
    derivatives: impl Fn(&[f64]) -> (DVector<f64>, DMatrix<f64>),
) -> Result<Vec<f64>> {
    let mut best = loss(&beta);
    // Where a model fits without error the loss falls to rounding, and nothing is small beside that.
    let least = 1e-8 * best.abs();
    for _ in 0..ITERATIONS {
        let (gradient, mut hessian) = derivatives(&beta);
        // A singular matrix means columns that repeat each other or are zero; the least lift picks one of the optima. It
        // is relative to each column, so that a column in small units is solved for as exactly as any other.
        for j in 0..beta.len() {
            let diagonal = hessian[(j, j)];
            hessian[(j, j)] = if diagonal > 0.0 { diagonal * (1.0 + LIFT) } else { 1.0 };
        }
        let Some(factor) = hessian.cholesky() else { break };
        let step = factor.solve(&gradient);
        let trial =
            |length: f64| -> Vec<f64> { beta.iter().zip(step.iter()).map(|(b, s)| b - length * s).collect() };
        if gradient.dot(&step) <= DECREMENT * best.abs().max(least) {
            return Ok(trial(1.0));
        }
        let mut length = 1.0;
        let (next, value) = loop {
            let next = trial(length);
            let value = loss(&next);
            if value <= best + ROUNDING * best.abs() {
                break (next, value);
            }
            length *= 0.5;
            if length < 1e-10 {
                // No digit of the loss is left to gain.
                return Ok(beta);
            }
        };
        (beta, best) = (next, value);
    }
    Err(Error::Conflict(
        "the exact optimum does not exist or cannot be reached (a feature may separate the classes): add a ridge".into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;

    /// The slope of counts on one column, which is stored in units of `1 / scale`.
    fn slope(scale: f64) -> f64 {
        let rows: Vec<f64> = (0..2_000).flat_map(|i| [1.0, scale * f64::from(i % 17)]).collect();
        let counts: Vec<f64> = (0..2_000).map(|i| f64::from((i % 17) / 4 + i % 3)).collect();
        let data = Dataset::new(Design::from_f64(2_000, 2, rows).unwrap(), counts).unwrap();
        glm(&Family::poisson(), &data, 0.0, true).unwrap().coefficients[1] * scale
    }

    #[test]
    fn a_columns_unit_does_not_matter() {
        let expected = slope(1.0);
        for scale in [1e-9, 1e-6, 1e6] {
            let found = slope(scale);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {scale}, not {expected}");
        }
    }
}
