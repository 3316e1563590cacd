//! The releases of inference: levels, products weighted row by row, and the second moment of scores.

use super::super::noise_of;
use super::super::plan::{InferencePlan, Plan};
use super::super::scores::{Passes, RecomposeBy, eigen_of};
use super::super::whitening::growth;
use super::{CURVATURE, LEVELS, SECOND, SLOPE};
use crate::error::Result;
use crate::estimators::dense::response::Tuning;
use crate::families::Domain;
use crate::mechanisms::Candidates;
use crate::passes::products::{self, Weights};
use crate::passes::row_map::RowMap;
use crate::passes::{Absent, At, Number, OfUnit};
use crate::release::{Handle, ReleaseSession, Vector};
use nalgebra::DMatrix;

/// How far noise may lift an eigenvalue of products that are still taken for noise, in units of `sqrt(D)` deviations.
const LIFT: f64 = 0.7;
/// The slowest fall of a tail that is believed: sizes grow by this power of one over the share beyond them.
const STEEP: f64 = 0.8;
const STEEPER: f64 = 2.0;
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
    pub spread: DMatrix<f64>,
}

impl Stage {
    pub(super) fn new(products: DMatrix<f64>, noise: f64, before: &RowMap) -> Self {
        let d = products.nrows();
        let mut eigen = eigen_of(products);
        eigen.eigenvalues.iter_mut().for_each(|a| *a = a.max(0.0));
        // Stages multiply: so little that the rounding of rows is never stretched to what looks like a direction.
        let mut lift = LIFT * noise * (d as f64).sqrt() + 1e-2;
        for _ in 0..MOST_LIFTS {
            let matrix = eigen.recompose_by(|a| 1.0 / (a + lift).sqrt());
            let inverse = eigen.recompose_by(|a| (a + lift).sqrt());
            if let Some(map) = before.whitened(matrix, &inverse) {
                return Self { map, spread: eigen.recompose_by(|a| a / (a + lift)) };
            }
            // Too far from orthonormal for the bound on rounding: only a matrix of extreme condition is.
            lift *= 16.0;
        }
        // Nothing can be learned from such a matrix: the rows stay as they are.
        Self { map: before.clone(), spread: DMatrix::identity(d, d) }
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
        number: Number,
        beyond: f64,
        size: f64,
        octaves: [i32; 2],
        session: &mut ReleaseSession<'_>,
    ) -> Result<f64> {
        let [low, high] = octaves.map(|power| size * 2f64.powi(power));
        let grid = Candidates::positive_geometric(low, high, 4)?;
        let (tally, largest) = self.passes.rows.tally(number, OfUnit::Sum, Absent::Zero, grid)?;
        let level = session.quantile_of(LEVELS, &tally, 1.0 - beyond / self.n)?;
        // Without noise there is no need to clip.
        Ok(if self.plan.private { level } else { low.max(1.001 * largest) })
    }

    /// The deviation of noise per unit of sensitivity.
    pub(super) fn noise(&self, what: Handle<Vector>, share: f64, session: &ReleaseSession<'_>) -> f64 {
        if self.plan.private { noise_of(self.plan, session, what, share) } else { 0.0 }
    }

    /// Few enough units that clipping them hardly matters for a matrix.
    pub(super) fn many(&self) -> f64 {
        let root = (self.d as f64).sqrt();
        let share = 0.1 * (25.0 * root / self.plan.ratio).min(1.0);
        (30.0 * root / self.plan.mu).max(share * self.count).max(self.seen).min(0.3 * self.count)
    }

    /// A matrix of products, weighted by the slope of each row, each unit's part bounded by a level that few exceed.
    pub(super) fn slopes(
        &self,
        map: &RowMap,
        at: &At,
        size: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let traces = Number::SlopeTrace { map: map.clone(), at: at.clone() };
        let bound = self.bound(traces, size, session)?;
        let weights = Weights::Curvature { at: at.clone(), bound };
        let packed = products::read(self.passes.rows, map, 1, weights, bound, self.count)?;
        self.noisy(CURVATURE, map, 1, packed, bound, session)
    }

    /// The bound on the traces of units.
    fn bound(&self, traces: Number, size: f64, session: &mut ReleaseSession<'_>) -> Result<f64> {
        self.level(traces, self.many(), size, [-3, 6], session)
    }

