//! Duchi's randomizer: one random direction, and on which side of it the vector lies (Wang and Xu 2021 Algorithm 1).
//!
//! # Algorithm
//! Device, for a vector `x` of l2 norm at most `r`:
//!
//! 1. Draw a seed, uniform and independent of `x`. It generates one direction `u` (`local::directions`).
//! 2. Replace `x` by `r x / |x|` with probability `1/2 + |x| / 2r`, else by its negative.
//! 3. Report the seed and whether `<u, x> >= 0`; tell the truth with probability `e^eps / (1 + e^eps)`, rounded to the
//!    private side (`local::weights`).
//!
//! Server: `r c u` or its negative, with the constant that makes the expectation `x`:
//! `c = (e^eps + 1) / (e^eps - 1) * sqrt(pi) Gamma((p + 1) / 2) / Gamma(p / 2)`.
//!
//! # Guarantee
//! Pure epsilon under replacement of the user's record, for every vector, and for the program.
//!
//! # Why private
//! The seed carries no information. Given it, one bit is reported; whatever its true value is, it is reported truly with
//! probability `inside / (inside + outside)`, where `inside <= e^epsilon outside`: the ratio for two vectors is at most that.
//! Step 2 only mixes two inputs of this. Rounding of `<u, x>` changes which value is true, not the probabilities.
//!
//! # Differs from the paper
//! The constant is exact. The direction is public and seeded, so the report has 22 bytes in any dimension.
//!
//! # References
//! J. Duchi, M. Jordan and M. Wainwright, "Minimax optimal procedures for locally private estimation", 2018.

use super::directions::Directions;
use super::weights::Weights;

/// The public numbers of Duchi's randomizer.
#[derive(Debug, Clone)]
pub(super) struct SideOfDirection {
    pub(super) weights: Weights,
    /// The expected inner product of the estimate's direction and the vector's.
    pub(super) gain: f64,
}

impl SideOfDirection {
    pub(super) fn plan(dimension: usize, epsilon: f64) -> Self {
        let weights = Weights::new(epsilon, 1, 2);
        let p = dimension as f64;
        // E|u_1| = Gamma(p/2) / (sqrt(pi) Gamma((p+1)/2)); the logarithms stay accurate where the functions overflow.
        let size =
            (libm::lgamma(p / 2.0) - libm::lgamma((p + 1.0) / 2.0)).exp() / std::f64::consts::PI.sqrt();
        // Twice the probability of the truth, minus one.
        let trust = (weights.inside - weights.outside) as f64 / (weights.inside + weights.outside) as f64;
        Self { weights, gain: trust * size }
    }

    /// Steps 2 and 3 for `x / r` of length at most one.
    pub(super) fn choose(&self, seed: [u8; 16], scaled: &[f64], draw: u64, sign: u64) -> u32 {
        let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut direction = vec![0.0; scaled.len()];
        Directions::new(seed, scaled.len()).direction(0, &mut direction);
        let product: f64 = direction.iter().zip(scaled).map(|(u, x)| u * x).sum();
        let kept = sign as f64 * 2f64.powi(-64) < 0.5 + 0.5 * length;
        let side = (product >= 0.0) == kept;
        let truth = self.weights.outcome(draw).is_ok();
        u32::from(side == truth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_is_that_of_the_formula() {
        // p = 1: E|u| = 1. p = 2: 2 / pi. p = 3: 1 / 2.
        let trust = |epsilon: f64| (epsilon / 2.0).tanh();
        for (p, size) in [(1, 1.0), (2, 2.0 / std::f64::consts::PI), (3, 0.5)] {
            for epsilon in [0.01, 1.0, 8.0] {
                let gain = SideOfDirection::plan(p, epsilon).gain;
                assert!((gain / (trust(epsilon) * size) - 1.0).abs() < 1e-9, "{p} {epsilon}");
            }
        }
        let large = SideOfDirection::plan(1_000_000, 1.0).gain;
        let limit = trust(1.0) * (2.0 / (std::f64::consts::PI * 1e6)).sqrt();
        assert!((large / limit - 1.0).abs() < 1e-6);
    }

    #[test]
    fn both_answers_have_the_same_two_probabilities_for_every_vector() {
        let plan = SideOfDirection::plan(3, 1.0);
        for vector in [[0.6, 0.0, 0.8], [0.0; 3], [f64::NAN; 3], [-0.1, 1e-320, 0.2]] {
            for sign in [0, u64::MAX / 3, u64::MAX] {
                let truth = plan.choose([1; 16], &vector, 0, sign);
                assert_eq!(plan.choose([1; 16], &vector, plan.weights.inside - 1, sign), truth);
                for draw in [plan.weights.inside, plan.weights.total() - 1] {
                    assert_eq!(plan.choose([1; 16], &vector, draw, sign), 1 - truth);
                }
            }
        }
    }
}
