//! Sparse models by noisy iterative hard thresholding: of a likelihood, or of any smooth loss.
//!
//! # Algorithm (Cai et al. 2020 Algorithms 4 and 5, Cai et al. 2021 Algorithm 4.2)
//! 1. Of a likelihood: where to start and how large a score may be ([`super::start`]). A loss of the caller's own ([`super::loss`])
//!    starts at zero.
//! 2. T times: the gradient; the s coordinates that would be largest after a step, by Gumbel selection or, as the papers print it, by
//!    Laplace peeling; those coordinates of the gradient, with noise; the step along them. All others become zero. If a
//!    radius is given, the iterate is projected on the l2 ball.
//! 3. The last iterate.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. A row is weighted by `min(1, entry / its largest entry)` and a unit's rows
//! share one vote, so with scores of at most `cap` one unit moves each coordinate of the mean gradient by at most
//! `lambda = 2 cap entry / n`, plus the bounded error of summation. T, the length of a step and the radius are public.
//!
//! Coordinates of the gradient are released, not of the point: a step adds them to numbers that were released before, which may be so
//! large that the sum rounds away, or doubles, all that a unit moves. The scores of the selection are such sums, `|b_j - a g_j|`
//! with a the length of the step. In real numbers a unit moves each by at most `a lambda`. Rounding adds at most one unit in the last place of the
//! largest, `2^-52 (max |b_j| + 2 a cap entry)` for a pair of tables: the second part is in the claim for the sum, and the first is
//! charged step by step, because b is known.
//!
//! # The printed noise
//! [`NoisyIht::printed_logistic`] and [`NoisyIht::printed_linear`] add the papers' Laplace noise, `b = 2 lambda' sqrt(3 s log(T/delta)) T / epsilon` with
//! `lambda' = a B / n` and B four times what bounds a row's gradient in the papers' assumptions. The assumptions are enforced: entries and
//! scores as above, a response within its bounds, and for linear models a ball of radius C, in which a predictor of s entries within
//! `c_x / sqrt(s)` is at most `C c_x`, so that clipping residuals at `R + C c_x` changes nothing. So the run is private for
//! every data set, at the epsilon that this noise truly costs: the accountant's, which the certificate states. It is refused where
//! that is more than the stated epsilon.
//!
//! # Differs from the papers
//! Scores are bounded without bias and entries enforced in place of assumed; exact composition in place of an equal split
//! of epsilon and delta; steps and T from the declared box unless they are given. Noise is added to the gradient's coordinates in place of the
//! point's: with the same distribution after the step.

use super::loss::{Huber, LossModel};
use super::objective::Objective;
use super::screening::{require_entry, require_sparsity};
use super::select_refine::SparseFit;
use super::start::Start;
use crate::data::Dataset;
use crate::data::Shape;
use crate::data::range::{require_interval, require_magnitude};
use crate::error::{Error, Parameter, Result};
use crate::families::BoundedScore;
use crate::kernels::{Grid, exact_pass, rounding};
use crate::privacy::Budget;
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
    objective: Objective,
    sparsity: usize,
    entry: f64,
    selection: Selection,
    steps: u64,
    length: Option<f64>,
    radius: Option<f64>,
    /// The printed B, in units of what one unit truly moves a sum by.
    printed: Option<f64>,
}

impl NoisyIht {
    /// A model of at most `sparsity` coefficients beside the intercept, for features within `entry` of zero. The objective is a
    /// [`Glm`](super::Glm), or a [`LossModel`] of any smooth loss.
    pub fn new(
        objective: impl Into<Objective>,
        sparsity: usize,
        entry: f64,
        selection: Selection,
    ) -> Result<Self> {
        require_sparsity(sparsity, sparsity.max(1))?;
        Ok(Self {
            objective: objective.into(),
            sparsity,
            entry: require_entry(entry)?,
            selection,
            steps: 10,
            length: None,
            radius: None,
            printed: None,
        })
    }

    /// Cai et al. 2020 Algorithm 5 for a binary response, without an intercept, with its printed noise (`B = 4 (R + c_1) sigma_x`, R and `c_1` being 1).
    pub fn printed_logistic(sparsity: usize, entry: f64) -> Result<Self> {
        let loss = LossModel::new(super::loss::Logistic, (0.0, 1.0))?;
        Ok(Self { printed: Some(4.0), ..Self::new(loss, sparsity, entry, Selection::Peeling)? })
    }

