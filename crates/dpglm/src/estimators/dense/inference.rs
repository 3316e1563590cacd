//! Step 7, if intervals are asked for: standard errors of the unshrunk root of the score, from the same budget.
//!
//! Prediction uses shrunk coefficients; their error is not a standard error. So inference starts where prediction ended and takes
//! a few passes with a score that reaches farther, so that few rows are clipped and its root tends to the likelihood's.
//!
//! # Algorithm
//! 1. Products of the whitened rows once more, then products weighted by the slope at the predicted coefficients: each whitens
//!    the rows further. A stage resolves what is clear of its noise *relative to the stage before*, so that two cheap stages see
//!    weaker directions than one dear one.
//! 2. The far bound on scores: two tail levels, extrapolated along the tail between them to as few rows as make the bias of the size
//!    of the noise; farther where the privacy noise stays below the sampling noise.
//! 3. H, the slope of the far score; a few passes for the mean point B and the mean score G; V, the second moment of a unit's score at B.
//! 4. `G = H d + noise` for `d = root - B`, with noise of covariance `M = V/n + s_g^2 I + (s_h^2/2)(|d|^2 I + d d')`: the noise of H is
//!    multiplied with d, which is known as well as prediction knows it. Directions in which H is not clear of its own noise count
//!    as H = 0: there a prior of one unit per standard coefficient is all that is left, elsewhere it is three units wide.
//! 5. A coefficient is *determined* if less than a third of its variance is the prior's, and the last move is short enough for a
//!    linear step.
//!
//! # Guarantee
//! That of the passes it reads ([`crate::passes`]): levels are selections, products and scores Gaussian releases of the bounds enforced there.
//! All else is a function of what was released. A unit's summed score in step 3 errs by at most `2^-16` times the map's growth;
//! the bound on V's trace is enlarged by that.

use super::noise_of;
use super::plan::{InferencePlan, Plan, SEEN};
use super::prior::{GUESS, Prior};
use super::scores::{Found, Passes, RecomposeBy};
use super::whitening::growth;
use crate::central::purse::Purse;
use crate::error::Result;
use crate::mechanisms::Candidates;
use crate::passes::products;
use crate::passes::row_map::RowMap;
use crate::passes::scores::{RowModel, ScoreBounds, ScorePass, Scored};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

pub(super) const LEVELS: &str = "tail levels for inference";
pub(super) const PRODUCTS: &str = "products of whitened columns";
pub(super) const CURVATURE: &str = "products weighted by slopes";
pub(super) const SLOPE: &str = "slope of the far score";
pub(super) const SCORES: &str = "far scores";
pub(super) const SECOND: &str = "second moment of the far score";
pub(super) const LEVEL_COUNT: u64 = 5;

/// How far noise may lift an eigenvalue of products that are still taken for noise, in units of `sqrt(D)` deviations.
const LIFT: f64 = 0.7;
/// An eigenvalue of the slope below this many deviations of the largest eigenvalue of its noise is not clear of it.
const CLEAR: f64 = 0.5;
/// Privacy noise up to this multiple of the sampling variance is accepted for a farther reach.
const REACH: f64 = 0.8;
/// For what weights and caps do to the target.
const ALLOWANCE: f64 = 1.15;
/// The prior's width, in units per standard coefficient, where the slope is clear.
const WIDE: f64 = 3.0;
/// The share of a variance that may be the prior's.
const FREE: f64 = 1.0 / 3.0;
/// The longest last move of a standard coefficient for which a linear step is trusted.
const LINEAR: f64 = 0.5;

/// What inference found, for the columns as stored, in units of the fitted response.
pub(super) struct Inferred {
    /// The unshrunk coefficients.
    pub estimate: Vec<f64>,
    /// Their covariance: sampling, privacy noise and the prior where nothing else is known.
    pub covariance: DMatrix<f64>,
    pub determined: Vec<bool>,
    /// The shrunk coefficients, with what inference learned.
    pub prediction: Vec<f64>,
}

