//! Sparse generalized linear models by noisy iterative hard thresholding.
//!
//! # Algorithm (C20 Algorithm 5, C21 Algorithm 4.2)
//! 1. Where to start and how large a score may be ([`super::start`]).
//! 2. T times: a gradient step; the s largest coordinates and their values, with noise, by Gumbel selection or, as the
//!    papers print it, by Laplace peeling. All others become zero.
//! 3. The last iterate.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A row is weighted by `min(1, entry / its largest entry)` and a unit's rows
//! share one vote, so with scores of at most `cap` one unit moves each coordinate of the mean gradient by at most
//! `lambda = 2 cap entry / n`, plus the bounded error of summation, and the point after a step of length a by `a lambda`.
//!
//! # Differs from the papers
//! Scores are bounded without bias and entries enforced in place of assumed; exact composition in place of an equal split
//! of epsilon and delta; steps and T from the declared box.

use super::glm::{Glm, adjacency};
use super::prepared::{Prepared, require_shape};
use super::purse::{Calibration, Planned, Privacy, Purse};
use super::screening::{require_entry, require_sparsity};
use super::select_refine::SparseFit;
use super::start::Start;
use crate::data::Dataset;
use crate::data::dataset::MOST_ROWS;
use crate::error::Result;
use crate::families::{BoundedScore, Family};
use crate::kernels::{fused_pass, summation_error};
use crate::noise::RandomSource;

const COLUMNS: &str = "chosen columns";
const VALUES: &str = "values of the chosen columns";
const PEELED: &str = "peeled columns";
const PEELED_VALUES: &str = "values of the peeled columns";

/// How coordinates are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// One-shot Gumbel noise, then Gaussian noise on the values.
    Gumbel,
    /// Laplace noise, one coordinate after the other, and on the values, as printed.
    Peeling,
}

/// Noisy iterative hard thresholding.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyIht {
    model: Glm,
    sparsity: usize,
    entry: f64,
    selection: Selection,
    steps: u64,
}

impl NoisyIht {
    /// A model of at most `sparsity` coefficients beside the intercept, for features within `entry` of zero.
    pub fn new(model: Glm, sparsity: usize, entry: f64, selection: Selection) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        Ok(Self { model, sparsity, entry: require_entry(entry)?, selection, steps: 10 })
    }

    /// With this many steps in place of 10. More steps converge further on a smaller share of the budget each.
    pub fn steps(mut self, steps: u64) -> Result<Self> {
        self.steps = crate::error::require_nonzero("steps", steps, "ten are usual")?;
        Ok(self)
    }

    /// Calibrates the noise for data of `columns` columns (the constant one included) and `units` units.
    pub fn prepare(&self, columns: usize, units: usize, privacy: Privacy) -> Result<Prepared<Self>> {
        require_shape(columns, units)?;
        let constant = usize::from(self.model.intercept);
        require_sparsity(self.sparsity, columns - constant)?;
        let mut plan = self.model.start_planned(units, privacy)?;
        let rest = 1.0 - plan.iter().map(|line| line.share).sum::<f64>();
        let choices = self.sparsity as u64 * self.steps;
        match self.selection {
            Selection::Gumbel => {
                plan.push(Planned::selection(COLUMNS, 0.5 * rest, choices));
                plan.push(Planned::gaussian(VALUES, 0.5 * rest, self.steps));
            }
            Selection::Peeling => {
                // The same Laplace noise on both, as printed: choosing costs twice epsilon, so four times rho.
                plan.push(Planned::noisy_max(PEELED, 0.8 * rest, choices));
                let values = choices + constant as u64 * self.steps;
                plan.push(Planned::laplace(PEELED_VALUES, 0.2 * rest, values));
            }
        }
        let calibration = Calibration::new(plan, privacy)?;
        Ok(Prepared { model: self.clone(), columns, units, calibration })
    }

    /// Prepares and fits.
    pub fn fit(&self, data: &Dataset, privacy: Privacy, rng: &mut RandomSource) -> Result<SparseFit> {
        self.prepare(data.design().columns(), data.units(), privacy)?.fit(data, rng)
    }

    /// One over the largest curvature of features that fill the declared box independently.
    fn length(&self, base: f64) -> f64 {
        let slope = match &self.model.family {
            Family::Logistic => 0.25,
            family => family.mean_slope(base).max(1e-3),
        };
        1.0 / (slope * self.entry * self.entry)
    }

    /// Step 2: the chosen coordinates of the point, and their values, the constant first.
    fn threshold(
        &self,
        point: &[f64],
        sensitivity: f64,
        purse: &mut Purse<'_>,
    ) -> Result<(Vec<usize>, Vec<f64>)> {
        let constant = usize::from(self.model.intercept);
        let sizes: Vec<f64> = point[constant..].iter().map(|b| b.abs()).collect();
        let places = |chosen: Vec<usize>| -> Vec<usize> {
            (0..constant).chain(chosen.into_iter().map(|j| j + constant)).collect()
        };
        let (support, mut values): (Vec<usize>, Vec<f64>);
        match self.selection {
            Selection::Gumbel => {
                support = places(purse.top(COLUMNS, &sizes, self.sparsity, sensitivity)?);
                values = support.iter().map(|&j| point[j]).collect();
                let l2 = (support.len() as f64).sqrt() * sensitivity * (1.0 + f64::EPSILON);
                purse.vector(VALUES, &mut values, l2)?;
            }
            Selection::Peeling => {
                support = places(purse.peel(PEELED, &sizes, self.sparsity, sensitivity)?);
                values = support.iter().map(|&j| point[j]).collect();
                purse.each(PEELED_VALUES, &mut values, sensitivity)?;
            }
        }
        Ok((support, values))
    }
}

