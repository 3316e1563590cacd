//! How many rows, how much privacy, what error? Two of them give the third, by simulation with the real estimators.

mod cache;

use super::failure::Failure;
use super::render;
use cache::Cache;
use dpglm::error::{Message, Parameter, Piece};
use dpglm::tuning::planner::{Law, PlannedModel, Point, Problem, Simulator};
use dpglm_io::{Domain, Schema};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is to be estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they say it themselves, and the command line would print the words")]
pub enum ModelName {
    Mean,
    Linear,
    Logistic,
    Poisson,
}

/// What a schema says of a study: what is estimated, of how many columns, and the bounds of a numeric response.
pub struct Declared {
    /// What is to be estimated.
    pub model: ModelName,
    /// The number of columns.
    pub columns: usize,
    /// Public bounds of the response, for linear and Poisson regression.
    pub target_bounds: Option<(f64, f64)>,
}

impl Declared {
    /// The study of a schema's target by its other columns, each level but the reference one.
    pub fn of(schema: &Schema) -> Result<Self, Failure> {
        let (columns, target) = schema.encoded()?;
        let (model, target_bounds) = match target.map(|target| (target.name, target.domain)) {
            Some((_, Domain::Binary(_))) => (ModelName::Logistic, None),
            Some((_, Domain::Real(bounds))) => (ModelName::Linear, Some((bounds.lower(), bounds.upper()))),
            Some((_, Domain::Count(bounds))) => (ModelName::Poisson, Some((bounds.lower(), bounds.upper()))),
            Some((name, Domain::Category(_))) => {
                return Err(Failure::Usage(Message::new(
                    "the schema's target `{}` has several levels, and no study of such can be planned: name the nearest with {} and {}",
                    &[&name, &Parameter::Model, &Parameter::Columns],
                )));
            }
            None => {
                return Err(Failure::Usage(Message::new(
                    "the schema has no target: for means give {} mean with {} and {}",
                    &[&Parameter::Model, &Parameter::Columns, &Piece::Bounds(Parameter::FeatureBounds)],
                )));
            }
        };
        Ok(Self { model, columns: columns.len(), target_bounds })
    }
}

/// What is asked: two of rows, epsilon and error.
pub struct Question {
    /// What is to be estimated.
    pub model: ModelName,
    /// The number of rows.
    pub rows: Option<usize>,
    /// The number of columns.
    pub columns: usize,
    /// How many columns matter, if few do.
    pub sparsity: Option<usize>,
    /// The privacy loss.
    pub epsilon: Option<f64>,
    /// The probability with which the promise may fail.
    pub delta: f64,
    /// The mean squared error that is wanted.
    pub error: Option<f64>,
    /// The standard deviation of the rows (mean) or of the errors (linear); by default 1.
    pub sigma: Option<f64>,
    /// Public bounds of the columns, for a mean.
    pub feature_bounds: Option<(f64, f64)>,
    /// Public bounds of the response, for linear and Poisson regression.
    pub target_bounds: Option<(f64, f64)>,
    /// The mean of a count where all features are zero, for Poisson regression.
    pub mean_count: Option<f64>,
    /// Simulated fits at each point.
    pub runs: u64,
    /// Where simulated errors are kept; by default the user's cache.
    pub cache: Option<PathBuf>,
}

/// The answer, and the simulation behind it.
pub struct Answer {
    /// The numbers.
    pub document: StudyDocument,
    /// The fitted law.
    pub law: Law,
    /// The points that were simulated.
    pub points: Vec<Point>,
}

/// Simulated tables have no more entries than this; beyond it the fitted law speaks.
const MOST_ENTRIES: usize = 20_000_000;
/// Runs at a point while the search is still far.
const COARSE: u64 = 30;
/// A search ends where the next point is this close, in parts of it.
const SETTLED: f64 = 0.03;

/// The schema of a study's plan.
pub const STUDY: &str = "dpglm.study/1";

/// What a study would give, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyDocument {
    schema: String,
    /// The number of rows.
    pub rows: usize,
    /// The privacy loss.
    pub epsilon: f64,
    delta: f64,
    /// Expected squared l2 error.
    pub error: f64,
    standard_error: f64,
    /// Whether the point itself was simulated, or lies beyond what can be.
    simulated: bool,
    runs: u64,
    law: LawDocument,
    rates: Vec<RateDocument>,
    hopeless: bool,
    /// Whether `fit --intervals` can determine a coefficient; null where it has none to give.
    intervals: Option<bool>,
}