/// A symmetric matrix with noise, shrunk towards a guess by the part of their distance that is noise.
struct Shrunk {
    matrix: DMatrix<f64>,
    /// The deviation of the noise that is left.
    noise: f64,
}

fn shrunk(noisy: DMatrix<f64>, guess: DMatrix<f64>, noise: f64) -> Shrunk {
    let d = noisy.nrows() as f64;
    let apart = noisy - &guess;
    let expected = noise * noise * d * (d + 1.0) / 2.0;
    let keep = (1.0 - expected / apart.norm_squared().max(f64::MIN_POSITIVE)).max(0.0);
    Shrunk { matrix: guess + apart * keep, noise: noise * keep }
}

/// The rows further whitened by a noisy matrix of their products: the map, and what it makes of the matrix.
struct Stage {
    map: RowMap,
    norms: Vec<f64>,
    spread: DMatrix<f64>,
}

impl Stage {
    fn new(products: DMatrix<f64>, noise: f64, before: &RowMap, rows: &ScorePass<'_>) -> Self {
        let d = products.nrows();
        let mut eigen = products.symmetric_eigen();
        eigen.eigenvalues.iter_mut().for_each(|a| *a = a.max(0.0));
        let mut lift = LIFT * noise * (d as f64).sqrt() + 1e-6;
        loop {
            let matrix = eigen.recompose_by(|a| 1.0 / (a + lift).sqrt());
            let inverse = eigen.recompose_by(|a| (a + lift).sqrt());
            if let Some(map) = before.whitened(matrix, &inverse) {
                let norms = map.norms(rows.design);
                return Self { map, norms, spread: eigen.recompose_by(|a| a / (a + lift)) };
            }
            // Too far from orthonormal for the bound on rounding: only a matrix of extreme condition is.
            lift *= 16.0;
        }
    }

    fn rows<'a>(&'a self, rows: &ScorePass<'a>) -> ScorePass<'a> {
        ScorePass { map: &self.map, norms: &self.norms, ..*rows }
    }
}

/// What stays the same from step to step.
struct Steps<'a, 'b> {
    passes: &'a Passes<'b>,
    plan: &'a Plan,
    shares: &'a InferencePlan,
    n: f64,
    d: usize,
    /// How many units may lie beyond a level to be seen.
    seen: f64,
}

impl Steps<'_, '_> {
    fn level(&self, values: &[f64], beyond: f64, size: f64, octaves: [i32; 2], purse: &mut Purse<'_>) -> Result<f64> {
        let [low, high] = octaves.map(|power| size * 2f64.powi(power));
        let grid = Candidates::positive_geometric(low, high, 4)?;
        purse.quantile(LEVELS, values, grid, 1.0 - beyond / self.n)
    }

    /// Few enough units that clipping them hardly matters for a matrix.
    fn many(&self) -> f64 {
        let root = (self.d as f64).sqrt();
        let share = 0.1 * (25.0 * root / self.plan.ratio).min(1.0);
        (30.0 * root / self.plan.mu).max(share * self.n).max(self.seen).min(0.3 * self.n)
    }

    /// A matrix of products, weighted by a slope per row, each unit's part bounded by a level that few exceed.
    fn slopes(
        &self,
        what: &'static str,
        share: f64,
        rows: &ScorePass<'_>,
        slope: impl Fn(usize) -> f64 + Sync,
        size: f64,
        purse: &mut Purse<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let data = rows.units.data();
        let traces = rows.units.sums(|row| slope(row) * rows.norms[row].powi(2));
        let bound = self.level(&traces, self.many(), size, [-3, 6], purse)?;
        let allowed = bound * (1.0 - 1.0 / 16_384.0);
        let weight = |row: usize| {
            let factor = (allowed / traces[data.unit_of(row)]).min(1.0);
            data.weight(row) * slope(row) * factor
        };
        self.matrix(what, share, rows, weight, bound, purse)
    }