    /// A packed matrix with noise, each unit's part in it being of this trace at most, and the deviation of the noise.
    fn noisy(
        &self,
        what: Handle<Vector>,
        map: &RowMap,
        outputs: usize,
        mut packed: Vec<f64>,
        trace: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(DMatrix<f64>, f64)> {
        let sensitivity = products::sensitivity(map, outputs, trace, self.plan.shape, self.count);
        let share = if what == CURVATURE {
            self.shares.stages.first().copied().unwrap_or(1.0)
        } else if what == SLOPE {
            self.shares.slope
        } else {
            self.shares.second
        };
        let noise = self.noise(what, share, session) * sensitivity;
        session.vector(what, &mut packed, sensitivity)?;
        Ok((products::unpacked(packed, self.d, outputs), noise))
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
        map: &RowMap,
        at: &At,
        dimension: f64,
        slope: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<Bound> {
        let Self { plan, shares, count, d, outputs, .. } = *self;
        let sizes = || Number::ScoreSize { map: map.clone(), at: at.clone() };
        let size = (dimension * slope).sqrt();
        let domain = self.passes.model.likelihood.domain();
        let largest = Tuning::of(domain).octaves - 2;
        // Where most amounts are zero a typical score says nothing of the few that are not.
        let steep = if domain == Domain::Nonnegative { STEEPER } else { STEEP };
        let octaves = [-6, if plan.shape.grouped { largest + 4 } else { largest }];
        let beyond = self.seen.min(0.1 * count);
        let common = self.level(sizes(), 0.25 * count, size, octaves, session)?;
        let span = (0.25 * count / beyond).max(1.0).ln();
        // A level so few units lie beyond is missed now and then, and a far one found instead: tails fall faster than that.
        let seen = self.level(sizes(), beyond, size, octaves, session)?.min(common * (steep * span).exp());
        let tail = if span > 0.7 { ((seen / common).max(1.0).ln() / span).clamp(0.1, 0.5) } else { 0.4 };
        let root = ((d * outputs) as f64).sqrt();
        let wanted = 1.2 * root / plan.mu;
        let few = seen * (beyond / wanted).max(1.0).powf(tail);
        let noisier = REACH * (AMPLE * root * outputs as f64 / plan.ratio).clamp(1.0, FARTHEST);
        let quiet = 0.5 * (noisier * slope / outputs as f64 * count).sqrt() * plan.mu_of(shares.all_scores());
        let far = if !plan.private {
            few
        } else if self.passes.model.likelihood.is_real() || plan.shape.grouped || plan.shape.weighted {
            few.max(quiet).min(2.0 * few)
        } else {
            let tuning = Tuning::of(self.passes.model.likelihood.domain());
            let scale = self.passes.model.likelihood.score_scale();
            let near = tuning.bound * scale * growth(plan.ratio) * dimension.sqrt();
            near.max(quiet.min(few))
        };
        Ok(Bound { far, seen })
    }

    /// The slope of the far scores, and the mean of `s s'` over units, s a unit's score shortened to `reach.seen`: in one read, where each
    /// row is a unit.
    pub(super) fn slope_and_second(
        &self,
        map: &RowMap,
        at: &At,
        reach: Bound,
        size: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<[(DMatrix<f64>, f64); 2]> {
        let (outputs, count, rows, far) = (self.outputs, self.count, self.passes.rows, reach.far);
        let bound = self.bound(Number::FarTrace { map: map.clone(), at: at.clone(), far }, size, session)?;
        let (at, second) = (at.clone(), far.min(1.5 * reach.seen));
        if !self.plan.shape.grouped {
            let traces = [bound, second * second];
            let weights = Weights::FarAndSecond { at, far, bound, second };
            let [slope, products] = products::read_several(rows, map, outputs, weights, traces, count)?;
            return Ok([
                self.noisy(SLOPE, map, outputs, slope, bound, session)?,
                self.noisy(SECOND, map, outputs, products, second * second, session)?,
            ]);
        }
        let weights = Weights::Far { at: at.clone(), far, bound };
        let packed = products::read(rows, map, outputs, weights, bound, count)?;
        let slope = self.noisy(SLOPE, map, outputs, packed, bound, session)?;
        let trace = (second * (1.0 + map.growth() * 2f64.powi(-16))).powi(2);
        let weights = Weights::SecondOfUnits { at, far, second };
        let packed = products::read(rows, map, 1, weights, trace, count)?;
        Ok([slope, self.noisy(SECOND, map, 1, packed, trace, session)?])
    }
}
