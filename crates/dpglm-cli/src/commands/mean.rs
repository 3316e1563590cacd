//! `dpglm mean`: the means of a table's columns.

use crate::artefact::{Artefact, MEAN, MeanDocument, Named};
use crate::commands::fit::{ARTEFACT_SIZE, release};
use crate::failure::Failure;
use crate::model::Coefficient;
use crate::table::{Columns, Known};
use crate::{Format, budget, flags, planned};
use clap::Args;
use dpglm::central::PrivateMean;
use dpglm::privacy::Adjacency;
use dpglm_io::Wide;
use dpglm_io::schema::Missing;
use std::path::PathBuf;

/// The private means of a table's columns; of a category, the share of each level but the reference.
///
/// A coarse private look finds where the rows lie within their public bounds; the mean is then taken with noise in
/// proportion to their real spread. Wide bounds therefore cost little.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table: CSV (also .gz, .xz, .bz2), Parquet, NumPy .npy or LIBSVM
    #[arg(value_name = "FILE", required_unless_present = "dry_run")]
    file: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    /// Also give standard errors and confidence intervals of this level (0.95), paid from the same budget
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    intervals: Option<f64>,

    #[command(flatten)]
    budget: budget::Granted,

    /// Write the means as JSON, for `dpglm show`
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print what would be released and what it would cost. Opens no cell
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// The number of rows of a dry run, where the header does not say it
    #[arg(long, value_name = "N", requires = "dry_run", help_heading = "Output")]
    rows: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  Twenty numeric columns, each known to lie in [-50, 50]:
    dpglm mean table.npy --feature-bounds=-50,50 --epsilon 0.5 --delta 1e-6 --intervals 0.95
  A table under a schema:
    dpglm mean people.csv --schema schema.toml --epsilon 0.5 --delta 1e-6";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let known = match arguments.columns.known()? {
        Known::Schema(schema) => {
            if let Some(unit) = schema.unit() {
                return Err(Failure::Failed(format!(
                    "a mean protects one row, but the schema declares the unit `{unit}` with several: average each unit's \
                     rows first, or take `unit` out of the schema"
                )));
            }
            if schema.missing() == Missing::Drop {
                return Err(Failure::Failed(
                    "a mean counts every row, but the schema says missing = \"drop\": write missing = \"fill\"".into(),
                ));
            }
            Known::Schema(schema.with_target(None)?.with_intercept(true))
        }
        Known::Wide(wide) => Known::Wide(Wide { intercept: true, ..wide }),
    };
    let privacy = arguments.budget.privacy()?;
    let level = arguments.intervals;
    let model = |ranges: Vec<(f64, f64)>| {
        let model = PrivateMean::new(ranges)?;
        match level {
            Some(level) => model.intervals(level),
            None => Ok(model),
        }
    };
    let path = match &arguments.file {
        Some(path) if !arguments.dry_run => path,
        file => {
            let (rows, columns) = known.shape(file.as_deref(), arguments.rows, arguments.columns.columns)?;
            budget::warn_of_large_delta(privacy, rows);
            // The noise does not depend on the ranges.
            let events = model(vec![(-1.0, 1.0); columns])?.prepare(rows, privacy)?.events()?;
            return planned::show(events, Adjacency::ReplaceRow, privacy, format);
        }
    };
    if let Some(output) = &arguments.output {
        dpglm_io::check_writable(output, ARTEFACT_SIZE)?;
    }
    let table = arguments.columns.read(path, &known, false)?;
    let n = table.rows();
    budget::warn_of_large_delta(privacy, n);
    let ranges = table.columns.iter().map(|c| (c.scaling.lower, c.scaling.upper)).collect();
    let fit = model(ranges)?.fit(&table.design, privacy, &mut arguments.budget.source()?)?;
    // Back from stored to the user's units.
    let means: Vec<Coefficient> = table
        .columns
        .iter()
        .enumerate()
        .map(|(j, column)| {
            let (center, unit) = (column.scaling.center, column.scaling.half_width);
            let user = |stored: f64| center + unit * stored;
            let spread = fit.intervals.as_ref().and_then(|all| {
                let interval = all.get(j)?;
                Some((unit * interval.standard_error, [user(interval.low), user(interval.high)]))
            });
            Coefficient { name: column.name.clone(), estimate: user(fit.means[j]), spread }
        })
        .collect();
    let named = Named::new(&means)?;
    let artefact = Artefact::Mean(Box::new(MeanDocument {
        schema: MEAN.into(),
        n,
        columns: means.iter().map(|mean| mean.name.clone()).collect(),
        means: named.estimates,
        standard_errors: named.standard_errors,
        level,
        intervals: named.intervals,
        certificate: fit.certificate,
    }));
    release(&artefact, arguments.output.as_deref(), format)
}
