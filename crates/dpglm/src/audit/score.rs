//! Score attacks: the tracing attack of any parametric model (Cai et al. 2020 §4.1).
//!
//! # The attack
//! With `S(z) = grad log f(z)` the score at the truth theta, `A(z, M) = <M - theta, S(z)>` (4.2). For a generalized linear model
//! `S((y, x)) = (y - psi'(x'beta)) x / c(sigma)` (4.7); with few coefficients that differ from zero, `M - beta` is taken on their
//! support alone (4.9). For a mean of unit variance `S(x) = x - mu`.
//!
//! # What it does (Cai et al. 2020 Theorem 4)
//! *Soundness*: for a record z that M was not computed from, `E A(z, M) = 0`. *Completeness*: summed over the records of the table,
//! `E sum A(z_i, M) = sum_j d/d theta_j E M_j`, which is about the number of coefficients for any accurate M. Both are checked below, by
//! summing over every possible table and by simulation.

use crate::error::{Parameter, Result, require_positive};
use crate::families::Family;

/// What is estimated.
#[derive(Debug, Clone, PartialEq)]
pub enum Estimand {
    /// The mean of the rows.
    Mean,
    /// The coefficients of a generalized linear model.
    Glm(Family),
}

/// A score attack about a reference point: the truth, or the best guess of it that the record has no part in.
#[derive(Debug, Clone)]
pub struct ScoreAttack {
    estimand: Estimand,
    truth: Vec<f64>,
    dispersion: f64,
    on_support: bool,
}

impl ScoreAttack {
    /// About this truth, with dispersion 1.
    pub fn new(estimand: Estimand, truth: Vec<f64>) -> Self {
        Self { estimand, truth, dispersion: 1.0, on_support: false }
    }

    /// The family's dispersion c(sigma): the variance of a Gaussian response, or of a mean's rows.
    pub fn dispersion(mut self, dispersion: f64) -> Result<Self> {
        self.dispersion =
            require_positive(Parameter::Dispersion, dispersion, "1 for logistic and Poisson responses")?;
        Ok(self)
    }

    /// Looks at the coordinates alone in which the truth differs from zero (4.9).
    pub fn on_support(mut self) -> Self {
        self.on_support = true;
        self
    }

    /// The score of a record at the truth. A mean has no response.
    pub fn score(&self, record: &[f64], response: f64) -> Vec<f64> {
        let scale = 1.0 / self.dispersion;
        match &self.estimand {
            Estimand::Mean => record.iter().zip(&self.truth).map(|(x, mu)| scale * (x - mu)).collect(),
            Estimand::Glm(family) => {
                let predictor: f64 = record.iter().zip(&self.truth).map(|(x, b)| x * b).sum();
                let residual = scale * (response - family.mean(predictor));
                record.iter().map(|x| residual * x).collect()
            }
        }
    }

    /// The attack: large where the estimate was computed from this record among others.
    pub fn value(&self, estimate: &[f64], record: &[f64], response: f64) -> f64 {
        let score = self.score(record, response);
        (0..self.truth.len())
            .filter(|&j| !self.on_support || self.truth[j] != 0.0)
            .map(|j| (estimate[j] - self.truth[j]) * score[j])
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::ClippedSum;
    use crate::noise::RandomSource;

    const RECORDS: usize = 3;

    /// Two features and a response.
    type Record = ([f64; 2], f64);

    /// Every table of three records with two features in {-1, 1} and a binary response, with its probability.
    fn every_table(truth: &[f64]) -> Vec<(f64, Vec<Record>)> {
        let sign = |bits: usize, place: usize| if bits >> place & 1 == 0 { -1.0 } else { 1.0 };
        (0..8_usize.pow(RECORDS as u32))
            .map(|code| {
                let records: Vec<Record> = (0..RECORDS)
                    .map(|i| {
                        let bits = code >> (3 * i) & 7;
                        ([sign(bits, 0), sign(bits, 1)], (bits >> 2) as f64)
                    })
                    .collect();
                let likelihood = |(x, y): &Record| {
                    let p = Family::logistic().mean(x[0] * truth[0] + x[1] * truth[1]);
                    0.25 * if *y > 0.5 { p } else { 1.0 - p }
                };
                (records.iter().map(likelihood).product(), records)
            })
            .collect()
    }

    /// An estimator that is no smooth function of anything, and looks at all records together.
    fn estimator(records: &[Record]) -> Vec<f64> {
        let moment = |j: usize| records.iter().map(|(x, y)| x[j] * (2.0 * y - 1.0)).sum::<f64>();
        let product: f64 = records.iter().map(|(x, y)| 1.5 + x[0] * x[1] * y).product();
        vec![moment(0).clamp(-1.0, 1.0) * product.ln(), (moment(1) + 0.3 * product).tanh()]
    }

    /// Cai et al. 2020 Theorem 4, with every expectation summed exactly.
    #[test]
    fn soundness_and_completeness_hold_exactly() {
        for truth in [[0.4, -0.9], [0.0, 1.3], [-0.2, 0.0]] {
            for on_support in [false, true] {
                let mut attack = ScoreAttack::new(Estimand::Glm(Family::logistic()), truth.to_vec());
                if on_support {
                    attack = attack.on_support();
                }
                let tables = every_table(&truth);
                let mass: f64 = tables.iter().map(|t| t.0).sum();
                assert!((mass - 1.0).abs() < 1e-12);
                // Soundness: a fresh record, every one of the eight.
                let fresh: Vec<(f64, Record)> = (0..8)
                    .map(|bits| every_table(&truth)[bits].1[0])
                    .map(|(x, y)| {
                        let p = Family::logistic().mean(x[0] * truth[0] + x[1] * truth[1]);
                        (0.25 * if y > 0.5 { p } else { 1.0 - p }, (x, y))
                    })
                    .collect();
                let sound: f64 = tables
                    .iter()
                    .flat_map(|(p, t)| fresh.iter().map(move |(q, z)| (p * q, t, z)))
                    .map(|(p, t, (x, y))| p * attack.value(&estimator(t), x, *y))
                    .sum();
                assert!(sound.abs() < 1e-12, "{truth:?}: {sound}");
                // Completeness: the derivative of the exact expectation.
                let members: f64 = tables
                    .iter()
                    .map(|(p, t)| {
                        let estimate = estimator(t);
                        p * t.iter().map(|(x, y)| attack.value(&estimate, x, *y)).sum::<f64>()
                    })
                    .sum();
                let expected = |at: &[f64], j: usize| -> f64 {
                    every_table(at).iter().map(|(p, t)| p * estimator(t)[j]).sum()
                };
                let step = 1e-5;
                let derivative: f64 = (0..2)
                    .filter(|&j| !on_support || truth[j] != 0.0)
                    .map(|j| {
                        let mut at = [truth; 2];
                        at[0][j] -= step;
                        at[1][j] += step;
                        (expected(&at[1], j) - expected(&at[0], j)) / (2.0 * step)
                    })
                    .sum();
                assert!((members - derivative).abs() < 1e-8, "{truth:?}: {members} {derivative}");
                assert!(derivative.abs() > 0.1, "{truth:?}: {derivative}");
                // About another point than the truth, neither holds.
                let elsewhere = ScoreAttack::new(attack.estimand.clone(), vec![truth[0] + 0.3, truth[1]]);
                let unsound: f64 = tables
                    .iter()
                    .flat_map(|(p, t)| fresh.iter().map(move |(q, z)| (p * q, t, z)))
                    .map(|(p, t, (x, y))| p * elsewhere.value(&estimator(t), x, *y))
                    .sum();
                assert!(unsound.abs() > 1e-3, "{unsound}");
            }
        }
    }

    /// Half the width of an interval about the mean of independent variables of range `range` that misses with probability at most
    /// 1e-6 (Maurer and Pontil 2009, both sides).
    fn half_width(values: &[f64], range: f64) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let log = (4e6_f64).ln();
        (mean, (2.0 * variance * log / n).sqrt() + 7.0 * range * log / (3.0 * (n - 1.0)))
    }

