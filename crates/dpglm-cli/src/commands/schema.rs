//! `dpglm schema`: drafts of schemas.

use crate::failure::Failure;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Write the schema of a table.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Draft a schema for a table, with bounds and levels left blank
    ///
    /// The names come from the table's header and the kinds are guesses from its first rows. Bounds and levels are left blank
    /// because they must come from public knowledge: read off the rows they would leak what the rows say.
    Init(Init),
}

#[derive(Args)]
struct Init {
    /// The table: CSV (also .gz, .xz, .bz2) or Parquet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The text file has no header line: its columns are called c1, c2, ... in the draft. Without this, a first line that may be
    /// somebody's row is refused
    #[arg(long)]
    no_header: bool,
    /// Write the draft to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Action::Init(init) = &arguments.action;
    let draft = dpglm_io::draft(&init.file, !init.no_header)?;
    let Some(output) = &init.output else { return Ok(draft) };
    if output.exists() {
        return Err(Failure::Failed(format!(
            "{}: exists already and may hold somebody's work: move it away or choose another name",
            output.display()
        )));
    }
    dpglm_io::write_atomically(output, draft.as_bytes())?;
    Ok(String::new())
}
