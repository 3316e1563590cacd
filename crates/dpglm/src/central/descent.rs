//! Noisy preconditioned gradient descent with momentum over one or several linear predictors.
//!
//! Iterates and noise live in the coordinates of the rows ([`super::coordinates`]). Momentum carries the directions in which the
//! preconditioner is too cautious to the solution in the planned number of steps. The average of the iterates responds to
//! a noisy gradient as without, but the iterates themselves stray farther: no more momentum than needed.
//!
//! # Guarantee
//! Per unit, the gradient in those coordinates is a sum of `weight * score * row` with `sum of weight * norm(row) <= R` and a score of l2 norm
//! at most `cap`, both enforced on the computed numbers. Replacing one unit moves the mean gradient by at most
//! `2 cap R / n`, plus the rounding of its rows to the grid of the sum, and of the sum itself, on both sides.

use super::moments::Conditioner;
use super::weighting::Weighting;
use crate::data::Dataset;
use crate::error::Result;
use crate::kernels::{Grid, exact_pass};
use crate::release::{Handle, ReleaseSession, Vector};

/// What stays the same from step to step.
pub(super) struct Descent<'a> {
    pub data: &'a Dataset,
    pub weighting: &'a Weighting,
    /// The number of linear predictors.
    pub outputs: usize,
    pub ridge: f64,
    /// The first column is constant and not penalised.
    pub intercept: bool,
    /// The largest l2 norm of the coefficients, if the user set one.
    pub radius: Option<f64>,
    /// Where the descent starts.
    pub start: &'a [f64],
    /// The largest l2 distance of an iterate from there.
    pub limit: f64,
}

/// What turns gradients into moves.
pub(super) struct Drive {
    pub phase: Phase,
    pub conditioner: Conditioner,
    /// What remains of a move at the next step.
    pub momentum: f64,
    /// The sum over all directions of one over the conditioned slope: how much noise stirs the predictors.
    pub stir: f64,
}

/// The variance that noise may give to the predictors, in units of the square over which the score bends.
const UNREST: f64 = 0.2;

impl Drive {
    /// Shorter moves where noise would throw the iterates about.
    ///
    /// In a direction of conditioned slope h, moves of effective length `e = length / (1 - momentum)` under gradient noise
    /// of variance v make the iterates' predictors vary by about `e v / (2 m h)`, m the mean slope of the score in the
    /// predictor. Where the score bends over less than that, its mean over the iterates is flatter than it is, and their
    /// average lies too far out. `variance` is `v / m` in units of the square over which the score bends.
    pub(super) fn calmed(mut self, variance: f64) -> Self {
        let longest = 2.0 * UNREST / (variance * self.stir);
        if self.phase.length > longest * (1.0 - self.momentum) {
            self.momentum = (1.0 - self.phase.length / longest).max(0.0);
            self.phase.length = self.phase.length.min(longest);
        }
        self
    }
}

/// A run of equal steps.
#[derive(Clone, Copy)]
pub(super) struct Phase {
    pub what: Handle<Vector>,
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
        drive: &Drive,
        iterate: &mut [f64],
        cap: f64,
        score: impl Fn(usize, &[f64], &mut [f64]) + Sync,
        session: &mut ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<Vec<f64>> {
        let phase = drive.phase;
        let (d, n) = (self.data.design().columns(), self.data.units() as f64);
        let Weighting { coordinates, size, .. } = self.weighting;
        let sensitivity = self.weighting.sensitivity(self.data, cap, self.outputs);
        let bound = cap * size;
        let grid = Grid::of_columns(coordinates.stored_bounds().map(|stored| stored * bound));
        let mut average = vec![0.0; iterate.len()];
        let mut velocity = vec![0.0; iterate.len()];
        for _ in 0..phase.steps {
            let mut gradient = self.gradient(&coordinates.stored(iterate), &grid, &score);
            coordinates.map(&mut gradient);
            gradient.iter_mut().for_each(|g| *g /= n);
            session.vector(phase.what, &mut gradient, sensitivity)?;
            for (i, (g, b)) in gradient.iter_mut().zip(iterate.iter()).enumerate() {
                if !(self.intercept && i % d == 0) {
                    *g += self.ridge * coordinates.penalty(i % d) * b;
                }
            }
            for (v, m) in velocity.iter_mut().zip(self.conditioned(drive, &gradient)) {
                *v = drive.momentum * *v - phase.length * m;
            }
            iterate.iter_mut().zip(&velocity).for_each(|(b, v)| *b += v);
            self.keep_in_ball(iterate);
            average.iter_mut().zip(iterate.iter()).for_each(|(a, b)| *a += b / phase.steps as f64);
            progress();
        }
        Ok(average)
    }

    fn gradient(
        &self,
        iterate: &[f64],
        grid: &Grid,
        score: &(impl Fn(usize, &[f64], &mut [f64]) + Sync),
    ) -> Vec<f64> {
        let residual = |row: usize, predictors: &[f64], out: &mut [f64]| {
            score(row, predictors, out);
            out.iter_mut().for_each(|s| *s *= self.weighting.weights[row]);
        };
        exact_pass(self.data.design(), self.outputs, iterate, grid, residual).values()
    }

    /// `(A^-1 x P) gradient`. With several outputs, A is the curvature among classes at equal probabilities,
    /// `(I - 11^T/K) / K`, whose inverse is `K (I + 11^T)`.
    fn conditioned(&self, drive: &Drive, gradient: &[f64]) -> Vec<f64> {
        let d = self.data.design().columns();
        let mut moves: Vec<Vec<f64>> = gradient
            .chunks_exact(d)
            .map(|g| drive.conditioner.apply(g.to_vec()).as_slice().to_vec())
            .collect();
        if self.outputs > 1 {
            let classes = (self.outputs + 1) as f64;
            let total: Vec<f64> = (0..d).map(|j| moves.iter().map(|m| m[j]).sum()).collect();
            for m in &mut moves {
                m.iter_mut().zip(&total).for_each(|(m, t)| *m = classes * (*m + t));
            }
        }
        moves.concat()
    }

    fn keep_in_ball(&self, iterate: &mut [f64]) {
        let norm = |b: &mut dyn Iterator<Item = f64>| b.map(|b| b * b).sum::<f64>().sqrt();
        let share = self.limit / norm(&mut iterate.iter().zip(self.start).map(|(b, s)| b - s));
        if share < 1.0 {
            iterate.iter_mut().zip(self.start).for_each(|(b, s)| *b = s + share * (*b - s));
        }
        if let Some(radius) = self.radius {
            let share = radius / norm(&mut self.weighting.coordinates.stored(iterate).into_iter());
            if share < 1.0 {
                iterate.iter_mut().for_each(|b| *b *= share);
            }
        }
    }
}
