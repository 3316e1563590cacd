//! The response of a sparse model: its public domain, and the cap on its score.
//!
//! A real response needs a cap on its residuals. It is public, or the median of the responses' distances from zero or from the
//! middle of their bounds, whichever is nearer, found privately on a small share of the budget. At coefficients zero the residuals are the
//! responses themselves, and half of them or more are capped; their scores still point the right way, and noise is proportional
//! to the cap. Far from zero, as in years, distances from zero alone would make the cap, and the noise, as large as the year.

use crate::data::range::{require_interval, require_magnitude};
use crate::error::{Error, Parameter, Result};
use crate::families::{Domain, Family};
use crate::mechanisms::Candidates;
use crate::release::{Chosen, Handle, PlannedRelease, Privacy, ReleaseSession};

const CAP: Handle<Chosen> = Handle::new("residual cap");

/// What the response is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Response {
    pub family: Family,
    low: f64,
    high: f64,
    cap: Option<f64>,
}

impl Response {
    /// A real response in a public interval.
    pub(crate) fn linear((low, high): (f64, f64)) -> Result<Self> {
        require_interval(Parameter::TargetBounds, (low, high), "declare the public range of the response")?;
        Ok(Self { family: Family::gaussian(), low, high, cap: None })
    }

    /// A binary response.
    pub(crate) fn binary() -> Self {
        Self { family: Family::logistic(), low: 0.0, high: 1.0, cap: None }
    }

    pub(crate) fn is_real(&self) -> bool {
        self.family.domain() == Domain::Real
    }

    /// Sets the cap on the residuals of a real response.
    pub(crate) fn set_cap(&mut self, cap: f64) -> Result<()> {
        if !self.is_real() {
            return Err(Error::Conflict(
                "a binary response has residuals of at most 1: set no residual cap".into(),
            ));
        }
        self.cap = Some(require_magnitude(
            Parameter::ResidualCap,
            cap,
            "give about the size of a typical response",
        )?);
        Ok(())
    }

    /// The nearest value of the domain: the public rule for a response outside it.
    pub(crate) fn admit(&self, y: f64) -> f64 {
        self.family.admit_within(y, (self.low, self.high))
    }

    /// The largest size of an admitted response.
    pub(crate) fn reach(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Half the width of the bounds: the largest cap that is looked for.
    pub(crate) fn spread(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    fn candidates(&self) -> Result<Candidates> {
        Candidates::positive_geometric(self.spread() * 2f64.powi(-16), self.spread(), 8)
    }

    /// The release of the cap, if it has to be found.
    pub(crate) fn planned(&self, units: usize, privacy: Privacy) -> Result<Option<PlannedRelease>> {
        if !self.is_real() || self.cap.is_some() {
            return Ok(None);
        }
        Ok(Some(CAP.planned_quantiles(self.candidates()?, 1, units, privacy)))
    }

    /// The cap: public, or released now. 1/2 for a binary response, whose score is bounded by itself.
    pub(crate) fn release_cap(&self, response: &[f64], session: &mut ReleaseSession<'_>) -> Result<f64> {
        if !self.is_real() {
            return Ok(0.5);
        }
        match self.cap {
            Some(cap) => Ok(cap),
            None => {
                let middle = self.low / 2.0 + self.high / 2.0;
                let sizes: Vec<f64> = response.iter().map(|y| y.abs().min((y - middle).abs())).collect();
                session.quantile(CAP, &sizes, self.candidates()?, 0.5)
            }
        }
    }
}
