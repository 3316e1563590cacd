//! Which coefficients of chosen columns are kept, and at what value: a function of what was released.
//!
//! # Algorithm
//! 1. A coefficient whose standard error is so small that one of the size expected would be clear of zero: kept as it is if it is
//!    2.75 standard errors from zero, else zero. Most that are not clear belong to columns that noise chose.
//! 2. One whose standard error hides what is expected is no reason to drop a column that was chosen: its mean given the
//!    estimate, if coefficients of the chosen sign are half-normal with the size expected as their scale; normal where no sign was chosen.
//! 3. The predictor at the columns' centres, likewise, about where the descent started; then the intercept that goes with it.
//!
//! The size expected is 1 for columns in [-1, 1] under a link to a probability or a rate, and the first cap on residuals for real responses. As the
//! number of rows times epsilon grows, every coefficient falls under step 1.

use super::glm::Estimate;
use super::start::Start;
use crate::numeric::normal_below;
use std::f64::consts::PI;

/// How many standard errors from zero a coefficient must be to be kept.
pub(crate) const CLEAR: f64 = 2.75;

/// The coefficients, zero where they are not kept; the first `constant` belong to no column.
pub(super) fn settled(
    estimate: &Estimate,
    signs: &[Option<f64>],
    constant: usize,
    start: Start,
    expected: f64,
) -> Vec<f64> {
    let Estimate { coefficients, errors, centres, middle_error, .. } = estimate;
    let shift =
        |b: &[f64]| -> f64 { b.iter().zip(centres).skip(constant).map(|(b, centre)| b * centre).sum() };
    let mut settled = coefficients.clone();
    for j in constant..settled.len() {
        let (b, error) = (coefficients[j], errors[j]);
        settled[j] = match signs[j] {
            _ if CLEAR * error <= expected => {
                if b.abs() >= CLEAR * error {
                    b
                } else {
                    0.0
                }
            }
            Some(sign) => sign * positive_mean(sign * b, error, expected),
            None => shrunk(b, error, expected).0,
        };
    }
    if constant > 0 {
        let middle = coefficients[0] + shift(coefficients);
        let (moved, _) = shrunk(middle - start.base, *middle_error, expected);
        settled[0] = start.base + moved - shift(&settled);
    }
    settled
}

/// Mean and deviation of what has a normal estimate with this error and a normal prior of this scale about zero.
fn shrunk(estimate: f64, error: f64, scale: f64) -> (f64, f64) {
    let ratio = error / scale;
    let kept = 1.0 / (1.0 + ratio * ratio);
    let mean = if kept > 0.0 { kept * estimate } else { 0.0 };
    (mean, scale * (1.0 - kept).sqrt())
}

/// The mean of what is positive, with a normal estimate and a half-normal prior.
fn positive_mean(estimate: f64, error: f64, scale: f64) -> f64 {
    let (mean, deviation) = shrunk(estimate, error, scale);
    let z = mean / deviation;
    if z < -30.0 {
        // Mills' ratio; the next term is a thousandth of it.
        return deviation / -z;
    }
    mean + deviation * (-0.5 * z * z).exp() / ((2.0 * PI).sqrt() * normal_below(z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_coefficients_keep_the_chosen_sign() {
        let of = |coefficients: Vec<f64>, errors: Vec<f64>| Estimate {
            coefficients,
            intervals: None,
            covariance: None,
            errors,
            centres: vec![0.0, 0.5, 0.5],
            middle_error: 0.0,
        };
        let start = Start { base: -1.0, cap: 0.5 };
        let signs = [None, Some(-1.0), None];
        // Clear, and not clear.
        let clear = settled(&of(vec![2.0, -0.6, 0.1], vec![0.1; 3]), &signs, 1, start, 1.0);
        assert_eq!(clear[1..], [-0.6, 0.0]);
        assert!((clear[0] - 2.05).abs() < 1e-12, "{clear:?}");
        // Hidden: whatever the estimate is.
        for estimate in [-1e6, -3.0, 0.0, 3.0, 1e6] {
            let hidden = settled(&of(vec![0.0, estimate, 0.0], vec![1e3; 3]), &signs, 1, start, 1.0);
            assert!(hidden[1] < 0.0 && hidden[1] > -5.0 && hidden[2] == 0.0, "{hidden:?}");
        }
        let prior = settled(&of(vec![0.0; 3], vec![1e9; 3]), &signs, 1, start, 1.0)[1];
        assert!((prior + (2.0 / PI).sqrt()).abs() < 1e-6, "{prior}");
        // Where a coefficient can be told, the estimate stands.
        assert!((positive_mean(2.0, 0.01, 1.0) - 2.0).abs() < 1e-3);
    }
}
