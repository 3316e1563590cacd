//! Step 0: every release and its share of the budget, from public facts alone.
//!
//! With n units, D columns and the budget as the `mu` of one Gaussian release, `n mu / D` is what there is per coefficient: the
//! *ratio*. Below [`LEAST_RATIO`], or for real responses below [`LEAST_REAL`] in all, only the location of the response can be
//! learned, and has the whole budget.

use super::Regression;
use super::inference;
use crate::central::Privacy;
use crate::data::Shape;
use crate::families::Domain;
use crate::release::{Chosen, Handle, PlannedRelease, Vector};

pub(super) const COUNTED: Handle<Vector> = Handle::new("share of units that count");
pub(super) const CENTRE: Handle<Chosen> = Handle::new("response centre");
pub(super) const RESPONSE_LEVEL: Handle<Chosen> = Handle::new("response tail level");
pub(super) const RESPONSE: Handle<Vector> = Handle::new("response location");
pub(super) const EXPOSURE_LEVEL: Handle<Chosen> = Handle::new("exposure tail level");
pub(super) const EXPOSURE: Handle<Vector> = Handle::new("exposure location");
pub(super) const WEIGHT_LEVEL: Handle<Chosen> = Handle::new("sample weight tail level");
pub(super) const WEIGHT: Handle<Vector> = Handle::new("mean sample weight");
pub(super) const DISPERSION_LEVEL: Handle<Chosen> = Handle::new("dispersion tail level");
pub(super) const DISPERSION: Handle<Vector> = Handle::new("dispersion");
pub(super) const COLUMNS: Handle<Vector> = Handle::new("column moments");
pub(super) const ROW_LEVEL: Handle<Chosen> = Handle::new("row tail level");
pub(super) const PRODUCTS: Handle<Vector> = Handle::new("products of columns");
pub(super) const SCORE_LEVEL: Handle<Chosen> = Handle::new("score tail level");
pub(super) const TRACE: Handle<Vector> = Handle::new("mean slopes");
pub(super) const SLOPES: Handle<Vector> = Handle::new("slope matrix");
pub(super) const SCORES: [Handle<Vector>; 10] = [
    Handle::new("scores, pass 1"),
    Handle::new("scores, pass 2"),
    Handle::new("scores, pass 3"),
    Handle::new("scores, pass 4"),
    Handle::new("scores, pass 5"),
    Handle::new("scores, pass 6"),
    Handle::new("scores, pass 7"),
    Handle::new("scores, pass 8"),
    Handle::new("scores, pass 9"),
    Handle::new("scores, pass 10"),
];

/// How often a fit may read the rows.
const MOST_READS: i32 = 16;
const MOST_READS_WITH_INTERVALS: i32 = 20;
/// What is planned with, without privacy: enough that nothing but rounding keeps a fit from the exact one.
const MU_WITHOUT_PRIVACY: f64 = 50.0;
const LEAST_RATIO: f64 = 0.3;
const LEAST_REAL: f64 = 80.0;
/// From this ratio on the slope matrix is worth its share.
const SLOPE_RATIO: f64 = 150.0;
/// The share of all slope matrices together.
const SLOPES_SHARE: f64 = 0.08;
/// Up to so many columns products are released; up to [`MOST_SCALES`] each coefficient has a prior scale of its own.
pub(super) const MOST_PRODUCTS: usize = 1_000;
pub(super) const MOST_SCALES: usize = 300;
/// Up to so many coefficients of all classes together have intervals.
const MOST_INFERRED: usize = 400;
/// A level is seen where at least this over its `mu` units lie beyond it.
pub(super) const SEEN: f64 = 7.0;

/// The share of the dispersion, where it is asked for.
const DISPERSION_SHARE: f64 = 0.04;

/// The plan of a fit: every release and its share, from public facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(super) shape: Shape,
    /// The budget, less what finds bounds, as the `mu` of one Gaussian release.
    pub(super) mu: f64,
    /// `n mu / D`.
    pub(super) ratio: f64,
    /// Whether noise is added.
    pub(super) private: bool,
    /// The share for the response's location.
    pub(super) response: f64,
    /// What follows, unless the location is all that can be learned.
    pub(super) slopes: Option<SlopePlan>,
    /// The share of the dispersion, where it is asked for.
    pub(super) dispersion: f64,
    /// The shares of inference, where it is asked for and the budget allows it.
    pub(super) inference: Option<InferencePlan>,
}

