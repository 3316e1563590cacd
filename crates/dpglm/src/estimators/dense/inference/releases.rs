//! The releases of inference: levels, products weighted row by row, and the second moment of scores.

use super::super::noise_of;
use super::super::plan::{InferencePlan, Plan};
use super::super::scores::{Passes, RecomposeBy, eigen_of};
use super::super::whitening::growth;
use super::{CURVATURE, LEVELS, SECOND, SLOPE};
use crate::central::purse::Purse;
use crate::error::Result;
use crate::mechanisms::Candidates;
use crate::passes::products;
use crate::passes::row_map::RowMap;
use crate::passes::scores::{RowModel, ScorePass, Scored};
use nalgebra::DMatrix;

/// How far noise may lift an eigenvalue of products that are still taken for noise, in units of `sqrt(D)` deviations.
const LIFT: f64 = 0.7;
/// The slowest fall of a tail that is believed: sizes grow by this power of one over the share beyond them.
const STEEP: f64 = 0.8;
/// Privacy noise up to this multiple of the sampling variance is accepted for a farther reach.
const REACH: f64 = 0.8;
/// From this many times the root of the coefficients per coefficient on that holds; below, in proportion more, up to
/// [`FARTHEST`] times as much: with little budget the bound would shorten so many rows that the root of their scores is another.
const AMPLE: f64 = 60.0;
const FARTHEST: f64 = 4.0;

/// A symmetric matrix with noise, shrunk towards a guess by the part of their distance that is noise.
pub(super) struct Shrunk {
    pub matrix: DMatrix<f64>,
    /// The deviation of the noise that is left.
    pub noise: f64,
    /// The deviation of all that is not known: of that noise and of the guess.
    pub unknown: f64,
}

pub(super) fn shrunk(noisy: DMatrix<f64>, guess: DMatrix<f64>, noise: f64, outputs: usize) -> Shrunk {
    let d = (noisy.nrows() / outputs) as f64;
    let m = outputs as f64;
    let apart = noisy - &guess;
    let expected = noise * noise * d * (d + 1.0) / 2.0 * m * (m + 1.0) / 2.0;
    let keep = (1.0 - expected / apart.norm_squared().max(f64::MIN_POSITIVE)).max(0.0);
    Shrunk { matrix: guess + apart * keep, noise: noise * keep, unknown: noise * keep.sqrt() }
}

/// After so many lifts a matrix that can be used at all has been.
const MOST_LIFTS: usize = 64;

/// The rows further whitened by a noisy matrix of their products: the map, and what it makes of the matrix.
pub(super) struct Stage {
    pub map: RowMap,
    pub norms: Vec<f64>,
    pub spread: DMatrix<f64>,
}

impl Stage {
    pub(super) fn new(products: DMatrix<f64>, noise: f64, before: &RowMap, rows: &ScorePass<'_>) -> Self {
        let d = products.nrows();
        let mut eigen = eigen_of(products);
        eigen.eigenvalues.iter_mut().for_each(|a| *a = a.max(0.0));
        // Stages multiply: so little that the rounding of rows is never stretched to what looks like a direction.
        let mut lift = LIFT * noise * (d as f64).sqrt() + 1e-2;
        for _ in 0..MOST_LIFTS {
            let matrix = eigen.recompose_by(|a| 1.0 / (a + lift).sqrt());
            let inverse = eigen.recompose_by(|a| (a + lift).sqrt());
            if let Some(map) = before.whitened(matrix, &inverse) {
                let norms = map.norms(rows.design);
                return Self { map, norms, spread: eigen.recompose_by(|a| a / (a + lift)) };
            }
            // Too far from orthonormal for the bound on rounding: only a matrix of extreme condition is.
            lift *= 16.0;
        }
        // Nothing can be learned from such a matrix: the rows stay as they are.
        Self { map: before.clone(), norms: before.norms(rows.design), spread: DMatrix::identity(d, d) }
    }

    pub(super) fn rows<'a>(&'a self, rows: &ScorePass<'a>) -> ScorePass<'a> {
        ScorePass { map: &self.map, norms: &self.norms, ..*rows }
    }
}

/// What stays the same from step to step.
pub(super) struct Steps<'a, 'b> {
    pub passes: &'a Passes<'b>,
    pub plan: &'a Plan,
    pub shares: &'a InferencePlan,
    /// The units, and how many of them count.
    pub n: f64,
    pub count: f64,
    pub d: usize,
    /// The directions among the predictors.
    pub outputs: usize,
    /// How many units may lie beyond a level to be seen.
    pub seen: f64,
}

