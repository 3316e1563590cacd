//! Wang and Xu 2021 Algorithm 3 (DP-IHT): gradient steps with Gaussian noise on every coordinate, then the k largest.
//!
//! The printed variance `c T log(1/delta) G^2 / (n^2 eps^2)` leaves c open; section VIII says that zCDP was used: rho solves
//! `rho + 2 sqrt(rho log(1/delta)) = eps`, and each of T steps gets `rho/T` at the sensitivity `2G/n`. For rows of length at most 1 the
//! logistic loss has G = 1. What it costs in truth, for such rows: T Gaussian releases, composed exactly.

use super::local_iht::keep_largest;
use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::data::Dataset;
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::privacy::{Event, Noise};

/// The constants of Algorithm 3 for a logistic model on rows of length at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskNoise {
    /// Rows.
    pub n: usize,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// Steps T.
    pub steps: u32,
    /// Step length eta.
    pub step: f64,
    /// The penalty lambda on the squared norm.
    pub ridge: f64,
    /// Coefficients to keep.
    pub sparsity: usize,
}

impl RiskNoise {
    /// The noise's standard deviation in each coordinate of a gradient.
    pub fn sigma(&self) -> f64 {
        let logarithm = (1.0 / self.delta).ln();
        let root = (logarithm + self.epsilon).sqrt() - logarithm.sqrt();
        2.0 / self.n as f64 * (f64::from(self.steps) / 2.0).sqrt() / root
    }

    /// Stated and true epsilon.
    pub fn promise(&self) -> Result<Promise> {
        let noise = Noise::Gaussian { sensitivity: 2.0 / self.n as f64, sigma: self.sigma() };
        let events = [Event::new("gradient steps", noise, u64::from(self.steps))?];
        Promise::literal(self.epsilon, self.delta, &events, "rows of length at most 1, labels 0 or 1")
    }
}

/// The last iterate from zero; without noise if `draw` is none.
pub fn dp_iht(data: &Dataset, noise: &RiskNoise, mut draw: Option<&mut Draw>) -> Vec<f64> {
    let d = data.design().columns();
    let (mut point, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..noise.steps {
        let score = |row: usize, u: f64| Family::logistic().mean(u) - data.response()[row];
        fused_pass(data.design(), &point, score, &mut gradient);
        for (b, g) in point.iter_mut().zip(&gradient) {
            let error = draw.as_mut().map_or(0.0, |draw| noise.sigma() * draw.normal());
            *b -= noise.step * (g / noise.n as f64 + noise.ridge * *b + error);
        }
        keep_largest(&mut point, noise.sparsity);
    }
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conversion from zCDP is not tight: the true epsilon lies below the stated one, and near it.
    #[test]
    fn the_true_epsilon_is_a_little_smaller() {
        let noise = RiskNoise {
            n: 1_000,
            epsilon: 2.0,
            delta: 1e-3,
            steps: 100,
            step: 0.1,
            ridge: 1e-3,
            sparsity: 10,
        };
        let truly = noise.promise().unwrap().truly.unwrap();
        assert!(truly < 2.0 && truly > 1.2, "{truly}");
    }
}
