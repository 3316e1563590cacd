//! The mean by private Frank-Wolfe over an l1 ball (Talwar, Thakurta and Zhang 2015), the comparator for sparse means of Cai et al. 2021.
//!
//! The loss is half the mean squared distance from the truncated rows, so the gradient is `mu` minus their mean. T steps: the vertex
//! `+-radius e_j` with the smallest noisy inner product, Laplace noise; move to it by `2/(t+2)`. The paper's noise by advanced
//! composition: scale `radius (2R/n) sqrt(8 T log(1/delta)) / epsilon`, `T = (n epsilon)^(2/3)` up to a factor.

use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::privacy::{Event, Noise};

/// The mean over an l1 ball.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FrankWolfeMean {
    /// Rows.
    pub n: usize,
    /// Entries are truncated at R on both sides.
    pub truncation: f64,
    /// The l1 norm that is allowed.
    pub radius: f64,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
}

impl FrankWolfeMean {
    fn steps(&self) -> u64 {
        ((self.n as f64 * self.epsilon).powf(2.0 / 3.0).ceil() as u64).max(1)
    }

    /// The noise on inner products.
    fn scale(&self) -> f64 {
        let t = self.steps() as f64;
        self.radius * 2.0 * self.truncation / self.n as f64 * (8.0 * t * (1.0 / self.delta).ln()).sqrt()
            / self.epsilon
    }

    /// Stated and true epsilon.
    pub(crate) fn promise(&self) -> Result<Promise> {
        let sensitivity = self.radius * 2.0 * self.truncation / self.n as f64;
        let each = Noise::Pure { epsilon: 2.0 * sensitivity / self.scale() };
        let events = [Event::new("directions of descent", each, self.steps())?];
        Promise::literal(self.epsilon, self.delta, &events, "every data set, but for rounding")
    }

    /// The estimate from the truncated rows' mean.
    pub(crate) fn fit(&self, mean: &[f64], draw: &mut Draw) -> Vec<f64> {
        let scale = self.scale();
        let mut point = vec![0.0; mean.len()];
        for t in 0..self.steps() {
            let mut best = (f64::INFINITY, 0, 1.0);
            for j in 0..mean.len() {
                for sign in [1.0, -1.0] {
                    let inner = sign * self.radius * (point[j] - mean[j]) + scale * draw.laplace();
                    if inner < best.0 {
                        best = (inner, j, sign);
                    }
                }
            }
            let share = 2.0 / (t as f64 + 2.0);
            point.iter_mut().for_each(|p| *p *= 1.0 - share);
            point[best.1] += share * best.2 * self.radius;
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_sparse_mean_at_a_large_budget() {
        let model = FrankWolfeMean { n: 1_000, truncation: 5.0, radius: 5.0, epsilon: 1e4, delta: 1e-6 };
        let found = model.fit(&[0.0, 3.0, 0.0, -2.0], &mut Draw::new(3));
        assert!(crate::draw::distance(&found, &[0.0, 3.0, 0.0, -2.0]) < 0.1, "{found:?}");
    }
}
