//! Sparse regression from noisy labels and public features, by iterative hard thresholding.
//!
//! # Algorithm (Wang and Xu 2021 Algorithms 2 and 5)
//! 1. Users release their labels once, by any randomizer whose reports have the label as mean
//!    ([`super::label_noise`], [`super::threshold_bit`], [`super::randomized_response`]).
//! 2. The server runs iterative hard thresholding on public features and noisy labels ([`crate::central::iht`]).
//!
//! [`LabelIht::literal`] is the paper's step 2: a fixed step along the negative gradient of the mean squared error, the s
//! largest coordinates, projection on a ball; repeated T times from zero.
//!
//! # Guarantee
//! That of the reports, under replacement of one user's label; features are public. The server's work is a function of
//! what was released, so it costs nothing, whatever it is and however often it is done.
//!
//! # Differs from the paper
//! The printed step goes up the gradient; labels are clipped, and their noise is that of their true range; the step
//! comes from the largest curvature, and the support reached is refitted. Labels of binary and other
//! models keep their noise: reading them back into the model's domain would bias them.
//!
//! # References
//! Wang and Xu 2021 Algorithms 2 and 5.

use crate::central::Iht;
use crate::central::iht::keep_largest;
use crate::central::screening::require_sparsity;
use crate::data::Design;
use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};
use crate::families::Family;
use crate::kernels::fused_pass;

/// Sparse regression on labels that carry their own privacy.
///
/// ```
/// use dpglm::data::Design;
/// use dpglm::families::Family;
/// use dpglm::local::{LabelIht, LabelNoise};
/// use dpglm::noise::RandomSource;
///
/// let noise = LabelNoise::laplace((-1.0, 1.0), 2.0)?;
/// let mut rng = RandomSource::from_os()?;
/// let x: Vec<f64> = (0..200).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
/// let reports: Vec<f64> =
///     (0..100).map(|i| noise.randomize(0.5 * x[2 * i], &mut rng)).collect::<dpglm::Result<_>>()?;
/// let coefficients = LabelIht::new(Family::gaussian(), 1)?.fit(&Design::from_f64(100, 2, x)?, &reports)?;
/// assert_eq!(coefficients.iter().filter(|b| **b != 0.0).count(), 1);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LabelIht {
    family: Family,
    sparsity: usize,
    literal: Option<Literal>,
}

/// The paper's constants.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Literal {
    step: f64,
    iterations: u64,
    radius: f64,
}

impl LabelIht {
    /// With at most `sparsity` coefficients that are not zero.
    pub fn new(family: Family, sparsity: usize) -> Result<Self> {
        require_nonzero(Parameter::Sparsity, sparsity as u64, "at least one coefficient must be free")?;
        Ok(Self { family, sparsity, literal: None })
    }

    /// The paper's iteration: this step length, this many iterations, coefficients of l2 norm at most `radius`.
    pub fn literal(mut self, step: f64, iterations: u64, radius: f64) -> Result<Self> {
        self.literal = Some(Literal {
            step: require_positive(Parameter::Step, step, "the paper takes 0.1 or 0.2")?,
            iterations: require_nonzero(Parameter::Iterations, iterations, "the paper takes log(n/p)")?,
            radius: require_positive(Parameter::Radius, radius, "the paper takes 1")?,
        });
        Ok(self)
    }

    /// Step 2, on the server: `labels` are released labels, one a row, each with the true label as mean.
    pub fn fit(&self, design: &Design, labels: &[f64]) -> Result<Vec<f64>> {
        require_sparsity(self.sparsity, design.columns())?;
        require_labels(design, labels)?;
        match self.literal {
            None => Iht::new(self.sparsity)?.fit_unbounded(&self.family, design, labels, 0.0),
            Some(literal) => Ok(self.descend(literal, design, labels)),
        }
    }

    fn descend(&self, literal: Literal, design: &Design, labels: &[f64]) -> Vec<f64> {
        let mut point = vec![0.0; design.columns()];
        let mut gradient = point.clone();
        let family = &self.family;
        for _ in 0..literal.iterations {
            let residual = |row: usize, u: f64| (family.mean(u) - labels[row]) * family.mean_slope(u);
            fused_pass(design, &point, residual, &mut gradient);
            let step = literal.step / design.rows() as f64;
            point.iter_mut().zip(&gradient).for_each(|(b, g)| *b -= step * g);
            keep_largest(&mut point, self.sparsity);
            let norm = point.iter().map(|b| b * b).sum::<f64>().sqrt();
            if norm > literal.radius {
                point.iter_mut().for_each(|b| *b *= literal.radius / norm);
            }
        }
        point
    }
}

