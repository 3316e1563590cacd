//! Noisy preconditioned gradient descent over one or several linear predictors.
//!
//! # Guarantee
//! Per unit, the gradient is a sum of `weight * score * row` with `sum of weight * norm(row) <= R` and a score of l2 norm
//! at most `cap`, both enforced on the computed numbers. Replacing one unit moves the mean gradient by at most
//! `2 cap R / n`, plus the bounded error of summation on both sides.

use super::moments::Conditioner;
use super::purse::Purse;
use crate::data::Dataset;
use crate::data::dataset::MOST_ROWS;
use crate::error::Result;
use crate::kernels::{fused_pass, fused_pass_multi, summation_error};

/// What stays the same from step to step.
pub(super) struct Descent<'a> {
    pub data: &'a Dataset,
    /// The weight of each row.
    pub weights: &'a [f64],
    /// R: what the weights bound.
    pub size: f64,
    /// The number of linear predictors.
    pub outputs: usize,
    pub conditioner: &'a Conditioner,
    pub ridge: f64,
    /// The first column is constant and not penalised.
    pub intercept: bool,
    /// The largest l2 norm of the iterate.
    pub limit: f64,
}

/// A run of equal steps.
#[derive(Clone, Copy)]
pub(super) struct Phase {
    pub what: &'static str,
    pub steps: u64,
    pub length: f64,
}

/// Called after every step.
pub(super) type Progress<'a> = &'a mut dyn FnMut();

impl Descent<'_> {
    /// Runs a phase from `iterate`, which it moves, and gives the average of the iterates. `score(row, predictors, out)`
    /// writes a score of l2 norm at most `cap`.
    pub(super) fn run(
        &self,
        phase: Phase,
        iterate: &mut [f64],
        cap: f64,
        score: impl Fn(usize, &[f64], &mut [f64]) + Sync,
        purse: &mut Purse<'_>,
        progress: Progress<'_>,
    ) -> Result<Vec<f64>> {
        let (d, n) = (self.data.design().columns(), self.data.units() as f64);
        let error = 2.0 * (summation_error(MOST_ROWS) + f64::EPSILON) * cap * self.size;
        let sensitivity = 2.0 * cap * self.size / n + error;
        let mut average = vec![0.0; iterate.len()];
        for _ in 0..phase.steps {
            let mut gradient = self.gradient(iterate, &score);
            gradient.iter_mut().for_each(|g| *g /= n);
            purse.vector(phase.what, &mut gradient, sensitivity)?;
            for (i, (g, b)) in gradient.iter_mut().zip(iterate.iter()).enumerate() {
                if !(self.intercept && i % d == 0) {
                    *g += self.ridge * b;
                }
            }
            self.step(iterate, &gradient, phase.length);
            average.iter_mut().zip(iterate.iter()).for_each(|(a, b)| *a += b / phase.steps as f64);
            progress();
        }
        Ok(average)
    }

    fn gradient(&self, iterate: &[f64], score: &(impl Fn(usize, &[f64], &mut [f64]) + Sync)) -> Vec<f64> {
        let mut gradient = vec![0.0; iterate.len()];
        if self.outputs == 1 {
            let residual = |row: usize, predictor: f64| {
                let mut out = [0.0];
                score(row, &[predictor], &mut out);
                self.weights[row] * out[0]
            };
            fused_pass(self.data.design(), iterate, residual, &mut gradient);
        } else {
            let residual = |row: usize, predictors: &[f64], out: &mut [f64]| {
                score(row, predictors, out);
                out.iter_mut().for_each(|s| *s *= self.weights[row]);
            };
            fused_pass_multi(self.data.design(), self.outputs, iterate, residual, &mut gradient);
        }
        gradient
    }

    /// `iterate -= length * (A^-1 x P) gradient`, kept in its ball. With several outputs, A is the curvature among
    /// classes at equal probabilities, `(I - 11^T/K) / K`, whose inverse is `K (I + 11^T)`.
    fn step(&self, iterate: &mut [f64], gradient: &[f64], length: f64) {
        let d = self.data.design().columns();
        let mut moves: Vec<Vec<f64>> = gradient
            .chunks_exact(d)
            .map(|g| self.conditioner.apply(g.to_vec()).as_slice().to_vec())
            .collect();
        if self.outputs > 1 {
            let classes = (self.outputs + 1) as f64;
            let total: Vec<f64> = (0..d).map(|j| moves.iter().map(|m| m[j]).sum()).collect();
            for m in &mut moves {
                m.iter_mut().zip(&total).for_each(|(m, t)| *m = classes * (*m + t));
            }
        }
        for (b, m) in iterate.iter_mut().zip(moves.iter().flatten()) {
            *b -= length * m;
        }
        let norm = iterate.iter().map(|b| b * b).sum::<f64>().sqrt();
        if norm > self.limit {
            iterate.iter_mut().for_each(|b| *b *= self.limit / norm);
        }
    }
}
