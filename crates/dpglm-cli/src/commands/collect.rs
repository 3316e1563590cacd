//! `dpglm collect`: private regression from people's devices.

#[cfg(feature = "collect")]
mod curator;
mod device;
mod keys;
#[cfg(feature = "collect")]
mod operator;
#[cfg(feature = "collect")]
mod paid;
#[cfg(feature = "collect")]
mod place;
#[cfg(feature = "collect")]
mod serve;
mod sign;
mod simulate;

use super::keygen;
use crate::Format;
use crate::failure::Failure;
use clap::{Args, Subcommand};
use dpglm_collect::token::Token;
use std::path::Path;

/// Private regression from people's devices: each randomizes its own values and sends one report.
///
/// A curator writes a study file, signs it, serves it and gives enrolment tokens to devices. What leaves a device is private
/// before it leaves; the service is trusted with nothing but the count.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  The curator:
    dpglm keygen --output curator.key
    dpglm collect sign study.toml --key-file curator.key
    dpglm collect serve study.toml
    dpglm collect enroll --storage study.toml.sqlite --count 1000 --output tokens.txt
    dpglm collect estimate --storage study.toml.sqlite
  A device:
    dpglm collect report --service https://study.example.org --key 6d..f0 --limit 3 \\
        --token-file token.txt --device ~/.dpglm --record me.json";

#[derive(Subcommand)]
enum Command {
    /// Make the curator's key pair, as `dpglm keygen` does
    Keygen(keygen::Arguments),
    /// Sign a study file and show its plan
    Sign(sign::Sign),
    /// Show a study's plan, what its rounds withstand, and what shuffling would save
    Plan(sign::Plan),
    /// Serve a study over HTTP
    #[cfg(feature = "collect")]
    Serve(serve::Serve),
    /// Make enrolment tokens, one for each device
    #[cfg(feature = "collect")]
    Enroll(curator::Enroll),
    /// Answer a study from this device: check, randomize, keep, send
    Report(device::Report),
    /// Run many devices from a table against a service
    Simulate(simulate::Simulate),
    /// Say that another key replaces the curator's
    ReplaceKey(keys::Replace),
    /// Say that the curator's key is no longer good
    RevokeKey(keys::Revoke),
    /// Show where a study stands, with deadlines
    #[cfg(feature = "collect")]
    Status(operator::Status),
    /// Give the open round more time
    #[cfg(feature = "collect")]
    Extend(operator::Extend),
    /// Open a round again that was abandoned
    #[cfg(feature = "collect")]
    Reopen(operator::Reopen),
    /// Take back enrolment tokens
    #[cfg(feature = "collect")]
    Revoke(operator::Revoke),
    /// The estimate so far, computed again from the stored reports
    #[cfg(feature = "collect")]
    Estimate(curator::Estimate),
}

impl Command {
    /// Whether the result is a document, which can be JSON.
    fn has_document(&self) -> bool {
        match self {
            Command::Keygen(_)
            | Command::Sign(_)
            | Command::Plan(_)
            | Command::Report(_)
            | Command::Simulate(_) => true,
            Command::ReplaceKey(_) | Command::RevokeKey(_) => false,
            #[cfg(feature = "collect")]
            Command::Status(_) | Command::Estimate(_) => true,
            #[cfg(feature = "collect")]
            _ => false,
        }
    }
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    if format == Format::Json && !arguments.command.has_document() {
        return Err(Failure::Usage("--format json cannot be had with this command: leave it out".into()));
    }
    match &arguments.command {
        Command::Keygen(arguments) => keygen::run(arguments, format),
        Command::Sign(sign) => sign::run(sign, format),
        Command::Plan(plan) => sign::plan(plan, format),
        #[cfg(feature = "collect")]
        Command::Serve(serve) => serve::run(serve),
        #[cfg(feature = "collect")]
        Command::Enroll(enroll) => curator::enroll(enroll),
        Command::ReplaceKey(replace) => keys::replace(replace),
        Command::RevokeKey(revoke) => keys::revoke(revoke),
        #[cfg(feature = "collect")]
        Command::Status(status) => operator::status(status, format),
        #[cfg(feature = "collect")]
        Command::Extend(extend) => operator::extend(extend),
        #[cfg(feature = "collect")]
        Command::Reopen(reopen) => operator::reopen(reopen),
        #[cfg(feature = "collect")]
        Command::Revoke(revoke) => operator::revoke(revoke),
        Command::Report(report) => device::run(report, format),
        Command::Simulate(simulate) => simulate::run(simulate, format),
        #[cfg(feature = "collect")]
        Command::Estimate(estimate) => curator::estimate(estimate, format),
    }
}

impl From<dpglm_collect::Error> for Failure {
    fn from(error: dpglm_collect::Error) -> Self {
        match error {
            dpglm_collect::Error::Argument(message) => Failure::Usage(message),
            dpglm_collect::Error::Core(error) => error.into(),
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<dpglm_sign::Error> for Failure {
    fn from(error: dpglm_sign::Error) -> Self {
        Failure::Usage(error.to_string())
    }
}

/// Reads a file that holds one secret or document.
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::Failed(format!("{}: {error}: give a file that can be read", path.display()))
    })
}

/// A token from a file.
fn token(path: &Path) -> Result<Token, Failure> {
    Token::parse(read(path)?.trim()).ok_or_else(|| {
        Failure::Failed(format!("{}: not a token: a token is 40 hexadecimal digits", path.display()))
    })
}