impl Prepared<NoisyIht> {
    /// Fits the model.
    pub fn fit(&self, data: &Dataset, rng: &mut RandomSource) -> Result<SparseFit> {
        self.fit_reporting(data, rng, &mut |_, _| {})
    }

    /// Fits the model and calls `progress(done, of)` after every step. The number of steps is public.
    pub fn fit_reporting(
        &self,
        data: &Dataset,
        rng: &mut RandomSource,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SparseFit> {
        self.require_shape_of(data)?;
        let NoisyIht { model, entry, steps, .. } = &self.model;
        let mut purse = self.calibration.open(rng);
        let response = model.admitted(data);
        // Step 1
        let Start { base, cap } = model.start(data, &response, &mut purse)?;
        let score = model.family.bounded(cap)?;
        let weights = entry_weights(data, *entry);
        let length = self.model.length(base);
        let sensitivity = length * coordinate_sensitivity(data, score.cap(), entry.max(1.0));

        // Step 2
        let mut point = vec![0.0; data.design().columns()];
        if model.intercept {
            point[0] = base;
        }
        let (mut support, mut values) = (Vec::new(), Vec::new());
        for step in 0..*steps {
            let gradient = mean_gradient(data, &response, &weights, &point, &score);
            point.iter_mut().zip(&gradient).for_each(|(b, g)| *b -= length * g);
            (support, values) = self.model.threshold(&point, sensitivity, &mut purse)?;
            point.fill(0.0);
            support.iter().zip(&values).for_each(|(&j, &b)| point[j] = b);
            progress(step + 1, *steps);
        }
        // Step 3
        let certificate = purse
            .close(adjacency(data))
            .enforcing("rows are weighted so that no entry exceeds its declared bound")
            .enforcing("the rows of a unit share one vote of bounded score");
        Ok(SparseFit::plain(support, values, certificate))
    }
}

/// Row weights that keep every entry within `entry`, and give a unit's rows one vote together.
fn entry_weights(data: &Dataset, entry: f64) -> Vec<f64> {
    let rows = data.sum_by_unit(|_| 1.0);
    (0..data.design().rows())
        .map(|row| {
            let largest = data.design().stored(row).map(|(_, x)| x.abs()).fold(0.0, f64::max);
            let share = if largest > entry { entry / largest } else { 1.0 };
            // Less by more than the roundings of the quotients.
            data.weight(row) * share / rows[data.unit_of(row)] * (1.0 - 1e-9)
        })
        .collect()
}

/// `(1/n) sum_i weight_i score_i x_i`.
fn mean_gradient(
    data: &Dataset,
    response: &[f64],
    weights: &[f64],
    point: &[f64],
    score: &BoundedScore<'_>,
) -> Vec<f64> {
    let mut gradient = vec![0.0; point.len()];
    let residual = |row: usize, u: f64| weights[row] * score.value(u + data.offset(row), response[row]);
    fused_pass(data.design(), point, residual, &mut gradient);
    let n = data.units() as f64;
    gradient.iter_mut().for_each(|g| *g /= n);
    gradient
}

/// What one unit can change in each coordinate of [`mean_gradient`], and in the point after a step, which rounds a few
/// times more.
fn coordinate_sensitivity(data: &Dataset, cap: f64, entry: f64) -> f64 {
    cap * entry * (2.0 / data.units() as f64 + 2.0 * (summation_error(MOST_ROWS) + 8.0 * f64::EPSILON))
}