    fn matrix(
        &self,
        what: &'static str,
        share: f64,
        rows: &ScorePass<'_>,
        weight: impl Fn(usize) -> f64 + Sync,
        trace: f64,
        purse: &mut Purse<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let sensitivity = products::sensitivity(rows.map, trace, self.plan.shape.units, rows.count);
        let mut packed = products::read(rows.design, rows.map, weight, rows.count);
        let noise = noise_of(self.plan, purse, what, share) * sensitivity;
        purse.vector(what, &mut packed, sensitivity)?;
        Ok((products::unpacked(packed, self.d), noise))
    }
}

impl Passes<'_> {
    pub(super) fn infer(
        &self,
        found: &Found,
        shares: &InferencePlan,
        purse: &mut Purse<'_>,
        read: &mut dyn FnMut(),
    ) -> Result<Inferred> {
        let Self { model, plan, response, rows, .. } = self;
        let (n, d) = (plan.shape.units as f64, rows.map.columns());
        let root = (d as f64).sqrt();
        let seen = SEEN / plan.mu_of(shares.level);
        let steps = Steps { passes: self, plan, shares, n, d, seen };
        let data = rows.units.data();
        let tuning = model.likelihood.tuning();

        // Step 1
        let sizes = rows.units.largest(|row| rows.norms[row]);
        let reach = steps.level(&sizes, steps.many(), root, [-2, 4], purse)?;
        let weight = |row: usize| {
            let factor = (reach * (1.0 - 1e-9) / rows.norms[row]).min(1.0 - 1e-9);
            rows.units.share(row) * factor * factor
        };
        let (matrix, noise) = steps.matrix(PRODUCTS, shares.products, rows, weight, reach * reach, purse)?;
        let stage = Stage::new(matrix, noise, rows.map, rows);
        let wider = stage.rows(rows);
        (0..2).for_each(|_| read());

        let start = self.stored(&found.coefficients);
        let scored = wider.score(*response, &start);
        read();
        let guess = response.slopes[0];
        let size = guess * stage.spread.trace().max(1.0);
        let (matrix, noise) =
            steps.slopes(CURVATURE, shares.curvature, &wider, |row| scored.slope(row), size, purse)?;
        let mean_slope = positive(matrix.trace() / stage.spread.trace(), 0.1 * guess);
        let Shrunk { matrix, noise } = shrunk(matrix, &stage.spread * mean_slope, noise);
        let last = Stage::new(matrix / mean_slope, noise / mean_slope, &stage.map, rows);
        let far = last.rows(rows);
        let scored = scored.with_norms(&stage.norms, &last.norms);
        (0..2).for_each(|_| read());

        // Step 2
        let dimension = last.spread.trace().max(1.0);
        let bound = steps.far_bound(&far, &scored, dimension, mean_slope, purse)?;
        let Bound { far: bound, seen: seen_bound } = bound;

        // Step 3
        let factors = far.factors(&scored, bound);
        let slope = |row: usize| {
            let factor = factors[data.unit_of(row)];
            let kept = if response.own_size() {
                f64::from(u8::from(ScorePass::leaves(factor)))
            } else {
                factor
            };
            kept * scored.slope(row)
        };
        let (matrix, slope_noise) =
            steps.slopes(SLOPE, shares.slope, &far, slope, mean_slope * dimension, purse)?;
        let typical = positive(matrix.trace() / last.spread.trace(), 0.1 * mean_slope);
        let Shrunk { matrix: slope, noise: slope_noise } = shrunk(matrix, &last.spread * typical, slope_noise);
        read();
        let eigen = slope.clone().symmetric_eigen();
        let least = 0.3 * positive(slope.trace() / d as f64, 0.1 * mean_slope);
        let safe = eigen.recompose_by(|e| 0.8 / e.max(least));
        let (whitening, inverse) = far.map.whitening();
        let mut point = DVector::zeros(d);
        let (mut mean_point, mut mean_score) = (point.clone(), point.clone());
        let at = |point: &DVector<f64>| -> Vec<f64> {
            start.iter().zip(far.map.stored(point.as_slice())).map(|(b, moved)| b + moved).collect()
        };
        let sensitivity = far.sensitivity(bound);
        let noise = noise_of(plan, purse, SCORES, shares.scores / shares.passes as f64) * sensitivity;
        let bounds = ScoreBounds { score: bound, trace: bound, slopes: bound };
        for pass in 0..shares.passes {
            let stored = at(&point);
            let scores = if plan.shape.grouped {
                let scored = far.score(*response, &stored);
                read();
                far.read_scored(*response, &scored, bounds)
            } else {
                far.read(*response, &stored, bounds)
            };
            read();
            let mut gradient = scores.gradient;
            purse.vector(SCORES, &mut gradient, sensitivity)?;
            let share = 1.0 / (pass + 1) as f64;
            mean_point += (&point - &mean_point) * share;
            mean_score += (DVector::from_vec(gradient) - &mean_score) * share;
            let step = &safe * &mean_score;
            let longest = whitening.tr_mul(&step).amax();
            point = &mean_point + step * (LINEAR / longest.max(1e-9)).min(1.0);
        }
        let score_noise = noise / (shares.passes as f64).sqrt();
        let stored = at(&mean_point);
        let scored = far.score(*response, &stored);
        let (second, noise) = steps.second_moment(&far, &scored, bound.min(1.5 * seen_bound), bound, purse)?;
        (0..2).for_each(|_| read());
        let ratio = positive(second.trace(), 0.2 * slope.trace()) / positive(slope.trace(), 1e-12);
        let second = shrunk(second, &slope * ratio, noise).matrix.symmetric_eigen().recompose_by(|e| e.max(0.0));

        // Step 4
        let identity = DMatrix::identity(d, d);
        let clear_of = CLEAR * slope_noise * (2.0 * d as f64).sqrt();
        let clear = eigen.recompose_by(|e| if e > clear_of { e } else { 0.0 });
        let mut variances = DVector::from_element(d, 1.0);
        if model.intercept {
            variances[0] += response.base_variance / (GUESS * GUESS);
        }
        let precision = &whitening * DMatrix::from_diagonal(&variances.map(|v| 1.0 / v)) * whitening.transpose();
        let first = (&second / n + &identity * score_noise.powi(2)) * ALLOWANCE;
        let floor = &identity * score_noise.powi(2) + &slope.clone().symmetric_eigen().recompose_by(|e| e.max(0.0)) / n;
        let known = &precision / (GUESS * GUESS) + &clear * inverted(&floor) * &clear;
        let known = inverted(&known);
        let mut total = first.clone();
        for _ in 0..3 {
            let (moved, covariance) = posterior(&mean_score, &clear, &total, &inverted(&known));
            let spread = &moved * moved.transpose() + covariance;
            total = &first + (&identity * spread.trace() + spread) * (0.5 * slope_noise * slope_noise);
        }
        let hidden = eigen.recompose_by_flag(|e| e <= clear_of);
        let prior = &precision / (WIDE * WIDE) + &hidden * &precision * &hidden;
        let (moved, covariance) = posterior(&mean_score, &clear, &total, &prior);

        // The shrunk coefficients, with what was learned here.
        let middle = self.rows.map.whitening().0.tr_mul(&found.coefficients.column(0));
        let middle = inverse.tr_mul(&middle) + &mean_point;
        let weighted = &clear * inverted(&total);
        let outer = &inverse * &weighted * &clear * inverse.transpose();
        let linear = &inverse * (&weighted * (&mean_score + &clear * middle));
        let intercept = model.intercept.then_some(response.base_variance + tuning.prior);
        let standard = Prior::new(d, intercept).mean(&outer, &linear);
        let prediction = far.map.stored((inverse.tr_mul(&standard)).as_slice());

        // Step 5
        let back = far.map.matrix().transpose();
        let lengths = whitening.tr_mul(&moved);
        let estimate = at(&(&mean_point + &moved));
        let of_prior = &back * &covariance * &prior * &covariance * back.transpose();
        let covariance = &back * covariance * back.transpose();
        let determined = (0..d)
            .map(|j| of_prior[(j, j)] < FREE * covariance[(j, j)] && lengths[j].abs() < LINEAR)
            .collect();
        Ok(Inferred { estimate, covariance, determined, prediction })
    }
}

