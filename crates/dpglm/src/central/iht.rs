//! Iterative hard thresholding: sparse estimation without privacy.
//!
//! # Algorithm (Cai et al. 2020 Algorithm 2, Wang and Gu 2020 Algorithm 2)
//! 1. A gradient step. 2. Keep the s largest coordinates in size, ties by index; the others become zero. Repeat.
//! 3. For a table: least squares or Newton's method on the support reached, so that no unfinished step is left.
//!
//! # Guarantee
//! None: it is a reference, or a student that sees only what was released before. Nothing of it may leave if it saw
//! private rows.
//!
//! # Differs from the papers
//! The step comes from the largest curvature, found by power iteration, in place of an unknown constant.

use super::screening::require_sparsity;
use crate::data::{Dataset, Design};
use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};
use crate::families::Family;
use crate::kernels::{fused_pass, predict, weighted_gram};
use nalgebra::{DMatrix, DVector};

/// Iterative hard thresholding with a fixed sparsity.
///
/// ```
/// use dpglm::central::Iht;
///
/// // The nearest 1-sparse vector to (3, 1): minimise the squared distance.
/// let iht = Iht::new(1)?.step(0.5)?;
/// let b = iht.minimise(vec![0.0, 0.0], |b, g| (g[0], g[1]) = (b[0] - 3.0, b[1] - 1.0))?;
/// assert!((b[0] - 3.0).abs() < 1e-9 && b[1] == 0.0);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iht {
    sparsity: usize,
    step: Option<f64>,
    iterations: u64,
}

impl Iht {
    /// With at most `sparsity` coefficients that are not zero.
    pub fn new(sparsity: usize) -> Result<Self> {
        require_nonzero(Parameter::Sparsity, sparsity as u64, "at least one coefficient must be free")?;
        Ok(Self { sparsity, step: None, iterations: 200 })
    }

    /// With a fixed step length. By default a table's largest curvature sets it.
    pub fn step(mut self, step: f64) -> Result<Self> {
        self.step = Some(require_positive(Parameter::Step, step, "one over the largest curvature is safe")?);
        Ok(self)
    }

    /// With this many iterations in place of 200.
    pub fn iterations(mut self, iterations: u64) -> Result<Self> {
        self.iterations = require_nonzero(Parameter::Iterations, iterations, "a few hundred are usual")?;
        Ok(self)
    }

    /// Steps 1 and 2 from `start`; `gradient(point, out)` writes the gradient at a point. Needs a fixed step.
    pub fn minimise(
        &self,
        start: Vec<f64>,
        mut gradient: impl FnMut(&[f64], &mut [f64]),
    ) -> Result<Vec<f64>> {
        require_sparsity(self.sparsity, start.len())?;
        let Some(step) = self.step else {
            return Err(Error::Conflict("a general objective needs a step length: set one".into()));
        };
        let mut point = start;
        let mut direction = vec![0.0; point.len()];
        for _ in 0..self.iterations {
            gradient(&point, &mut direction);
            point.iter_mut().zip(&direction).for_each(|(b, g)| *b -= step * g);
            keep_largest(&mut point, self.sparsity);
        }
        Ok(point)
    }

    /// A sparse model of a table: mean loss of the family plus `ridge/2` times the squared norm.
    pub fn fit(&self, family: &Family, data: &Dataset, ridge: f64) -> Result<Vec<f64>> {
        self.fit_design(family, data.design(), data.response(), ridge)
    }

    pub(crate) fn fit_design(
        &self,
        family: &Family,
        design: &Design,
        response: &[f64],
        ridge: f64,
    ) -> Result<Vec<f64>> {
        let admitted: Vec<f64> = response.iter().map(|&y| family.admit(y)).collect();
        self.fit_unbounded(family, design, &admitted, ridge)
    }

    /// The same with responses taken as they are: unbiased noisy labels lie outside a family's domain.
    pub(crate) fn fit_unbounded(
        &self,
        family: &Family,
        design: &Design,
        response: &[f64],
        ridge: f64,
    ) -> Result<Vec<f64>> {
        require_sparsity(self.sparsity, design.columns())?;
        let n = design.rows() as f64;
        if self.sparsity == design.columns() {
            // Nothing is cut off, so the last step alone leads to the same point.
            return Ok(newton(family, design, response, ridge, vec![0.0; design.columns()]));
        }
        let step = match self.step {
            Some(step) => step,
            None => 1.0 / (family.steepest() * largest_curvature(design) + ridge).max(f64::MIN_POSITIVE),
        };
        let point = Self { step: Some(step), ..*self }.minimise(vec![0.0; design.columns()], |b, g| {
            fused_pass(design, b, |row, u| family.mean(u) - response[row], g);
            g.iter_mut().zip(b).for_each(|(g, b)| *g = *g / n + ridge * b);
        })?;
        // Step 3
        let support: Vec<usize> = (0..point.len()).filter(|&j| point[j] != 0.0).collect();
        if support.is_empty() {
            return Ok(point);
        }
        let chosen = design.select_columns(&support)?;
        let start: Vec<f64> = support.iter().map(|&j| point[j]).collect();
        let refined = newton(family, &chosen, response, ridge, start);
        let mut out = vec![0.0; point.len()];
        support.iter().zip(refined).for_each(|(&j, b)| out[j] = b);
        Ok(out)
    }
}

