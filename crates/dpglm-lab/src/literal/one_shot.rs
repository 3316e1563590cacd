//! Wang et al. 2021 Algorithm 1: a generalized linear model from one noisy report a user, and public features.
//!
//! Each user sends `x x^T` with noise of variance `32 r^4 log(2.5/delta)/eps^2` on its upper triangle, and `x y` with noise of
//! variance `32 r^2 log(2.5/delta)/eps^2`. The server solves least squares from the sums and finds the scale c of
//! `1 = (c/m) sum Phi''(c x'w)` on the public rows by Newton's method. If a step fails (a singular matrix, no convergence) the paper
//! says nothing: the run counts as failed.
//!
//! What it costs in truth, for rows of l2 norm at most r and labels in [0, 1]: in units of the noise both releases together have the
//! squared sensitivity `|x x' - w w'|^2 / r^4 + |x y - w v|^2 / r^2`, at most 4.5 (y = v = 1, `<x, w> = -r^2/2`).

use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::{fused_pass, predict, weighted_gram};
use dpglm::privacy::{Event, Noise};

/// The printed noise of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneShotNoise {
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// The radius r of the features.
    pub radius: f64,
}

impl OneShotNoise {
    /// The noise's standard deviation at r = 1.
    pub fn sigma(&self) -> f64 {
        (32.0 * (2.5 / self.delta).ln()).sqrt() / self.epsilon
    }

    /// Stated and true epsilon.
    pub fn promise(&self) -> Result<Promise> {
        let noise = Noise::Gaussian { sensitivity: 4.5_f64.sqrt(), sigma: self.sigma() };
        let events = [Event::new("moments and products", noise, 1)?];
        Promise::literal(self.epsilon, self.delta, &events, "features of l2 norm at most r, labels 0 or 1")
    }
}

/// The sums over the users: `X'X` row after row, and `X'y`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    gram: Vec<f64>,
    products: Vec<f64>,
    users: usize,
}

impl Sums {
    /// Over the rows of a table.
    pub fn new(data: &Dataset) -> Self {
        let design = data.design();
        let mut products = vec![0.0; design.columns()];
        fused_pass(design, &vec![0.0; design.columns()], |row, _| data.response()[row], &mut products);
        Self { gram: weighted_gram(design, |_| 1.0), products, users: design.rows() }
    }
}

/// The model's coefficients; none where least squares or Newton's method fails. Without noise if there is none.
pub fn one_shot(
    sums: &Sums,
    noise: Option<&OneShotNoise>,
    public: &Design,
    draw: &mut Draw,
) -> Option<Vec<f64>> {
    let least_squares = least_squares(sums, noise, draw)?;
    let scale = scale(&least_squares, public)?;
    Some(least_squares.into_iter().map(|w| scale * w).collect())
}

/// The least-squares coefficients from noisy sums; none for a singular matrix.
pub fn least_squares(sums: &Sums, noise: Option<&OneShotNoise>, draw: &mut Draw) -> Option<Vec<f64>> {
    let p = sums.products.len();
    let mut gram = sums.gram.clone();
    let mut products = sums.products.clone();
    if let Some(noise) = noise {
        // The sum of the users' independent noises, drawn at once: it has the same law.
        let sigma = noise.sigma() * noise.radius * (sums.users as f64).sqrt();
        for (i, product) in products.iter_mut().enumerate() {
            *product += sigma * draw.normal();
            for j in i..p {
                let error = sigma * noise.radius * draw.normal();
                gram[i * p + j] += error;
                if i != j {
                    gram[j * p + i] += error;
                }
            }
        }
    }
    solve(gram, products)
}

/// The scale c of least-squares coefficients on the public rows; none where Newton's method fails.
pub fn scale(least_squares: &[f64], public: &Design) -> Option<f64> {
    let mut predictors = vec![0.0; public.rows()];
    predict(public, least_squares, &mut predictors);
    newton(&predictors)
}

/// The root of `c mean(Phi''(c u)) = 1` of the logistic model by Newton's method from c = 1, as printed.
fn newton(predictors: &[f64]) -> Option<f64> {
    let m = predictors.len() as f64;
    let mut c = 1.0;
    for _ in 0..100 {
        let (mut value, mut slope) = (0.0, 0.0);
        for u in predictors {
            let mean = Family::logistic().mean(c * u);
            let second = mean * (1.0 - mean);
            value += second;
            slope += second + c * u * second * (1.0 - 2.0 * mean);
        }
        let step = (c * value / m - 1.0) / (slope / m);
        c -= step;
        if !c.is_finite() {
            return None;
        }
        if step.abs() <= 1e-9 * c.abs() {
            return Some(c);
        }
    }
    None
}

/// Gaussian elimination with pivots; none for a singular matrix.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let p = b.len();
    for k in 0..p {
        let pivot = (k..p).max_by(|&i, &j| a[i * p + k].abs().total_cmp(&a[j * p + k].abs()))?;
        if a[pivot * p + k] == 0.0 {
            return None;
        }
        if pivot != k {
            (0..p).for_each(|j| a.swap(k * p + j, pivot * p + j));
            b.swap(k, pivot);
        }
        for i in k + 1..p {
            let factor = a[i * p + k] / a[k * p + k];
            for j in k..p {
                a[i * p + j] -= factor * a[k * p + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..p).rev() {
        for j in k + 1..p {
            b[k] -= a[k * p + j] * b[j];
        }
        b[k] /= a[k * p + k];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_an_indefinite_system_that_needs_pivots() {
        let x = solve(vec![0.0, 2.0, 1.0, 2.0, 0.0, 3.0, 1.0, 3.0, -4.0], vec![7.0, 11.0, -5.0]).unwrap();
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{x:?}");
        assert!(solve(vec![0.0; 4], vec![1.0; 2]).is_none());
    }

    /// Random pairs never exceed the claimed sensitivity and come near it.
    #[test]
    fn the_sensitivity_holds() {
        let mut draw = Draw::new(crate::task::seed(&["nl sensitivity"]));
        let mut largest = 0.0_f64;
        for _ in 0..100_000 {
            let (x, w) = (draw.sphere(2), draw.sphere(2));
            let (y, v) = (f64::from(u8::from(draw.chance(0.7))), f64::from(u8::from(draw.chance(0.7))));
            let mut square = (0..2).map(|i| (x[i] * y - w[i] * v).powi(2)).sum::<f64>();
            for i in 0..2 {
                square += (i..2).map(|j| (x[i] * x[j] - w[i] * w[j]).powi(2)).sum::<f64>();
            }
            largest = largest.max(square);
        }
        assert!(largest <= 4.5 && largest > 4.2, "{largest}");
    }
}
