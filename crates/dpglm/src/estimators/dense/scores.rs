//! Steps 4 and 5: score passes in whitened coordinates.
//!
//! Near the solution a mean score is linear, `G(b) = H (b* - b) + noise`. So every pass gives `z = G + H b`, an estimate of
//! `H b*`, and their average, weighted by precision, is as good as one release of the whole budget. A pass at coefficients far from
//! those of today is off by what the score bends on the way ([`precision`]), which counts as noise. H is the mean slope, a number
//! found in the same read, times the second moment of whitened rows; where there is enough budget per coefficient the slope
//! matrix itself is released, once or twice, and shrunk towards that guess by its known noise. After each pass the coefficients move to
//! the posterior mean given all passes so far ([`super::prior`]), by a limited step.

use super::plan::{MOST_SCALES, Plan, SCORE_LEVEL, SCORES, SEEN, SLOPES, SlopePlan, TRACE};
use super::prior::Prior;
use super::response::{Response, Tuning};
use super::tilt::beyond_tangent;
use super::whitening::{Whitened, growth};
use super::{Regression, noise_of};
use crate::error::Result;
use crate::mechanisms::Candidates;
use crate::passes::products::{self, Weights};
use crate::passes::row_map::RowMap;
use crate::passes::scores::{self, ScoreBounds};
use crate::passes::{Absent, At, Number, OfUnit, Rows};
use crate::release::ReleaseSession;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// The longest step in whitened coordinates.
const STEP: f64 = 0.8;

/// From this ratio on the slope matrix reaches farther than the mean slope. Slopes of long rows that are cut make the matrix too
/// small in their directions, and steps too long; where noise is small there is no need to cut them.
const SLOPE_RATIO: f64 = 400.0;

/// What the passes found: coefficients in whitened coordinates, a column for each direction.
pub(super) struct Found {
    pub coefficients: DMatrix<f64>,
    /// How precisely the passes and the prior know standard coefficients, of each direction; empty without noise.
    pub precisions: Vec<DMatrix<f64>>,
}

/// What stays the same from pass to pass.
pub(super) struct Passes<'a> {
    pub model: &'a Regression,
    pub plan: &'a Plan,
    pub slopes: &'a SlopePlan,
    pub response: &'a Response,
    pub whitened: &'a Whitened,
    pub rows: &'a dyn Rows,
}

/// The slope of the mean score in the whitened coordinates of one direction.
enum Slope {
    /// A multiple of the rows' second moment.
    Multiple(f64),
    /// Released.
    Matrix(SymmetricEigen<f64, nalgebra::Dyn>),
}

/// What a pass released, and where.
struct Pass {
    gradient: DMatrix<f64>,
    at: DMatrix<f64>,
    /// The deviation of the noise.
    noise: f64,
}

/// The average over passes so far.
struct Average {
    gradient: DMatrix<f64>,
    coefficients: DMatrix<f64>,
    precision: f64,
}

