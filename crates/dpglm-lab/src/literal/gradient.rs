//! Cai et al. 2020 Algorithm 1: noisy gradient descent for generalized linear models.
//!
//! T times: `beta <- beta - (eta/n) sum (psi'(x'beta) - Pi_R(y)) x + w`, `w` normal with variance
//! `eta^2 2 B^2 d log(2T/delta) / (n^2 (eps/T)^2)` per coordinate.
//!
//! What it costs in truth, for rows with entries within `sigma_x` of zero and residuals within 1 (logistic, R = 1): one row
//! moves the step by at most `2 eta sigma_x sqrt(d) / n` in l2 norm, and T Gaussian releases compose exactly.

use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::data::Dataset;
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::privacy::{Event, Noise};

/// The printed noise of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientNoise {
    /// Rows.
    pub n: usize,
    /// Columns.
    pub d: usize,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// The noise scale B: the paper's `4 (R + c_1) sigma_x`.
    pub scale: f64,
    /// Steps T.
    pub steps: u32,
    /// Step length eta.
    pub step: f64,
}

impl GradientNoise {
    /// The standard deviation of each coordinate's noise in each step.
    pub fn sigma(&self) -> f64 {
        let t = f64::from(self.steps);
        let logarithm = (2.0 * t / self.delta).ln();
        self.step * self.scale * (2.0 * self.d as f64 * logarithm).sqrt() * t / (self.n as f64 * self.epsilon)
    }

    /// Stated and true epsilon of a logistic model with features within 1 of zero.
    pub(crate) fn logistic_promise(&self) -> Result<Promise> {
        let sensitivity = 2.0 * self.step * (self.d as f64).sqrt() / self.n as f64;
        let noise = Noise::Gaussian { sensitivity, sigma: self.sigma() };
        let event = Event::new("gradient steps", noise, u64::from(self.steps))?;
        Promise::literal(self.epsilon, self.delta, &[event], "rows with entries in [-1, 1], labels 0 or 1")
    }
}

/// The iterates beta^0, ..., beta^T, from zero.
pub(crate) fn noisy_gradient(
    family: &Family,
    data: &Dataset,
    noise: &GradientNoise,
    draw: &mut Draw,
) -> Vec<Vec<f64>> {
    let sigma = noise.sigma();
    let mut beta = vec![0.0; noise.d];
    let mut gradient = vec![0.0; noise.d];
    let mut iterates = vec![beta.clone()];
    for _ in 0..noise.steps {
        fused_pass(data.design(), &beta, |row, u| family.mean(u) - data.response()[row], &mut gradient);
        for (b, g) in beta.iter_mut().zip(&gradient) {
            *b += -noise.step / noise.n as f64 * g + sigma * draw.normal();
        }
        iterates.push(beta.clone());
    }
    iterates
}