/// The shares of inference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InferencePlan {
    /// Of each matrix that whitens the rows further.
    pub stages: Vec<f64>,
    pub slope: f64,
    /// Of each pass over the far scores.
    pub scores: Vec<f64>,
    pub second: f64,
    /// The share of each level.
    pub level: f64,
}

impl InferencePlan {
    /// Intervals need a slope matrix that is clear of its noise, which grows with the root of the coefficients: below five times that
    /// root per coefficient the whole budget goes to prediction, and no coefficient is determined.
    fn new(model: &Regression, shape: Shape, ratio: f64, private: bool) -> Option<Self> {
        // Every direction among the classes has coefficients of its own.
        let directions = model.likelihood.directions();
        let coefficients = shape.columns * directions;
        let enough = ratio / directions as f64 >= 5.0 * (coefficients as f64).sqrt();
        let enough = enough && coefficients <= MOST_INFERRED;
        // Predictors that are the means themselves need no second pass; with units of several rows a pass is dear.
        let (passes, stages, slope) = match model.likelihood.domain() {
            Domain::Real if private => (1, 2, 0.08),
            Domain::Real => (2, 1, 0.08),
            Domain::Binary if !shape.grouped => (2, 2, 0.1),
            _ => (2, 1, 0.12),
        };
        (model.level.is_some() && enough).then_some(Self {
            stages: vec![0.06 / stages as f64; stages],
            slope,
            scores: growing(0.28, passes, 2.5),
            second: 0.035,
            level: 0.008,
        })
    }

    fn total(&self) -> f64 {
        let levels = self.level * self.levels() as f64;
        self.stages.iter().sum::<f64>() + self.slope + self.all_scores() + self.second + levels
    }

    /// The share of all passes over the far scores.
    pub(super) fn all_scores(&self) -> f64 {
        self.scores.iter().sum()
    }

    /// One for each matrix weighted by slopes, the last slope included, and two for the far bound.
    fn levels(&self) -> u64 {
        self.stages.len() as u64 + 3
    }

    fn lines(&self) -> Vec<PlannedRelease> {
        let levels = self.levels();
        let stages = self.stages.iter().sum();
        let mut lines = vec![
            inference::LEVELS.planned(self.level * levels as f64, levels),
            inference::CURVATURE.planned(stages, self.stages.len() as u64),
        ];
        let scores = self.scores.iter().zip(inference::SCORES);
        lines.extend(scores.map(|(&share, what)| what.planned(share, 1)));
        lines.push(inference::SLOPE.planned(self.slope, 1));
        lines.push(inference::SECOND.planned(self.second, 1));
        lines
    }

    /// How often the rows are read: where weights wait for their units twice a pass, but for the first, which starts where the
    /// rows were scored before. The second moment is that at the mean point: with one pass where the rows were scored, too.
    fn reads(&self, grouped: bool) -> u64 {
        let (passes, stages) = (self.scores.len() as u64, self.stages.len() as u64);
        let scores = if grouped { 2 * passes - 1 } else { passes };
        1 + 2 * stages + scores + u64::from(passes > 1) + if grouped { 2 } else { 1 }
    }
}

/// The shares of everything beside the response's location.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlopePlan {
    pub columns: f64,
    pub products: Option<f64>,
    pub row_level: Option<f64>,
    /// The passes before which the bound on scores is found, and the share of each time.
    pub levels: Vec<usize>,
    pub level: f64,
    /// The passes at which the slope matrix is released, and the share of each time.
    pub matrices: Vec<usize>,
    pub matrix: f64,
    /// The share of all mean slopes together.
    pub trace: f64,
    /// The share of each score pass.
    pub scores: Vec<f64>,
}

impl Plan {
    pub(super) fn new(model: &Regression, shape: Shape, privacy: Privacy) -> Self {
        let private = privacy != Privacy::None;
        let mu = model.left().sqrt() * if private { privacy.mu() } else { MU_WITHOUT_PRIVACY };
        let (n, columns) = (shape.units as f64, shape.columns as f64);
        let ratio = n * mu / columns;
        let real = model.likelihood.is_real();
        let little = ratio < LEAST_RATIO || (real && n * mu < LEAST_REAL);
        let dispersion = if model.dispersion { DISPERSION_SHARE } else { 0.0 };
        // Without an intercept there is no location that might be learned instead.
        let response = match (model.intercept, little) {
            (true, true) => 1.0 - dispersion,
            // Far below one unit per coefficient the location is nearly all there is; above, it costs the slopes more than it gains.
            (true, false) => 0.03 + (0.97 - dispersion) / (1.0 + ratio.powi(4)),
            (false, _) if real => 0.03,
            (false, _) => 0.0,
        };
        let inference = InferencePlan::new(model, shape, ratio, private).filter(|_| !little);
        let rest = 1.0 - response - dispersion - inference.as_ref().map_or(0.0, InferencePlan::total);
        let slopes = (!(model.intercept && little))
            .then(|| SlopePlan::new(model, shape, mu, rest, inference.as_ref()));
        Self { shape, mu, ratio, private, response, slopes, dispersion, inference }
    }

