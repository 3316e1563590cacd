//! `dpglm ledger sign`.

use super::read;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm_ledger::seal;
use dpglm_sign::signature_path;
use dpglm_workflow::signed;
use serde::Serialize;
use std::path::PathBuf;

/// Sign the ledger as it is now: LEDGER.sig is written beside it. Later lines may follow; those up to here can be neither changed nor cut
/// off without `verify --key` showing it, as long as the signature is kept.
#[derive(Args)]
pub struct Arguments {
    /// A file that `dpglm ledger init` made
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// A file with a secret key (`dpglm keygen` makes one)
    #[arg(long, value_name = "KEYFILE")]
    key_file: PathBuf,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    line: usize,
    head: String,
    public_key: String,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let key = signed::signing_key(&arguments.key_file)?;
    let chain = read(&arguments.ledger)?;
    let beside = signature_path(&arguments.ledger);
    dpglm_io::write_atomically(&beside, seal::seal(&chain, &key).as_bytes())?;
    let (line, head, public) = (chain.records().len() - 1, chain.head(), key.public());
    if format == Format::Json {
        let (head, public_key) = (head.to_owned(), public.to_string());
        return render::json(&Document { schema: "dpglm.ledger-signed/1", line, head, public_key });
    }
    Ok(format!("Signed line {line} and all before it by {public}: {}\n", beside.display()))
}
