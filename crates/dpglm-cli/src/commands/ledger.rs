//! `dpglm ledger`: a budget that outlives the process.

mod export;
mod init;
mod remaining;
mod show;
mod sign;
mod verify;

use crate::Format;
use crate::failure::Failure;
use clap::{Args, Subcommand};
use dpglm::accounting::filter::Rule;
use dpglm_ledger::{Chain, Ledger};
use dpglm_workflow::ledger::failure;
use std::path::Path;

/// A privacy budget that outlives the process: make a ledger, look at it, check it.
///
/// A ledger is one file. It fixes a total (epsilon, delta) once, and holds a line for every fit, mean and description that was paid from it
/// with --ledger: entered and on disk before any row is computed with, so a crash counts as spent. Each may depend on the results of all
/// earlier ones, its budget included; the total holds all the same.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a ledger: fix what may be spent
    Init(init::Arguments),
    /// List what was spent
    Show(show::Arguments),
    /// Check every line, and what is kept elsewhere
    Verify(verify::Arguments),
    /// What one more release may cost
    Remaining(remaining::Arguments),
    /// All lines as CSV, or as JSON
    Export(export::Arguments),
    /// Sign the ledger as it is now
    Sign(sign::Arguments),
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    match &arguments.command {
        Command::Init(arguments) => init::run(arguments, format),
        Command::Show(arguments) => show::run(arguments, format),
        Command::Verify(arguments) => verify::run(arguments, format),
        Command::Remaining(arguments) => remaining::run(arguments, format),
        Command::Export(arguments) => export::run(arguments, format),
        Command::Sign(arguments) => sign::run(arguments, format),
    }
}

fn read(path: &Path) -> Result<Chain, Failure> {
    Ok(Ledger::open(path).and_then(|ledger| ledger.read()).map_err(|error| failure(path, error))?)
}

/// The name of a rule, in words.
fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::Gdp => "Gaussian privacy: squared mu adds up",
        Rule::Zcdp => "zero-concentrated privacy: rho adds up",
        Rule::Pure => "pure privacy: epsilons add up",
    }
}
