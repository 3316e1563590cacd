//! `dpglm audit`: does a method keep its promise on this data, as far as attacks can tell?

mod external;

use crate::commands::fit::sparse::SparseArguments;
use crate::failure::Failure;
use crate::model::{Family, FitRequest, Method};
use crate::table::{self, Columns, PublicFacts};
use crate::{Format, budget, flags, render};
use clap::{Args, ValueEnum};
use dpglm::audit::{Opposite, Table};
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm_io::schema::Missing;
use dpglm_io::{Response, UniformBounds};
use dpglm_workflow::audit::ground::{self, Simulated, Stage};
use dpglm_workflow::audit::report::AuditDocument;
use dpglm_workflow::audit::subject::MeanToAudit;
use dpglm_workflow::audit::{Attack, Subject};
use dpglm_workflow::search;
use external::External;
use std::path::PathBuf;

/// Attack a method and bound its epsilon from below, beside what it claims.
///
/// Plants pairs of canary rows, of which a coin chooses one each, and tries to tell from the estimate which (one run); runs the method
/// many times on two tables that differ in one row (many runs); and asks how well members can be told from held-out rows. Without FILE
/// the rows are simulated. Exit code 1 if a lower bound exceeds the claim, or one run gives away more than the claimed curve allows. The
/// result depends on private rows: it is for their curator alone, and the budget of a release does not pay for it.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table; without it, simulated rows (--rows, --columns)
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A second table that differs from FILE in one row: run the method many times on each of the two, and plant nothing
    #[arg(long, value_name = "FILE", requires = "file", conflicts_with_all = ["canaries", "opposite"], help_heading = "Data")]
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
    /// The method to attack; `dpglm methods` explains each [default: likelihood; with --sparsity select-refine]
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Method")]
    method: Option<Method>,
    /// Attack a mean in place of a model
    #[arg(long, value_enum, value_name = "NAME", num_args = 0..=1, default_missing_value = "localise")]
    #[arg(conflicts_with_all = ["family", "method", "command", "target", "target_bounds", "binary", "no_intercept"])]
    #[arg(conflicts_with_all = ["row_norm", "l1_radius", "steps", "step_length", "support_norm", "calibration", "split", "public_features", "accept"], help_heading = "Method")]
    mean: Option<MeanToAudit>,
    /// Attack another program. It is run by the shell with {data} replaced by a CSV file of numbers with a header, the target last, and
    /// {output} by a file to write: JSON with "coefficients" (and "intercept")
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["method", "sparsity"], help_heading = "Method")]
    #[arg(conflicts_with_all = ["row_norm", "l1_radius", "steps", "step_length", "support_norm", "calibration", "split", "public_features", "accept"])]
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
    dpglm audit left.csv --neighbour right.csv --header --feature-bounds=0,1 --target-bounds=0,1 --no-intercept
        --command 'python fit.py {data} {output}' --epsilon 1 --delta 1e-9";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let (claim, privacy) = arguments.claim()?;
    let known = arguments.known()?;
    if let PublicFacts::Schema(schema) = &known {
        search::refuse(schema, "an audit")?;
    }
    arguments.refuse_misplaced()?;
    let subject = arguments.subject(&known)?;
    if let Some(plot) = &arguments.plot {
        dpglm_io::check_writable(plot, 64 << 10)?;
    }
    let mut rng = arguments.budget.source()?;
    let mut stage = arguments.stage(&known, &subject, &mut rng)?;
    let (runs, pilot) = match (arguments.runs, &arguments.command) {
        (Some(runs), None) => (runs, None),
        (None, None) => (400, None),
        (runs, Some(_)) => (runs.unwrap_or(60), Some(runs.unwrap_or(60) / 2)),
    };
    let attack = Attack {
        runs,
        pilot,
        canaries: arguments.canaries,
        opposite: arguments.opposite.map(|part| match part {
            Part::Response => Opposite::Response,
            Part::Features => Opposite::Features,
        }),
        confidence: arguments.confidence,
        claim,
        privacy,
    };
    let findings = attack.run(&subject, &mut stage, &mut rng, &mut |_, _| ())?;
    if let Some(plot) = &arguments.plot {
        dpglm_io::write_atomically(
            plot,
            dpglm_plot::roc(&findings, claim.0.map(|epsilon| (epsilon, claim.1))).as_bytes(),
        )?;
    }
    let document = AuditDocument::new(&findings, &subject, &stage, claim, arguments.confidence, runs);
    let text = if format == Format::Json { render::json(&document)? } else { document.in_words() };
    match document.refutation() {
        Some(refutation) => {
            // The result is the evidence: it is printed although the command fails.
            crate::print(&text)?;
            Err(Failure::Failed(refutation))
        }
        None => Ok(text),
    }
}