/// What is to be said of every such plan.
pub const STUDY_NOTE: &str = "Rates hold up to a constant; those named fitted come from simulation. Real rows may be harder than simulated ones.";

/// `sampling/n + noise/(n mu)^2`, both constants fitted to simulation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LawDocument {
    fitted_sampling: f64,
    fitted_noise: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RateDocument {
    theorem: String,
    bound: String,
    /// With a constant of 1.
    rate: f64,
    /// What the rate is to be multiplied by to give the simulated error.
    fitted_constant: f64,
}

impl Question {
    /// Simulates, and gives the third of rows, epsilon and error. `say` is told what the user should know beside.
    pub fn answer(
        &self,
        say: &mut dyn FnMut(&Message),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Answer, Failure> {
        let problem = self.problem()?;
        if self.runs < 2 {
            return Err(Failure::Usage(Message::new(
                "{} must be at least 2, to know how far errors scatter",
                &[&Parameter::Runs],
            )));
        }
        let mut simulation = Simulation {
            problem,
            runs: self.runs,
            cache: Cache::open(self.cache.clone()),
            points: Vec::new(),
            progress,
        };
        let (rows, epsilon) = match (self.rows, self.epsilon, self.error) {
            (Some(rows), Some(epsilon), None) => (rows, epsilon),
            (None, Some(epsilon), Some(error)) => (simulation.find_rows(error, epsilon)?, epsilon),
            (Some(rows), None, Some(error)) => (rows, simulation.find_epsilon(error, rows)?),
            _ => {
                return Err(Failure::Usage(Message::new(
                    "give two of {}, {} and {}: the third is what is looked for",
                    &[&Parameter::Rows, &Parameter::Epsilon, &Parameter::Error],
                )));
            }
        };
        let (law, point, simulated) = simulation.around(rows, epsilon)?;
        let at = problem.setting(rows, epsilon)?;
        let rates = problem.rates(&at);
        let hopeless = problem.is_hopeless(rows, epsilon)?;
        if hopeless {
            say(&Message::from(format!(
                "warning: by {} the price of privacy alone exceeds what is to be found, up to a constant: no private method can \
             work here; plan for more rows, more epsilon, or fewer columns",
                rates[1].0
            )));
        } else if point.error > 0.5 * problem.signal() {
            say(&"warning: the error is of the size of what is to be found: the fit would say little".into());
        }
        let document = StudyDocument {
            schema: STUDY.into(),
            rows,
            epsilon,
            delta: self.delta,
            error: point.error,
            standard_error: point.standard_error,
            simulated,
            runs: self.runs,
            law: LawDocument { fitted_sampling: law.sampling, fitted_noise: law.noise },
            rates: rates
                .into_iter()
                .zip(["a method reaches", "no method beats"])
                .map(|((theorem, rate), bound)| RateDocument {
                    theorem: theorem.into(),
                    bound: bound.into(),
                    rate,
                    fitted_constant: point.error / rate,
                })
                .collect(),
            hopeless,
            intervals: problem.determines_any(rows, epsilon)?,
        };
        Ok(Answer { document, law, points: simulation.points })
    }

    /// The model with the bounds that go with it; others are refused.
    fn model_name_and_bounds(&self) -> Result<PlannedModel, Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        if self.model != ModelName::Poisson && self.mean_count.is_some() {
            return refuse(Message::new(
                "{} goes with {} poisson: leave it out",
                &[&Parameter::MeanCount, &Parameter::Model],
            ));
        }
        match (self.model, self.feature_bounds, self.target_bounds) {
            (ModelName::Mean, Some(range), None) => Ok(PlannedModel::Mean { range }),
            (ModelName::Linear, None, Some(target)) => Ok(PlannedModel::Linear { target }),
            (ModelName::Logistic, None, None) => Ok(PlannedModel::Logistic),
            (ModelName::Poisson, None, Some(target)) => match self.mean_count {
                Some(level) => Ok(PlannedModel::Poisson { target, level }),
                None => refuse(Message::new(
                    "{} poisson needs {}: the count to expect of a row whose features are in the middle of their bounds",
                    &[&Parameter::Model, &Parameter::MeanCount],
                )),
            },
            (ModelName::Mean, None, _) => refuse(Message::new(
                "{} mean needs {} and no other bounds",
                &[&Parameter::Model, &Piece::Bounds(Parameter::FeatureBounds)],
            )),
            (ModelName::Mean, Some(_), Some(_)) => refuse(Message::new(
                "{} goes with {} linear and poisson: a mean has no target; leave it out",
                &[&Parameter::TargetBounds, &Parameter::Model],
            )),
            (ModelName::Linear | ModelName::Poisson, _, None) => refuse(Message::new(
                "{} linear and poisson need {}; their features are taken in [-1, 1]",
                &[&Parameter::Model, &Piece::Bounds(Parameter::TargetBounds)],
            )),
            (_, Some(_), _) => refuse(Message::new(
                "{} goes with {} mean: the features of others are taken in [-1, 1]; leave it out",
                &[&Parameter::FeatureBounds, &Parameter::Model],
            )),
            (ModelName::Logistic, None, Some(_)) => refuse(Message::new(
                "{} goes with {} linear and poisson: a binary target has none; leave it out",
                &[&Parameter::TargetBounds, &Parameter::Model],
            )),
        }
    }

