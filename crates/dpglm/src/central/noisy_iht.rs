//! Sparse generalized linear models by noisy iterative hard thresholding.
//!
//! # Algorithm (Cai et al. 2020 Algorithm 5, Cai et al. 2021 Algorithm 4.2)
//! 1. Where to start and how large a score may be ([`super::start`]).
//! 2. T times: the gradient; the s coordinates that would be largest after a step, by Gumbel selection or, as the papers print it, by
//!    Laplace peeling; those coordinates of the gradient, with noise; the step along them. All others become zero.
//! 3. The last iterate.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A row is weighted by `min(1, entry / its largest entry)` and a unit's rows
//! share one vote, so with scores of at most `cap` one unit moves each coordinate of the mean gradient by at most
//! `lambda = 2 cap entry / n`, plus the bounded error of summation.
//!
//! Coordinates of the gradient are released, not of the point: a step adds them to numbers that were released before, which may be so
//! large that the sum rounds away, or doubles, all that a unit moves. The scores of the selection are such sums, `|b_j - a g_j|`
//! with a the length of the step. In real numbers a unit moves each by at most `a lambda`. Rounding adds at most one unit in the last place of the
//! largest, `2^-52 (max |b_j| + 2 a cap entry)` for a pair of tables: the second part is in the claim for the sum, and the first is
//! charged step by step, because b is known.
//!
//! # Differs from the papers
//! Scores are bounded without bias and entries enforced in place of assumed; exact composition in place of an equal split
//! of epsilon and delta; steps and T from the declared box. Noise is added to the gradient's coordinates in place of the point's: with the same
//! distribution after the step.

use super::glm::Glm;
use super::screening::{require_entry, require_sparsity};
use super::select_refine::SparseFit;
use super::start::Start;
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::{Parameter, Result};
use crate::families::BoundedScore;
use crate::kernels::{Grid, exact_pass, rounding};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, NoisyMax, Numbers, Prepared, Privacy, Progress,
    ReleaseSession, Vector, require_shape,
};

const COLUMNS: Handle<Chosen> = Handle::new("chosen columns");
const VALUES: Handle<Vector> = Handle::new("values of the chosen columns");
const PEELED: Handle<NoisyMax> = Handle::new("peeled columns");
const PEELED_VALUES: Handle<Numbers> = Handle::new("values of the peeled columns");

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
        self.steps = crate::error::require_nonzero(Parameter::Steps, steps, "ten are usual")?;
        Ok(self)
    }

    /// One over the largest curvature of features that fill the declared box independently.
    fn length(&self, base: f64) -> f64 {
        let slope = self.model.family.slope_near(base);
        1.0 / (slope * self.entry * self.entry)
    }

    /// Step 2: the chosen coordinates, the constant first, and their values after a step of this length from a released point.
    /// One unit moves each coordinate of the gradient by at most `sensitivity`.
    fn threshold(
        &self,
        point: &[f64],
        gradient: &[f64],
        length: f64,
        sensitivity: f64,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(Vec<usize>, Vec<f64>)> {
        let constant = usize::from(self.model.intercept);
        let moved = |j: usize| point[j] - length * gradient[j];
        let sizes: Vec<f64> = (constant..point.len()).map(|j| moved(j).abs()).collect();
        let largest = point[constant..].iter().fold(0.0_f64, |m, b| m.max(b.abs()));
        let of_sizes = length * sensitivity + 2.0 * f64::EPSILON * largest;
        let places = |chosen: Vec<usize>| -> Vec<usize> {
            (0..constant).chain(chosen.into_iter().map(|j| j + constant)).collect()
        };
        let pick = |support: &[usize]| -> Vec<f64> { support.iter().map(|&j| gradient[j]).collect() };
        let (support, mut values): (Vec<usize>, Vec<f64>);
        match self.selection {
            Selection::Gumbel => {
                support = places(session.top(COLUMNS, &sizes, self.sparsity, of_sizes)?);
                values = pick(&support);
                let l2 = (support.len() as f64).sqrt() * sensitivity * (1.0 + f64::EPSILON);
                session.vector(VALUES, &mut values, l2)?;
            }
            Selection::Peeling => {
                support = places(session.peel(PEELED, &sizes, self.sparsity, of_sizes)?);
                values = pick(&support);
                session.each(PEELED_VALUES, &mut values, sensitivity)?;
            }
        }
        values.iter_mut().zip(&support).for_each(|(g, &j)| *g = point[j] - length * *g);
        Ok((support, values))
    }
}

