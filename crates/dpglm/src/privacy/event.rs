//! What was released and with how much noise.

use crate::error::{Error, Parameter, Result, require_nonzero, require_positive};
use crate::privacy::budget::check_delta;
use serde::{Deserialize, Serialize};

/// The noise behind one release, with the sensitivity it hides.
///
/// Sensitivities are those of the *program*: a mechanism that rounds to a grid reports the enlarged value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Noise {
    /// A vector plus independent Gaussian noise.
    Gaussian {
        /// l2 sensitivity.
        sensitivity: f64,
        /// Standard deviation of each coordinate's noise.
        sigma: f64,
    },
    /// A vector plus independent Laplace noise.
    Laplace {
        /// l1 sensitivity.
        sensitivity: f64,
        /// Scale (mean absolute value) of each coordinate's noise.
        scale: f64,
    },
    /// One choice by the exponential mechanism, equivalently by the largest Gumbel-perturbed score. Its log-probability
    /// ratios lie in an interval of length `2 * sensitivity / scale` (bounded range).
    Selection {
        /// Largest change of any one score.
        sensitivity: f64,
        /// Scale of the Gumbel noise on the scores.
        scale: f64,
    },
    /// Any release whose log-probability ratios lie in [-epsilon, epsilon]: randomized response, report-noisy-max.
    Pure {
        /// The pure privacy loss.
        epsilon: f64,
    },
    /// Any release of which only a zero-concentrated guarantee is known.
    Zcdp {
        /// The zCDP parameter.
        rho: f64,
    },
    /// Any release of which only one point of its privacy curve is known: it is (epsilon, delta) private by itself.
    Approximate {
        /// The privacy loss.
        epsilon: f64,
        /// The failure probability.
        delta: f64,
    },
}

/// `count` releases with the same noise, each of which may depend on the earlier ones' outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "EventDocument", into = "EventDocument")]
pub struct Event {
    release: String,
    noise: Noise,
    count: u64,
}

/// Largest number of releases one event may stand for.
pub(crate) const MAX_COUNT: u64 = 1_000_000_000;

impl Event {
    /// An event of `count` equal releases. `release` says in a few words what left, for the certificate's reader.
    pub fn new(release: impl Into<String>, noise: Noise, count: u64) -> Result<Self> {
        noise.validate()?;
        require_nonzero(Parameter::Count, count, "an event stands for at least one release")?;
        if count > MAX_COUNT {
            return Err(Error::OutOfRange {
                parameter: Parameter::Count,
                range: "at most 1,000,000,000",
                value: count.to_string(),
                remedy: "group the releases into fewer, noisier ones",
            });
        }
        Ok(Self { release: release.into(), noise, count })
    }

    /// What left, in a few words.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The noise of each release.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// How many releases.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The same event with its noise multiplied by `factor`.
    pub(crate) fn with_noise_scaled(&self, factor: f64) -> Result<Self> {
        Self::new(self.release.clone(), self.noise.scaled(factor), self.count)
    }
}

impl Noise {
    /// The release's noise-to-sensitivity parameter, the only number accounting needs.
    pub(crate) fn intensity(&self) -> f64 {
        match *self {
            Noise::Gaussian { sensitivity, sigma } => sensitivity / sigma,
            Noise::Laplace { sensitivity, scale } => sensitivity / scale,
            Noise::Selection { sensitivity, scale } => 2.0 * (sensitivity / scale),
            Noise::Pure { epsilon } | Noise::Approximate { epsilon, .. } => epsilon,
            Noise::Zcdp { rho } => rho,
        }
    }

    fn validate(&self) -> Result<()> {
        let need_sensitivity = |value| {
            require_positive(
                Parameter::Sensitivity,
                value,
                "bound what one row can change, by clipping if need be",
            )
        };
        match *self {
            Noise::Gaussian { sensitivity, sigma } => {
                need_sensitivity(sensitivity)?;
                require_positive(
                    Parameter::Sigma,
                    sigma,
                    "no noise is no privacy; calibrate sigma from a budget",
                )?;
            }
            Noise::Laplace { sensitivity, scale } | Noise::Selection { sensitivity, scale } => {
                need_sensitivity(sensitivity)?;
                require_positive(
                    Parameter::Scale,
                    scale,
                    "no noise is no privacy; calibrate the scale from a budget",
                )?;
            }
            Noise::Pure { epsilon } => {
                require_positive(Parameter::Epsilon, epsilon, "state the release's own pure privacy loss")?;
            }
            Noise::Zcdp { rho } => {
                require_positive(Parameter::Rho, rho, "state the release's own zCDP parameter")?;
            }
            Noise::Approximate { epsilon, delta } => {
                require_positive(Parameter::Epsilon, epsilon, "state the release's own privacy loss")?;
                check_delta(delta)?;
            }
        }
        // The quotient can leave the range of f64 although both of its parts lie inside.
        require_positive(
            Parameter::SensitivityDividedByNoise,
            self.intensity(),
            "rescale the data so that sensitivity and noise are of ordinary size",
        )?;
        Ok(())
    }