impl Steps<'_, '_> {
    pub(super) fn level(
        &self,
        values: &[f64],
        beyond: f64,
        size: f64,
        octaves: [i32; 2],
        purse: &mut Purse<'_>,
    ) -> Result<f64> {
        let [low, high] = octaves.map(|power| size * 2f64.powi(power));
        let grid = Candidates::positive_geometric(low, high, 4)?;
        let level = purse.quantile(LEVELS, values, grid, 1.0 - beyond / self.n)?;
        // Without noise there is no need to clip.
        Ok(if self.plan.private { level } else { values.iter().fold(low, |m, v| m.max(1.001 * v)) })
    }

    /// The deviation of noise per unit of sensitivity.
    pub(super) fn noise(&self, what: &str, share: f64, purse: &Purse<'_>) -> f64 {
        if self.plan.private { noise_of(self.plan, purse, what, share) } else { 0.0 }
    }

    /// Few enough units that clipping them hardly matters for a matrix.
    pub(super) fn many(&self) -> f64 {
        let root = (self.d as f64).sqrt();
        let share = 0.1 * (25.0 * root / self.plan.ratio).min(1.0);
        (30.0 * root / self.plan.mu).max(share * self.count).max(self.seen).min(0.3 * self.count)
    }

    /// A matrix of products, weighted by a slope per row, each unit's part bounded by a level that few exceed.
    pub(super) fn slopes(
        &self,
        rows: &ScorePass<'_>,
        slope: impl Fn(usize) -> f64 + Sync,
        size: f64,
        purse: &mut Purse<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let bounded = self.bounded(rows, &slope, size, purse)?;
        let weights = |row: usize, out: &mut [f64]| out[0] = bounded.factor(rows, row) * slope(row);
        let packed = products::read(rows.design, rows.map, 1, weights, bounded.bound, rows.count);
        self.noisy(CURVATURE, rows, 1, packed, bounded.bound, purse)
    }

    /// The bound on the traces of units, sums of a slope per row times its squared norm.
    fn bounded(
        &self,
        rows: &ScorePass<'_>,
        slope: impl Fn(usize) -> f64,
        size: f64,
        purse: &mut Purse<'_>,
    ) -> Result<Bounded> {
        let traces = rows.units.sums(|row| slope(row) * rows.norms[row].powi(2));
        let bound = self.level(&traces, self.many(), size, [-3, 6], purse)?;
        Ok(Bounded { traces, bound })
    }

    /// A packed matrix with noise, each unit's part in it being of this trace at most, and the deviation of the noise.
    fn noisy(
        &self,
        what: &'static str,
        rows: &ScorePass<'_>,
        outputs: usize,
        mut packed: Vec<f64>,
        trace: f64,
        purse: &mut Purse<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let sensitivity = products::sensitivity(rows.map, outputs, trace, self.plan.shape, rows.count);
        let share = match what {
            CURVATURE => self.shares.stages.first().copied().unwrap_or(1.0),
            SLOPE => self.shares.slope,
            _ => self.shares.second,
        };
        let noise = self.noise(what, share, purse) * sensitivity;
        purse.vector(what, &mut packed, sensitivity)?;
        Ok((products::unpacked(packed, self.d, outputs), noise))
    }
}

/// The traces of units and the bound that is kept.
struct Bounded {
    traces: Vec<f64>,
    bound: f64,
}

impl Bounded {
    /// What a row's slope is multiplied by, its weight included.
    fn factor(&self, rows: &ScorePass<'_>, row: usize) -> f64 {
        let data = rows.units.data();
        let allowed = self.bound * (1.0 - 1.0 / 16_384.0);
        data.weight(row) * (allowed / self.traces[data.unit_of(row)]).min(1.0)
    }
}

/// Bounds on scores: the far one, and the level that could be seen.
pub(super) struct Bound {
    pub far: f64,
    pub seen: f64,
}

