//! Peeling, and what is built on it: Cai et al. 2020 Algorithms 3 and 5, Cai et al. 2021 Algorithms 3.2, 3.3 and 4.2.
//!
//! s rounds: the largest `|v_j| + Laplace(b)` among the coordinates that are left, with fresh noise in every round; then
//! Laplace(b) on the chosen values. `b = lambda 2 sqrt(3 s log(1/delta)) / epsilon`, lambda the assumed l-infinity sensitivity.
//!
//! What it costs in truth: each round is `2 lambda'/b` private and each value `lambda'/b`, with the true sensitivity lambda'; the
//! accountant composes the rounds of all steps.

use crate::Result;
use crate::draw::{Draw, norm};
use crate::figure::Promise;
use dpglm::data::Dataset;
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::privacy::{Event, Noise};

/// The printed noise scale b.
pub(crate) fn laplace_scale(lambda: f64, sparsity: usize, epsilon: f64, delta: f64) -> f64 {
    lambda * 2.0 * (3.0 * sparsity as f64 * (1.0 / delta).ln()).sqrt() / epsilon
}

/// The s peeled coordinates with their noisy values; all others are zero.
pub fn peel(v: &[f64], sparsity: usize, scale: f64, draw: &mut Draw) -> Vec<f64> {
    let mut left: Vec<usize> = (0..v.len()).collect();
    let mut peeled = vec![0.0; v.len()];
    for _ in 0..sparsity.min(v.len()) {
        let mut best = (f64::NEG_INFINITY, 0);
        for (place, &j) in left.iter().enumerate() {
            let noisy = v[j].abs() + scale * draw.laplace();
            if noisy > best.0 {
                best = (noisy, place);
            }
        }
        let j = left.swap_remove(best.1);
        peeled[j] = v[j] + scale * draw.laplace();
    }
    peeled
}

/// The events of `steps` peelings of `sparsity` coordinates with noise `scale` and true sensitivity `lambda`.
pub fn events(sparsity: usize, steps: u32, lambda: f64, scale: f64) -> Result<Vec<Event>> {
    let count = sparsity as u64 * u64::from(steps);
    Ok(vec![
        Event::new("peeled columns", Noise::Pure { epsilon: 2.0 * lambda / scale }, count)?,
        Event::new("their values", Noise::Laplace { sensitivity: lambda, scale }, count)?,
    ])
}

/// Noisy iterative hard thresholding: Cai et al. 2020 Algorithm 5 and, with a radius, Cai et al. 2021 Algorithm 4.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholding {
    /// Rows.
    pub n: usize,
    /// The sparsity s that is kept.
    pub sparsity: usize,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// The noise scale B.
    pub scale: f64,
    /// The true largest change of any coordinate of a row's gradient, times n.
    pub sensitivity: f64,
    /// Steps T.
    pub steps: u32,
    /// Step length eta.
    pub step: f64,
    /// Responses are truncated at R on both sides.
    pub truncation: f64,
    /// Iterates are projected on the l2 ball of radius C.
    pub radius: f64,
}

impl Thresholding {
    /// The Laplace scale of every step.
    pub(crate) fn laplace_scale(&self) -> f64 {
        let t = f64::from(self.steps);
        laplace_scale(self.step * self.scale / self.n as f64, self.sparsity, self.epsilon / t, self.delta / t)
    }

    /// Stated and true epsilon.
    pub fn promise(&self, because: &str) -> Result<Promise> {
        let lambda = self.step * self.sensitivity / self.n as f64;
        let events = events(self.sparsity, self.steps, lambda, self.laplace_scale())?;
        Promise::literal(self.epsilon, self.delta, &events, because)
    }

    /// The iterates from zero. (Cai et al. 2020 prints `beta^(T)` for `beta^t` in the gradient step: read as `beta^t`.)
    pub fn iterates(&self, family: &Family, data: &Dataset, draw: &mut Draw) -> Vec<Vec<f64>> {
        let (scale, d) = (self.laplace_scale(), data.design().columns());
        let y: Vec<f64> =
            data.response().iter().map(|y| y.clamp(-self.truncation, self.truncation)).collect();
        let mut beta = vec![0.0; d];
        let mut gradient = vec![0.0; d];
        let mut iterates = vec![beta.clone()];
        for _ in 0..self.steps {
            fused_pass(data.design(), &beta, |row, u| family.mean(u) - y[row], &mut gradient);
            let moved: Vec<f64> =
                beta.iter().zip(&gradient).map(|(b, g)| b - self.step / self.n as f64 * g).collect();
            beta = peel(&moved, self.sparsity, scale, draw);
            let shrink = (self.radius / norm(&beta)).min(1.0);
            beta.iter_mut().for_each(|b| *b *= shrink);
            iterates.push(beta.clone());
        }
        iterates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_noise_it_keeps_the_largest() {
        let kept = peel(&[1.0, -5.0, 0.5, 3.0], 2, 0.0, &mut Draw::new(1));
        assert_eq!(kept, [0.0, -5.0, 0.0, 3.0]);
    }

    /// The lemma's noise keeps its promise at the papers' epsilon; half of it does not.
    #[test]
    fn printed_noise_is_enough_at_the_papers_epsilon() {
        let truly = |share: f64| {
            let scale = share * laplace_scale(1.0, 20, 0.5, 1e-4);
            let events = events(20, 1, 1.0, scale).unwrap();
            Promise::literal(0.5, 1e-4, &events, "").unwrap().truly.unwrap()
        };
        assert!(truly(1.0) < 0.5 && truly(0.5) > 0.5, "{} {}", truly(1.0), truly(0.5));
    }
}
