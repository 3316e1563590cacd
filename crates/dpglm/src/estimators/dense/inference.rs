//! Step 7, if intervals are asked for: standard errors of the unshrunk root of the score, from the same budget.
//!
//! Prediction uses shrunk coefficients; their error is not a standard error. So inference starts where prediction ended and takes
//! a few passes with a score that reaches farther, so that few rows are clipped and its root tends to the likelihood's.
//!
//! # Algorithm
//! 1. Products weighted by the slope at the predicted coefficients whiten the rows further, once or twice. A stage resolves what
//!    is clear of its noise *relative to the stage before*, so that two cheap stages see weaker directions than one dear one.
//! 2. The far bound on scores: two tail levels, extrapolated along the tail between them to as few rows as make the bias of the size
//!    of the noise; farther where the privacy noise stays below the sampling noise.
//! 3. A few passes, with shares that grow, for the mean point B and the mean score G, steps taken with the slope of stage 1; then
//!    at B the slope H of the far score and V, the second moment of a unit's score.
//! 4. `G = H d + noise` for `d = root - B`, with noise of covariance `M = V/n + s_g^2 I + (s_h^2/2)(|d|^2 I + d d')`: the noise of H is
//!    multiplied with d (of several predictors: [`times_noise`]), which is known as well as prediction knows it. Directions in which H
//!    is not clear of its own noise count as H = 0: there a prior of one unit per standard coefficient is all that is left, elsewhere
//!    it is three units wide. Prediction moves from where the passes ended by what G tells it beyond what they knew.
//! 5. A coefficient is *determined* if less than a third of its variance is the prior's, its standard error says anything at all of what
//!    rows at both ends of its column differ by, and, unless predictors are the means themselves, the last move is short enough for a
//!    linear step: for a typical row, and for rows far out in the column. An intercept needs half of the slopes. Where a slope is not
//!    found and nearly every response is predicted, nothing is determined.
//!
//! # Guarantee
//! That of the passes it reads ([`crate::passes`]): levels are selections, products and scores Gaussian releases of the bounds enforced there.
//! All else is a function of what was released.
//!
//! V of units with several rows sums `a x` over a unit's rows, `sum |a| |A x| <= bound` by the weights, A being the map. A sum of up to
//! `2^36` terms errs in column j by at most `2^-17 sum |a| |x_j|`. Columns are scaled one by one, and
//! `|x_j| <= |x_j - c_j| + |c_j|`, so the map makes of that at most `2^-17 growth bound`, `growth` being that of the map. The bound on V's
//! trace is enlarged by twice as much.

mod releases;
#[cfg(test)]
mod tests;

use super::noise_of;
use super::plan::{InferencePlan, SEEN};
use super::prior::GUESS;
use super::scores::{Found, Passes, RecomposeBy, eigen_of, precision as pass_precision};
use crate::error::Result;
use crate::families::Domain;
use crate::passes::scores::{self, ScoreBounds};
use crate::release::{Chosen, Handle, ReleaseSession, Vector};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use releases::{Shrunk, Stage, Steps, shrunk};

pub(super) const LEVELS: Handle<Chosen> = Handle::new("tail levels for inference");
pub(super) const CURVATURE: Handle<Vector> = Handle::new("products weighted by slopes");
pub(super) const SLOPE: Handle<Vector> = Handle::new("slope of the far score");
pub(super) const SCORES: [Handle<Vector>; 2] =
    [Handle::new("far scores, pass 1"), Handle::new("far scores, pass 2")];
pub(super) const SECOND: Handle<Vector> = Handle::new("second moment of the far score");

/// An eigenvalue of the slope below this many deviations of the largest eigenvalue of its noise is not clear of it.
const CLEAR: f64 = 0.1;
/// From this many times the root of the coefficients per coefficient on that holds; below, in proportion more.
const AMPLE: f64 = 45.0;
/// What few passes may be off by in standard coefficients, where the mean is curved in the predictor.
const CURVED: f64 = 0.06;
/// For what weights and caps do to the target: of the sampling variance. That of the noise is known.
const ALLOWANCE: f64 = 1.15;
/// The prior's width, in units per standard coefficient, where the slope is clear.
const WIDE: f64 = 3.0;
/// The share of a variance that may be the prior's.
const FREE: f64 = 1.0 / 3.0;
/// The longest last move of a standard coefficient for which a linear step is trusted.
const LINEAR: f64 = 0.8;
/// The same for the predictor of rows far out in its column. Where a level has one response only the root is at infinity, and every
/// step from anywhere moves the predictor of its rows by 1 or more; noise may shorten it, by an error as large as such a predictor is
/// extreme.
const LINEAR_REACH: f64 = 0.85;
/// The largest standard error of what a column's rows differ by, in deviations of a real response or as a difference of logarithms. Where
/// columns are copies of each other, noise can look like a direction of its own; what it tells is wider than that.
const TOLD: f64 = 1.5;
/// Where the mean slope fell below this share of that at the start, and a slope is not found yet, rows are separated.
const SEPARATED: f64 = 0.25;
/// The longest last move without noise, in standard errors.
const SETTLED: f64 = 0.5;
/// The longest move of a standard coefficient from pass to pass.
const STEP: f64 = 0.5;
/// An eigenvalue of the slope below this share of the typical one is rounding.
const NOTHING: f64 = 1e-5;