    /// Cai et al. 2021 Algorithm 4.2 with its printed noise (`B = 4 (R + C c_x) c_x / sqrt(s)`): responses truncated to `target`, whose farther end is R;
    /// any s entries of a row of l2 norm at most `support_norm`, which is `c_x`; coefficients in the ball of `radius` C. No intercept.
    pub fn printed_linear(
        target: (f64, f64),
        sparsity: usize,
        support_norm: f64,
        radius: f64,
    ) -> Result<Self> {
        let (low, high) =
            require_interval(Parameter::TargetBounds, target, "declare the public range of the response")?;
        require_magnitude(
            Parameter::SupportNorm,
            support_norm,
            "give the largest norm of s entries of a row",
        )?;
        require_magnitude(Parameter::Radius, radius, "give the largest l2 norm of the coefficients")?;
        let reach = low.abs().max(high.abs()) + radius * support_norm;
        let loss = LossModel::new(Huber::new(reach)?, target)?;
        let model = Self::new(loss, sparsity, support_norm, Selection::Peeling)?;
        Ok(Self { printed: Some(2.0), ..model.radius(radius)?.support_norm(support_norm)? })
    }

    /// With this many steps in place of 10. More steps converge further on a smaller share of the budget each.
    pub fn steps(mut self, steps: u64) -> Result<Self> {
        self.steps = crate::error::require_nonzero(Parameter::Steps, steps, "ten are usual")?;
        Ok(self)
    }

    /// With steps of this length in place of one over the largest curvature of features that fill the declared box.
    pub fn step_length(mut self, length: f64) -> Result<Self> {
        let remedy = "one over the largest curvature of the mean loss is safe";
        self.length = Some(require_magnitude(Parameter::StepLength, length, remedy)?);
        Ok(self)
    }

    /// Projects every iterate on the l2 ball of this radius. The intercept of a real response counts from the middle of the response's
    /// bounds.
    pub fn radius(mut self, radius: f64) -> Result<Self> {
        let remedy = "give the largest l2 norm of the coefficients";
        self.radius = Some(require_magnitude(Parameter::Radius, radius, remedy)?);
        Ok(self)
    }

    /// With a public bound `c_x` on the l2 norm of any s entries of a row: no entry counts for more than `c_x / sqrt(s)`.
    pub fn support_norm(mut self, bound: f64) -> Result<Self> {
        let remedy = "give the largest l2 norm of as many entries of a row as the sparsity";
        let bound = require_magnitude(Parameter::SupportNorm, bound, remedy)?;
        let entry = bound / (self.sparsity as f64).sqrt();
        self.entry = require_entry(self.entry.min(entry))?;
        Ok(self)
    }

    /// The given length of a step, or one over the largest curvature of features that fill the declared box independently.
    fn length(&self, base: f64) -> f64 {
        self.length.unwrap_or_else(|| 1.0 / (self.objective.curvature(base) * self.entry * self.entry))
    }