    /// The `mu` of a release of this share.
    pub(super) fn mu_of(&self, share: f64) -> f64 {
        self.mu * share.sqrt()
    }

    /// Whether a tail level of this share can be seen.
    pub(super) fn sees(&self, share: f64) -> bool {
        SEEN / self.mu_of(share) < 0.25 * self.shape.units as f64
    }

    /// Whether a centre of this share can be seen.
    pub(super) fn sees_centre(&self, share: f64) -> bool {
        10.0 / self.mu_of(share) < 0.25 * self.shape.units as f64
    }

    /// The lines of the plan, as shares of what finding bounds leaves.
    pub(super) fn lines(&self, model: &Regression) -> Vec<PlannedRelease> {
        let mut lines = Vec::new();
        lines.extend(self.response_lines(model));
        lines.extend(self.dispersion_lines());
        let Some(slopes) = &self.slopes else { return lines };
        lines.push(COLUMNS.planned(slopes.columns, 1));
        lines.extend(slopes.row_level.map(|share| ROW_LEVEL.planned(share, 1)));
        lines.extend(slopes.products.map(|share| PRODUCTS.planned(share, 1)));
        let levels = slopes.levels.len() as u64;
        if levels > 0 {
            lines.push(SCORE_LEVEL.planned(slopes.level * levels as f64, levels));
        }
        let matrices = slopes.matrices.len() as u64;
        if matrices > 0 {
            lines.push(SLOPES.planned(slopes.matrix * matrices as f64, matrices));
        }
        lines.push(TRACE.planned(slopes.trace, slopes.scores.len() as u64));
        lines.extend(slopes.scores.iter().zip(SCORES).map(|(&share, what)| what.planned(share, 1)));
        lines.extend(self.inference.iter().flat_map(InferencePlan::lines));
        lines
    }

    /// The releases of the dispersion.
    pub(super) fn dispersion_lines(&self) -> Vec<PlannedRelease> {
        let mut lines = Vec::new();
        if self.dispersion > 0.0 {
            if self.sees(0.3 * self.dispersion) {
                lines.push(DISPERSION_LEVEL.planned(0.3 * self.dispersion, 1));
            }
            lines.push(DISPERSION.planned(0.7 * self.dispersion, 1));
        }
        lines
    }

    /// The releases of the response's location.
    pub(super) fn response_lines(&self, model: &Regression) -> Vec<PlannedRelease> {
        let all = self.response;
        let mut parts = Vec::new();
        let all = if self.shape.weighted {
            let part = if all > 0.0 { 0.4 * all } else { 0.01 };
            if self.sees(0.3 * part) {
                parts.push(WEIGHT_LEVEL.planned(0.3 * part, 1));
            }
            parts.push(WEIGHT.planned(0.7 * part, 1));
            0.6 * all
        } else {
            all
        };
        // Binary and class responses give the share that counts with their own release.
        let separate = self.shape.dropped && (model.likelihood.is_real() || !model.intercept);
        let all = if separate && all > 0.0 { 0.8 * all } else { all };
        if separate {
            parts.push(COUNTED.planned(if all > 0.0 { 0.25 * all } else { 0.01 }, 1));
        }
        match model.likelihood.domain() {
            Domain::Binary | Domain::Classes(_) if all > 0.0 => {
                parts.push(RESPONSE.planned(all, 1));
            }
            Domain::Binary | Domain::Classes(_) => {}
            Domain::Real => {
                if model.intercept && self.sees_centre(0.2 * all) {
                    parts.push(CENTRE.planned(0.2 * all, 1));
                }
                if self.sees(0.3 * all) {
                    parts.push(RESPONSE_LEVEL.planned(0.3 * all, 1));
                }
                parts.push(RESPONSE.planned(0.5 * all, 1));
            }
            Domain::Count | Domain::Positive | Domain::Nonnegative => {
                let part = if self.shape.exposures { 0.6 * all } else { all };
                let mut pair = |level: Handle<Chosen>, mean: Handle<Vector>, share: f64| {
                    if self.sees(0.3 * share) {
                        parts.push(level.planned(0.3 * share, 1));
                    }
                    parts.push(mean.planned(0.7 * share, 1));
                };
                pair(RESPONSE_LEVEL, RESPONSE, part);
                if self.shape.exposures {
                    pair(EXPOSURE_LEVEL, EXPOSURE, 0.4 * all);
                }
            }
        }
        parts
    }

