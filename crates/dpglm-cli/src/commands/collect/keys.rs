//! `dpglm collect replace-key` and `revoke-key`: statements about the curator's key.

use crate::failure::Failure;
use clap::Args;
use dpglm_sign::{PublicKey, statement};
use dpglm_workflow::signed::signing_key;
use std::path::PathBuf;

/// Say that another key replaces this one: prints a line for the file of `serve --key-statements`.
///
/// Devices that know the old key then accept studies that the new one has signed.
#[derive(Args)]
pub struct Replace {
    /// The curator's present secret key
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The new public key
    #[arg(long, value_name = "HEX")]
    new: String,
}

pub fn replace(arguments: &Replace) -> Result<String, Failure> {
    Ok(statement::replace(&signing_key(&arguments.key_file)?, &PublicKey::parse(&arguments.new)?))
}

/// Say that this key is no longer good: prints a line for the file of `serve --key-statements`.
///
/// Devices that see it answer no study of this key, nor of a key that it named as its successor.
#[derive(Args)]
pub struct Revoke {
    /// The curator's secret key
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

pub fn revoke(arguments: &Revoke) -> Result<String, Failure> {
    Ok(statement::revoke(&signing_key(&arguments.key_file)?))
}
