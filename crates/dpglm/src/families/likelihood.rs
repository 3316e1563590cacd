//! Likelihoods: the response's domain, and the score of a row at its linear predictors.

use crate::data::range::require_interval;
use crate::error::{Error, Parameter, Result};
use serde::{Deserialize, Serialize};

/// How responses depend on linear predictors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Likelihood {
    /// A real response within public bounds.
    Gaussian {
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// A response of 0 or 1.
    Logistic,
    /// A count within public bounds, perhaps with an exposure.
    Poisson {
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// A class, numbered from 0; class 0 is the reference.
    Multinomial {
        /// How many there are.
        classes: usize,
    },
}

impl Likelihood {
    /// Whether the response has a scale that is not known beforehand.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self, Likelihood::Gaussian { .. } | Likelihood::Poisson { .. })
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let (low, high, least) = match *self {
            Likelihood::Gaussian { low, high } => (low, high, f64::NEG_INFINITY),
            Likelihood::Poisson { low, high } => (low, high, 0.0),
            Likelihood::Logistic => return Ok(()),
            Likelihood::Multinomial { classes } if (2..=1000).contains(&classes) => return Ok(()),
            Likelihood::Multinomial { classes } => {
                return Err(Error::OutOfRange {
                    parameter: Parameter::NumberOfClasses,
                    range: "from 2 to 1000",
                    value: classes.to_string(),
                    remedy: "declare the response's levels",
                });
            }
        };
        require_interval(Parameter::TargetBounds, (low, high), "declare the public range of the response")?;
        if low >= least {
            return Ok(());
        }
        Err(Error::OutOfRange {
            parameter: Parameter::TargetBounds,
            range: "at least 0 for counts",
            value: format!("[{low}, {high}]"),
            remedy: "declare the smallest and the largest count a row may have",
        })
    }

    /// The nearest value of the response's domain: the public rule for a value outside it.
    pub(crate) fn admit(&self, y: f64) -> f64 {
        match *self {
            Likelihood::Gaussian { low, high } => {
                if y.is_nan() {
                    0.5 * (low + high)
                } else {
                    y.clamp(low, high)
                }
            }
            Likelihood::Logistic => f64::from(u8::from(y >= 0.5)),
            Likelihood::Poisson { low, high } => {
                if y.is_nan() {
                    low
                } else {
                    y.clamp(low, high)
                }
            }
            Likelihood::Multinomial { classes } => {
                if y >= 0.0 && y < classes as f64 {
                    y.floor()
                } else {
                    0.0
                }
            }
        }
    }

    /// Whether the size of a score is the residual's own; else it bounds that of any response.
    pub(crate) fn own_size(&self) -> bool {
        self.is_real()
    }

    /// Writes the residuals of a row at linear predictors, of which there may be several, each counted from its base. They and the
    /// answer are finite. `offset` is the logarithm of the row's exposure.
    #[inline]
    pub(crate) fn score(
        &self,
        (y, offset): (f64, f64),
        base: &[f64],
        predictors: &[f64],
        residuals: &mut [f64],
    ) -> RowScore {
        match self {
            Likelihood::Gaussian { .. } => {
                residuals[0] = finite(y - (predictors[0] + base[0]));
                RowScore { size: residuals[0].abs(), slope: 1.0 }
            }
            Likelihood::Logistic => {
                let u = finite(predictors[0] + base[0]).clamp(-40.0, 40.0);
                let p = 1.0 / (1.0 + (-u).exp());
                residuals[0] = y - p;
                RowScore { size: p.max(1.0 - p), slope: p * (1.0 - p) }
            }
            Likelihood::Poisson { .. } => {
                let u = finite(predictors[0] + base[0]).clamp(-30.0, 8.0);
                let mean = u.exp() * offset.exp();
                residuals[0] = y - mean;
                RowScore { size: residuals[0].abs(), slope: mean }
            }
            Likelihood::Multinomial { .. } => {
                for ((p, u), base) in residuals.iter_mut().zip(predictors).zip(base) {
                    *p = finite(u + base);
                }
                let largest = residuals.iter().fold(f64::NEG_INFINITY, |m, u| m.max(*u));
                residuals.iter_mut().for_each(|u| *u = (*u - largest).exp());
                let total: f64 = residuals.iter().sum();
                let (mut squares, mut least) = (0.0, 1.0_f64);
                for p in residuals.iter_mut() {
                    *p /= total;
                    squares += *p * *p;
                    least = least.min(*p);
                }
                let worst = (1.0 - 2.0 * least + squares).max(0.0).sqrt();
                let mut own = 0.0;
                for (class, p) in residuals.iter_mut().enumerate() {
                    *p = f64::from(u8::from(class as f64 == y)) - *p;
                    own += *p * *p;
                }
                // The own norm is no larger but for rounding.
                RowScore { size: worst.max(own.sqrt()), slope: 1.0 - squares }
            }
        }
    }
}

/// What a likelihood says of one row at given linear predictors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowScore {
    /// A bound on the l2 norm of the row's residuals.
    pub size: f64,
    /// The slope of the residuals in the predictors, its trace where there are several.
    pub slope: f64,
}

/// Not a number, which only a predictor out of range can be, counts as zero.
fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(-1e100, 1e100) }
}