    fn scaled(&self, factor: f64) -> Self {
        match *self {
            Noise::Gaussian { sensitivity, sigma } => Noise::Gaussian { sensitivity, sigma: sigma * factor },
            Noise::Laplace { sensitivity, scale } => Noise::Laplace { sensitivity, scale: scale * factor },
            Noise::Selection { sensitivity, scale } => {
                Noise::Selection { sensitivity, scale: scale * factor }
            }
            Noise::Pure { epsilon } => Noise::Pure { epsilon: epsilon / factor },
            Noise::Zcdp { rho } => Noise::Zcdp { rho: rho / (factor * factor) },
            Noise::Approximate { epsilon, delta } => Noise::Approximate { epsilon: epsilon / factor, delta },
        }
    }
}

/// The JSON shape of an event. Parsing goes through [`Event::new`], so a document cannot hold an invalid event, and an
/// unknown field is refused: a misspelt `count` must not quietly become 1.
#[derive(Serialize, Deserialize)]
#[serde(tag = "mechanism", rename_all = "snake_case", deny_unknown_fields)]
enum EventDocument {
    Gaussian {
        #[serde(default)]
        release: String,
        sensitivity: f64,
        sigma: f64,
        #[serde(default = "one")]
        count: u64,
    },
    Laplace {
        #[serde(default)]
        release: String,
        sensitivity: f64,
        scale: f64,
        #[serde(default = "one")]
        count: u64,
    },
    Selection {
        #[serde(default)]
        release: String,
        sensitivity: f64,
        scale: f64,
        #[serde(default = "one")]
        count: u64,
    },
    Pure {
        #[serde(default)]
        release: String,
        epsilon: f64,
        #[serde(default = "one")]
        count: u64,
    },
    Zcdp {
        #[serde(default)]
        release: String,
        rho: f64,
        #[serde(default = "one")]
        count: u64,
    },
    Approximate {
        #[serde(default)]
        release: String,
        epsilon: f64,
        delta: f64,
        #[serde(default = "one")]
        count: u64,
    },
}

fn one() -> u64 {
    1
}

impl TryFrom<EventDocument> for Event {
    type Error = Error;
    fn try_from(document: EventDocument) -> Result<Self> {
        use EventDocument as D;
        let (release, noise, count) = match document {
            D::Gaussian { release, sensitivity, sigma, count } => {
                (release, Noise::Gaussian { sensitivity, sigma }, count)
            }
            D::Laplace { release, sensitivity, scale, count } => {
                (release, Noise::Laplace { sensitivity, scale }, count)
            }
            D::Selection { release, sensitivity, scale, count } => {
                (release, Noise::Selection { sensitivity, scale }, count)
            }
            D::Pure { release, epsilon, count } => (release, Noise::Pure { epsilon }, count),
            D::Zcdp { release, rho, count } => (release, Noise::Zcdp { rho }, count),
            D::Approximate { release, epsilon, delta, count } => {
                (release, Noise::Approximate { epsilon, delta }, count)
            }
        };
        Self::new(release, noise, count)
    }
}

impl From<Event> for EventDocument {
    fn from(event: Event) -> Self {
        let Event { release, noise, count } = event;
        match noise {
            Noise::Gaussian { sensitivity, sigma } => Self::Gaussian { release, sensitivity, sigma, count },
            Noise::Laplace { sensitivity, scale } => Self::Laplace { release, sensitivity, scale, count },
            Noise::Selection { sensitivity, scale } => Self::Selection { release, sensitivity, scale, count },
            Noise::Pure { epsilon } => Self::Pure { release, epsilon, count },
            Noise::Zcdp { rho } => Self::Zcdp { release, rho, count },
            Noise::Approximate { epsilon, delta } => Self::Approximate { release, epsilon, delta, count },
        }
    }
}