/// What inference found, for the columns as stored, in units of the fitted response.
pub(super) struct Inferred {
    /// The unshrunk coefficients, one block for each linear predictor.
    pub estimate: Vec<f64>,
    /// Their covariance, of classes relative to the first: sampling, privacy noise and the prior where nothing else is known.
    pub covariance: DMatrix<f64>,
    pub determined: Vec<bool>,
    /// The shrunk coefficients, with what inference learned.
    pub prediction: Vec<f64>,
}

impl Passes<'_> {
    pub(super) fn infer(
        &self,
        found: &Found,
        shares: &InferencePlan,
        session: &mut ReleaseSession<'_>,
        read: &mut dyn FnMut(),
    ) -> Result<Inferred> {
        let Self { model, plan, response, rows, whitened, .. } = *self;
        let (n, count, d) = (plan.shape.units as f64, response.count, whitened.map.columns());
        let outputs = response.view.directions();
        let size = d * outputs;
        let seen = SEEN / plan.mu_of(shares.level);
        let steps = Steps { passes: self, plan, shares, n, count, d, outputs, seen };

        // Step 1
        let start = self.stored(&found.coefficients);
        let mut scored = response.at(&start);
        read();
        let all_slopes: f64 = response.slopes.iter().sum();
        let mut last = Stage { map: whitened.map.clone(), spread: whitened.symmetric(&whitened.seen) };
        let mut mean_slope = all_slopes;
        for _ in &shares.stages {
            let typical = all_slopes * last.spread.trace().max(1.0);
            let (matrix, noise) = steps.slopes(&last.map, &scored, typical, session)?;
            mean_slope = positive(matrix.trace() / last.spread.trace(), 0.1 * all_slopes);
            let Shrunk { matrix, noise, .. } = shrunk(matrix, &last.spread * mean_slope, noise, 1);
            last = Stage::new(matrix / mean_slope, noise / mean_slope, &last.map);
            (0..2).for_each(|_| read());
        }
        let far = &last.map;

        // Step 2
        let dimension = last.spread.trace().max(1.0);
        let reach = steps.far_bound(far, &scored, dimension, mean_slope, session)?;

        // Step 3. Vectors and matrices have a block for each direction.
        let by_direction = DMatrix::from_diagonal(&DVector::from_column_slice(&response.slopes)) / all_slopes;
        let guess = by_direction.kronecker(&last.spread);
        let least = if plan.private { 0.3 } else { NOTHING };
        let inverse = eigen_of(last.spread.clone()).recompose_by(|e| 1.0 / e.max(least));
        let safe = by_direction.map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).kronecker(&inverse) / mean_slope;
        let whitening = DMatrix::<f64>::identity(outputs, outputs).kronecker(&far.whitening());
        let turned = |b: DMatrix<f64>| DVector::from_column_slice((b * &response.view.directions).as_slice());
        let at = |point: &DVector<f64>| -> Vec<f64> {
            let moved = DMatrix::from_column_slice(d, outputs, point.as_slice())
                * response.view.directions.transpose();
            start.iter().zip(far.stored(moved.as_slice())).map(|(b, moved)| b + moved).collect()
        };
        let sensitivity = self.sensitivity(far, reach.far);
        let bounds = ScoreBounds { score: reach.far, trace: reach.far, slopes: reach.far };
        let mut point = DVector::zeros(size);
        let curved = if model.likelihood.is_linear() { 0.0 } else { mean_slope };
        let (mut mean_point, mut mean_score, mut score_noise) = (point.clone(), point.clone(), 0.0);
        let mut known: Vec<(DVector<f64>, DVector<f64>, f64)> = Vec::new();
        for (pass, (&what, &share)) in SCORES.iter().zip(&shares.scores).enumerate() {
            let here = response.at(&at(&point));
            if plan.shape.grouped && pass > 0 {
                read();
            }
            let scores = scores::read(rows, far, here, bounds, count)?;
            read();
            let mut gradient = scores.gradient;
            session.vector(what, &mut gradient, sensitivity)?;
            let gradient = turned(DMatrix::from_vec(d, response.view.outputs(), gradient));
            // Without noise the last pass, nearest to the solution, knows best.
            if !plan.private {
                known.clear();
            }
            known.push((point.clone(), gradient, noise_of(plan, session, what, share) * sensitivity));
            // As passes of prediction are averaged: those from far away are off by what the score bends on the way.
            let weights: Vec<f64> = known
                .iter()
                .map(|(at, _, noise)| pass_precision(*noise, (at - &point).norm(), size, curved))
                .collect();
            let all: f64 = weights.iter().sum();
            (mean_point, mean_score, score_noise) = (&point * 0.0, &point * 0.0, 0.0);
            for ((at, score, noise), weight) in known.iter().zip(&weights) {
                mean_point += at * (weight / all);
                mean_score += score * (weight / all);
                score_noise += (noise * weight / all).powi(2);
            }
            let step = &safe * &mean_score;
            let longest = whitening.tr_mul(&step).amax();
            point = &mean_point + step * (STEP / longest.max(1e-9)).min(1.0);
        }
        let score_noise = if plan.private { score_noise.sqrt() } else { 0.0 };
        if shares.scores.len() > 1 {
            scored = response.at(&at(&mean_point));
            read();
        }
        let [(matrix, slope_noise), (second, noise)] =
            steps.slope_and_second(far, &scored, reach, mean_slope * dimension, session)?;
        (0..if plan.shape.grouped { 2 } else { 1 }).for_each(|_| read());
        let typical = positive(matrix.trace() / last.spread.trace(), 0.1 * mean_slope);
        let Shrunk { matrix: slope, noise: slope_noise, unknown } =
            shrunk(matrix, &guess * typical, slope_noise, outputs);
        let eigen = eigen_of(slope.clone());
        let ratio = positive(second.trace(), 0.2 * slope.trace()) / positive(slope.trace(), 1e-12);
        let second = shrunk(second, &slope * ratio, noise, outputs).matrix;
        let second = eigen_of(second).recompose_by(|e| e.max(0.0));

        // Step 4
        let identity = DMatrix::identity(size, size);
        let widest = ((d + 1) as f64 * (outputs + 1) as f64).sqrt();
        // The less budget there is per coefficient, the more directions of noise are mistaken for weak ones.
        let scarce = (AMPLE * (size as f64).sqrt() * outputs as f64 / plan.ratio).max(1.0);
        let clear_of = (CLEAR * scarce * slope_noise * widest).max(NOTHING * mean_slope / outputs as f64);
        let clear = eigen.recompose_by(|e| if e > clear_of { e } else { 0.0 });
        let mut variances = DVector::from_element(size, 1.0);
        if model.intercept {
            let variance = response.base_variance / (GUESS * GUESS);
            variances.iter_mut().step_by(d).for_each(|v| *v += variance);
        }
        let precision =
            &whitening * DMatrix::from_diagonal(&variances.map(|v| 1.0 / v)) * whitening.transpose();
        let allowance = if plan.private { ALLOWANCE } else { 1.0 };
        let first = &second * (allowance / count) + &identity * score_noise.powi(2);
        let floor =
            &identity * score_noise.powi(2) + &eigen_of(slope.clone()).recompose_by(|e| e.max(0.0)) / count;
        let known = &precision / (GUESS * GUESS) + &clear * inverted(&floor) * &clear;
        let mut total = first.clone();
        for _ in 0..3 {
            let (moved, covariance) = posterior(&mean_score, &clear, &total, &known);
            let spread = &moved * moved.transpose() + covariance;
            total = &first + times_noise(&spread, outputs) * (unknown * unknown);
        }
        let hidden = eigen.recompose_by_flag(|e| e <= clear_of);
        let prior = &precision / (WIDE * WIDE) + &hidden * &precision * &hidden;
        let (moved, covariance) = posterior(&mean_score, &clear, &total, &prior);

        // Prediction starts from what the passes know, and learns from the far scores what these know better.
        let prediction = if plan.private {
            let mut before = DMatrix::zeros(size, size);
            for (direction, known) in found.precisions.iter().enumerate() {
                before.view_mut((direction * d, direction * d), (d, d)).copy_from(known);
            }
            let moved = if model.likelihood.is_linear() { 0.0 } else { CURVED };
            let before = inverted(&(inverted(&before) + &identity * (moved * moved)));
            let before = &whitening * before * whitening.transpose();
            let score = &mean_score + &clear * &mean_point;
            at(&posterior(&score, &clear, &total, &before).0)
        } else {
            start.clone()
        };

        // Step 5. Of classes, relative to the first.
        let contrasts = response.contrasts();
        let back = contrasts.kronecker(&far.matrix().transpose());
        let lengths = contrasts.kronecker(&far.whitening().transpose()) * &moved;
        let estimate = at(&(&mean_point + &moved));
        let relative = relative_to_the_first(&estimate, d);
        let of_prior = &back * &covariance * &prior * &covariance * back.transpose();
        let covariance = &back * covariance * back.transpose();
        let spans = far.reach();
        let moves = &back * &moved;
        let linear = |j: usize| {
            // From end to end of its column: the error, and what is predicted.
            let ends = spans[j % d] / far.inverse()[j % d];
            let error = covariance[(j, j)].max(0.0).sqrt() * ends;
            let lost = (0.5 * relative[j] * ends).tanh().powi(2);
            let length = lengths[j].abs();
            let reached = length * spans[j % d] + lost * if plan.private { error } else { 0.0 };
            (model.likelihood.is_linear() || (length < LINEAR && reached < LINEAR_REACH), error)
        };
        let trusted = |j: usize| {
            // Without noise a coefficient that still moves was not found.
            let settled = plan.private || moves[j].abs() < SETTLED * covariance[(j, j)].max(0.0).sqrt();
            let (linear, error) = linear(j);
            error < TOLD && settled && linear
        };
        let mut determined: Vec<bool> =
            (0..size).map(|j| of_prior[(j, j)] < FREE * covariance[(j, j)] && trusted(j)).collect();
        // Where nearly all is predicted, what one slope lacks is lacking in all: rows that it separates tell nothing of the others.
        let bounded = matches!(model.likelihood.domain(), Domain::Binary | Domain::Classes(_));
        if bounded && mean_slope < SEPARATED * all_slopes && !(0..size).all(|j| linear(j).0) {
            determined.fill(false);
        }
        // The intercept is known only together with the slopes.
        if model.intercept && d > 1 {
            for block in determined.chunks_exact_mut(d) {
                let known = block[1..].iter().filter(|&&is| is).count();
                block[0] &= 2 * known >= d - 1;
            }
        }
        Ok(Inferred { estimate, covariance, determined, prediction })
    }
}

