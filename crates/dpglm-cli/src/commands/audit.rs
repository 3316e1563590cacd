//! `dpglm audit`: does a method keep its promise on this data, as far as attacks can tell?

mod external;
mod ground;
mod report;
mod subject;

use crate::commands::fit::sparse::SparseArguments;
use crate::failure::Failure;
use crate::model::{Family, Method};
use crate::table::{self, Columns};
use crate::{Format, budget, flags};
use clap::{Args, ValueEnum};
use dpglm::audit::{Findings, Ground, Inspection, Opposite};
use dpglm::central::Privacy;
use ground::Stage;
use std::path::PathBuf;
use subject::Subject;

/// Attack a method and bound its epsilon from below, beside what it claims.
///
/// Plants pairs of canary rows, of which a coin chooses one each, and tries to tell from the estimate which (one run); runs the method
/// many times on two tables that differ in one row (many runs); and asks how well members can be told from held-out rows. Without FILE
/// the rows are simulated. Exit code 1 if a lower bound exceeds the claim. The result depends on private rows: it is for their curator
/// alone, and the budget of a release does not pay for it.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table; without it, simulated rows (--rows, --columns)
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A second table that differs from FILE in one row: run the method many times on each of the two, and plant nothing
    #[arg(long, value_name = "FILE", requires = "file", help_heading = "Data")]
    neighbour: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    /// The number of simulated rows
    #[arg(long, value_name = "N", conflicts_with = "file", help_heading = "Data")]
    rows: Option<usize>,
    /// The column to explain [default: the schema's target; without a schema the last column]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    target: Option<String>,
    /// Public bounds of a numeric target that no schema declares
    #[arg(long, value_name = "LOW,HIGH", value_parser = table::bounds, allow_hyphen_values = true)]
    #[arg(conflicts_with = "schema", help_heading = "Data")]
    target_bounds: Option<(f64, f64)>,
    /// The target is 0 or 1 (or -1 or 1), where no schema says so
    #[arg(long, conflicts_with_all = ["schema", "target_bounds"], help_heading = "Data")]
    binary: bool,

    /// What kind of response it is [default: by the target's kind]
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Method")]
    family: Option<Family>,
    /// The method to attack; `dpglm methods` explains each [default: gradient; with --sparsity select-refine]
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Method")]
    method: Option<Method>,
    /// Attack a mean in place of a model
    #[arg(long, value_enum, value_name = "NAME", num_args = 0..=1, default_missing_value = "localise")]
    #[arg(conflicts_with_all = ["family", "method", "command", "target", "binary"], help_heading = "Method")]
    mean: Option<MeanToAudit>,
    /// Attack another program. It is run by the shell with {data} replaced by a CSV file of numbers with a header, the target last, and
    /// {output} by a file to write: JSON with "coefficients" (and "intercept")
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["method", "sparsity"], help_heading = "Method")]
    command: Option<String>,
    /// No intercept: the prediction is zero where all columns are
    #[arg(long, help_heading = "Method")]
    no_intercept: bool,
    /// Add R/2 times the squared l2 norm of the coefficients to the mean loss
    #[arg(long, value_name = "R", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["mean", "command"], help_heading = "Method")]
    ridge: Option<f64>,
    /// Run the method without its noise, to see the audit catch it
    #[arg(long, conflicts_with = "command", help_heading = "Method")]
    without_noise: bool,
    #[command(flatten)]
    sparse: SparseArguments,

    #[command(flatten)]
    budget: budget::Granted,

    /// How many pairs of canaries to plant [default: a quarter of the rows, at most 500]
    #[arg(long, value_name = "M", help_heading = "Attack")]
    canaries: Option<usize>,
    /// In what the two rows of a pair differ [default: response; features for a mean]
    #[arg(long, value_enum, value_name = "PART", help_heading = "Attack")]
    opposite: Option<Part>,
    /// How often to run on each of two neighbours; 0 leaves this out [default: 400; 60 with --command]
    #[arg(long, value_name = "R", help_heading = "Attack")]
    runs: Option<u64>,
    /// The confidence of the lower bounds, all together
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, default_value_t = 0.95, help_heading = "Attack")]
    confidence: f64,
    /// Draw how well members are told from others, as SVG. For the curator only
    #[arg(long, value_name = "FILE", conflicts_with = "neighbour", help_heading = "Output")]
    plot: Option<PathBuf>,
}

/// Which mean is attacked.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MeanToAudit {
    /// A coarse private look, then a tight clip; with --sparsity of few columns
    Localise,
    /// Private histograms for scale and place, then a clip
    KarwaVadhan,
    /// The plain average, without any privacy
    Reference,
}

/// In what the two rows of a pair differ.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The response is at the other end of its range
    Response,
    /// The features are at the other ends of theirs
    Features,
}

