//! The standard normal distribution, precise far out in its tails.

use std::f64::consts::{PI, SQRT_2};

/// The standard normal distribution function.
pub(crate) fn normal_below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// The standard normal quantile.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // Newton's method on the logarithm of the tail, which is concave: from below the root it stays there. The start is below it,
    // since the tail is at most half of e^(-z^2/2).
    let mut z = -(-2.0 * (2.0 * p).ln()).sqrt();
    for _ in 0..60 {
        let tail = normal_below(z);
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let step = tail / density * (tail / p).ln();
        if !step.is_finite() {
            break;
        }
        z -= step;
        if step.abs() <= 1e-14 * (1.0 + z.abs()) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_the_distribution() {
        for (p, z) in [(0.975, 1.959_963_984_540_054), (0.005, -2.575_829_303_548_901), (0.5, 0.0)] {
            assert!((normal_quantile(p) - z).abs() < 1e-12, "{p} {}", normal_quantile(p));
        }
        for i in 1..=290 {
            let p = 10f64.powi(-i);
            assert!((normal_below(normal_quantile(p)) / p - 1.0).abs() < 1e-10, "{p}");
            assert!((normal_quantile(p) + normal_quantile(1.0 - p)).abs() < 1e-6 || i > 9, "{p}");
        }
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