/// Bounds on scores: the far one, and the level that could be seen.
struct Bound {
    far: f64,
    seen: f64,
}

impl Steps<'_, '_> {
    fn far_bound(
        &self,
        rows: &ScorePass<'_>,
        scored: &Scored,
        dimension: f64,
        slope: f64,
        purse: &mut Purse<'_>,
    ) -> Result<Bound> {
        let Self { plan, shares, n, d, .. } = *self;
        let sizes = rows.sizes(scored);
        let size = (dimension * slope).sqrt();
        let octaves = if plan.shape.grouped { [-6, 12] } else { [-6, 8] };
        let beyond = self.seen.min(0.1 * n);
        let seen = self.level(&sizes, beyond, size, octaves, purse)?;
        let common = self.level(&sizes, 0.25 * n, size, octaves, purse)?;
        let span = (0.25 * n / beyond).max(1.0).ln();
        let tail = if span > 0.7 { ((seen / common).max(1.0).ln() / span).clamp(0.1, 0.5) } else { 0.4 };
        let wanted = 1.2 * (d as f64).sqrt() / plan.mu;
        let few = seen * (beyond / wanted).max(1.0).powf(tail);
        let quiet = 0.5 * (REACH * slope * n).sqrt() * plan.mu_of(shares.scores);
        let far = if self.passes.model.likelihood.is_real() || plan.shape.grouped {
            few.max(quiet).min(2.0 * few)
        } else {
            let near = self.passes.model.likelihood.tuning().bound * growth(plan.ratio) * dimension.sqrt();
            near.max(quiet.min(few))
        };
        Ok(Bound { far, seen })
    }