/// The covariance of `N d`, N the noise of a released matrix of products, of deviation 1, and d a vector of second moment S:
/// `(tr S + S_1 (x) I + I (x) S_2 + S) / 4`, with S_1 and S_2 the partial traces over the columns and over the outputs. A number
/// that stands at k places of the matrix has variance 1/k.
fn times_noise(spread: &DMatrix<f64>, outputs: usize) -> DMatrix<f64> {
    let d = spread.nrows() / outputs;
    let block = |a: usize, b: usize| spread.view((a * d, b * d), (d, d));
    let over_columns = DMatrix::from_fn(outputs, outputs, |a, b| block(a, b).trace());
    let over_outputs = (0..outputs).fold(DMatrix::zeros(d, d), |sum, a| sum + block(a, a));
    let every = DMatrix::identity(outputs, outputs);
    let all = DMatrix::identity(spread.nrows(), spread.nrows()) * spread.trace();
    (all + over_columns.kronecker(&DMatrix::identity(d, d)) + every.kronecker(&over_outputs) + spread) * 0.25
}

/// Coefficients of classes relative to the first, those of one predictor as they are.
fn relative_to_the_first(stored: &[f64], columns: usize) -> Vec<f64> {
    let (first, others) = stored.split_at(columns);
    if others.is_empty() {
        return first.to_vec();
    }
    others.chunks_exact(columns).flat_map(|block| block.iter().zip(first).map(|(b, f)| b - f)).collect()
}

