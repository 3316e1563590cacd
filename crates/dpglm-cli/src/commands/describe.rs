//! `dpglm describe`: what the first table of a paper holds.

use crate::artefact::{Artefact, Destination};
use crate::failure::Failure;
use crate::large::Large;
use crate::progress;
use crate::table::{Columns, Search, Storage};
use crate::{Format, budget, flags, ledger, planned};
use clap::Args;
use dpglm_workflow::PublicFacts;
use dpglm_workflow::describe::{Description, LEVEL};
use std::path::PathBuf;

/// A private description of a table: for each number its mean, standard deviation and quartiles, for each category the shares of its levels,
/// and the share that is missing, with an interval for every number.
///
/// One budget pays for all of it. What is asked for beside, as histograms or correlations, takes its part of the same budget. Cells that are
/// missing are counted out column by column if the schema says missing = "drop", and their share is given.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table: CSV (also .gz, .xz, .bz2) or Parquet
    #[arg(value_name = "FILE", required_unless_present = "dry_run")]
    file: Option<PathBuf>,
    /// A TOML file that declares every column's kind with public bounds or levels; `dpglm schema init` drafts one
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    schema: PathBuf,
    #[command(flatten)]
    search: Search,
    /// Describe each level of this column apart (a declared category or binary), in one release
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    by: Option<String>,
    /// Stop at the first cell that is missing, out of bounds or of an undeclared level, instead of mapping it by the public
    /// rule. Whether it stops depends on private cells: for the data's curator only
    #[arg(long, help_heading = "Data")]
    strict: bool,
    /// Precision of the stored numbers; f32 takes half the memory [default: f64]
    #[arg(long, value_enum, value_name = "TYPE", help_heading = "Data")]
    precision: Option<Storage>,
    /// Also a histogram of each number, of so many equal bins on its declared range [default number: 20]
    #[arg(long, value_name = "BINS", num_args = 0..=1, default_missing_value = "20", allow_negative_numbers = true)]
    histograms: Option<usize>,
    /// Also the cross table of two categories or 0/1 columns
    #[arg(long, value_name = "A,B", value_parser = pair)]
    cross: Option<Pair>,
    /// Also the correlations of all numbers and 0/1 columns
    #[arg(long)]
    correlations: bool,
    /// The level of the intervals [default: 0.95]
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    intervals: Option<f64>,

    #[command(flatten)]
    budget: budget::Granted,
    #[command(flatten)]
    ledger: ledger::PayFrom,
    #[command(flatten)]
    large: Large,

    /// Also print histograms and shares as bars; their light ends are the intervals
    #[arg(long, conflicts_with = "dry_run", help_heading = "Output")]
    plot: bool,
    /// Draw histograms and shares with error bars to an SVG file
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run", help_heading = "Output")]
    svg: Option<PathBuf>,
    /// Write tables, drawings and the promise as one HTML page that needs nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Write the description as JSON, for `dpglm show`
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Sign the artefact with the secret key in this file (`dpglm keygen` makes one); the signature is written beside it, as
    /// FILE.sig
    #[arg(
        long,
        value_name = "KEYFILE",
        requires = "output",
        conflicts_with = "dry_run",
        help_heading = "Output"
    )]
    sign: Option<PathBuf>,
    /// Overwrite the output file if it exists: what it holds may have been paid from a budget
    #[arg(long, requires = "output", conflicts_with = "dry_run", help_heading = "Output")]
    force: bool,
    /// Print what would be released and what it would cost. Rows are counted where no header says how many
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// The number of rows of a dry run [default: as many as the file has]
    #[arg(long, value_name = "N", requires = "dry_run", help_heading = "Output")]
    rows: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  Table 1 of a table under a schema:
    dpglm describe people.csv --schema schema.toml --epsilon 1 --delta 1e-6
  The same for women and men apart, with histograms and a page to publish:
    dpglm describe people.csv --schema schema.toml --by sex --histograms --html table1.html --epsilon 1 --delta 1e-6
  Where nobody knows how large incomes are:
    dpglm describe people.csv --schema schema.toml --bounds private --magnitudes income=1e9:1 --epsilon 1 --delta 1e-6
  A cross table and correlations beside, bars in the terminal:
    dpglm describe people.csv --schema schema.toml --cross sex,region --correlations --plot --epsilon 1 --delta 1e-6";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    if arguments.plot && format == Format::Json {
        return Err(Failure::Usage(
            "--plot draws beside the printed tables, and --format json prints none: leave out --plot, or use --html FILE".into(),
        ));
    }
    let columns = columns(arguments);
    let (bounds_share, known) = arguments.search.of(columns.known(&[arguments.file.as_ref()])?)?;
    let PublicFacts::Schema(schema) = known else {
        return Err(Failure::Usage("a description needs --schema FILE".into()));
    };
    let asked = Description {
        by: arguments.by.clone(),
        level: arguments.intervals.unwrap_or(LEVEL),
        bins: arguments.histograms,
        cross: arguments.cross.clone().map(|Pair(names)| names),
        correlations: arguments.correlations,
        bounds_share,
    };
    let schema = asked.schema(schema)?;
    let prepared = asked.prepare(&schema)?;
    let known = PublicFacts::Schema(schema);
    let privacy = arguments.budget.privacy()?;
    let payers = arguments.ledger.open(
        &[arguments.file.as_deref()],
        privacy,
        &known.adjacency(),
        &arguments.budget,
    )?;
    let path = match &arguments.file {
        Some(path) if !arguments.dry_run => path,
        file => {
            planned::refuse_misplaced(&columns, arguments.output.as_deref())?;
            arguments.large.refuse()?;
            let (rows, _) = known.shape(file.as_deref(), arguments.rows)?;
            budget::warn_of_large_delta(privacy, rows);
            if let Some(payer) = payers.payer() {
                let again = |privacy| prepared.entry(rows, privacy);
                progress::note(&payer.try_out(&again(privacy)?, privacy, &again)?);
            }
            return planned::show(&prepared.planned(rows, privacy, &arguments.budget.source()?)?, format);
        }
    };
    let destination =
        Destination::new(arguments.output.as_deref(), arguments.sign.as_deref(), arguments.force)?;
    for drawing in arguments.svg.iter().chain(&arguments.html) {
        dpglm_io::check_writable(drawing, 1 << 16)?;
    }
    let room = arguments.large.room_of_cells(path, &columns, &known, true)?;
    let mut rng = arguments.budget.source()?;
    let document = match &room {
        None => {
            let table = columns.read(path, &known, false)?;
            let grant = payers.grant(privacy, &rng)?;
            prepared.describe(&table, grant, &mut rng, &mut progress::note)?
        }
        Some(room) => {
            let (table, watch) = columns.read_cells(path, &known, room)?;
            let grant = payers.grant(privacy, &rng)?;
            prepared.describe_large(table, watch, grant, &mut rng, &mut progress::note)?
        }
    };
    if let Some(path) = &arguments.svg {
        dpglm_io::write_atomically(path, document.svg().as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        dpglm_io::write_atomically(path, document.html().as_bytes())?;
    }
    let bars = if arguments.plot { document.bars() } else { String::new() };
    let printed = destination.release(&Artefact::Describe(Box::new(document)), format)?;
    Ok(printed + &bars)
}

/// The flags that say how a table is read, as the other commands have them.
fn columns(arguments: &Arguments) -> Columns {
    Columns {
        schema: Some(arguments.schema.clone()),
        feature_bounds: None,
        header: false,
        no_header: false,
        strict: arguments.strict,
        precision: arguments.precision,
        columns: None,
        sparse_columns: None,
    }
}

/// Two columns.
#[derive(Clone)]
struct Pair([String; 2]);

fn pair(text: &str) -> Result<Pair, String> {
    match text.split_once(',').map(|(a, b)| (a.trim(), b.trim())) {
        Some((a, b)) if !a.is_empty() && !b.is_empty() && !b.contains(',') => {
            Ok(Pair([a.to_owned(), b.to_owned()]))
        }
        _ => Err("two names are needed: write them like sex,region".into()),
    }
}