impl Steps<'_, '_> {
    pub(super) fn far_bound(
        &self,
        rows: &ScorePass<'_>,
        scored: &Scored,
        dimension: f64,
        slope: f64,
        purse: &mut Purse<'_>,
    ) -> Result<Bound> {
        let Self { plan, shares, count, d, outputs, .. } = *self;
        let sizes = rows.sizes(scored);
        let size = (dimension * slope).sqrt();
        let octaves = if plan.shape.grouped { [-6, 10] } else { [-6, 6] };
        let beyond = self.seen.min(0.1 * count);
        let common = self.level(&sizes, 0.25 * count, size, octaves, purse)?;
        let span = (0.25 * count / beyond).max(1.0).ln();
        // A level so few units lie beyond is missed now and then, and a far one found instead: tails fall faster than that.
        let seen = self.level(&sizes, beyond, size, octaves, purse)?.min(common * (STEEP * span).exp());
        let tail = if span > 0.7 { ((seen / common).max(1.0).ln() / span).clamp(0.1, 0.5) } else { 0.4 };
        let root = ((d * outputs) as f64).sqrt();
        let wanted = 1.2 * root / plan.mu;
        let few = seen * (beyond / wanted).max(1.0).powf(tail);
        let noisier = REACH * (AMPLE * root * outputs as f64 / plan.ratio).clamp(1.0, FARTHEST);
        let quiet = 0.5 * (noisier * slope / outputs as f64 * count).sqrt() * plan.mu_of(shares.all_scores());
        let far = if !plan.private {
            few
        } else if self.passes.model.likelihood.is_real() || plan.shape.grouped {
            few.max(quiet).min(2.0 * few)
        } else {
            let near = self.passes.model.likelihood.tuning().bound * growth(plan.ratio) * dimension.sqrt();
            near.max(quiet.min(few))
        };
        Ok(Bound { far, seen })
    }

    /// The slope of the far scores, and the mean of `s s'` over units, s a unit's score shortened to `reach.seen`: in one read, where each
    /// row is a unit.
    pub(super) fn slope_and_second(
        &self,
        rows: &ScorePass<'_>,
        scored: &Scored,
        reach: Bound,
        size: f64,
        purse: &mut Purse<'_>,
    ) -> Result<[(DMatrix<f64>, f64); 2]> {
        let outputs = self.outputs;
        let (data, response) = (rows.units.data(), self.passes.response);
        let triangle = outputs * (outputs + 1) / 2;
        let factors = rows.factors(scored, reach.far);
        let kept = |row: usize| {
            let factor = factors[data.unit_of(row)];
            if response.own_size() { f64::from(u8::from(ScorePass::leaves(factor))) } else { factor }
        };
        let trace = |row: usize| kept(row) * response.curvature(row, scored, &mut vec![0.0; triangle]);
        let bounded = self.bounded(rows, trace, size, purse)?;
        let slope = |row: usize, out: &mut [f64]| {
            response.curvature(row, scored, out);
            let factor = kept(row) * bounded.factor(rows, row);
            out.iter_mut().for_each(|w| *w *= factor);
        };
        let factor = |row: usize| data.weight(row) * factors[data.unit_of(row)];
        let (bound, count) = (reach.far.min(1.5 * reach.seen), rows.count);
        if !self.plan.shape.grouped {
            let weights = |row: usize, out: &mut [f64]| {
                let (slopes, seconds) = out.split_at_mut(triangle);
                slope(row, slopes);
                let mut residuals = vec![0.0; outputs];
                response.turned(row, scored, &mut residuals);
                let size = factor(row) * residuals.iter().map(|r| r * r).sum::<f64>().sqrt();
                let short = factor(row) * (bound * (1.0 - 1e-9) / (size * rows.norms[row])).min(1.0);
                for (out, (a, b)) in seconds.iter_mut().zip(products::pairs(outputs)) {
                    *out = (residuals[a] * short) * (residuals[b] * short);
                }
            };
            let traces = [bounded.bound, bound * bound];
            let [slope, second] =
                products::read_several(rows.design, rows.map, outputs, weights, traces, count);
            return Ok([
                self.noisy(SLOPE, rows, outputs, slope, bounded.bound, purse)?,
                self.noisy(SECOND, rows, outputs, second, bound * bound, purse)?,
            ]);
        }
        // A unit's rows score together: the norms of their scores sum to at most the far bound.
        let packed = products::read(rows.design, rows.map, outputs, slope, bounded.bound, count);
        let slope = self.noisy(SLOPE, rows, outputs, packed, bounded.bound, purse)?;
        let value = |row: usize| factor(row) * scored.residuals(row)[0];
        let sizes = rows.units.sums(|row| value(row).abs() * rows.norms[row]);
        let short = |row: usize| (bound * (1.0 - 1.0 / 16_384.0) / sizes[data.unit_of(row)]).min(1.0);
        let sums =
            data.score_sums(|row| value(row) * short(row), |_, x| x.clamp(-1.0, 1.0), f64::INFINITY)?;
        let trace = (bound * (1.0 + rows.map.growth() * 2f64.powi(-16))).powi(2);
        let packed = products::read(&sums, rows.map, 1, |_, out| out[0] = 1.0, trace, count);
        Ok([slope, self.noisy(SECOND, rows, 1, packed, trace, purse)?])
    }
}
