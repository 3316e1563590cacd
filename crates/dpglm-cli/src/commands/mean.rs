//! `dpglm mean`: the means of a table's columns.

use crate::artefact::{Artefact, Destination};
use crate::failure::Failure;
use crate::means::{MeanMethod, Means};
use crate::progress::tell;
use crate::table::{self, Columns, Known};
use crate::{Format, budget, flags, planned};
use clap::Args;
use dpglm_io::assembly::tune::{self, Tune};
use dpglm_io::assembly::{fit, notes};
use dpglm_io::schema::Missing;
use dpglm_io::{EncodedColumn, Scaling, Wide};
use std::path::PathBuf;

/// The private means of a table's columns; of a category, the share of each level but the reference.
///
/// A coarse private look finds where the rows lie within their public bounds; the mean is then taken with noise in
/// proportion to their real spread. Wide bounds therefore cost little.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table: CSV (also .gz, .xz, .bz2), Parquet, NumPy .npy, SciPy .npz or LIBSVM
    #[arg(value_name = "FILE", required_unless_present = "dry_run")]
    file: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    /// The column that says whose row it is: each person then counts once, by the mean of their rows, and the promise is for all
    /// rows of a person together
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    unit: Option<String>,
    /// Also give standard errors and confidence intervals of this level (0.95), paid from the same budget
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    intervals: Option<f64>,
    /// At most S means differ from zero: choose those columns privately and take their means only
    #[arg(long, value_name = "S", value_parser = flags::sparsity, allow_negative_numbers = true)]
    sparsity: Option<usize>,
    /// Choose the number of means that differ from zero privately, from the same budget: sparsity=auto (or auto:MAX, at most MAX)
    #[arg(long, value_name = "WHAT", value_parser = tune::parse)]
    tune: Option<Tune>,
    /// How to take them; `dpglm methods` explains each
    #[arg(long, value_enum, value_name = "NAME", default_value_t = MeanMethod::Localise)]
    method: MeanMethod,
    /// Public bounds on the standard deviations of the columns, for --method karwa-vadhan [default: from the columns' own
    /// bounds]
    #[arg(long, value_name = "LOW,HIGH", value_parser = table::bounds, allow_hyphen_values = true)]
    deviations: Option<(f64, f64)>,

    #[command(flatten)]
    budget: budget::Granted,

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
    /// Print what would be released and what it would cost. Opens no cell
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// The number of rows (or units) of a dry run, where the header does not say it
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
  Several visits a patient, of which each patient counts once:
    dpglm mean visits.csv --header --unit patient --feature-bounds=0,300 --epsilon 0.5 --delta 1e-6";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let known = known(arguments)?;
    let means = Means {
        method: arguments.method,
        level: arguments.intervals,
        sparsity: arguments.sparsity,
        largest: Means::largest(&arguments.tune.clone().unwrap_or_default())?,
        deviations: arguments.deviations,
        unit: known.unit().map(str::to_owned),
    };
    means.validate()?;
    // Columns that are not centred keep their zero, the mean of those that are not chosen.
    let centred = !means.is_sparse();
    let known = match known {
        Known::Schema(schema) => Known::Schema(schema.with_intercept(centred)),
        Known::Wide(wide) => Known::Wide(Wide { intercept: centred, ..wide }),
    };
    means.require_zero(&known)?;
    let privacy = arguments.budget.privacy()?;
    let path = match &arguments.file {
        Some(path) if !arguments.dry_run => path,
        file => {
            planned::refuse_misplaced(&arguments.columns, arguments.output.as_deref())?;
            let (rows, columns) = known.shape(file.as_deref(), arguments.rows)?;
            budget::warn_of_large_delta(privacy, rows);
            notes::of_few_rows(means.sparsity.or(means.largest), rows).iter().for_each(|note| tell(note));
            // The noise does not depend on the ranges.
            let (estimator, rng) = (means.estimator(&placeholders(columns))?, arguments.budget.source()?);
            let certificate = estimator.planned(columns, rows, known.adjacency(), privacy, &rng)?;
            return planned::show(&certificate, format);
        }
    };
    let destination = Destination::new(arguments.output.as_deref(), arguments.sign.as_deref())?;
    let table = arguments.columns.read(path, &known, false)?;
    let document =
        fit::take_means(&means, &table, privacy, &mut arguments.budget.source()?, &mut |note| tell(note))?;
    destination.release(&Artefact::Mean(Box::new(document)), format)
}

/// What is publicly known, from the schema or from flags. Target and exposure are columns like any other here.
fn known(arguments: &Arguments) -> Result<Known, Failure> {
    match arguments.columns.known(&[arguments.file.as_ref()])? {
        Known::Schema(mut schema) => {
            if let Some(unit) = &arguments.unit {
                schema = schema.with_unit(Some(unit))?;
            }
            if schema.missing() == Missing::Drop {
                return Err(Failure::Failed(
                    "a mean counts every row, but the schema says missing = \"drop\": write missing = \"fill\"".into(),
                ));
            }
            Ok(Known::Schema(schema.with_target(None)?.without_exposure()))
        }
        Known::Wide(wide) => Ok(Known::Wide(Wide { unit: arguments.unit.clone(), ..wide })),
    }
}

/// Columns for a plan, which depends on their number alone.
fn placeholders(columns: usize) -> Vec<EncodedColumn> {
    let scaling = Scaling { lower: -1.0, ..Scaling::INDICATOR };
    (0..columns).map(|j| EncodedColumn { name: format!("x{j}"), scaling, category: None }).collect()
}
