//! The response of a sparse model: its public domain, and the cap on its score.
//!
//! A real response needs a cap on its residuals. It is public, or the median of the absolute responses, found privately on a
//! small share of the budget. At coefficients zero the residuals are the responses themselves, and half of them are capped; the
//! scores of the others still point the right way, and noise is proportional to the cap.

use super::purse::{Planned, Privacy, Purse};
use crate::error::{Error, Result, require_positive};
use crate::families::Family;
use crate::mechanisms::Candidates;

const CAP: &str = "residual cap";

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
        if !(low < high && (high - low).is_finite()) {
            return Err(Error::OutOfRange {
                parameter: "target bounds",
                range: "two finite numbers, the lower first",
                value: format!("[{low}, {high}]"),
                remedy: "declare the public range of the response",
            });
        }
        Ok(Self { family: Family::Gaussian, low, high, cap: None })
    }

    /// A binary response.
    pub(crate) fn binary() -> Self {
        Self { family: Family::Logistic, low: 0.0, high: 1.0, cap: None }
    }

    pub(crate) fn is_real(&self) -> bool {
        matches!(self.family, Family::Gaussian)
    }

    /// Sets the cap on the residuals of a real response.
    pub(crate) fn set_cap(&mut self, cap: f64) -> Result<()> {
        if !self.is_real() {
            return Err(Error::Conflict(
                "a binary response has residuals of at most 1: set no residual cap".into(),
            ));
        }
        self.cap = Some(require_positive("residual cap", cap, "about the size of a typical response")?);
        Ok(())
    }

    /// The nearest value of the domain: the public rule for a response outside it.
    pub(crate) fn admit(&self, y: f64) -> f64 {
        self.family.admit(y).clamp(self.low, self.high)
    }

    /// The largest size of an admitted response.
    pub(crate) fn reach(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn candidates(&self) -> Result<Candidates> {
        Candidates::positive_geometric(self.reach() * 2f64.powi(-16), self.reach(), 8)
    }

    /// The release of the cap, if it has to be found.
    pub(crate) fn planned(&self, units: usize, privacy: Privacy) -> Result<Option<Planned>> {
        if !self.is_real() || self.cap.is_some() {
            return Ok(None);
        }
        Ok(Some(Planned::quantiles(CAP, self.candidates()?, 1, units, privacy)))
    }

    /// The cap: public, or released now. 1/2 for a binary response, whose score is bounded by itself.
    pub(crate) fn release_cap(&self, response: &[f64], purse: &mut Purse<'_>) -> Result<f64> {
        if !self.is_real() {
            return Ok(0.5);
        }
        match self.cap {
            Some(cap) => Ok(cap),
            None => {
                let sizes: Vec<f64> = response.iter().map(|y| y.abs()).collect();
                purse.quantile(CAP, &sizes, self.candidates()?, 0.5)
            }
        }
    }
}