impl Arguments {
    /// The claim, of which epsilon may be missing, and how the method is run.
    fn claim(&self) -> Result<((Option<f64>, f64), Privacy), Failure> {
        let granted = self.budget.claimed()?;
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

    /// Refuses flags that have no effect on what is attacked.
    fn refuse_misplaced(&self) -> Result<(), Failure> {
        if self.file.is_none() {
            let of_files = [
                ("--target", self.target.is_some()),
                ("--sparse-columns", self.columns.sparse_columns.is_some()),
            ];
            let flags = self.columns.about_cells().into_iter().chain(of_files);
            if let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) {
                return Err(Failure::Usage(format!(
                    "{flag} goes with FILE: simulated rows have no names and no bad cells; leave out {flag}"
                )));
            }
        }
        if self.mean == Some(MeanToAudit::Reference) && self.sparse.sparsity.is_some() {
            return Err(Failure::Usage(
                "--sparsity goes with --mean localise: the plain average has every column's mean; leave out --sparsity".into(),
            ));
        }
        let is_plain = self.mean == Some(MeanToAudit::Reference)
            || self.method.is_some_and(|method| !method.is_private());
        if is_plain && self.without_noise {
            return Err(Failure::Usage(
                "--without-noise goes with a private method: the one named adds no noise anyway; leave out --without-noise"
                    .into(),
            ));
        }
        Ok(())
    }

    fn stage(
        &self,
        known: &PublicFacts,
        subject: &Subject,
        rng: &mut RandomSource,
    ) -> Result<Stage, Failure> {
        let domain = known.domain()?;
        if let Some(path) = &self.file {
            let read = |path: &PathBuf| self.columns.read(path, known, !subject.is_mean());
            let neighbour = self.neighbour.as_ref().map(read).transpose()?;
            return Ok(Stage::of_tables(read(path)?, neighbour, domain.as_ref(), subject, rng)?);
        }
        let PublicFacts::Uniform(uniform) = known else {
            return Err(Failure::Usage(
                "a schema describes a file: give FILE, or --feature-bounds with --rows and --columns for simulated rows".into(),
            ));
        };
        let (Some(rows), Some(columns)) = (self.rows, self.columns.columns) else {
            return Err(Failure::Usage("give FILE, or --rows N and --columns D for simulated rows".into()));
        };
        let (bounds, intercept, support) = (uniform.bounds.feature, uniform.intercept, self.sparse.sparsity);
        let wanted = Simulated { rows, columns, bounds, intercept, support };
        Ok(ground::simulated(&wanted, domain.as_ref(), subject, rng)?)
    }

    fn subject(&self, known: &PublicFacts) -> Result<Subject, Failure> {
        if let Some(method) = self.mean {
            return Ok(Subject::Mean { method, sparsity: self.sparse.sparsity });
        }
        let Some(domain) = known.domain()? else {
            return Err(Failure::Usage(
                "the schema names no target: give --target COLUMN, or --mean to attack a mean".into(),
            ));
        };
        let family = self.family.clone().unwrap_or_else(|| Family::of(&domain));
        let Some(one_predictor) = family.one_predictor().cloned() else {
            return Err(Failure::Usage(
                "an audit attacks models with one linear predictor, not multinomial ones: give another --family or --target"
                    .into(),
            ));
        };
        if let Some(command) = &self.command {
            let name = format!("command `{command}`");
            let command = command.clone();
            let start = move |names: Vec<String>, has_constant: bool| {
                let external = External::new(&command, names, has_constant)?;
                let fit = move |table: &Table, _: &mut RandomSource| external.fit(table);
                Ok(Box::new(fit) as Box<dpglm::audit::Fitter<'static>>)
            };
            return Ok(Subject::External { name, family: one_predictor, start: Box::new(start) });
        }
        let request = FitRequest {
            family: Some(family),
            method: self.method,
            ridge: self.ridge,
            ..self.sparse.request()
        };
        let mut model = request.model(known)?;
        model.validate()?;
        model.sparse.public_features = self.sparse.public_features(&self.columns, known)?;
        Ok(Subject::Model(Box::new(model)))
    }

    /// What is publicly known, from the schema or from flags.
    fn known(&self) -> Result<PublicFacts, Failure> {
        // As `dpglm mean` does: columns that are not centred keep their zero.
        let centred = self.sparse.sparsity.is_none();
        let files = [&self.file, &self.neighbour, self.sparse.public_file()];
        match self.columns.known(&files.map(Option::as_ref))? {
            PublicFacts::Schema(mut schema) => {
                let beside = [schema.unit(), schema.exposure(), schema.weight()];
                if beside.iter().any(Option::is_some) || schema.missing() == Missing::Drop {
                    return Err(Failure::Failed(
                        "an audit replaces one row: it takes no unit, no exposure, no weight and no missing = \"drop\"; write a schema \
                         without them"
                            .into(),
                    ));
                }
                if let Some(target) = &self.target {
                    schema = schema.with_target(Some(target))?;
                }
                Ok(PublicFacts::Schema(match self.mean {
                    Some(_) => schema.with_target(None)?.with_intercept(centred),
                    None if self.no_intercept => schema.with_intercept(false),
                    None => schema,
                }))
            }
            PublicFacts::Uniform(uniform) if self.mean.is_some() => {
                Ok(PublicFacts::Uniform(UniformBounds { intercept: centred, ..uniform }))
            }
            PublicFacts::Uniform(uniform) => {
                if let Some((low, high)) = self.target_bounds {
                    dpglm_io::bounds::declared("--target-bounds", low, high)?;
                } else if !self.binary {
                    return Err(Failure::Usage(
                        "the target's public range is needed and has no default: give --target-bounds=LOW,HIGH or --binary"
                            .into(),
                    ));
                }
                let response = self.target.clone().map_or(Response::LastColumn, Response::Column);
                let mut uniform = UniformBounds { response, intercept: !self.no_intercept, ..uniform };
                (uniform.bounds.target, uniform.bounds.binary) = (self.target_bounds, self.binary);
                Ok(PublicFacts::Uniform(uniform))
            }
        }
    }
}