fn positive(x: f64, otherwise: f64) -> f64 {
    // Far from the ends of the range of numbers: it is divided by.
    if x > 0.0 && x.is_finite() { x.max(1e-60) } else { otherwise.max(1e-60) }
}

/// The inverse of a positive definite matrix, lifted should rounding have taken that from it.
fn inverted(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let eigen = eigen_of(0.5 * (matrix + matrix.transpose()));
    let largest = eigen.eigenvalues.amax().max(f64::MIN_POSITIVE);
    eigen.recompose_by(|e| 1.0 / e.max(1e-14 * largest))
}

/// Mean and covariance of d where `G = H d + noise` of covariance M and d has this prior precision.
fn posterior(
    score: &DVector<f64>,
    slope: &DMatrix<f64>,
    noise: &DMatrix<f64>,
    prior: &DMatrix<f64>,
) -> (DVector<f64>, DMatrix<f64>) {
    let weighted = slope * inverted(noise);
    let covariance = inverted(&(&weighted * slope + prior));
    (&covariance * (weighted * score), covariance)
}

/// A projection on eigenvectors.
trait RecomposeByFlag {
    fn recompose_by_flag(&self, keep: impl Fn(f64) -> bool) -> DMatrix<f64>;
}

impl RecomposeByFlag for SymmetricEigen<f64, nalgebra::Dyn> {
    fn recompose_by_flag(&self, keep: impl Fn(f64) -> bool) -> DMatrix<f64> {
        self.recompose_by(|e| f64::from(u8::from(keep(e))))
    }
}
