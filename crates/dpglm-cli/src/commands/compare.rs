//! `dpglm compare`: two fitted models beside each other.

use super::summary::fit_of;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm_workflow::inference::compare;
use std::path::PathBuf;

/// Two models beside each other: what is not the same of them, and the difference of each coefficient.
///
/// Both must have been fitted with intervals. It is computed from the artefacts alone, and costs no privacy.
#[derive(Args)]
pub struct Arguments {
    /// A model written by `dpglm fit --intervals LEVEL --output`
    #[arg(value_name = "FIRST")]
    first: PathBuf,
    /// Another
    #[arg(value_name = "SECOND")]
    second: PathBuf,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let (first, second) = (fit_of(&arguments.first)?, fit_of(&arguments.second)?);
    let comparison = compare(&first, &second)?;
    match format {
        Format::Json => render::json(&comparison),
        Format::Table => Ok(comparison.text()),
    }
}
