//! `dpglm schema`: drafts of schemas, and what a schema comes to.

use crate::Format;
use crate::failure::Failure;
use crate::table::declared_header;
use clap::{Args, Subcommand};
use dpglm_io::Schema;
use std::path::PathBuf;

/// Write or check the schema of a table. `docs/schema.md` lists its fields.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Draft a schema for a table, with bounds and levels left blank
    ///
    /// The names come from the table's header; the kinds and the delimiter are guesses from its first rows. Bounds and levels are left
    /// blank because they must come from public knowledge: read off the rows they would leak what the rows say.
    Init(Init),
    /// Check a schema and say what each column is read as; with a table, whether its names agree
    ///
    /// Of the table nothing but its header is read.
    Check(Check),
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
    /// Beside numbers whose names read like ages, percentages, money and the like, note bounds that are common for such columns. From
    /// names alone
    #[arg(long)]
    units: bool,
    /// Write the draft to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args)]
struct Check {
    /// The schema, a TOML file
    #[arg(value_name = "SCHEMA")]
    schema: PathBuf,
    /// A table that it should fit: its names are compared, its rows are not read
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    if format == Format::Json {
        return Err(Failure::Usage(
            "--format json cannot be had: a schema is TOML; leave out --format".into(),
        ));
    }
    match &arguments.action {
        Action::Init(init) => draft(init),
        Action::Check(check) => Ok(dpglm_io::check(&Schema::load(&check.schema)?, check.file.as_deref())?),
    }
}

fn draft(init: &Init) -> Result<String, Failure> {
    let header = declared_header(init.header, init.no_header).map(|(_, header)| header);
    let draft = dpglm_io::draft(&init.file, header, init.units)?;
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
