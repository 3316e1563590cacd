//! Wang and Xu 2021 Algorithms 2 and 5 (Label-LDP-IHT): users send their labels with Gaussian noise; the server runs iterative hard
//! thresholding on public features.
//!
//! The printed variance `32 C^2 ln(1.25/delta)/eps^2` is that of a label within 2C of another, but labels lie within
//! `f(+-|theta|_1) +- C`. The printed step climbs the gradient; it is turned round here, so that it runs. What it costs in truth: one
//! Gaussian release of sensitivity `f(sqrt(s)) - f(-sqrt(s)) + 2C`, for coefficients in the paper's class (s of them, norm 1).

use super::local_iht::{keep_and_project, rounds};
use crate::Result;
use crate::draw::Draw;
use crate::figure::Promise;
use dpglm::data::Design;
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::privacy::budget::MAX_EPSILON;
use dpglm::privacy::{Event, Noise};

/// The printed noise on a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrintedLabelNoise {
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// The bound C on the model's errors.
    pub error: f64,
}

impl PrintedLabelNoise {
    /// Its standard deviation.
    pub(crate) fn sigma(&self) -> f64 {
        self.error * (32.0 * (1.25 / self.delta).ln()).sqrt() / self.epsilon
    }

    /// Stated and true epsilon of labels in an interval of this length; none beyond what an accountant can tell from infinity.
    pub(crate) fn promise(&self, range: f64) -> Result<Promise> {
        let noise = Noise::Gaussian { sensitivity: range, sigma: self.sigma() };
        let because = "labels within the range that the paper's class of models allows";
        let promise = Promise::literal(self.epsilon, self.delta, &[Event::new("labels", noise, 1)?], because);
        match promise {
            Ok(promise) if promise.truly.is_some_and(|e| e <= MAX_EPSILON) => Ok(promise),
            _ => Ok(Promise::broken(
                self.epsilon,
                self.delta,
                "the true epsilon exceeds 700 for labels within the range that the paper's class of models allows",
            )),
        }
    }
}

/// The last iterate from `start`, `ceil(log(n/p))` steps of length `step`.
pub(crate) fn label_iht(
    family: &Family,
    design: &Design,
    labels: &[f64],
    sparsity: usize,
    step: f64,
    start: Vec<f64>,
) -> Vec<f64> {
    let n = design.rows();
    let mut point = start;
    let mut gradient = vec![0.0; point.len()];
    for _ in 0..rounds(n, design.columns()) {
        let score = |row: usize, u: f64| family.mean_slope(u) * (family.mean(u) - labels[row]);
        fused_pass(design, &point, score, &mut gradient);
        point.iter_mut().zip(&gradient).for_each(|(b, g)| *b -= step / n as f64 * g);
        keep_and_project(&mut point, sparsity);
    }
    point
}

/// Labels with the printed noise.
pub(crate) fn noisy_labels(labels: &[f64], noise: &PrintedLabelNoise, draw: &mut Draw) -> Vec<f64> {
    labels.iter().map(|y| y + noise.sigma() * draw.normal()).collect()
}