    fn problem(&self) -> Result<Problem, Failure> {
        let model = self.model_name_and_bounds()?;
        if matches!(self.model, ModelName::Logistic | ModelName::Poisson) && self.sigma.is_some() {
            return Err(Failure::Usage(Message::new(
                "{} goes with {} mean and linear: a binary response or a count has no other spread; leave it out",
                &[&Parameter::Sigma, &Parameter::Model],
            )));
        }
        let problem = Problem {
            model,
            columns: self.columns,
            sparsity: self.sparsity,
            delta: self.delta,
            sigma: self.sigma.unwrap_or(1.0),
        };
        problem.validate()?;
        if self.error.is_some_and(|error| !(error.is_finite() && error > 0.0)) {
            return Err(Failure::Usage(Message::new(
                "{} must be a finite number above 0: a squared l2 error",
                &[&Parameter::Error],
            )));
        }
        Ok(problem)
    }
}

/// The errors of several simulated fits, one on each core.
fn at_once(simulator: &Simulator, seeds: std::ops::Range<u64>) -> Result<Vec<f64>, Failure> {
    std::thread::scope(|scope| {
        let running: Vec<_> = seeds.map(|seed| scope.spawn(move || simulator.error(seed))).collect();
        let join = |fit: std::thread::ScopedJoinHandle<'_, dpglm::Result<f64>>| -> Result<f64, Failure> {
            Ok(fit.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)
        };
        running.into_iter().map(join).collect()
    })
}

/// Simulated points, as many as were needed.
struct Simulation<'p> {
    problem: Problem,
    runs: u64,
    cache: Cache,
    points: Vec<Point>,
    progress: &'p mut dyn FnMut(u64, u64),
}

