//! One coordinate of a uniform direction: its law, and the mean of the largest of many.
//!
//! On the unit sphere of dimension `d >= 2` a coordinate is `t = sin(a)` with density proportional to `cos(a)^(d-2)` in
//! the angle. Of K independent ones, the expected sum of the m largest is
//! `K` times the integral of `t P(at most m - 1 of K - 1 others exceed t)` over that law.

use std::f64::consts::{FRAC_PI_2, PI};

/// The regularised incomplete beta function `I_x(a, b)`, by its continued fraction (Lentz), relative error about 1e-12.
/// By hand, because `statrs`, which the tests compare it with, panics outside its domain and is no part of the library otherwise.
pub(super) fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast below the mean; above, the complement does.
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - front.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let guard = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        for numerator in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / guard(1.0 + numerator * d);
            c = guard(1.0 + numerator / c);
            result *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    result
}

/// The law of one coordinate of a uniform direction, tabulated at evenly spaced angles.
pub(super) struct Marginal {
    dimension: f64,
    step: f64,
    nodes: Vec<Node>,
}

struct Node {
    /// The coordinate.
    t: f64,
    /// The density of the angle, times Simpson's weight and the spacing.
    mass: f64,
    /// The probability of a larger coordinate.
    tail: f64,
}

impl Marginal {
    /// In dimension `d >= 2`, at `2 half + 1` angles that cover all but 1e-20 of the mass.
    pub(super) fn new(dimension: usize, half: usize) -> Self {
        let d = dimension as f64;
        let reach = FRAC_PI_2.min(9.5 / (d - 1.0).sqrt());
        let step = reach / half as f64;
        let ln_constant = libm::lgamma(d / 2.0) - libm::lgamma((d - 1.0) / 2.0) - 0.5 * PI.ln();
        let mut marginal = Self { dimension: d, step, nodes: Vec::with_capacity(2 * half + 1) };
        for i in 0..=2 * half {
            let angle = (i as f64 - half as f64) * step;
            let density =
                if d == 2.0 { 1.0 / PI } else { (ln_constant + (d - 2.0) * angle.cos().ln()).exp() };
            let weight = if i == 0 || i == 2 * half { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
            let tail = marginal.tail(angle);
            marginal.nodes.push(Node { t: angle.sin(), mass: density * weight * step / 3.0, tail });
        }
        marginal
    }

    /// The probability that a coordinate exceeds the sine of the angle.
    pub(super) fn tail(&self, angle: f64) -> f64 {
        let upper = 0.5 * beta_cdf((self.dimension - 1.0) / 2.0, 0.5, angle.cos().powi(2));
        if angle >= 0.0 { upper } else { 1.0 - upper }
    }

    /// The largest angle of the table.
    pub(super) fn reach(&self) -> f64 {
        self.step * (self.nodes.len() / 2) as f64
    }

    /// The expected mean of the `m` largest of `count` independent coordinates.
    pub(super) fn mean_of_largest(&self, m: u32, count: u32) -> f64 {
        let (m, count) = (f64::from(m), f64::from(count));
        let sum: f64 = self
            .nodes
            .iter()
            // P(at most m - 1 of count - 1 exceed t).
            .map(|node| node.t * node.mass * (1.0 - beta_cdf(m, count - m, node.tail)))
            .sum();
        sum * count / m
    }

    /// For each angle of the upper half, the probability of the cap beyond it and the mean coordinate within that cap.
    pub(super) fn caps(&self) -> impl Iterator<Item = (f64, f64)> {
        // The integral of t over the cap is in closed form: constant / (d - 1) cos^(d-1).
        let d = self.dimension;
        let ln_constant = libm::lgamma(d / 2.0) - libm::lgamma((d - 1.0) / 2.0) - 0.5 * PI.ln();
        self.nodes[self.nodes.len() / 2..].iter().filter(|node| node.tail > 1e-12).map(move |node| {
            let integral = (ln_constant + 0.5 * (d - 1.0) * (1.0 - node.t * node.t).ln()).exp() / (d - 1.0);
            (node.tail, integral / node.tail)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_beta_agrees_with_known_values() {
        use statrs::function::beta::beta_reg;
        for (a, b) in [(0.5, 0.5), (2.0, 3.0), (0.5, 24.5), (300.0, 700.0), (1.0, 16_383.0), (5e3, 5e3)] {
            for x in [1e-6, 0.01, 0.3, 0.5, 0.77, 0.999] {
                let (ours, theirs) = (beta_cdf(a, b, x), beta_reg(a, b, x));
                assert!((ours - theirs).abs() < 1e-9, "I_{x}({a}, {b}): {ours} {theirs}");
            }
        }
    }

    #[test]
    fn the_law_is_whole_and_the_largest_of_few_are_known() {
        for dimension in [2, 3, 11, 51, 1001] {
            let marginal = Marginal::new(dimension, 1024);
            let total: f64 = marginal.nodes.iter().map(|n| n.mass).sum();
            assert!((total - 1.0).abs() < 1e-9, "{dimension}: {total}");
            let variance: f64 = marginal.nodes.iter().map(|n| n.mass * n.t * n.t).sum();
            assert!((variance * dimension as f64 - 1.0).abs() < 1e-8, "{dimension}: {variance}");
        }
        // On the circle, E max of two coordinates is E|cos| / sqrt 2-like: 4 / pi^2. On the sphere in three dimensions a
        // coordinate is uniform on (-1, 1), and the mean of the m largest of K is 1 - (m + 1) / (K + 1).
        assert!((Marginal::new(2, 1024).mean_of_largest(1, 2) - 4.0 / (PI * PI)).abs() < 1e-7);
        for (m, count) in [(1, 2), (1, 100), (13, 100), (400, 4096)] {
            let expected = 1.0 - f64::from(m + 1) / f64::from(count + 1);
            let found = Marginal::new(3, 1024).mean_of_largest(m, count);
            assert!((found - expected).abs() < 1e-7, "{m} of {count}: {found} {expected}");
        }
    }
}
