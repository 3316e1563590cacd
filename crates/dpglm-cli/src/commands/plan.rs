//! `dpglm plan`: how many rows, how much privacy, what error? Two of them give the third.

use crate::failure::Failure;
use crate::progress;
use crate::progress::Progress;
use crate::table;
use crate::{Format, flags, render};
use clap::Args;
use dpglm_io::Schema;
use dpglm_workflow::study::{Declared, ModelName, Question};
use std::path::PathBuf;

/// Plan a study: from two of rows, epsilon and error to the third.
///
/// Tables of the described kind are drawn and fitted with the same methods that `fit` and `mean` use, many times. No file is
/// read and nothing is spent. Errors are squared l2 distances from the truth, for features scaled to [-1, 1]. Beside the
/// simulation stand the papers' rates: they hold up to a constant, which is fitted and named as such.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The schema of the table that is to be fitted: its target says what is estimated, its columns how many there are
    #[arg(long, value_name = "SCHEMA", conflicts_with_all = ["model", "columns", "feature_bounds", "target_bounds"])]
    schema: Option<PathBuf>,
    /// What is to be estimated
    #[arg(long, value_enum, value_name = "NAME")]
    model: Option<ModelName>,
    /// The number of rows
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// The number of columns
    #[arg(long, value_name = "D")]
    columns: Option<usize>,
    /// How many columns matter, if few do and nobody knows which
    #[arg(long, value_name = "S", value_parser = flags::sparsity, allow_negative_numbers = true)]
    sparsity: Option<usize>,
    /// The privacy loss
    #[arg(long, value_name = "E", value_parser = flags::epsilon, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// The probability with which that promise may fail
    #[arg(long, value_name = "D", value_parser = flags::delta, allow_negative_numbers = true)]
    delta: f64,
    /// The mean squared error that is wanted
    #[arg(long, value_name = "ERROR", value_parser = flags::number, allow_negative_numbers = true)]
    error: Option<f64>,
    /// The standard deviation of the rows (mean) or of the errors (linear) [default: 1]
    #[arg(long, value_name = "SIGMA", value_parser = flags::number, allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Public bounds of the columns, for --model mean
    #[arg(long, value_name = "LOW,HIGH", value_parser = table::bounds, allow_hyphen_values = true)]
    feature_bounds: Option<(f64, f64)>,
    /// Public bounds of the response, for --model linear and poisson
    #[arg(long, value_name = "LOW,HIGH", value_parser = table::bounds, allow_hyphen_values = true)]
    target_bounds: Option<(f64, f64)>,
    /// The count to expect of a row whose features are in the middle of their bounds, for --model poisson
    #[arg(long, value_name = "COUNT", value_parser = flags::number, allow_negative_numbers = true)]
    mean_count: Option<f64>,
    /// Simulated fits at each point
    #[arg(long, value_name = "RUNS", default_value_t = 200)]
    runs: u64,
    /// Where simulated errors are kept for the next time [default: $XDG_CACHE_HOME/dpglm or ~/.cache/dpglm]
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Draw the error against epsilon, for several numbers of rows, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  How accurate will it be?
    dpglm plan --model logistic --columns 10 --rows 20000 --epsilon 0.5 --delta 1e-6
  The same for a table whose schema is written:
    dpglm plan --schema schema.toml --rows 20000 --epsilon 0.5 --delta 1e-6
  How many rows are needed?
    dpglm plan --model linear --columns 5 --target-bounds=-10,10 --error 0.01 --epsilon 1 --delta 1e-6 --plot plan.svg
  How much privacy can a study of counts afford?
    dpglm plan --model poisson --columns 5 --target-bounds=0,20 --mean-count 0.5 --rows 20000 --error 0.02 --delta 1e-6";

impl Arguments {
    /// What the schema says, or what flags say in its place.
    fn declared(&self) -> Result<Declared, Failure> {
        match (&self.schema, self.model, self.columns) {
            (Some(path), ..) => Ok(Declared::of(&Schema::load(path)?)?),
            (None, Some(model), Some(columns)) => {
                Ok(Declared { model, columns, target_bounds: self.target_bounds })
            }
            _ => Err(Failure::Usage("give --schema SCHEMA, or --model NAME and --columns D".into())),
        }
    }
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let declared = arguments.declared()?;
    let question = Question {
        model: declared.model,
        rows: arguments.rows,
        columns: declared.columns,
        sparsity: arguments.sparsity,
        epsilon: arguments.epsilon,
        delta: arguments.delta,
        error: arguments.error,
        sigma: arguments.sigma,
        feature_bounds: arguments.feature_bounds,
        target_bounds: declared.target_bounds,
        mean_count: arguments.mean_count,
        runs: arguments.runs,
        cache: arguments.cache.clone(),
    };
    let mut bar = Progress::new();
    let answer = question.answer(&mut progress::note, &mut |done, of| bar.step(done, of))?;
    drop(bar);
    if let Some(path) = &arguments.plot {
        let found = &answer.document;
        let svg = dpglm_plot::planned_error(
            |n, e| answer.law.error(n, e),
            found.rows,
            found.epsilon,
            &answer.points,
        );
        std::fs::write(path, svg)
            .map_err(|e| Failure::Failed(format!("cannot write {}: {e}", path.display())))?;
    }
    match format {
        Format::Json => render::json(&answer.document),
        Format::Table => Ok(answer.document.table()),
    }
}
