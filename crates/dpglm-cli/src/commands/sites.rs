//! `dpglm sites`: one fit of rows at several places, carried by files.

mod fit;
mod folder;
mod merge;
mod pass;

use crate::Format;
use crate::failure::Failure;
use clap::{Args, Subcommand};

/// One fit of rows that stay at several places, which trust one curator with their sums.
///
/// The curator writes questions into a folder, each site answers with exact sums of its rows, and the curator adds the noise. The result is that of
/// the pooled table, to the last digit. Answers are not noised: single rows may be told from them. They are for the curator alone, and the promise
/// holds towards everybody else.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The curator's side: ask the sites pass after pass, and fit
    Fit(fit::Arguments),
    /// A site's side: answer one question, or all that come into a folder
    Pass(pass::Arguments),
    /// Add several sites' answers to one
    Merge(merge::Arguments),
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    match &arguments.command {
        Command::Fit(arguments) => fit::run(arguments, format),
        Command::Pass(arguments) => pass::run(arguments, format),
        Command::Merge(arguments) => merge::run(arguments, format),
    }
}

/// These commands print what machines read.
fn refuse_format(format: Format) -> Result<(), Failure> {
    match format {
        Format::Table => Ok(()),
        Format::Json => Err(Failure::Usage("an answer is JSON always: leave out --format".into())),
    }
}