impl Simulation<'_> {
    fn most_rows(&self) -> usize {
        (MOST_ENTRIES / self.problem.columns).max(100)
    }

    /// Simulates a point, unless it was simulated before.
    fn point(&mut self, rows: usize, epsilon: f64) -> Result<Point, Failure> {
        if let Some(known) = self.points.iter().find(|p| p.rows == rows && p.epsilon == epsilon) {
            return Ok(*known);
        }
        let key = format!("{} {:?} rows {rows} epsilon {epsilon}", env!("CARGO_PKG_VERSION"), self.problem);
        let mut errors = self.cache.read(&key);
        errors.truncate(self.runs as usize);
        if (errors.len() as u64) < self.runs {
            let simulator = self.problem.simulator(rows, epsilon)?;
            let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
            for seed in (errors.len() as u64..self.runs).step_by(cores as usize) {
                let seeds = seed..self.runs.min(seed + cores);
                errors.extend(at_once(&simulator, seeds.clone())?);
                (self.progress)(seeds.end, self.runs);
            }
        }
        self.cache.write(&key, &errors);
        let point = self.problem.summary(rows, epsilon, &errors);
        self.points.push(point);
        Ok(point)
    }

    /// The law about a point, the error there, and whether it was simulated there.
    fn around(&mut self, rows: usize, epsilon: f64) -> Result<(Law, Point, bool), Failure> {
        let near = rows.min(self.most_rows());
        let point = self.point(near, epsilon)?;
        // Half and twice the noise tell its part of the error from the sampling's.
        self.point(near, 2.0 * epsilon)?;
        self.point((near / 2).max(20), epsilon)?;
        let law = Law::fit(&self.points, self.problem.delta);
        if near == rows {
            return Ok((law, point, true));
        }
        // Beyond what can be simulated the law is passed through the farthest point that was.
        let factor = law.error(rows as f64, epsilon) / law.error(near as f64, epsilon);
        let (error, standard_error) = (point.error * factor, point.standard_error * factor);
        Ok((law, Point { rows, epsilon, error, standard_error }, false))
    }

    /// Looks with few runs at a point until it settles, then with all of them.
    fn settle(&mut self, mut look: impl FnMut(&mut Self) -> Result<bool, Failure>) -> Result<(), Failure> {
        let all = self.runs;
        for (runs, looks) in [(all.min(COARSE), 10), (all, 3)] {
            self.runs = runs;
            self.points.clear();
            for _ in 0..looks {
                if look(self)? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn find_rows(&mut self, error: f64, epsilon: f64) -> Result<usize, Failure> {
        let mut rows = (20 * self.problem.columns).clamp(200, self.most_rows());
        self.settle(|this| {
            let (law, point, _) = this.around(rows, epsilon)?;
            // The law through the point itself: its shape, not its level.
            let wanted = error * law.error(rows as f64, epsilon) / point.error;
            let Some(next) = law.rows(wanted, epsilon) else {
                return Err(Failure::Failed(format!(
                    "no number of rows up to 10^12 brings the error to {error} at epsilon {epsilon}: ask for a larger error"
                ).into()));
            };
            // A law far from its points is no guide, and large tables take long.
            let next = (next.ceil() as usize).clamp(20, rows.saturating_mul(4));
            let settled = (next as f64 / rows as f64 - 1.0).abs() < SETTLED;
            rows = next;
            let (low, high) = (rows / 8, rows.saturating_mul(8));
            this.points.retain(|p| p.rows >= low && p.rows <= high);
            Ok(settled)
        })?;
        Ok(rows)
    }

    fn find_epsilon(&mut self, error: f64, rows: usize) -> Result<f64, Failure> {
        let mut epsilon = 1.0;
        self.settle(|this| {
            let (law, point, _) = this.around(rows, epsilon)?;
            let wanted = error * law.error(rows as f64, epsilon) / point.error;
            let Some(next) = law.epsilon(wanted, rows as f64) else {
                return Err(Failure::Failed(format!(
                    "no epsilon up to 100 brings the error to {error} with {rows} rows: most of it is sampling error, so plan \
                     for more rows"
                ).into()));
            };
            // Three digits: a plan is no more exact, and cached points are found again.
            let next: f64 = format!("{next:.2e}").parse().unwrap_or(next);
            let settled = (next / epsilon - 1.0).abs() < SETTLED;
            epsilon = next;
            this.points.retain(|p| p.epsilon >= epsilon / 8.0 && p.epsilon <= epsilon * 8.0);
            Ok(settled)
        })?;
        Ok(epsilon)
    }
}

impl StudyDocument {
    /// What was found, with its name, a line each.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let how = if self.simulated {
            format!("{} simulated fits", self.runs)
        } else {
            "the fitted law: so many rows are not simulated".into()
        };
        let mut rows = vec![
            vec!["rows".into(), self.rows.to_string()],
            vec!["epsilon".into(), render::rounded_up(self.epsilon)],
            vec!["delta".into(), render::rounded_up(self.delta)],
            vec![
                "squared l2 error".into(),
                format!("{:.4} (s.e. {:.4}), by {how}", self.error, self.standard_error),
            ],
        ];
        for rate in &self.rates {
            rows.push(vec![
                format!("what {}", rate.bound),
                format!(
                    "{:.3e} by {}; fitted constant {:.2e}",
                    rate.rate, rate.theorem, rate.fitted_constant
                ),
            ]);
        }
        rows.push(vec![
            "fitted law".into(),
            format!("{:.3}/n + {:.3}/(n mu)^2", self.law.fitted_sampling, self.law.fitted_noise),
        ]);
        if let Some(any) = self.intervals {
            let words = match any {
                true => "yes, but for columns that hardly vary or repeat others",
                false => {
                    "none: no coefficient can be determined; more rows, a larger epsilon or fewer columns help"
                }
            };
            rows.push(vec!["intervals of a fit".into(), words.into()]);
        }
        rows
    }

    /// In words.
    pub fn table(&self) -> String {
        format!("{}\n{STUDY_NOTE}\n", render::table(&self.lines()))
    }
}
