//! What noisy iterative hard thresholding makes small: the loss of a likelihood, or one of the caller's own.

use super::glm::Glm;
use super::loss::LossModel;
use super::start::Start;
use crate::accounting::Certificate;
use crate::data::Dataset;
use crate::error::Result;
use crate::families::BoundedScore;
use crate::release::{PlannedRelease, Privacy, ReleaseSession};

/// What is made small.
#[derive(Debug, Clone, PartialEq)]
pub enum Objective {
    /// The loss of a likelihood, from a start that is released.
    Likelihood(Glm),
    /// A smooth loss, from zero.
    Loss(LossModel),
}

impl From<Glm> for Objective {
    fn from(model: Glm) -> Self {
        Objective::Likelihood(model)
    }
}

impl From<LossModel> for Objective {
    fn from(model: LossModel) -> Self {
        Objective::Loss(model)
    }
}

impl Objective {
    /// Whether the first column is constant 1.
    pub(super) fn intercept(&self) -> bool {
        match self {
            Objective::Likelihood(model) => model.intercept,
            Objective::Loss(model) => model.intercept,
        }
    }

    pub(super) fn takes_exposures(&self) -> bool {
        matches!(self, Objective::Likelihood(model) if model.takes_exposures())
    }

    /// The releases of the start.
    pub(super) fn start_planned(&self, units: usize, privacy: Privacy) -> Result<Vec<PlannedRelease>> {
        match self {
            Objective::Likelihood(model) => model.start_planned(units, privacy),
            Objective::Loss(_) => Ok(Vec::new()),
        }
    }

    /// Where to start, and the responses, both measured from [`Self::middle`].
    pub(super) fn start(
        &self,
        data: &Dataset,
        session: &mut ReleaseSession<'_>,
    ) -> Result<(Start, Vec<f64>)> {
        match self {
            Objective::Likelihood(model) => {
                let response = model.admitted(data);
                let start = model.start(data, &response, session)?;
                let (start, response) = model.measured(start, &response);
                Ok((start, response.into_owned()))
            }
            Objective::Loss(model) => Ok((model.start(), model.responses(data))),
        }
    }

    /// What multiplies a row in the gradient, bounded.
    pub(super) fn score(&self, start: Start) -> Result<BoundedScore<'_>> {
        match self {
            Objective::Likelihood(model) => model.family.bounded(start.cap),
            Objective::Loss(model) => Ok(model.score()),
        }
    }

    /// The curvature that steps are planned with.
    pub(super) fn curvature(&self, base: f64) -> f64 {
        match self {
            Objective::Likelihood(model) => model.family.slope_near(base),
            Objective::Loss(model) => model.curvature(),
        }
    }

    /// What the intercept is measured from.
    pub(super) fn middle(&self) -> f64 {
        match self {
            Objective::Likelihood(model) => model.middle(),
            Objective::Loss(model) => model.middle(),
        }
    }

    /// The certificate with what a promise about code of the caller's own rests on.
    pub(super) fn provided_for(&self, certificate: Certificate) -> Certificate {
        match self {
            Objective::Likelihood(model) => model.family.provided_for(certificate),
            Objective::Loss(model) => model.provided_for(certificate),
        }
    }
}