impl Estimator for NoisyIht {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = SparseFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_exposures(self.model.takes_exposures())?;
        let constant = usize::from(self.model.intercept);
        require_sparsity(self.sparsity, columns - constant)?;
        let mut plan = self.model.start_planned(units, privacy)?;
        let rest = 1.0 - plan.iter().map(|line| line.share).sum::<f64>();
        let choices = self.sparsity as u64 * self.steps;
        match self.selection {
            Selection::Gumbel => {
                plan.push(COLUMNS.planned(0.5 * rest, choices));
                plan.push(VALUES.planned(0.5 * rest, self.steps));
            }
            Selection::Peeling => {
                // The same Laplace noise on both, as printed: choosing costs twice epsilon, so four times rho.
                plan.push(PEELED.planned(0.8 * rest, choices));
                let values = choices + constant as u64 * self.steps;
                plan.push(PEELED_VALUES.planned(0.2 * rest, values));
            }
        }
        let calibration = CalibratedPlan::new(plan, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let NoisyIht { model, entry, steps, .. } = self;
        let response = model.admitted(data);
        // Step 1
        let start = model.start(data, &response, &mut session)?;
        let (Start { base, cap }, response) = model.measured(start, &response);
        let score = model.family.bounded(cap)?;
        let weights = entry_weights(data, *entry);
        let length = self.length(base);
        let sensitivity = coordinate_sensitivity(data, score.cap(), entry.max(1.0));

        // Step 2
        let mut point = vec![0.0; data.design().columns()];
        if model.intercept {
            point[0] = base;
        }
        let (mut support, mut values) = (Vec::new(), Vec::new());
        for step in 0..*steps {
            let gradient = mean_gradient(data, &response, &weights, &point, &score, entry.max(1.0));
            (support, values) = self.threshold(&point, &gradient, length, sensitivity, &mut session)?;
            point.fill(0.0);
            support.iter().zip(&values).for_each(|(&j, &b)| point[j] = b);
            progress(step + 1, *steps);
        }
        // Step 3
        if let (true, Some(intercept)) = (model.intercept, values.first_mut()) {
            *intercept += model.middle();
        }
        let certificate = session
            .close(data.adjacency())
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
            // Less by more than the roundings of the quotients, each of which rounds by itself, however many rows there are.
            data.weight(row) * share / rows[data.unit_of(row)] * (1.0 - 1e-9)
        })
        .collect()
}

/// `(1/n) sum_i weight_i score_i x_i`, the weighted entries being at most `entry` in size.
fn mean_gradient(
    data: &Dataset,
    response: &[f64],
    weights: &[f64],
    point: &[f64],
    score: &BoundedScore<'_>,
    entry: f64,
) -> Vec<f64> {
    let residual = |row: usize, u: &[f64], out: &mut [f64]| {
        out[0] = weights[row] * score.value(u[0] + data.offset(row), response[row]);
    };
    let grid = Grid::uniform(point.len(), score.cap() * entry);
    let mut gradient = exact_pass(data.design(), 1, point, &grid, residual).values();
    let n = data.units() as f64;
    gradient.iter_mut().for_each(|g| *g /= n);
    gradient
}

/// What one unit can change in each coordinate of [`mean_gradient`], with room for the roundings of a step.
fn coordinate_sensitivity(data: &Dataset, cap: f64, entry: f64) -> f64 {
    let grid = data.shape().rows_per_unit() * rounding(data.design());
    2.0 * cap * entry * ((1.0 + grid) / data.units() as f64 + 9.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::release::tape::attack;

    /// Responses about `middle`, a quarter below it, an eighth above or at it, and one that moves from it to a quarter below:
    /// what the row moves is lost, or doubled, where it is added to a number of the responses' own size.
    fn far(middle: f64, moved: bool) -> Dataset {
        let rows = 100_000;
        let x = (0..rows).flat_map(|i| [1.0, f64::from(i * 7919 % 1999) / 999.0 - 1.0, 0.5]).collect();
        let response = |i: i32| match i % 100 {
            0 if i == 0 => middle - if moved { 0.25 } else { 0.0 },
            1..=28 => middle - 0.25,
            29..=34 => middle + 0.125,
            _ => middle,
        };
        let design = Design::from_f64(rows as usize, 3, x).expect("shape");
        Dataset::new(design, (0..rows).map(response).collect()).expect("shape")
    }

    #[test]
    fn responses_far_from_zero_withstand_neighbours() {
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"));
        let (low, high) = (1e15, 1e15 + 1024.0);
        let pair = [false, true].map(|moved| far(1e15 + 512.0, moved));
        for selection in [Selection::Gumbel, Selection::Peeling] {
            for intercept in [true, false] {
                let mut model = Glm::new(Family::gaussian(), (low, high)).expect("valid");
                if intercept {
                    model = model.with_intercept();
                }
                let prepared = NoisyIht::new(model, 1, 1.0, selection)
                    .and_then(|m| m.prepare(Shape::new(3, 100_000), privacy))
                    .expect("valid");
                let tape = attack(|side| {
                    let rng = &mut RandomSource::insecure_seeded(5);
                    prepared.fit(&pair[usize::from(side)], rng).expect("fits");
                });
                assert!(tape.compared >= 20);
                let (worst, what) = tape.worst;
                assert!(
                    worst <= 1.0,
                    "{selection:?}, intercept {intercept}: {what} moved by {worst} of its claim"
                );
            }
        }
    }
}