    /// The printed noise of a peeled choice, per unit of what one unit moves: half of b, since scores rise and fall.
    fn printed_noise(&self, times: f64, budget: Budget) -> f64 {
        let (s, t) = (self.sparsity as f64, self.steps as f64);
        times * (3.0 * s * (t / budget.delta()).ln()).sqrt() * t / budget.epsilon()
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
        let constant = usize::from(self.objective.intercept());
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
        shape.require_unweighted(self.objective.takes_exposures())?;
        let constant = usize::from(self.objective.intercept());
        require_sparsity(self.sparsity, columns - constant)?;
        let mut plan = self.objective.start_planned(units, privacy)?;
        let rest = 1.0 - plan.iter().map(|line| line.share).sum::<f64>();
        let Some(choices) = self.steps.checked_mul(2 * self.sparsity as u64).map(|twice| twice / 2) else {
            return Err(Error::OutOfRange {
                parameter: Parameter::Steps,
                range: "as many as can be counted",
                value: self.steps.to_string(),
                remedy: "ten are usual",
            });
        };
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
        let calibration = match (self.printed, privacy) {
            (Some(times), Privacy::Budget(budget)) => {
                CalibratedPlan::at_noise(plan, self.printed_noise(times, budget), budget)?
            }
            _ => CalibratedPlan::new(plan, privacy)?,
        };
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<SparseFit> {
        let NoisyIht { objective, entry, steps, .. } = self;
        // Step 1
        let (start, response) = objective.start(data, &mut session)?;
        let Start { base, .. } = start;
        let score = objective.score(start)?;
        let weights = entry_weights(data, *entry);
        let length = self.length(base);
        let sensitivity = coordinate_sensitivity(data, score.cap(), *entry);
        // Steps that are too long throw iterates about: a trillion full steps from the start they stop.
        let farthest = 1e12 * length * score.cap() * entry;

        // Step 2
        let mut point = vec![0.0; data.design().columns()];
        if objective.intercept() {
            point[0] = base;
        }
        let (mut support, mut values) = (Vec::new(), Vec::new());
        for step in 0..*steps {
            let gradient = mean_gradient(data, &response, &weights, &point, &score, *entry);
            (support, values) = self.threshold(&point, &gradient, length, sensitivity, &mut session)?;
            values.iter_mut().for_each(|b| *b = b.clamp(base - farthest, base + farthest));
            if let Some(radius) = self.radius {
                let norm = values.iter().map(|b| b * b).sum::<f64>().sqrt();
                values.iter_mut().for_each(|b| *b *= (radius / norm.max(f64::MIN_POSITIVE)).min(1.0));
            }
            point.fill(0.0);
            support.iter().zip(&values).for_each(|(&j, &b)| point[j] = b);
            progress(step + 1, *steps);
        }
        // Step 3
        if let (true, Some(intercept)) = (objective.intercept(), values.first_mut()) {
            *intercept += objective.middle();
        }
        let certificate = session
            .close(data.adjacency())
            .enforcing("rows are weighted so that no entry exceeds its declared bound")
            .enforcing("the rows of a unit share one vote of bounded score");
        let certificate = objective.provided_for(certificate);
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
    use crate::central::Glm;
    use crate::data::Design;
    use crate::families::Family;
    use crate::noise::RandomSource;
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

    /// Columns 1 and 5 of eight matter.
    fn two_of_eight(rows: usize, response: impl Fn(f64, usize) -> f64) -> Dataset {
        let rng = &mut RandomSource::insecure_seeded(9);
        let x: Vec<f64> = (0..8 * rows).map(|_| crate::central::attacks::uniform(rng)).collect();
        let y = x.chunks_exact(8).enumerate().map(|(i, row)| response(2.0 * row[1] - row[5], i)).collect();
        Dataset::new(Design::from_f64(rows, 8, x).expect("shape"), y).expect("shape")
    }

    fn ample() -> Privacy {
        Privacy::Budget(Budget::new(8.0, 1e-6).expect("valid"))
    }

    #[test]
    fn losses_of_the_callers_own_are_made_small() {
        // A tenth of the responses are as wrong as they can be: Huber's loss hardly minds.
        let year = two_of_eight(20_000, |u, i| if i % 10 == 0 { 2020.0 } else { 2005.0 + u });
        let huber = LossModel::new(Huber::new(1.0).unwrap(), (1990.0, 2020.0)).unwrap();
        let signs = two_of_eight(20_000, |u, _| f64::from(u8::from(u > 0.0)));
        let hinge = super::super::loss::SquaredHinge::new(2.0).unwrap();
        let hinge = LossModel::new(hinge, (0.0, 1.0)).unwrap();
        for selection in [Selection::Gumbel, Selection::Peeling] {
            let rng = &mut RandomSource::insecure_seeded(3);
            // With an intercept the first column counts as constant: another one is put before it.
            let design = year.design();
            let with_ones: Vec<f64> = (0..design.rows())
                .flat_map(|row| [1.0].into_iter().chain(design.row(row)).collect::<Vec<_>>())
                .collect();
            let design = Design::from_f64(design.rows(), 9, with_ones).unwrap();
            let ones = Dataset::new(design, year.response().to_vec()).unwrap();
            let model = NoisyIht::new(huber.clone().with_intercept(), 2, 1.0, selection).unwrap();
            let fit = model.steps(40).unwrap().fit(&ones, ample(), rng).unwrap();
            assert_eq!(fit.support, [0, 2, 6], "{selection:?}");
            let b = fit.coefficients(9);
            assert!(
                (b[0] - 2005.0).abs() < 0.6 && (b[2] - 2.0).abs() < 0.3 && (b[6] + 1.0).abs() < 0.3,
                "{b:?}"
            );
            let fit =
                NoisyIht::new(hinge.clone(), 2, 1.0, selection).unwrap().fit(&signs, ample(), rng).unwrap();
            assert_eq!(fit.support, [1, 5], "{selection:?}");
            let b = fit.coefficients(8);
            assert!(hinge.mean_loss(&signs, &b) < 0.6 * hinge.mean_loss(&signs, &[0.0; 8]), "{b:?}");
        }
    }

    #[test]
    fn iterates_stay_in_their_ball_and_steps_have_the_given_length() {
        let data = two_of_eight(5_000, |u, _| u.clamp(-5.0, 5.0));
        let huber = LossModel::new(Huber::new(3.0).unwrap(), (-5.0, 5.0)).unwrap();
        let model = NoisyIht::new(huber, 2, 1.0, Selection::Gumbel).unwrap();
        let norm = |model: &NoisyIht| {
            let fit = model.fit(&data, Privacy::None, &mut RandomSource::insecure_seeded(1)).unwrap();
            fit.fit.coefficients.iter().map(|b| b * b).sum::<f64>().sqrt()
        };
        assert!((norm(&model.clone().steps(60).unwrap()) - 5f64.sqrt()).abs() < 0.1);
        assert!((norm(&model.clone().steps(60).unwrap().radius(0.7).unwrap()) - 0.7).abs() < 1e-9);
        // The mean gradient at zero is a third of each coefficient.
        let one = norm(&model.clone().steps(1).unwrap().step_length(0.3).unwrap());
        assert!((one - 0.1 * 5f64.sqrt()).abs() < 0.02, "{one}");
        // Far too long steps end somewhere finite.
        assert!(norm(&model.clone().steps(500).unwrap().step_length(1e6).unwrap()).is_finite());
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(model.clone().step_length(wrong).is_err() && model.clone().radius(wrong).is_err());
            assert!(model.clone().support_norm(wrong).is_err());
        }
        assert!(model.clone().steps(0).is_err());
    }

    /// The run has the printed noise, and the certificate what it truly costs: less than stated, as B is four (two) times too large.
    #[test]
    fn printed_noise_is_given_the_epsilon_it_has() {
        let budget = Budget::new(1.0, 1e-5).unwrap();
        let models = [
            (NoisyIht::printed_logistic(2, 1.0).unwrap(), 8.0),
            (NoisyIht::printed_linear((-5.0, 5.0), 2, 1.0, 3.0).unwrap(), 32.0 / 2f64.sqrt()),
        ];
        for (model, b) in models {
            let model = model.steps(5).unwrap();
            let prepared = model.prepare(Shape::new(8, 1_000), Privacy::Budget(budget)).unwrap();
            let events = prepared.events().unwrap();
            // In units of the sensitivity: 2 cap entry / n.
            let printed = b / 1_000.0 * 2.0 * (6.0 * (5.0 / 1e-5_f64).ln()).sqrt() * 5.0;
            let data = two_of_eight(1_000, |u, _| f64::from(u8::from(u > 0.0)));
            let fit = prepared.fit(&data, &mut RandomSource::from_os().unwrap()).unwrap();
            let values =
                fit.fit.certificate.events().iter().find(|e| e.release() == PEELED_VALUES.name()).unwrap();
            let crate::privacy::Noise::Laplace { scale, .. } = values.noise() else { panic!("Laplace") };
            assert!(scale >= printed && scale < printed * (1.0 + 1e-6), "{scale} {printed}");
            let stated = fit.fit.certificate.guarantee().unwrap().epsilon;
            assert!(stated < 0.6 && stated > 0.01, "{stated}");
            let accounted = crate::accounting::account(&events, 1e-5).unwrap().epsilon;
            assert!((stated - accounted).abs() < 1e-9);
            assert!(fit.fit.certificate.verify().is_ok());
        }
        // Many columns in one step at a large epsilon: the printed noise is too small, and the run is refused.
        let large = Privacy::Budget(Budget::new(600.0, 1e-5).unwrap());
        let one = NoisyIht::printed_linear((-5.0, 5.0), 150, 1.0, 3.0).unwrap().steps(1).unwrap();
        let refused = one.prepare(Shape::new(400, 1_000), large).unwrap_err().to_string();
        assert!(refused.contains("this noise costs epsilon"), "{refused}");
        assert!(NoisyIht::printed_linear((-5.0, 5.0), 2, 1.0, f64::NAN).is_err());
    }
}
