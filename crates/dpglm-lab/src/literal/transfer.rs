//! Wang and Gu 2020 Algorithm 1 (DPSL-KT): a teacher by iterative hard thresholding, noisy answers on public features, a student.
//!
//! Theorem 4.3 prints the answers' noise `sigma^2 = 8 m beta s gamma^2 log(2.5/delta) / (n^2 eps^2 lambda^2)`, beta the largest
//! eigenvalue of the public features' covariance; section 5 takes `lambda = c_1 sqrt(s log d log(1/delta)) / (n eps)`.
//!
//! No epsilon holds for it: one record can change the teacher's support, which moves the answers by as much as they are
//! large, and responses are not bounded.

use crate::Result;
use crate::draw::Draw;
use dpglm::central::Iht;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::predict;

/// The printed noise of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransferNoise {
    /// Private rows n.
    pub n: usize,
    /// Columns d.
    pub d: usize,
    /// Coefficients that may differ from zero.
    pub sparsity: usize,
    /// The stated epsilon.
    pub epsilon: f64,
    /// The stated delta.
    pub delta: f64,
    /// The bound gamma on an entry of one row's gradient.
    pub gamma: f64,
    /// The largest eigenvalue of the covariance of the public features.
    pub eigenvalue: f64,
    /// The factor c_1 of lambda.
    pub factor: f64,
}

impl TransferNoise {
    /// The teacher's lambda.
    pub fn ridge(&self) -> f64 {
        let root = (self.sparsity as f64 * (self.d as f64).ln() * (1.0 / self.delta).ln()).sqrt();
        self.factor * root / (self.n as f64 * self.epsilon)
    }

    /// The standard deviation of the noise on each of `m` answers.
    pub fn sigma(&self, m: usize) -> f64 {
        let root = 8.0 * m as f64 * self.eigenvalue * self.sparsity as f64 * (2.5 / self.delta).ln();
        root.sqrt() * self.gamma / (self.n as f64 * self.epsilon * self.ridge())
    }
}

/// Why no epsilon holds.
pub(crate) const BROKEN: &str = "one record can change the teacher's support, where the printed sensitivity does not hold; responses are not bounded";

/// The student's coefficients. IHT takes `iterations` steps in each of the two problems.
pub fn transfer(
    family: &Family,
    data: &Dataset,
    public: &Design,
    noise: &TransferNoise,
    iterations: u64,
    draw: &mut Draw,
) -> Result<Vec<f64>> {
    let iht = Iht::new(noise.sparsity)?.iterations(iterations)?;
    let teacher = iht.fit(family, data, noise.ridge())?;
    let mut answers = vec![0.0; public.rows()];
    predict(public, &teacher, &mut answers);
    let sigma = noise.sigma(public.rows());
    answers.iter_mut().for_each(|y| *y += sigma * draw.normal());
    let task = Dataset::new(public.clone(), answers)?;
    Ok(iht.fit(&Family::gaussian(), &task, 0.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With lambda in proportion to 1/(n epsilon), epsilon leaves the noise: as the paper's own choice has it.
    #[test]
    fn the_printed_choice_of_lambda_makes_the_noise_free_of_epsilon() {
        let at = |epsilon| TransferNoise {
            n: 800,
            d: 1_000,
            sparsity: 10,
            epsilon,
            delta: 0.01,
            gamma: 10.0_f64.sqrt(),
            eigenvalue: 1.0 / 3.0,
            factor: 10.0,
        };
        assert!((at(0.8).sigma(800) / at(5.0).sigma(800) - 1.0).abs() < 1e-12);
        assert!((at(5.0).sigma(800) - 6.09).abs() < 0.01, "{}", at(5.0).sigma(800));
        assert!((at(5.0).ridge() - 0.0446).abs() < 1e-4);
    }
}
