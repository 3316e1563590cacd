//! Gauss-Legendre quadrature for smooth positive integrands, where no digit is lost to cancellation.

use std::sync::LazyLock;

/// Nodes in (0, 1) and weights that sum to 1.
type Rule<const N: usize> = [(f64, f64); N];

static FINE: LazyLock<Rule<16>> = LazyLock::new(rule);
static COARSE: LazyLock<Rule<4>> = LazyLock::new(rule);

fn rule<const N: usize>() -> Rule<N> {
    let mut rule = [(0.0, 0.0); N];
    for (i, slot) in rule.iter_mut().enumerate() {
        // Newton's method on the Legendre polynomial from the classical starting point.
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (N as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut previous, mut current) = (1.0, x);
            for k in 2..=N {
                let k = k as f64;
                (previous, current) = (current, ((2.0 * k - 1.0) * x * current - (k - 1.0) * previous) / k);
            }
            slope = N as f64 * (x * current - previous) / (x * x - 1.0);
            x -= current / slope;
        }
        *slot = (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope));
    }
    rule
}

/// The integral of `f` over `[low, high]`, cut into `panels` equal panels of 16 points.
pub(super) fn integrate(low: f64, high: f64, panels: usize, f: impl Fn(f64) -> f64) -> f64 {
    let width = (high - low) / panels as f64;
    let mut total = 0.0;
    for panel in 0..panels {
        let start = low + width * panel as f64;
        total += FINE.iter().map(|&(node, weight)| weight * f(start + width * node)).sum::<f64>();
    }
    total * width
}

/// The integral of a pair of functions over a short cell, cut so that no panel of 4 points is wider than `widest`.
pub(super) fn integrate_cell(low: f64, high: f64, widest: f64, f: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    let panels = ((high - low) / widest).ceil().max(1.0);
    let width = (high - low) / panels;
    let (mut first, mut second) = (0.0, 0.0);
    for panel in 0..panels as usize {
        let start = low + width * panel as f64;
        for &(node, weight) in COARSE.iter() {
            let (a, b) = f(start + width * node);
            first += weight * a;
            second += weight * b;
        }
    }
    (first * width, second * width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrates_polynomials_and_exponentials_to_the_last_digits() {
        assert!((integrate(0.0, 2.0, 1, |x| x.powi(31)) / (2f64.powi(32) / 32.0) - 1.0).abs() < 1e-13);
        assert!((integrate(0.0, 3.0, 4, |x| (-x).exp()) - (1.0 - (-3f64).exp())).abs() < 1e-15);
    }
}
