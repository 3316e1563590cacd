//! The flags that say how much privacy is granted: no number has a default.

use crate::failure::Failure;
use crate::flags;
use crate::progress::tell;
use clap::Args;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;

/// A budget and a source of noise.
#[derive(Args)]
pub struct Granted {
    /// The privacy loss you grant: no result becomes more likely by more than a factor e^epsilon when one row changes. `inf`
    /// runs the same algorithm without noise and promises nothing
    #[arg(long, value_name = "E", value_parser = epsilon, allow_negative_numbers = true, help_heading = "Budget")]
    epsilon: Option<f64>,
    /// The probability with which that promise may fail. Choose it well below 1/n for n rows
    #[arg(long, value_name = "D", value_parser = delta, allow_negative_numbers = true, help_heading = "Budget")]
    delta: Option<f64>,
    /// Draw the noise from a fixed seed, for experiments: whoever knows it can subtract the noise, so nothing is promised
    #[arg(long, value_name = "N", help_heading = "Budget")]
    insecure_seed: Option<u64>,
}

impl Granted {
    /// The privacy asked for; epsilon and delta are the user's decision.
    pub fn privacy(&self) -> Result<Privacy, Failure> {
        let Some(epsilon) = self.epsilon else {
            return Err(Failure::Usage(
                "--epsilon is needed and has no default: choose the privacy loss you can defend, often between 0.1 and 4"
                    .into(),
            ));
        };
        if epsilon.is_infinite() {
            return Ok(Privacy::None);
        }
        let Some(delta) = self.delta else {
            return Err(Failure::Usage(
                "--delta is needed and has no default: choose it well below 1/n for n rows, for example 1e-6"
                    .into(),
            ));
        };
        Ok(Privacy::Budget(Budget::new(epsilon, delta)?))
    }

    /// The delta, if one was given.
    pub fn delta(&self) -> Option<f64> {
        self.delta
    }

    /// Whether a budget was given at all.
    pub fn is_given(&self) -> bool {
        self.epsilon.is_some() || self.delta.is_some()
    }

    /// Where the noise comes from.
    pub fn source(&self) -> Result<RandomSource, Failure> {
        Ok(match self.insecure_seed {
            Some(seed) => RandomSource::insecure_seeded(seed),
            None => RandomSource::from_os()?,
        })
    }
}

/// A delta of 1/n or more lets the mechanism publish a whole row now and then. `n` is public.
pub fn warn_of_large_delta(privacy: Privacy, n: usize) {
    if let Privacy::Budget(budget) = privacy
        && budget.delta() * n as f64 >= 1.0
    {
        tell(&format!(
            "warning: delta = {} is not below 1/n = {:.3e}: a release may then expose somebody entirely; choose a smaller \
             delta",
            crate::render::plain(budget.delta()),
            1.0 / n as f64
        ));
    }
}

fn epsilon(text: &str) -> Result<f64, String> {
    match flags::number(text)? {
        value if value == f64::INFINITY => Ok(value),
        value => Budget::pure(value).map(|budget| budget.epsilon()).map_err(|error| error.to_string()),
    }
}

fn delta(text: &str) -> Result<f64, String> {
    let value = flags::number(text)?;
    if value > 0.0 && value < 1.0 {
        // Any valid epsilon serves to have delta checked.
        return Budget::new(1.0, value).map(|budget| budget.delta()).map_err(|error| error.to_string());
    }
    Err(format!(
        "delta must be strictly between 0 and 1, got {value}: the noise is Gaussian, which gives no guarantee at delta = 0; \
         choose a delta well below 1/n for n rows"
    ))
}