impl Passes<'_> {
    pub(super) fn run(&self, session: &mut ReleaseSession<'_>, read: &mut dyn FnMut()) -> Result<Found> {
        let Self { model, plan, slopes, response, whitened, rows } = *self;
        let (map, count, view) = (&whitened.map, response.count, &response.view);
        let (d, directions) = (map.columns(), response.slopes.len());
        let grouped = plan.shape.grouped;
        let tuning = Tuning::of(model.likelihood.domain());
        let root = whitened.dimension.sqrt();
        let all_slopes: f64 = response.slopes.iter().sum();
        let largest = response.slopes.iter().fold(0.0_f64, |m, s| m.max(*s));
        let scale = model.likelihood.score_scale();
        let mut bound = tuning.bound * scale * growth(plan.ratio) * root;
        let by_level = !slopes.levels.is_empty();
        let mut b = DMatrix::zeros(d, directions);
        let mut known: Vec<Pass> = Vec::new();
        let mut matrix: Option<SymmetricEigen<f64, nalgebra::Dyn>> = None;
        let intercept = model.intercept.then_some(response.base_variance + tuning.prior);
        let mut priors = vec![Prior::new(d, intercept); directions];
        let mut precisions = Vec::new();
        let mut steepest = 0.0_f64;
        for (pass, &share) in slopes.scores.iter().enumerate() {
            let at = response.at(&self.stored(&b));
            let level_due = slopes.levels.contains(&pass);
            // Where units have several rows their scores are known before weights; else only for a level.
            if (grouped || level_due) && pass > 0 {
                read();
            }
            if level_due {
                bound = self.level(at.clone(), root * all_slopes.sqrt(), tuning, session)?;
            }
            // Weights stretch the tail of the slopes: were it cut, steps would overshoot.
            let reach = if plan.shape.weighted { 8.0 } else { 4.0 };
            let trace_bound = match (by_level, grouped) {
                (true, false) => reach * all_slopes * whitened.dimension,
                (true, true) if model.likelihood.is_real() => bound * root * all_slopes.sqrt(),
                _ if directions == 1 => 0.75 * scale * bound * root,
                _ => 1.5 * bound * root,
            };
            let slope_bound = trace_bound * (plan.ratio / SLOPE_RATIO).sqrt().clamp(1.0, 4.0);
            let bounds = ScoreBounds { score: bound, trace: trace_bound, slopes: slope_bound };
            let mut scores = scores::read(rows, map, at.clone(), bounds, count)?;
            read();

            // The mean score.
            let sensitivity = self.sensitivity(map, bound);
            let noise = noise_of(plan, session, SCORES[pass], share) * sensitivity;
            session.vector(SCORES[pass], &mut scores.gradient, sensitivity)?;
            let gradient = DMatrix::from_vec(d, view.outputs(), scores.gradient) * &view.directions;

            // The mean slope, relative to that at the start.
            let typical = if by_level { 1.0 } else { (bound / (root * response.worst)).min(1.0) };
            let found = self.mean_slope(scores.trace, trace_bound, typical * all_slopes, session)?;
            // Weights that go with the response make the slope steeper in some directions than on average: the steepest so far keeps steps
            // from going past the solution and back.
            steepest = if plan.shape.weighted { found.max(steepest) } else { found };
            let mean_slope = steepest;
            if slopes.matrices.contains(&pass) {
                let guess = mean_slope * response.slopes[0];
                matrix = Some(self.slope_matrix(at, bounds, guess, slopes.matrix, session)?);
                read();
            }

            if !plan.private {
                // Without noise the last pass, nearest to the solution, knows best.
                known.clear();
            }
            known.push(Pass { gradient, at: b.clone(), noise });
            let curved = if model.likelihood.is_linear() { 0.0 } else { mean_slope * largest };
            let average = Average::of(&known, &b, curved);
            let mut next = DMatrix::zeros(d, directions);
            precisions.clear();
            for (c, prior) in priors.iter_mut().enumerate() {
                let slope = match &matrix {
                    Some(matrix) => Slope::Matrix(matrix.clone()),
                    // The slope of a rare class grows where its rows are found: steps by that at the start would overshoot.
                    None => Slope::Multiple(mean_slope * (response.slopes[c] * largest).sqrt()),
                };
                let (solved, precision) = self.solve(&slope, &average, c, prior);
                next.set_column(c, &solved);
                precisions.extend(precision);
            }
            // A limited step.
            let mut step = &next - &b;
            let length = (0..directions)
                .map(|c| step.column(c).norm_squared() * response.slopes[c] / largest)
                .sum::<f64>()
                .sqrt();
            if length > STEP {
                step *= STEP / length;
            }
            let before = b.clone();
            b += step;
            self.tilt(&before, &mut b);
            self.keep_in_ball(&mut b);
        }
        Ok(Found { coefficients: b, precisions })
    }

    /// What a replaced unit moves a mean score in these coordinates by.
    pub(super) fn sensitivity(&self, map: &RowMap, bound: f64) -> f64 {
        let frame = (self.plan.shape, self.rows.is_sparse());
        scores::sensitivity(map, bound, self.response.view.outputs(), frame, self.response.count)
    }

    /// The coefficients of stored columns, one vector for each linear predictor.
    pub(super) fn stored(&self, b: &DMatrix<f64>) -> Vec<f64> {
        let by_output = b * self.response.view.directions.transpose();
        self.whitened.map.stored(by_output.as_slice())
    }

    /// A bound on the units' scores that few exceed: about as many as make the bias of the size of the noise.
    fn level(&self, at: At, size: f64, tuning: Tuning, session: &mut ReleaseSession<'_>) -> Result<f64> {
        let Self { plan, slopes, rows, whitened, .. } = *self;
        let (n, count) = (plan.shape.units as f64, self.response.count);
        let columns = whitened.map.columns() as f64;
        let wanted = (tuning.beyond * columns.sqrt() / plan.mu).min(tuning.most * count);
        let seen = wanted.max(SEEN / plan.mu_of(slopes.level)).min(0.3 * count);
        let largest = tuning.octaves + if plan.shape.grouped { 4 } else { 0 };
        let grid = Candidates::positive_geometric(size * 2f64.powi(-6), size * 2f64.powi(largest), 4)?;
        let number = Number::ScoreSize { map: whitened.map.clone(), at };
        let (tally, _) = rows.tally(number, OfUnit::Sum, Absent::Zero, grid)?;
        let level = session.quantile_of(SCORE_LEVEL, &tally, 1.0 - seen / n)?;
        Ok(level * ((count / wanted).ln() / (count / seen).ln()).powf(tuning.tail))
    }

    /// The mean slope of the scores in units of that at the start, from its noisy trace.
    fn mean_slope(&self, trace: f64, bound: f64, null: f64, session: &mut ReleaseSession<'_>) -> Result<f64> {
        let Self { plan, slopes, response, whitened, .. } = self;
        let sensitivity = scores::trace_sensitivity(bound, plan.shape, response.count);
        let share = slopes.trace / slopes.scores.len() as f64;
        let noise = noise_of(plan, session, TRACE, share) * sensitivity / whitened.spread.sum();
        let mut released = vec![trace];
        session.vector(TRACE, &mut released, sensitivity)?;
        let found = released[0] / whitened.spread.sum();
        let keep = if plan.shape.grouped {
            // Nobody knows beforehand how many rows a unit has.
            1.0 - (noise * noise / (found * found)).min(1.0)
        } else {
            let spread = 0.25 * null * null;
            spread / (spread + noise * noise)
        };
        let slope = (null + (found - null) * keep).max(0.3 * null);
        Ok(slope / response.slopes.iter().sum::<f64>())
    }

    /// Step 5: the slope matrix, shrunk towards a multiple of the rows' second moment and kept positive.
    fn slope_matrix(
        &self,
        at: At,
        bounds: ScoreBounds,
        guess: f64,
        share: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<SymmetricEigen<f64, nalgebra::Dyn>> {
        let Self { plan, whitened, rows, .. } = *self;
        let (map, bound, count) = (&whitened.map, bounds.slopes, self.response.count);
        let d = map.columns();
        let sensitivity = products::sensitivity(map, 1, bound, plan.shape, count);
        let mut packed = products::read(rows, map, 1, Weights::Slopes { at, bounds }, bound, count)?;
        let noise = noise_of(plan, session, SLOPES, share) * sensitivity;
        session.vector(SLOPES, &mut packed, sensitivity)?;
        let target = whitened.symmetric(&(&whitened.spread * guess));
        let apart = products::unpacked(packed, d, 1) - &target;
        let expected = noise * noise * (d * (d + 1)) as f64 / 2.0;
        let keep = (1.0 - expected / apart.norm_squared().max(f64::MIN_POSITIVE)).max(0.0);
        let mut eigen = eigen_of(target + apart * keep);
        let least = (keep * noise * (d as f64).sqrt() + 1e-6).max(0.1 * guess);
        eigen.eigenvalues.iter_mut().for_each(|e| *e = e.max(least));
        Ok(eigen)
    }

    /// The coefficients of one direction, in whitened coordinates, given all passes so far; and how precisely standard ones are known,
    /// where each has a prior scale of its own.
    fn solve(
        &self,
        slope: &Slope,
        average: &Average,
        c: usize,
        prior: &mut Prior,
    ) -> (DVector<f64>, Option<DMatrix<f64>>) {
        let Self { plan, whitened, response, .. } = self;
        let roots = whitened.lifted.map(f64::sqrt);
        let (gradient, at) = (average.gradient.column(c), average.coefficients.column(c));
        // The precision of H b, noise of the releases and of the sample, in the eigenbasis of H.
        let precision = |e: f64| 1.0 / (1.0 / average.precision + e / response.count);
        match slope {
            Slope::Multiple(multiple) => {
                let h = &whitened.spread * *multiple;
                let z = gradient + whitened.multiply(&h, &at.into_owned());
                if !plan.private {
                    return (self.penalised(&h, z), None);
                }
                let inner = h.map(precision).component_mul(&h);
                let outer = inner.component_mul(&h).component_mul(&whitened.lifted);
                let linear = inner.component_mul(&roots);
                let (b, known) = match &whitened.basis {
                    None => (prior.mean_of_diagonal(&outer, &linear.component_mul(&z)), None),
                    Some(basis) if z.len() > MOST_SCALES => {
                        let turned = linear.component_mul(&basis.tr_mul(&z));
                        (basis * prior.mean_of_one_scale(&outer, &turned), None)
                    }
                    Some(_) => {
                        let outer = whitened.symmetric(&outer);
                        let b = prior.mean(&outer, &whitened.multiply(&linear, &z));
                        (b, Some(prior.total(outer)))
                    }
                };
                let b = whitened.multiply(&roots, &b);
                let b =
                    if self.model.ridge > 0.0 { self.penalised(&h, whitened.multiply(&h, &b)) } else { b };
                (b, known)
            }
            Slope::Matrix(eigen) => {
                let h = eigen.recompose_by(|e| e);
                let z = gradient + &h * at;
                if !plan.private {
                    return (self.penalised_by(&h, z), None);
                }
                let to_standard = whitened.symmetric(&roots);
                let inner = eigen.recompose_by(|e| e * e * precision(e));
                let outer = &to_standard * inner * &to_standard;
                let linear = &to_standard * (eigen.recompose_by(|e| e * precision(e)) * z);
                let b = to_standard * prior.mean(&outer, &linear);
                let b = if self.model.ridge > 0.0 { self.penalised_by(&h, &h * b) } else { b };
                (b, Some(prior.total(outer)))
            }
        }
    }

    /// Solves `(H + ridge A P A') b = z`, P without the intercept, for H of this diagonal in the basis of the columns.
    fn penalised(&self, diagonal: &DVector<f64>, z: DVector<f64>) -> DVector<f64> {
        if self.model.ridge == 0.0 {
            return self.whitened.multiply(&diagonal.map(|e| 1.0 / e), &z);
        }
        if self.whitened.basis.is_none() {
            let first = usize::from(self.model.intercept);
            let inverse = DVector::from_column_slice(self.whitened.map.inverse());
            // A stored coefficient is its standard one times the inverse scale.
            let penalty = |j: usize| if j < first { 0.0 } else { self.model.ridge * inverse[j] * inverse[j] };
            return DVector::from_fn(z.len(), |j, _| z[j] / (diagonal[j] + penalty(j)));
        }
        self.penalised_by(&self.whitened.symmetric(diagonal), z)
    }

    fn penalised_by(&self, slope: &DMatrix<f64>, z: DVector<f64>) -> DVector<f64> {
        let mut total = slope.clone();
        if self.model.ridge > 0.0 {
            let mut map = self.whitened.map.matrix();
            if self.model.intercept {
                map.column_mut(0).fill(0.0);
            }
            total += &map * map.transpose() * self.model.ridge;
        }
        // Positive definite, as the slope is; should rounding say otherwise nothing moves.
        total.cholesky().map_or_else(|| DVector::zeros(z.len()), |factor| factor.solve(&z))
    }

    /// Moves the intercept by what the step of the slopes asks for beyond its tangent.
    fn tilt(&self, before: &DMatrix<f64>, after: &mut DMatrix<f64>) {
        let Self { model, response, whitened, .. } = self;
        let Some(family) = model.likelihood.family() else { return };
        if !model.intercept || model.likelihood.is_linear() {
            return;
        }
        let slopes = |b: &DMatrix<f64>| {
            let mut slopes = b.column(0).into_owned();
            slopes[0] = 0.0;
            slopes
        };
        let moments = |b: &DVector<f64>| whitened.multiply(&whitened.seen, b);
        after[(0, 0)] +=
            beyond_tangent(family, response.view.base[0], &slopes(before), &slopes(after), moments);
    }

    /// Shortens the coefficients, the intercepts left alone, to the radius that the user set.
    fn keep_in_ball(&self, b: &mut DMatrix<f64>) {
        let Some(radius) = self.model.radius else { return };
        let first = usize::from(self.model.intercept);
        let stored = self.stored(b);
        let columns = self.whitened.map.columns();
        let squares = stored.chunks_exact(columns).flat_map(|b| &b[first..]).map(|b| b * b);
        let norm = self.response.view.unit * squares.sum::<f64>().sqrt();
        if norm > radius {
            *b *= radius / norm;
        }
    }
}

