//! `dpglm mean`: the means of a table's columns.

use crate::artefact::{Artefact, Destination};
use crate::failure::Failure;
use crate::large::Large;
use crate::means::{MeanMethod, Means};
use crate::progress;
use crate::table::{self, Columns, PublicFacts};
use crate::{Format, budget, flags, ledger, planned};
use clap::Args;
use dpglm_io::{EncodedColumn, Scaling, UniformBounds};
use dpglm_workflow::tune::Tune;
use dpglm_workflow::{fit, notes};
use indexmap::IndexMap;
use std::path::PathBuf;

/// The private means of a table's columns; of a category, the share of each level but the reference.
///
/// A coarse private look finds where the rows lie within their public bounds; the mean is then taken with noise in
/// proportion to their real spread. UniformBounds bounds therefore cost little. Under a schema each column has its own clip and noise; cells
/// that are missing are counted out column by column if the schema says missing = "drop".
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table: CSV (also .gz, .xz, .bz2), Parquet, NumPy .npy, SciPy .npz or LIBSVM
    #[arg(value_name = "FILE", required_unless_present = "dry_run")]
    file: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    search: table::Search,
    /// The column that says whose row it is: each person then counts once, by the mean of their rows, and the promise is for all
    /// rows of a person together
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    unit: Option<String>,
    /// Take the means of each level of this column apart (a declared category or binary), in one release
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    by: Option<String>,
    /// The column of survey weights (declared as real, bounds above 0): means are weighted by it
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    sample_weight: Option<String>,
    /// How precise columns are to be beside the others' 1, as NAME=WEIGHT,...: one of weight 2 has half the noise
    #[arg(long, value_name = "NAME=W,...", value_parser = weights)]
    weights: Option<Precision>,
    /// Also give standard errors and confidence intervals of this level (0.95), paid from the same budget
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    intervals: Option<f64>,
    /// At most S means differ from zero: choose those columns privately and take their means only
    #[arg(long, value_name = "S", value_parser = flags::sparsity, allow_negative_numbers = true)]
    sparsity: Option<usize>,
    /// Choose the number of means that differ from zero privately, from the same budget: sparsity=auto (or auto:MAX, at most MAX)
    #[arg(long, value_name = "WHAT", value_parser = flags::tune)]
    tune: Option<Tune>,
    /// How to take them; `dpglm methods` explains each [default: columns under a schema, localise with --feature-bounds or
    /// --sparsity]
    #[arg(long, value_enum, value_name = "NAME")]
    method: Option<MeanMethod>,
    /// Public bounds on the standard deviations of the columns, for --method karwa-vadhan [default: from the columns' own
    /// bounds]
    #[arg(long, value_name = "LOW,HIGH", value_parser = table::bounds, allow_hyphen_values = true)]
    deviations: Option<(f64, f64)>,

    #[command(flatten)]
    budget: budget::Granted,
    #[command(flatten)]
    ledger: ledger::PayFrom,
    #[command(flatten)]
    large: Large,

    /// Write the means as JSON, for `dpglm show`
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
    /// The number of rows (or units) of a dry run [default: as many as the file has]
    #[arg(long, value_name = "N", requires = "dry_run", help_heading = "Output")]
    rows: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  Twenty numeric columns, each known to lie in [-50, 50]:
    dpglm mean table.npy --feature-bounds=-50,50 --epsilon 0.5 --delta 1e-6 --intervals 0.95
  A thousand columns, all but ten of which have mean zero:
    dpglm mean changes.npy --feature-bounds=-5,5 --sparsity 10 --epsilon 1 --delta 1e-6
  The same where nobody knows how many:
    dpglm mean changes.npy --feature-bounds=-5,5 --tune sparsity=auto --epsilon 1 --delta 1e-6
  A table under a schema:
    dpglm mean people.csv --schema schema.toml --epsilon 0.5 --delta 1e-6
  The same for women and men apart, age three times as precise as the rest:
    dpglm mean people.csv --schema schema.toml --by sex --weights age=3 --epsilon 0.5 --delta 1e-6
  Several visits a patient, of which each patient counts once:
    dpglm mean visits.csv --header --unit patient --feature-bounds=0,300 --epsilon 0.5 --delta 1e-6";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let (bounds_share, known) = arguments.search.of(known(arguments)?)?;
    let largest = Means::largest(&arguments.tune.clone().unwrap_or_default())?;
    let is_sparse = arguments.sparsity.or(largest).is_some();
    let default = Means::default_method(matches!(known, PublicFacts::Uniform(_)), is_sparse);
    let mut means = Means {
        level: arguments.intervals,
        sparsity: arguments.sparsity,
        largest,
        deviations: arguments.deviations,
        unit: known.unit().map(str::to_owned),
        bounds_share,
        weights: arguments.weights.clone().map(|Precision(weights)| weights).unwrap_or_default(),
        ..Means::by_method(arguments.method.unwrap_or(default))
    };
    if let PublicFacts::Schema(schema) = &known {
        means = means.under(schema);
    }
    means.validate()?;
    // Columns that are not centred keep their zero, the mean of those that are not chosen.
    let centred = !means.is_sparse();
    let known = match known {
        PublicFacts::Schema(schema) => PublicFacts::Schema(schema.with_intercept(centred)),
        PublicFacts::Uniform(uniform) => {
            PublicFacts::Uniform(UniformBounds { intercept: centred, ..uniform })
        }
    };
    means.require_zero(&known)?;
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
            planned::refuse_misplaced(&arguments.columns, arguments.output.as_deref())?;
            arguments.large.refuse()?;
            let (rows, columns) = known.shape(file.as_deref(), arguments.rows)?;
            budget::warn_of_large_delta(privacy, rows);
            notes::of_few_rows(means.sparsity.or(means.largest), rows).iter().for_each(progress::note);
            let declared = match &known {
                PublicFacts::Schema(schema) => schema.encoded()?.0,
                // The noise does not depend on the ranges.
                PublicFacts::Uniform(_) => placeholders(columns),
            };
            let (estimator, rng) = (means.estimator(&declared)?, arguments.budget.source()?);
            if let Some(payer) = payers.payer() {
                let again =
                    |privacy| estimator.prepare(columns, rows, privacy)?.planned(known.adjacency(), privacy);
                progress::note(&payer.try_out(&again(privacy)?, privacy, &again)?);
            }
            let certificate = estimator.planned(columns, rows, known.adjacency(), privacy, &rng)?;
            return planned::show(&certificate, format);
        }
    };
    if let PublicFacts::Schema(schema) = &known {
        // What cannot be had is refused before any table is opened.
        means.estimator(&schema.encoded()?.0)?;
    }
    let destination =
        Destination::new(arguments.output.as_deref(), arguments.sign.as_deref(), arguments.force)?;
    let in_blocks = means.require_passes().is_ok();
    let room = arguments.large.room_of_cells(path, &arguments.columns, &known, in_blocks)?;
    let mut rng = arguments.budget.source()?;
    let document = match &room {
        None => {
            let table = arguments.columns.read(path, &known, false)?;
            let grant = payers.grant(privacy, &rng)?;
            fit::take_means(&means, &table, grant, &mut rng, &mut progress::note)?
        }
        Some(room) => {
            let (table, watch) = arguments.columns.read_cells(path, &known, room)?;
            let grant = payers.grant(privacy, &rng)?;
            fit::take_means_large(&means, table, watch, grant, &mut rng, &mut progress::note)?
        }
    };
    destination.release(&Artefact::Mean(Box::new(document)), format)
}

