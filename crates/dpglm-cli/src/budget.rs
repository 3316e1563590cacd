//! The flags that say how much privacy is granted: no number has a default.

use crate::failure::Bare;
use crate::failure::Failure;
use crate::flags;
use crate::model::Method;
use crate::progress;
use clap::Args;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm_workflow::budget as granted;

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

    /// The privacy that is claimed of a method; a delta goes with an infinite epsilon too.
    pub fn claimed(&self) -> Result<Privacy, Failure> {
        Ok(granted::claimed(self.epsilon, self.delta)?)
    }

    /// No privacy, for a method without noise; a budget or a seed is refused.
    pub fn none(&self, method: Method) -> Result<Privacy, Failure> {
        let private = Method::default_for((method == Method::Iht).then_some(1), None, false);
        let given = (self.epsilon, self.delta, self.insecure_seed);
        Ok(granted::none(&method.name(), &private.name(), given)?)
    }

    /// The delta, if one was given.
    pub fn delta(&self) -> Option<f64> {
        self.delta
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
    granted::warning_of_large_delta(privacy, n).iter().for_each(progress::note);
}

fn epsilon(text: &str) -> Result<f64, String> {
    granted::epsilon(flags::number(text)?).map_err(|failure| failure.in_dialect(&Bare))
}

fn delta(text: &str) -> Result<f64, String> {
    granted::delta(flags::number(text)?).map_err(|failure| failure.in_dialect(&Bare))
}