impl Average {
    /// Weighted by precision, seen from the coefficients `here`; a mean that is curved in its predictor has this slope.
    fn of(passes: &[Pass], here: &DMatrix<f64>, curved: f64) -> Self {
        let weigh = |pass: &Pass| precision(pass.noise, (&pass.at - here).norm(), here.len(), curved);
        let weights: Vec<f64> = passes.iter().map(weigh).collect();
        let precision: f64 = weights.iter().sum();
        let mut average = Self { gradient: here * 0.0, coefficients: here * 0.0, precision };
        for (pass, weight) in passes.iter().zip(&weights) {
            average.gradient += &pass.gradient * (weight / precision);
            average.coefficients += &pass.at * (weight / precision);
        }
        average
    }
}

/// How precisely a pass says what the score is so far from where it was read: its noise, and what a score of this slope may bend by.
/// The slope of a logarithmic link changes by about its own size from one unit of the predictor to the next, and it never more than
/// disappears.
pub(super) fn precision(noise: f64, length: f64, coefficients: usize, slope: f64) -> f64 {
    let bend = 0.5 * slope * length.min(length * length);
    1.0 / (noise * noise + bend * bend / coefficients as f64)
}

/// The eigenvalues of a symmetric matrix. What is not a number counts as zero: the decomposition would not end.
pub(super) fn eigen_of(mut matrix: DMatrix<f64>) -> SymmetricEigen<f64, nalgebra::Dyn> {
    matrix.iter_mut().filter(|entry| !entry.is_finite()).for_each(|entry| *entry = 0.0);
    matrix.symmetric_eigen()
}

pub(super) trait RecomposeBy {
    fn recompose_by(&self, value: impl Fn(f64) -> f64) -> DMatrix<f64>;
}

impl RecomposeBy for SymmetricEigen<f64, nalgebra::Dyn> {
    fn recompose_by(&self, value: impl Fn(f64) -> f64) -> DMatrix<f64> {
        let mut scaled = self.eigenvectors.clone();
        for (mut column, e) in scaled.column_iter_mut().zip(self.eigenvalues.iter()) {
            column *= value(*e);
        }
        scaled * self.eigenvectors.transpose()
    }
}
