//! `dpglm keygen`: a key pair to sign artefacts and studies with.

use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm_workflow::signed;
use serde::Serialize;
use std::path::PathBuf;

/// Make a key pair to sign with.
///
/// Give the public key to those who read what you sign, over a way they trust. `--sign` of fit and mean, and `dpglm collect
/// sign`, take the file with the secret key.
#[derive(Args)]
pub struct Arguments {
    /// Where to write the secret key; an existing file is never overwritten
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    public_key: String,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let public_key = signed::keygen(&arguments.output)?.to_string();
    if format == Format::Json {
        return render::json(&Document { schema: "dpglm.key/1", public_key });
    }
    Ok(format!("public key  {public_key}\n\nThe secret key is in {}.\n", arguments.output.display()))
}
