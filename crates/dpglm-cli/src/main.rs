//! The command `dpglm`. It reads flags and files, calls the library, and prints: nothing is computed here.

mod artefact;
mod budget;
mod commands;
mod events;
#[cfg(test)]
mod every_flag;
mod failure;
mod flags;
mod large;
mod ledger;
mod planned;
mod progress;
mod render;
mod table;

use clap::{Parser, Subcommand, ValueEnum};
use dpglm_workflow::{means, model};
use failure::Failure;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Regression and means with a privacy guarantee, and the guarantee in numbers.
///
/// A guarantee (epsilon, delta) says that nobody who sees the releases can tell well whether one person's row was in the
/// data: the probability of any outcome changes by at most a factor e^epsilon when that row changes, but for a part of
/// probability delta.
#[derive(Parser)]
#[command(name = "dpglm", version, term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// How to print the result
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Subcommand)]
enum Command {
    /// Fit a private generalized linear model, of survival or of several classes
    Fit(Box<commands::fit::Arguments>),
    /// Private means of a table's columns
    Mean(Box<commands::mean::Arguments>),
    /// A private description of a table: the first table of a paper
    Describe(Box<commands::describe::Arguments>),
    /// Plan a study: from two of rows, epsilon and error to the third
    Plan(commands::plan::Arguments),
    /// Fit rows that stay at several places, which trust one curator with sums
    Sites(commands::sites::Arguments),
    /// Predict for the rows of a new table
    Predict(commands::predict::Arguments),
    /// Show a fitted model and check its certificate
    Show(commands::show::Arguments),
    /// Tests, ratios, contrasts and effects of a fitted model
    Summary(commands::summary::Arguments),
    /// Two fitted models beside each other
    Compare(commands::compare::Arguments),
    /// Make one page of artefacts, for publication or review
    Report(commands::report::Arguments),
    /// Make a key pair to sign with
    Keygen(commands::keygen::Arguments),
    /// Attack a method, and bound its epsilon from below
    Audit(Box<commands::audit::Arguments>),
    /// List the methods, what each guarantees and how to call it
    Methods(commands::methods::Arguments),
    /// Draft or check the schema of a table
    Schema(commands::schema::Arguments),
    /// A privacy budget that outlives the process
    Ledger(commands::ledger::Arguments),
    /// From noise to a guarantee: what do these releases cost together?
    Account(commands::account::Arguments),
    /// From a budget to noise: how much noise do these releases need?
    Calibrate(commands::calibrate::Arguments),
    /// Private regression from people's devices
    #[cfg(feature = "device")]
    Collect(Box<commands::collect::Arguments>),
    /// Private regression from people's devices
    #[cfg(not(feature = "device"))]
    Collect(commands::without_collect::Arguments),
}

/// How a result is printed.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    /// For reading; privacy numbers are rounded to the safe side, estimates to the digits that mean something
    Table,
    /// For scripts; full precision
    Json,
}

fn main() -> ExitCode {
    match run(Cli::parse()).and_then(|output| print(&output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If even the error stream is closed, the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Runs a command and gives what it prints.
fn run(cli: Cli) -> Result<String, Failure> {
    match cli.command {
        Command::Fit(arguments) => commands::fit::run(&arguments, cli.format),
        Command::Mean(arguments) => commands::mean::run(&arguments, cli.format),
        Command::Describe(arguments) => commands::describe::run(&arguments, cli.format),
        Command::Plan(arguments) => commands::plan::run(&arguments, cli.format),
        Command::Sites(arguments) => commands::sites::run(&arguments, cli.format),
        Command::Predict(arguments) => commands::predict::run(&arguments, cli.format),
        Command::Show(arguments) => commands::show::run(&arguments, cli.format),
        Command::Summary(arguments) => commands::summary::run(&arguments, cli.format),
        Command::Compare(arguments) => commands::compare::run(&arguments, cli.format),
        Command::Report(arguments) => commands::report::run(&arguments, cli.format),
        Command::Keygen(arguments) => commands::keygen::run(&arguments, cli.format),
        Command::Audit(arguments) => commands::audit::run(&arguments, cli.format),
        Command::Methods(arguments) => commands::methods::run(&arguments, cli.format),
        Command::Schema(arguments) => commands::schema::run(&arguments, cli.format),
        Command::Ledger(arguments) => commands::ledger::run(&arguments, cli.format),
        Command::Account(arguments) => commands::account::run(&arguments, cli.format),
        Command::Calibrate(arguments) => commands::calibrate::run(&arguments, cli.format),
        #[cfg(feature = "device")]
        Command::Collect(arguments) => commands::collect::run(&arguments, cli.format),
        #[cfg(not(feature = "device"))]
        Command::Collect(arguments) => commands::without_collect::run(&arguments),
    }
}

/// Prints the whole result at once. A reader that has seen enough (`| head -1`) is no failure.
fn print(output: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(output.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("cannot write the result: {error}")))
        }
        _ => Ok(()),
    }
}