const EXAMPLES: &str = "\
Examples:
  A method on simulated rows:
    dpglm audit --rows 2000 --columns 10 --feature-bounds=-1,1 --binary --epsilon 1 --delta 1e-6
  The exact optimum, which promises nothing, against a claim: exit code 1
    dpglm audit --rows 2000 --columns 10 --feature-bounds=-1,1 --binary --method reference --epsilon 1 --delta 1e-6
  A method on your own table:
    dpglm audit adult.csv.xz --schema schema.toml --epsilon 1 --delta 1e-6 --runs 0 --plot roc.svg
  Another program, on two tables that differ in one row:
    dpglm audit left.csv --neighbour right.csv --feature-bounds=0,1 --target-bounds=0,1 --no-intercept
        --command 'python fit.py {data} {output}' --epsilon 1 --delta 1e-9";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let error = 1.0 - arguments.confidence;
    let (claim, privacy) = arguments.claim()?;
    let known = arguments.known()?;
    let subject = Subject::new(arguments, &known)?;
    if let Some(plot) = &arguments.plot {
        dpglm_io::check_writable(plot, 64 << 10)?;
    }
    let mut rng = arguments.budget.source()?;
    let mut stage = Stage::new(arguments, &known, &subject, &mut rng)?;
    let (runs, pilot) = match (arguments.runs, &arguments.command) {
        (Some(runs), None) => (runs, None),
        (None, None) => (400, None),
        (runs, Some(_)) => (runs.unwrap_or(60), Some(runs.unwrap_or(60) / 2)),
    };
    let mut inspection = Inspection::new(subject.estimand(), error)?.runs(runs);
    if let Some(pilot) = pilot.filter(|&pilot| pilot > 0) {
        inspection = inspection.pilot(pilot);
    }
    if let Some(part) = arguments.opposite {
        inspection = inspection.opposite(match part {
            Part::Response => Opposite::Response,
            Part::Features => Opposite::Features,
        })?;
    }
    // Without a claim there is nothing to exceed; the bounds are the same.
    let promise = (claim.0.unwrap_or(0.0), claim.1);
    let findings: Findings = match &stage.neighbour {
        Some(right) => {
            if runs == 0 {
                return Err(Failure::Usage("--neighbour needs --runs of at least 1".into()));
            }
            let mut fit = subject.estimator(&stage, stage.base.rows(), privacy)?;
            inspection.neighbours(&stage.base, right, promise, &mut *fit, &mut rng)?
        }
        None => {
            let canaries = arguments.canaries.unwrap_or((stage.base.rows() / 4).clamp(1, 500));
            // Canaries take the places of rows.
            let rest = stage.base.rows().checked_sub(canaries).filter(|&rest| rest > 0);
            let Some(rest) = rest else {
                return Err(Failure::Usage(format!(
                    "canaries must be fewer than the {} rows they are planted among, got {canaries}: give fewer, or more rows",
                    stage.base.rows()
                )));
            };
            stage.base = stage.base.slice(0, rest)?;
            let inspection = inspection.canaries(canaries);
            let mut fit = subject.estimator(&stage, rest + canaries, privacy)?;
            let ground = Ground {
                base: &stage.base,
                held_out: Some(&stage.held_out),
                reference: &stage.reference,
                cells: &stage.cells,
            };
            inspection.run(&ground, promise, &mut *fit, &mut rng)?
        }
    };
    if let Some(plot) = &arguments.plot {
        dpglm_io::write_atomically(plot, report::drawing(&findings, claim).as_bytes())?;
    }
    let text = report::show(&findings, &subject, &stage, claim, arguments.confidence, runs, format)?;
    match claim.0 {
        Some(epsilon) if findings.epsilon() > epsilon => {
            // The result is the evidence: it is printed although the command fails.
            crate::print(&text)?;
            Err(Failure::Failed(format!(
                "the claim does not hold: epsilon is at least {} with {}% confidence, but {} was claimed",
                report::rounded_down(findings.epsilon()),
                100.0 * arguments.confidence,
                crate::render::plain(epsilon)
            )))
        }
        _ => Ok(text),
    }
}

impl Arguments {
    /// The claim, of which epsilon may be missing, and how the method is run.
    fn claim(&self) -> Result<((Option<f64>, f64), Privacy), Failure> {
        let granted = self.budget.privacy()?;
        let claim = match (granted, self.budget.delta()) {
            (Privacy::Budget(budget), _) => (Some(budget.epsilon()), budget.delta()),
            (_, Some(delta)) => (None, delta),
            (_, None) => {
                return Err(Failure::Usage(
                    "--delta is needed and has no default: a lower bound on epsilon goes with a delta".into(),
                ));
            }
        };
        Ok((claim, if self.without_noise { Privacy::None } else { granted }))
    }
}