/// Refuses released labels that are not finite, or not one a row.
pub(super) fn require_labels(design: &Design, labels: &[f64]) -> Result<()> {
    if labels.len() != design.rows() {
        return Err(Error::Conflict(format!(
            "{} rows of features and {} released labels: give one label a row",
            design.rows(),
            labels.len()
        )));
    }
    if labels.iter().all(|y| y.is_finite()) {
        return Ok(());
    }
    Err(Error::Conflict(
        "a released label is not a finite number: leave such reports out with their rows".into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::MonotoneLink;
    use crate::local::{RandomizedResponse, ThresholdBit, seed};
    use crate::noise::RandomSource;

    /// Signs, row after row.
    fn signs(n: usize, p: usize, rng: &mut RandomSource) -> Vec<f64> {
        (0..n * p).map(|_| if rng.coin() { 1.0 } else { -1.0 }).collect()
    }

    #[test]
    fn without_noise_the_truth_is_found_and_the_printed_sign_runs_away_from_it() {
        let (n, p) = (300, 40);
        let rng = &mut RandomSource::insecure_seeded(seed("without_noise_the_truth_is_found"));
        let x = signs(n, p, rng);
        let y: Vec<f64> = x.chunks_exact(p).map(|r| 0.6 * r[3] - 0.8 * r[20]).collect();
        let design = Design::from_f64(n, p, x).unwrap();
        let error = |b: &[f64]| {
            let truth = |j| {
                if j == 3 {
                    0.6
                } else if j == 20 {
                    -0.8
                } else {
                    0.0
                }
            };
            b.iter().enumerate().map(|(j, b)| (b - truth(j)) * (b - truth(j))).sum::<f64>().sqrt()
        };
        let model = LabelIht::new(Family::gaussian(), 2).unwrap();
        assert!(error(&model.fit(&design, &y).unwrap()) < 1e-9);
        let literal = model.literal(0.5, 60, 1.0).unwrap();
        assert!(error(&literal.fit(&design, &y).unwrap()) < 1e-6);
        let ascent: Vec<f64> = y.iter().map(|y| -y).collect();
        assert!(error(&literal.fit(&design, &ascent).unwrap()) > 1.9, "the first step's sign alone");
    }

    #[test]
    fn a_steep_monotone_link_is_fitted() {
        let (n, p) = (400, 30);
        let rng = &mut RandomSource::insecure_seeded(seed("a_steep_monotone_link_is_fitted"));
        let x = signs(n, p, rng);
        let f = |u: f64| 8.0 * u + u.cos();
        let y: Vec<f64> = x.chunks_exact(p).map(|r| f(0.5 * r[1] + 0.7 * r[9])).collect();
        let design = Design::from_f64(n, p, x).unwrap();
        let family = Family::monotone(MonotoneLink::new(f, 7.0, 9.0).unwrap());
        let model = LabelIht::new(family, 2).unwrap();
        for b in [
            model.fit(&design, &y).unwrap(),
            model.literal(0.012, 60, 1.0).unwrap().fit(&design, &y).unwrap(),
        ] {
            assert!((b[1] - 0.5).abs() < 1e-3 && (b[9] - 0.7).abs() < 1e-3, "{} {}", b[1], b[9]);
        }
    }

    #[test]
    fn noisy_labels_of_all_kinds_lead_to_the_truth() {
        let (n, p) = (20_000, 20);
        let rng = &mut RandomSource::insecure_seeded(seed("noisy_labels_of_all_kinds_lead_to_the_truth"));
        let x = signs(n, p, rng);
        let bit = ThresholdBit::new((-1.0, 1.0), 1.0).unwrap();
        let response = RandomizedResponse::new(2, 2.0).unwrap();
        let real: Vec<f64> =
            x.chunks_exact(p).map(|r| bit.value(&bit.randomize(0.6 * r[4] - 0.4 * r[11], rng))).collect();
        let binary: Vec<f64> = x
            .chunks_exact(p)
            .map(|r| {
                let mean = Family::logistic().mean(2.0 * r[4]);
                let label = u32::from((rng.next_u64() >> 11) as f64 * 2f64.powi(-53) < mean);
                response.indicator(response.randomize(label, rng), 1)
            })
            .collect();
        let design = Design::from_f64(n, p, x).unwrap();
        let b = LabelIht::new(Family::gaussian(), 2).unwrap().fit(&design, &real).unwrap();
        // Deviation of each coefficient: 2.2 / sqrt(n) = 0.015.
        assert!((b[4] - 0.6).abs() < 0.09 && (b[11] + 0.4).abs() < 0.09, "{} {}", b[4], b[11]);
        let b = LabelIht::new(Family::logistic(), 1).unwrap().fit(&design, &binary).unwrap();
        assert!((b[4] - 2.0).abs() < 0.4, "{}", b[4]);
    }

    #[test]
    fn wrong_input_is_refused() {
        let design = Design::from_f64(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        assert!(LabelIht::new(Family::gaussian(), 0).is_err());
        let model = LabelIht::new(Family::gaussian(), 1).unwrap();
        assert!(model.fit(&design, &[1.0]).is_err());
        assert!(model.fit(&design, &[1.0, f64::NAN]).is_err());
        assert!(LabelIht::new(Family::gaussian(), 3).unwrap().fit(&design, &[1.0, 1.0]).is_err());
        assert!(model.clone().literal(0.0, 1, 1.0).is_err());
        assert!(model.clone().literal(0.1, 0, 1.0).is_err());
        assert!(model.literal(0.1, 1, f64::NAN).is_err());
    }
}
