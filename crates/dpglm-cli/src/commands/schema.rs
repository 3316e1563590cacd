//! `dpglm schema`: drafts of schemas.

use crate::Format;
use crate::failure::Failure;
use crate::table::declared_header;
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
    /// The first line of the text file holds the columns' names. Text needs this or --no-header: a first line may be somebody's
    /// row, whose cells must not become names
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The text file has no line of names: its columns are called c1, c2, ... in the draft
    #[arg(long)]
    no_header: bool,
    /// Write the draft to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let Action::Init(init) = &arguments.action;
    if format == Format::Json {
        return Err(Failure::Usage(
            "--format json cannot be had: a schema is TOML; leave out --format".into(),
        ));
    }
    let header = declared_header(init.header, init.no_header).map(|(_, header)| header);
    let draft = dpglm_io::draft(&init.file, header)?;
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