/// What is publicly known, from the schema or from flags. Target and exposure are columns like any other here.
fn known(arguments: &Arguments) -> Result<PublicFacts, Failure> {
    match arguments.columns.known(&[arguments.file.as_ref()])? {
        PublicFacts::Schema(mut schema) => {
            if let Some(unit) = &arguments.unit {
                schema = schema.with_unit(Some(unit))?;
            }
            let own = schema.weight().map(str::to_owned);
            let (by, weight) =
                (arguments.by.as_deref(), arguments.sample_weight.as_deref().or(own.as_deref()));
            Ok(PublicFacts::Schema(Means::schema(schema, by, weight)?))
        }
        PublicFacts::Uniform(uniform) => {
            let named = [("--by", &arguments.by), ("--sample-weight", &arguments.sample_weight)];
            if let Some((flag, _)) = named.into_iter().find(|(_, given)| given.is_some()) {
                return Err(Failure::Usage(format!(
                    "{flag} needs a column whose levels or bounds are declared: give --schema FILE, or leave out {flag}"
                )));
            }
            Ok(PublicFacts::Uniform(UniformBounds { unit: arguments.unit.clone(), ..uniform }))
        }
    }
}

/// Columns for a plan, which depends on their number alone.
fn placeholders(columns: usize) -> Vec<EncodedColumn> {
    let scaling = Scaling { lower: -1.0, ..Scaling::INDICATOR };
    (0..columns).map(|j| EncodedColumn::number(format!("x{j}"), scaling)).collect()
}

/// How precise columns are to be.
#[derive(Clone)]
struct Precision(IndexMap<String, f64>);

/// Names with their weights.
fn weights(text: &str) -> Result<Precision, String> {
    let one = |part: &str| {
        let (name, weight) = part.rsplit_once('=')?;
        Some((name.trim().to_owned(), weight.trim().parse::<f64>().ok()?))
    };
    let all: Option<Vec<(String, f64)>> = text.split(',').map(one).collect();
    let given = all.as_ref().map_or(0, Vec::len);
    let weights: IndexMap<String, f64> = all.into_iter().flatten().collect();
    match given > 0 && given == weights.len() {
        true => Ok(Precision(weights)),
        false => {
            Err("names of columns with their weights are needed, each once: write them like age=2,income=0.5"
                .into())
        }
    }
}
