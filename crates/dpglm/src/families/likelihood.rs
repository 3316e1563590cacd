//! Likelihoods: a family with the public bounds of its response, and the score of a row at its linear predictors.

use super::{Domain, Family, multinomial};
use crate::data::range::require_interval;
use crate::error::{Error, Parameter, Result};
use serde::{Deserialize, Serialize};

/// How responses depend on linear predictors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Likelihood {
    /// A response with one linear predictor.
    Single {
        /// How it depends on its predictor.
        family: Family,
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// A class, numbered from 0, with one linear predictor each; class 0 is the reference.
    Multinomial {
        /// How many there are.
        classes: usize,
    },
}

impl Likelihood {
    /// A response of this family within public bounds (0 and 1 for a binary one).
    pub fn new(family: Family, (low, high): (f64, f64)) -> Self {
        Self::Single { family, low, high }
    }

    /// A real response within public bounds, its mean the linear predictor.
    pub fn gaussian(low: f64, high: f64) -> Self {
        Self::new(Family::gaussian(), (low, high))
    }

    /// A response of 0 or 1.
    pub fn logistic() -> Self {
        Self::new(Family::logistic(), (0.0, 1.0))
    }

    /// A count within public bounds, perhaps with an exposure.
    pub fn poisson(low: f64, high: f64) -> Self {
        Self::new(Family::poisson(), (low, high))
    }

    /// The values of the response.
    pub fn domain(&self) -> Domain {
        match self {
            Self::Single { family, .. } => family.domain(),
            Self::Multinomial { classes } => Domain::Classes(*classes),
        }
    }

    /// The family, of one linear predictor.
    pub fn family(&self) -> Option<&Family> {
        match self {
            Self::Single { family, .. } => Some(family),
            Self::Multinomial { .. } => None,
        }
    }

    /// The public bounds of the response.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        match *self {
            Self::Single { low, high, .. } => (low, high),
            Self::Multinomial { classes } => (0.0, classes as f64 - 1.0),
        }
    }

    /// The same within other bounds.
    pub(crate) fn within(&self, bounds: (f64, f64)) -> Self {
        match self {
            Self::Single { family, .. } => Self::new(family.clone(), bounds),
            Self::Multinomial { .. } => self.clone(),
        }
    }

    /// The directions among the predictors in which coefficients can differ.
    pub(crate) fn directions(&self) -> usize {
        match self {
            Self::Single { .. } => 1,
            Self::Multinomial { classes } => classes - 1,
        }
    }

    /// Whether the mean is the linear predictor itself.
    pub(crate) fn is_linear(&self) -> bool {
        self.family().is_some_and(|family| family.is_linear())
    }

    /// The linear predictor of a mean; zero if the family cannot tell.
    pub(crate) fn link(&self, mean: f64) -> f64 {
        self.family().and_then(|family| family.link(mean)).unwrap_or(0.0)
    }

    /// The slope of the mean, of one linear predictor.
    pub(crate) fn mean_slope(&self, predictor: f64) -> f64 {
        self.family().map_or(1.0, |family| family.mean_slope(predictor))
    }

    /// Whether an exposure multiplies the mean.
    pub(crate) fn takes_exposures(&self) -> bool {
        self.family().is_some_and(|family| family.takes_exposures())
    }

    /// Whether the response has a scale that is not known beforehand.
    pub(crate) fn is_real(&self) -> bool {
        self.domain().has_scale()
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let (low, high) = match self {
            Self::Single { family, low, high } => {
                family.require_one_predictor()?;
                (*low, *high)
            }
            Self::Multinomial { classes } if (2..=1000).contains(classes) => return Ok(()),
            Self::Multinomial { classes } => {
                return Err(Error::OutOfRange {
                    parameter: Parameter::NumberOfClasses,
                    range: "from 2 to 1000",
                    value: classes.to_string(),
                    remedy: "declare the response's levels",
                });
            }
        };
        require_interval(Parameter::TargetBounds, (low, high), "declare the public range of the response")?;
        if low >= self.domain().least() {
            return Ok(());
        }
        Err(Error::OutOfRange {
            parameter: Parameter::TargetBounds,
            range: if self.domain() == Domain::Positive {
                "above 0 for amounts above 0"
            } else {
                "at least 0 for counts and amounts"
            },
            value: format!("[{low}, {high}]"),
            remedy: "declare the smallest and the largest value a row may have",
        })
    }

    /// The nearest value of the response's domain: the public rule for a value outside it.
    pub(crate) fn admit(&self, y: f64) -> f64 {
        self.domain().admit(y, self.bounds())
    }

    /// The squared distance of a response from its mean in units of its variance, up to the dispersion; zero of classes. It is finite and not
    /// below zero, whatever a family says.
    pub(crate) fn pearson(&self, (y, offset): (f64, f64), predictor: f64) -> f64 {
        let Some(family) = self.family() else { return 0.0 };
        let mean = family.mean(finite(predictor) + if family.takes_exposures() { offset } else { 0.0 });
        finite((y - mean) * (y - mean) / family.variance(mean)).max(0.0)
    }

    /// Whether a dispersion can differ from what the mean says.
    pub(crate) fn has_dispersion(&self) -> bool {
        self.is_real()
    }

    /// How large scores are beside those of a logit, of a binary response at even chances; 1 for all others.
    pub(crate) fn score_scale(&self) -> f64 {
        match self.family() {
            Some(family) if family.domain() == Domain::Binary => {
                let even = family.link(0.5).unwrap_or(0.0);
                2.0 * family.likelihood_score((0.0, 0.0), even).1.slope.max(1e-6).sqrt()
            }
            _ => 1.0,
        }
    }

    /// Whether the size of a score is the residual's own; else it bounds that of any response.
    pub(crate) fn own_size(&self) -> bool {
        self.is_real()
    }

    /// Writes the residuals of a row at linear predictors, of which there may be several, each counted from its base. They and the
    /// answer are finite, and no residual is larger than the size, whatever a family says. `offset` is the logarithm of the row's
    /// exposure.
    #[inline]
    pub(crate) fn score(
        &self,
        (y, offset): (f64, f64),
        base: &[f64],
        predictors: &[f64],
        residuals: &mut [f64],
    ) -> RowScore {
        match self {
            Self::Single { family, .. } => {
                let (residual, RowScore { size, slope }) =
                    family.likelihood_score((y, offset), predictors[0] + base[0]);
                residuals[0] = finite(residual);
                RowScore { size: finite(size).max(residuals[0].abs()), slope: finite(slope).max(0.0) }
            }
            Self::Multinomial { .. } => multinomial::likelihood_score(y, base, predictors, residuals),
        }
    }
}

/// What a likelihood says of one row at given linear predictors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowScore {
    /// A bound on the l2 norm of the row's residuals.
    pub size: f64,
    /// The slope of the residuals in the predictors, its trace where there are several.
    pub slope: f64,
}

/// Not a number, which only a predictor out of range can be, counts as zero.
pub(super) fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(-1e100, 1e100) }
}
