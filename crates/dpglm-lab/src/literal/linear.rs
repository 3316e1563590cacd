//! Cai et al. 2021 Algorithm 4.1: noisy projected gradient descent for linear regression.
//!
//! T times: `beta <- Pi_C(beta - (eta/n) sum (x'beta - Pi_R(y)) x + w)`, `w` normal with variance
//! `eta^2 2 B^2 log(2T/delta) / (n^2 (eps/T)^2)`, `B = 4 (R + c_0 c_x) c_x`.
//!
//! What it costs in truth, for rows of length at most `c_x`: one row moves the step by at most `2 eta (R + c_0 c_x) c_x / n`,
//! half of `eta B / n` whatever R is; T Gaussian releases compose exactly.

use crate::Result;
use crate::draw::{Draw, norm};
use crate::figure::Promise;
use dpglm::data::Dataset;
use dpglm::kernels::fused_pass;
use dpglm::mechanisms::{Candidates, PrivateQuantile};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Event, Noise};

use super::mean::Truncate;

/// Algorithm 4.1 with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiteralLinear {
    /// Rows.
    pub n: usize,
    /// How responses are truncated.
    pub truncate: Truncate,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// Steps T.
    pub steps: u32,
    /// Step length eta.
    pub step: f64,
    /// The assumed length of rows, `c_x`.
    pub length: f64,
    /// The assumed length of beta, `c_0`, which is also the radius C.
    pub radius: f64,
}

impl LiteralLinear {
    /// The noise of every step for a truncation level R.
    pub fn sigma(&self, level: f64) -> f64 {
        let t = f64::from(self.steps);
        let scale = 4.0 * (level + self.radius * self.length) * self.length;
        self.step * scale * (2.0 * (2.0 * t / self.delta).ln()).sqrt() * t / (self.n as f64 * self.epsilon)
    }

    /// Stated and true epsilon.
    pub fn promise(&self) -> Result<Promise> {
        if self.truncate == Truncate::Never {
            return Ok(Promise::broken(
                self.epsilon,
                self.delta,
                "one response moves the gradient by anything",
            ));
        }
        // Any level will do: it cancels.
        let sensitivity = 2.0 * self.step * (1.0 + self.radius * self.length) * self.length / self.n as f64;
        let noise = Noise::Gaussian { sensitivity, sigma: self.sigma(1.0) };
        let mut events = vec![Event::new("gradient steps", noise, u64::from(self.steps))?];
        if self.truncate == Truncate::Quantiles {
            events.push(Event::new("quantiles", Noise::Pure { epsilon: self.epsilon }, 2)?);
        }
        Promise::literal(self.epsilon, self.delta, &events, "rows no longer than the assumed bound")
    }

    /// The truncation level of these responses.
    fn level(&self, response: &[f64], draw: &mut Draw) -> Result<f64> {
        Ok(match self.truncate {
            Truncate::Never => f64::INFINITY,
            Truncate::Theory => 4.0 * (self.n as f64).ln().sqrt(),
            Truncate::Quantiles => {
                let candidates = Candidates::geometric(0.01, 1e4, 16)?;
                let rng = &mut RandomSource::insecure_seeded(draw.bits());
                let mut at = |q: f64| -> Result<f64> {
                    Ok(PrivateQuantile::new(candidates, q, 2.0 / self.epsilon)?.release(response, rng)?.value)
                };
                at(0.025)?.abs().max(at(0.975)?.abs())
            }
        })
    }

    /// The last iterate from zero.
    pub fn fit(&self, data: &Dataset, draw: &mut Draw) -> Result<Vec<f64>> {
        let level = self.level(data.response(), draw)?;
        let noisy_level = if level.is_finite() { level } else { 4.0 * (self.n as f64).ln().sqrt() };
        let sigma = self.sigma(noisy_level);
        let y: Vec<f64> = data.response().iter().map(|y| y.clamp(-level, level)).collect();
        let mut beta = vec![0.0; data.design().columns()];
        let mut gradient = beta.clone();
        for _ in 0..self.steps {
            fused_pass(data.design(), &beta, |row, u| u - y[row], &mut gradient);
            for (b, g) in beta.iter_mut().zip(&gradient) {
                *b += -self.step / self.n as f64 * g + sigma * draw.normal();
            }
            let shrink = (self.radius / norm(&beta)).min(1.0);
            beta.iter_mut().for_each(|b| *b *= shrink);
        }
        Ok(beta)
    }
}