    /// The same by simulation, for a private release: a clipped sum with noise, of rows uniform about the truth.
    ///
    /// Rows are the truth plus -1, 0 or 1 with probabilities that depend on it through an exponential family: `f(x)` proportional to
    /// `e^(theta x)` on {-1, 0, 1}, whose score is `x - E x`. The release is kept within bounds so that the interval is exact.
    #[test]
    fn soundness_and_completeness_hold_for_a_private_release() {
        let (n, theta, sigma, repeats) = (5, 0.4_f64, 0.8, 200_000);
        let norm = 1.0 + 2.0 * theta.cosh();
        let probabilities = [(-theta).exp() / norm, 1.0 / norm, theta.exp() / norm];
        let mean = probabilities[2] - probabilities[0];
        let variance = probabilities[2] + probabilities[0] - mean * mean;
        let mut rng = RandomSource::insecure_seeded(0x7363_6f72_6573);
        let draw = |rng: &mut RandomSource| {
            let u = (rng.next_u64() >> 11) as f64 * 2f64.powi(-53);
            if u < probabilities[0] {
                -1.0
            } else if u < probabilities[0] + probabilities[1] {
                0.0
            } else {
                1.0
            }
        };
        // The score is x - E x: the mean's attack about E x, for an estimate measured from there.
        let attack = ScoreAttack::new(Estimand::Mean, vec![mean]);
        let sum = ClippedSum::new(1.0, sigma, 1).unwrap();
        let (mut fresh, mut members) = (Vec::new(), Vec::new());
        let bound = n as f64 + 6.0 * sigma;
        for _ in 0..repeats {
            let rows: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
            let release = sum.release(&rows, &mut rng).unwrap().value[0].clamp(-bound, bound);
            let outside = draw(&mut rng);
            fresh.push(attack.value(&[release], &[outside], 0.0));
            members.push(rows.iter().map(|x| attack.value(&[release], &[*x], 0.0)).sum::<f64>());
        }
        let range = 2.0 * (bound + 1.0) * 2.0;
        let (sound, width) = half_width(&fresh, range);
        assert!(sound.abs() <= width, "{sound} beyond {width}");
        // d/d theta of E release = n Var(x), but for the clamp six deviations out.
        let derivative = n as f64 * variance;
        let (complete, width) = half_width(&members, n as f64 * range);
        assert!((complete - derivative).abs() <= width + 1e-6, "{complete} {derivative} {width}");
        // A member passed off as an outsider, and a release without the members' rows, are told apart.
        let first: Vec<f64> = members.iter().map(|m| m / n as f64).collect();
        let (mean_member, width) = half_width(&first, range);
        assert!(mean_member > width, "{mean_member} within {width}");
        assert!((n as f64 * sound - derivative).abs() > width);
    }

    #[test]
    fn the_dispersion_divides_and_must_be_positive() {
        let attack = ScoreAttack::new(Estimand::Glm(Family::gaussian()), vec![1.0]);
        assert_eq!(attack.score(&[2.0], 5.0), [6.0]);
        assert_eq!(attack.clone().dispersion(3.0).unwrap().score(&[2.0], 5.0), [2.0]);
        assert!(attack.dispersion(0.0).is_err());
    }
}