    /// The mean of `s s'` over units, s a unit's weighted score, shortened to `bound`.
    fn second_moment(
        &self,
        rows: &ScorePass<'_>,
        scored: &Scored,
        bound: f64,
        far: f64,
        purse: &mut Purse<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let data = rows.units.data();
        let factors = rows.factors(scored, far);
        let value = |row: usize| data.weight(row) * factors[data.unit_of(row)] * scored.residual(row);
        if !self.passes.plan.shape.grouped {
            let weight = |row: usize| {
                let r = value(row).abs();
                let short = (bound * (1.0 - 1e-9) / (r * rows.norms[row])).min(1.0);
                (r * short).powi(2)
            };
            return self.matrix(SECOND, self.shares.second, rows, weight, bound * bound, purse);
        }
        // A unit's rows score together: the norms of their scores sum to at most the far bound.
        let sizes = rows.units.sums(|row| value(row).abs() * rows.norms[row]);
        let short = |row: usize| (bound * (1.0 - 1.0 / 16_384.0) / sizes[data.unit_of(row)]).min(1.0);
        let sums = data.score_sums(|row| value(row) * short(row), |_, x| x.clamp(-1.0, 1.0), f64::INFINITY)?;
        let trace = (bound * (1.0 + rows.map.growth() * 2f64.powi(-16))).powi(2);
        let unit_rows = ScorePass { design: &sums, ..*rows };
        self.matrix(SECOND, self.shares.second, &unit_rows, |_| 1.0, trace, purse)
    }
}

fn positive(x: f64, otherwise: f64) -> f64 {
    if x > 0.0 { x } else { otherwise.max(f64::MIN_POSITIVE) }
}

/// The inverse of a positive definite matrix, lifted should rounding have taken that from it.
fn inverted(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let eigen = (0.5 * (matrix + matrix.transpose())).symmetric_eigen();
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
