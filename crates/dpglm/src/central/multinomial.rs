//! Multinomial (softmax) regression by the same noisy descent as [`super::glm`], all classes at once.
//!
//! # Algorithm
//! As for [`super::glm`], with one linear predictor per class after the first, the bounded score of
//! [`crate::families::multinomial`], and the preconditioner of the features combined with the curvature among classes at equal
//! probabilities.
//!
//! # Guarantee
//! As there: replacement of one unit, for every data set. The gradient of a row is the outer product of its score, of l2 norm at
//! most the cap, and the weighted row, so its norm is at most `cap * weight * norm(row)`.

use super::descent::{Descent, Drive};
use super::glm::{AVERAGED, BURN_IN, moments_share, push_gradients};
use super::moments::{self, TRACE};
use super::weighting;
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::data::Shape;
use crate::data::range::require_penalty;
use crate::error::{Error, Parameter, Result};
use crate::families::multinomial::{bounded_score, cap};
use crate::release::{
    CalibratedPlan, Estimator, Handle, PlannedRelease, Prepared, Privacy, Progress, ReleaseSession, Vector,
    require_shape,
};

const MOMENTS: Handle<Vector> = Handle::new("moments of the features");

/// Private multinomial regression. Responses are class numbers from 0; class 0 is the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Multinomial {
    pub(super) classes: usize,
    pub(super) intercept: bool,
    ridge: f64,
}

/// A fitted multinomial model.
#[derive(Debug, Clone, PartialEq)]
pub struct MultinomialFit {
    /// For each class after the first, one coefficient per column of the design.
    pub coefficients: Vec<Vec<f64>>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

impl Multinomial {
    /// A model of this many classes, whose names and order are public.
    pub fn new(classes: usize) -> Result<Self> {
        if !(2..=1000).contains(&classes) {
            return Err(Error::OutOfRange {
                parameter: Parameter::NumberOfClasses,
                range: "from 2 to 1000",
                value: classes.to_string(),
                remedy: "declare the response's levels",
            });
        }
        Ok(Self { classes, intercept: false, ridge: 0.0 })
    }

    /// The design's first column is constant 1.
    pub fn with_intercept(mut self) -> Self {
        self.intercept = true;
        self
    }

    /// Adds `ridge/2 * norm(coefficients)^2` to the mean loss (intercepts are not penalised).
    pub fn ridge(mut self, ridge: f64) -> Result<Self> {
        self.ridge = require_penalty(Parameter::Ridge, ridge)?;
        Ok(self)
    }

    /// Every release, with its share of the budget. Public quantities only.
    pub(super) fn plan(&self, columns: usize, units: usize, privacy: Privacy) -> Result<Vec<PlannedRelease>> {
        let share = moments_share(columns, units, privacy).clamp(0.01, 0.10);
        let mut plan = weighting::planned(columns, self.intercept, units, privacy)?;
        plan.push(MOMENTS.planned(share, 1));
        push_gradients(&mut plan);
        Ok(plan)
    }
}

impl Estimator for Multinomial {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = MultinomialFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units, .. } = shape;
        require_shape(columns, units)?;
        shape.require_unweighted(false)?;
        let calibration = CalibratedPlan::new(self.plan(columns, units, privacy)?, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<MultinomialFit> {
        let response = self.admitted(data);
        let coefficients = self.descend(data, &response, &mut session, progress)?;
        let certificate = Multinomial::enforced(session.close(data.adjacency()));
        Ok(MultinomialFit { coefficients, certificate })
    }
}

impl Multinomial {
    /// The classes; a label outside its domain counts as the reference class.
    pub(super) fn admitted(&self, data: &Dataset) -> Vec<usize> {
        let admit = |y: f64| if y >= 0.0 && y < self.classes as f64 { y as usize } else { 0 };
        data.response().iter().map(|&y| admit(y)).collect()
    }

    /// Notes what a descent enforces.
    pub(super) fn enforced(certificate: Certificate) -> Certificate {
        certificate
            .enforcing("the rows of a unit are weighted so that their l2 norms sum to at most the released typical size")
            .enforcing("each row's score is bounded")
    }

    /// The coefficients of each class after the first.
    pub(super) fn descend(
        &self,
        data: &Dataset,
        response: &[usize],
        session: &mut ReleaseSession<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Vec<f64>>> {
        let classes = self.classes;
        let (d, outputs) = (data.design().columns(), classes - 1);
        let weighting = weighting::release(data, self.intercept, session)?;
        let trace = TRACE * weighting.size * weighting.size;
        let weight = |row: usize| weighting.weights[row];
        let features = moments::release(MOMENTS, data, &weighting, weight, trace, session)?;
        let descent = Descent {
            data,
            weighting: &weighting,
            outputs,
            ridge: self.ridge,
            intercept: self.intercept,
            radius: None,
            start: &vec![0.0; outputs * d],
            limit: 60.0 * (outputs as f64).sqrt() / weighting.size,
        };
        let mut iterate = vec![0.0; outputs * d];
        let mut average = Vec::new();
        let mut done = 0;
        for phase in [BURN_IN, AVERAGED] {
            let noise = session.noise_per_sensitivity(phase.what) * cap(classes) * 2.0 * weighting.size
                / data.units() as f64;
            // The curvature among classes is 1/K of that of the features in most directions.
            let variance = noise * noise * classes as f64;
            let drive = Drive { phase, ..features.drive(AVERAGED) }.calmed(variance);
            let score = |row: usize, u: &[f64], out: &mut [f64]| bounded_score(u, response[row], out);
            average = descent.run(&drive, &mut iterate, cap(classes), score, session, &mut || {
                done += 1;
                progress(done, BURN_IN.steps + AVERAGED.steps);
            })?;
        }
        Ok(weighting.coordinates.stored(&average).chunks_exact(d).map(<[f64]>::to_vec).collect())
    }
}