/// Sets all but the `count` largest coordinates in size to zero.
pub(crate) fn keep_largest(v: &mut [f64], count: usize) {
    if count >= v.len() {
        return;
    }
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.select_nth_unstable_by(count, |&i, &j| v[j].abs().total_cmp(&v[i].abs()).then(i.cmp(&j)));
    order[count..].iter().for_each(|&j| v[j] = 0.0);
}

/// The largest eigenvalue of `X^T X / n`, a little enlarged, by power iteration.
pub(crate) fn largest_curvature(design: &Design) -> f64 {
    let d = design.columns();
    let mut v: Vec<f64> = (0..d).map(|j| 1.0 + 0.1 * ((j * 2_654_435_761) % 97) as f64 / 97.0).collect();
    let mut largest = 0.0;
    for _ in 0..30 {
        let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| *x /= size.max(f64::MIN_POSITIVE));
        let mut next = vec![0.0; d];
        fused_pass(design, &v, |_, u| u, &mut next);
        largest = next.iter().map(|x| x * x).sum::<f64>().sqrt() / design.rows() as f64;
        v = next;
    }
    1.1 * largest
}

/// A few Newton steps from `start`, each kept only if the gradient shrinks.
fn newton(family: &Family, design: &Design, response: &[f64], ridge: f64, start: Vec<f64>) -> Vec<f64> {
    let (n, s) = (design.rows() as f64, start.len());
    let gradient = |b: &[f64]| {
        let mut g = vec![0.0; s];
        fused_pass(design, b, |row, u| family.mean(u) - response[row], &mut g);
        DVector::from_iterator(s, g.iter().zip(b).map(|(g, b)| g / n + ridge * b))
    };
    let (mut b, mut g) = (start.clone(), gradient(&start));
    for _ in 0..20 {
        let mut u = vec![0.0; design.rows()];
        predict(design, &b, &mut u);
        let gram = weighted_gram(design, |row| family.mean_slope(u[row]));
        let mut hessian = DMatrix::from_row_slice(s, s, &gram) / n;
        let lift = ridge + 1e-12 * hessian.trace().abs();
        (0..s).for_each(|j| hessian[(j, j)] += lift);
        let Some(factor) = hessian.cholesky() else { break };
        let step = factor.solve(&g);
        let trial: Vec<f64> = b.iter().zip(step.iter()).map(|(b, p)| b - p).collect();
        let next = gradient(&trial);
        if next.norm() >= g.norm() {
            break;
        }
        (b, g) = (trial, next);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::RandomSource;

    fn uniform(rng: &mut RandomSource) -> f64 {
        (rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0
    }

    #[test]
    fn a_sparse_linear_model_is_recovered() {
        let (n, d) = (200, 300);
        let mut rng = RandomSource::insecure_seeded(1);
        let x: Vec<f64> = (0..n * d).map(|_| uniform(&mut rng)).collect();
        let y: Vec<f64> = x.chunks_exact(d).map(|r| 2.0 * r[3] - r[70] + 0.5 * r[299]).collect();
        let data = Dataset::new(Design::from_f64(n, d, x).unwrap(), y).unwrap();
        let b = Iht::new(3).unwrap().fit(&Family::gaussian(), &data, 0.0).unwrap();
        for (j, b) in b.iter().enumerate() {
            let truth = [(3, 2.0), (70, -1.0), (299, 0.5)].iter().find(|t| t.0 == j).map_or(0.0, |t| t.1);
            assert!((b - truth).abs() < 1e-8, "{j}: {b}");
        }
    }

    #[test]
    fn a_sparse_logistic_model_finds_its_support() {
        let (n, d) = (2_000, 50);
        let mut rng = RandomSource::insecure_seeded(2);
        let x: Vec<f64> = (0..n * d).map(|_| uniform(&mut rng)).collect();
        let y: Vec<f64> = x
            .chunks_exact(d)
            .map(|r| {
                let p = Family::logistic().mean(3.0 * r[7] - 3.0 * r[20]);
                f64::from(u8::from(0.5 * (uniform(&mut rng) + 1.0) < p))
            })
            .collect();
        let data = Dataset::new(Design::from_f64(n, d, x).unwrap(), y).unwrap();
        let b = Iht::new(2).unwrap().fit(&Family::logistic(), &data, 0.0).unwrap();
        assert!((b[7] - 3.0).abs() < 0.5 && (b[20] + 3.0).abs() < 0.5, "{} {}", b[7], b[20]);
        assert_eq!(b.iter().filter(|b| **b != 0.0).count(), 2);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(Iht::new(0).is_err());
        assert!(Iht::new(1).unwrap().step(0.0).is_err());
        assert!(Iht::new(1).unwrap().iterations(0).is_err());
        assert!(Iht::new(3).unwrap().step(1.0).unwrap().minimise(vec![0.0; 2], |_, _| {}).is_err());
        assert!(Iht::new(1).unwrap().minimise(vec![0.0; 2], |_, _| {}).is_err());
    }

    #[test]
    fn the_largest_coordinates_are_kept() {
        let mut v = [0.5, -3.0, 2.0, -0.1];
        keep_largest(&mut v, 2);
        assert_eq!(v, [0.0, -3.0, 2.0, 0.0]);
        keep_largest(&mut v, 9);
        assert_eq!(v, [0.0, -3.0, 2.0, 0.0]);
    }
}