    /// How often the rows are read.
    pub(super) fn reads(&self) -> u64 {
        let Some(slopes) = &self.slopes else { return 0 };
        let dispersion = self.dispersion_lines().len() as u64;
        let passes = slopes.scores.len();
        let once = 1 + usize::from(slopes.products.is_some()) * 2 + 1 + slopes.matrices.len();
        // Where weights wait for their units, a pass reads twice, but for the first at coefficients zero; else only a level does.
        let scores = match self.shape.grouped {
            true => 2 * passes - 1,
            false => passes + slopes.levels.iter().filter(|&&pass| pass > 0).count(),
        };
        let inference = self.inference.as_ref().map_or(0, |plan| plan.reads(self.shape.grouped));
        (once + scores) as u64 + inference + dispersion
    }
}

/// Shares of so many passes that grow from one to the next by a factor.
fn growing(all: f64, passes: i32, growth: f64) -> Vec<f64> {
    let weights: Vec<f64> = (0..passes).map(|pass| growth.powi(pass)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| all * weight / total).collect()
}

impl SlopePlan {
    /// Divides `rest`.
    fn new(model: &Regression, shape: Shape, mu: f64, rest: f64, inference: Option<&InferencePlan>) -> Self {
        let (n, columns) = (shape.units as f64, shape.columns as f64);
        let real = model.likelihood.is_real();
        let one_curve = !matches!(model.likelihood.domain(), Domain::Real | Domain::Classes(_));
        let with_products = shape.columns <= MOST_PRODUCTS;
        let moments = (0.05_f64).min(0.15 * rest);
        let products = with_products.then_some((0.08_f64).min(0.25 * rest));
        let row_level = (real && with_products).then_some((0.01_f64).min(0.05 * rest));
        // As many passes as the reads allow: over units with several rows a pass reads them twice, and inference reads them, too.
        let most = if inference.is_some() { MOST_READS_WITH_INTERVALS } else { MOST_READS };
        // With units of several rows, where passes are few, inference's own slope matrix has to do.
        let worth = inference.is_none() || !shape.grouped;
        let with_slopes =
            worth && one_curve && n * mu / columns >= SLOPE_RATIO && shape.columns <= MOST_SCALES;
        // Slopes change on the way, so they are released again where there are passes enough.
        let matrices = match (with_slopes, inference.is_some() || shape.grouped) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        let others = 4 + matrices + inference.map_or(0, |plan| plan.reads(shape.grouped) as i32);
        let passes = if shape.grouped {
            (most + 1 - others) / 2
        } else {
            most - others - i32::from(real || shape.weighted)
        };
        let passes = passes.clamp(2, SCORES.len() as i32);
        let growth = match model.likelihood.domain() {
            // No need to come near before the passes that count.
            Domain::Real => 1.6_f64,
            _ => 69f64.powf(1.0 / f64::from(passes - 1)).min(3.2),
        };
        // What a weighted row's score may be follows from no public bound that is any use.
        let levels =
            if real || shape.grouped || shape.weighted { vec![0, passes as usize / 2] } else { vec![] };
        let level = (25.0 / (n * mu)).powi(2).clamp(0.02, 0.1).min(0.15 * rest);
        let middle = passes as usize / 2;
        let matrices = match matrices {
            0 => vec![],
            1 => vec![middle],
            _ => vec![middle.saturating_sub(2), middle + 2],
        };
        let matrix = if matrices.is_empty() { 0.0 } else { SLOPES_SHARE / matrices.len() as f64 };
        let spent = moments
            + products.unwrap_or(0.0)
            + row_level.unwrap_or(0.0)
            + level * levels.len() as f64
            + matrix * matrices.len() as f64;
        let left = rest - spent;
        let scores = growing(0.98 * left, passes, growth);
        Self {
            columns: moments,
            products,
            row_level,
            levels,
            level,
            matrices,
            matrix,
            trace: 0.02 * left,
            scores,
        }
    }
}
