//! `dpglm show`: what an artefact holds, and whether its certificate is true.

use crate::failure::Failure;
use crate::{Format, artefact, render};
use clap::Args;
use std::path::PathBuf;

/// Show a model or means written by `--output`, and check their certificate.
///
/// The privacy loss is computed again from the listed releases. A certificate that claims less than they cost is refused.
#[derive(Args)]
pub struct Arguments {
    /// A file written by `dpglm fit --output` or `dpglm mean --output`
    #[arg(value_name = "ARTEFACT")]
    artefact: PathBuf,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let artefact = artefact::read(&arguments.artefact)?;
    if format == Format::Json {
        return Ok(artefact.json()?);
    }
    let certificate = artefact.certificate();
    let mut output = format!("{}\n{certificate}\n", artefact.table());
    if !certificate.events().is_empty() {
        output +=
            &format!("\nWhat was released:\n\n{}", render::events(certificate.events(), render::rounded)?);
    }
    output += render::parts(certificate.parts(), render::rounded)?.trim_end_matches('\n');
    if !certificate.parts().is_empty() {
        output.push('\n');
    }
    for (heading, lines) in
        [("Enforced:", certificate.enforced()), ("Provided that:", certificate.conditions())]
    {
        if !lines.is_empty() {
            output += &format!("\n{heading}\n  {}\n", lines.join("\n  "));
        }
    }
    Ok(output)
}
