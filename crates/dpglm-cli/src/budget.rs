//! The flags that say how much privacy is granted: no number has a default.

use crate::failure::Failure;
use crate::flags;
use crate::progress::tell;
use clap::Args;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm_io::assembly::budget as granted;

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
        Ok(granted::privacy(self.epsilon, self.delta)?)
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
    granted::warning_of_large_delta(privacy, n).iter().for_each(|warning| tell(warning));
}

fn epsilon(text: &str) -> Result<f64, String> {
    granted::epsilon(flags::number(text)?).map_err(|failure| failure.to_string())
}

fn delta(text: &str) -> Result<f64, String> {
    granted::delta(flags::number(text)?).map_err(|failure| failure.to_string())
}
