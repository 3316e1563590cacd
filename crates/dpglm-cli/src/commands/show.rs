//! `dpglm show`: what an artefact holds, whether its certificate adds up, and who signed it.

use crate::failure::Failure;
use crate::{Format, artefact, render};
use clap::Args;
use dpglm::accounting::Certificate;
use dpglm_sign::PublicKey;
use dpglm_workflow::signed;
use std::path::PathBuf;

/// Show a model, means or a description written by `--output`, and check their certificate.
///
/// The privacy loss is computed again from the listed releases. A certificate that claims less than they cost is refused. That is
/// arithmetic only: an edited grade or estimate does not show, unless --key names who must have signed the file.
#[derive(Args)]
pub struct Arguments {
    /// A file written by `--output` of `dpglm fit`, `dpglm mean` or `dpglm describe`
    #[arg(value_name = "ARTEFACT")]
    artefact: PathBuf,
    /// Refuse the file unless the signature beside it (ARTEFACT.sig) is by the holder of this public key and of exactly these bytes
    #[arg(long, value_name = "PUBLICKEY", value_parser = public_key)]
    key: Option<PublicKey>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let artefact = match &arguments.key {
        Some(key) => signed::read(&arguments.artefact, key)?,
        None => artefact::read(&arguments.artefact)?,
    };
    if format == Format::Json {
        return Ok(artefact.json()?);
    }
    let certificate = artefact.certificate();
    let mut output = format!("{}\n{certificate}\n", artefact.table());
    let digits = render::Digits::Few;
    if !certificate.events().is_empty() {
        output += &format!("\nWhat was released:\n\n{}", render::events(certificate.events(), digits)?);
    }
    output += render::parts(certificate.parts(), digits)?.trim_end_matches('\n');
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
    output += &format!("\n{}", checked(certificate, arguments.key.as_ref()));
    Ok(output)
}

/// What was checked, and what was not.
fn checked(certificate: &Certificate, key: Option<&PublicKey>) -> String {
    let arithmetic = match certificate.guarantee() {
        Some(_) => "the privacy loss was computed again from the releases listed here",
        None => "nothing is promised, so there was no privacy loss to compute again",
    };
    match key {
        Some(key) => format!("Checked: signed by {key} and unchanged since; {arithmetic}.\n"),
        None => format!(
            "Checked: arithmetic only. {}. Whoever can write the file can change its grade, its releases and its estimates: --key \
             PUBLICKEY checks who signed it.\n",
            render::sentence(arithmetic)
        ),
    }
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    PublicKey::parse(text).map_err(|error| error.to_string())
}
