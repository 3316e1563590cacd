//! `dpglm fit`: from a table and a budget to a model that can be published.

pub(super) mod sparse;

use crate::artefact::{Artefact, Destination};
use crate::failure::Failure;
use crate::large::Large;
use crate::model::{Family, FitRequest, Method, Model, Ready};
use crate::progress;
use crate::progress::{LargeProgress, Progress, tell};
use crate::table::{self, Columns, PublicFacts};
use crate::{Format, budget, flags, ledger, planned};
use clap::Args;
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm_io::{Response, UniformBounds};
use dpglm_workflow::survival::Survival;
use dpglm_workflow::tune::Tune;
use dpglm_workflow::{fit, notes};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Fit a private generalized linear model: linear, logistic and other links of two levels, Poisson, gamma, Tweedie, survival or multinomial.
///
/// Give a table, what is publicly known about its columns, and a budget. Everything that leaves, the coefficients and, if
/// asked for, their standard errors and intervals, is paid from that one budget and listed in a certificate. Nothing is
/// tuned on the rows: bounds, levels and the number of rows are public, all else stays in the file.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The table: CSV (also .gz, .xz, .bz2), JSON lines, Parquet, NumPy .npy, SciPy .npz or LIBSVM; or a folder or a 'pattern*' of such
    /// files of the same columns
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same as FILE, for a numeric file of features alone
    #[arg(long, value_name = "FILE", conflicts_with = "file", help_heading = "Data")]
    design: Option<PathBuf>,
    /// A file with the target alone, one row for each row of the features
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schema", "target"], help_heading = "Data")]
    response: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    search: table::Search,
    /// The column to explain [default: the schema's target; without a schema the last column]
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    target: Option<String>,
    /// Which columns of the model are made of which of the table: 'log(charges) ~ age + C(sex) + age:bmi + ns(age, knots=[30, 45])'. Every
    /// term's bounds follow from those of its columns; `docs/formulas.md` has the language
    #[arg(long, value_name = "FORMULA", conflicts_with_all = ["features", "feature_bounds"], help_heading = "Data")]
    formula: Option<String>,
    /// The columns to explain with, of those that the schema declares [default: all]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "feature_bounds",
        help_heading = "Data"
    )]
    features: Option<Vec<String>>,
    /// Public bounds of a numeric target that no schema declares. Values outside are clamped
    #[arg(long, value_name = "LOW,HIGH", value_parser = table::bounds, allow_hyphen_values = true)]
    #[arg(conflicts_with = "schema", help_heading = "Data")]
    target_bounds: Option<(f64, f64)>,
    /// The target is 0 or 1 (or -1 or 1), where no schema says so
    #[arg(long, conflicts_with_all = ["schema", "target_bounds"], help_heading = "Data")]
    binary: bool,
    /// The column that says whose row it is: the promise is then for each person's rows together, not for each row. It is no
    /// feature
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    unit: Option<String>,

    /// The column of sampling weights, in place of the schema's: a declared number of at least 0. Estimates are weighted, and standard errors
    /// design-based. It is no feature
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    sample_weight: Option<String>,

    /// What kind of response it is [default: by the target's kind]
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Model")]
    family: Option<Family>,
    /// The power of the mean in the variance of a Tweedie response, from 1.01 to 1.99 [default: 1.5]
    #[arg(long, value_name = "P", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Model")]
    power: Option<f64>,
    /// Explain survival: the columns of times and of events. Hazard ratios come from one row for each interval between --cuts in which a person
    /// was, and all rows of a person are protected together
    #[arg(long, value_name = "TIME,EVENT", value_parser = table::lists, requires = "cuts", help_heading = "Model")]
    #[arg(conflicts_with = "target")]
    survival: Option<table::Lists>,
    /// The times at which the hazard may change, ascending: 1,2,5
    #[arg(long, value_name = "TIMES", value_delimiter = ',', requires = "survival", help_heading = "Model")]
    cuts: Option<Vec<f64>>,
    /// Also give the dispersion, by how much responses vary more than their means say, paid from the same budget. Standard errors hold
    /// without it
    #[arg(long, help_heading = "Model")]
    dispersion: bool,
    /// How to fit it; `dpglm methods` explains each [default: likelihood; with --sparsity select-refine, with --tune ridge
    /// bounded-score]
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Model")]
    method: Option<Method>,
    /// Short for --method bounded-score: no row's score counts for more than a typical one's. Estimates what a robust fit does, not
    /// the mean of the response
    #[arg(long, help_heading = "Model")]
    robust: bool,
    /// No intercept: the prediction is zero where all columns are
    #[arg(long, help_heading = "Model")]
    no_intercept: bool,
    /// Also give standard errors and confidence intervals of this level (0.95), paid from the same budget
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Model")]
    intervals: Option<f64>,
    /// Add R/2 times the squared l2 norm of the coefficients to the mean loss, for columns scaled to [-1, 1]
    #[arg(long, value_name = "R", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Model")]
    ridge: Option<f64>,
    /// Keep the coefficients in the l2 ball of this radius, for columns scaled to [-1, 1]
    #[arg(long, value_name = "R", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Model")]
    radius: Option<f64>,

    /// Choose parameters privately, from the same budget: sparsity=auto (or auto:MAX, at most MAX coefficients), ridge=auto,
    /// clip=auto, separated by commas. Every fifth row validates; the certificate lists what each part of the rows pays for
    #[arg(long, value_name = "WHAT", value_parser = flags::tune, help_heading = "Model")]
    tune: Option<Tune>,

    #[command(flatten)]
    sparse: sparse::SparseArguments,

    #[command(flatten)]
    large: Large,

    #[command(flatten)]
    budget: budget::Granted,
    #[command(flatten)]
    ledger: ledger::PayFrom,

    /// Write the model as JSON, for `dpglm predict` and `dpglm show`
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
    /// Print what would be released and what it would cost: header and schema say enough. Rows are counted where no header says how many
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// The number of rows (or units) of a dry run [default: as many as the file has]
    #[arg(long, value_name = "N", requires = "dry_run", help_heading = "Output")]
    rows: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  A table under a schema, with 95% intervals:
    dpglm fit adult.csv.xz --schema schema.toml --epsilon 1 --delta 1e-6 --intervals 0.95 --output fit.json
  A formula, with one schema for many models:
    dpglm fit people.csv --schema schema.toml --formula 'log(charges) ~ age*smoker + ns(bmi, knots=[25, 30, 35])' --epsilon 1 --delta 1e-6
  NumPy arrays with one pair of bounds for all features:
    dpglm fit --design X.npy --response y.npy --binary --feature-bounds=-1,1 --epsilon 0.5 --delta 1e-6
  A thousand columns of which ten matter:
    dpglm fit uniform.csv --header --feature-bounds=-1,1 --binary --sparsity 10 --epsilon 1 --delta 1e-6
  The same where nobody knows how many matter:
    dpglm fit uniform.csv --header --feature-bounds=-1,1 --binary --tune sparsity=auto,clip=auto --epsilon 1 --delta 1e-6
  Where nobody knows how large incomes are:
    dpglm fit people.csv --schema schema.toml --bounds private --magnitudes income=1e9:1 --epsilon 1 --delta 1e-6
  What would a fit cost? No file is needed:
    dpglm fit --dry-run --rows 40000 --columns 10 --binary --feature-bounds=-1,1 --epsilon 0.5 --delta 1e-6";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let (survival, known) = arguments.survival(arguments.known()?)?;
    let (share, known) = arguments.search.of(arguments.with_features(known)?)?;
    let mut model = arguments.model(&known, survival)?;
    model.validate()?;
    if let PublicFacts::Schema(schema) = &known {
        let (columns, target) = schema.encoded()?;
        model = model.searching(share, &columns, schema, target.as_ref())?;
    }
    model.sparse.public_features = arguments.sparse.public_features(&arguments.columns, &known)?;
    let privacy = arguments.privacy(model.method)?;
    let files = [arguments.file.as_deref(), arguments.design.as_deref(), arguments.response.as_deref()];
    let payers = arguments.ledger.open(&files, privacy, &known.adjacency(), &arguments.budget)?;
    if arguments.dry_run {
        return dry_run(arguments, &known, &model, privacy, &payers, format);
    }
    let path = arguments.path()?;
    let destination =
        Destination::new(arguments.output.as_deref(), arguments.sign.as_deref(), arguments.force)?;
    let room = arguments.large.room(path, &arguments.columns, &known, &model)?;
    let mut bar = Progress::new();
    let prepared = match &room {
        None => {
            let table = arguments.columns.read(path, &known, true)?;
            let schema = known.schema_of(path, &table)?;
            fit::prepare(&model, table, schema, path)?
        }
        Some(room) => {
            let large = Arc::new(LargeProgress::new());
            let table =
                arguments.columns.read_large(path, &known, true, room, &|done, of| large.read(done, of))?;
            let schema = known.schema_of_columns(path, &table.columns, table.target.as_ref())?;
            bar = Progress::of_large(large.clone());
            fit::prepare_large(&model, table, schema, path, Box::new(move |done, of| large.pass(done, of)))?
        }
    };
    let mut rng = match model.method.is_private() {
        true => arguments.budget.source()?,
        // No noise is drawn.
        false => RandomSource::insecure_seeded(0),
    };
    let grant = payers.grant(privacy, &rng)?;
    let document =
        prepared.fit(&model, grant, &mut rng, &mut progress::note, &mut |done, of| bar.step(done, of))?;
    drop(bar);
    destination.release(&Artefact::Fit(Box::new(document)), format)
}

fn dry_run(
    arguments: &Arguments,
    known: &PublicFacts,
    model: &Model,
    privacy: Privacy,
    payers: &ledger::Payers,
    format: Format,
) -> Result<String, Failure> {
    planned::refuse_misplaced(&arguments.columns, arguments.output.as_deref())?;
    arguments.large.refuse()?;
    let file = arguments.file.as_deref().or(arguments.design.as_deref());
    let (rows, columns) = known.shape(file, arguments.rows)?;
    let shape = model.fitted_shape(known.plan_shape(columns + usize::from(model.intercept), rows));
    let model = &*model.for_shape(shape, privacy);
    budget::warn_of_large_delta(privacy, rows);
    notes::of_few_rows(model.sparse.sparsity, rows).iter().for_each(progress::note);
    let ready = model.prepare(shape, privacy)?;
    notes::of_undetermined(model, &ready).iter().for_each(progress::note);
    if let Some(payer) = payers.payer() {
        let planned = |ready: &Ready| fit::planned(model, ready, known.adjacency());
        let again = |privacy| planned(&model.prepare(shape, privacy)?);
        progress::note(&payer.try_out(&planned(&ready)?, privacy, &again)?);
    }
    let (events, parts, adjacency) = (ready.events()?, ready.parts()?, known.adjacency());
    let rng = arguments.budget.source()?;
    let certificate = planned::certificate(events, parts, adjacency, model.assumption(), privacy, &rng)?;
    planned::show(&model.noted(certificate), format)
}

impl Arguments {
    /// How survival is cut, and the schema that reads its columns.
    fn survival(&self, known: PublicFacts) -> Result<(Option<Survival>, PublicFacts), Failure> {
        match (&self.survival, &self.cuts, known) {
            (Some(table::Lists([time, event])), Some(cuts), PublicFacts::Schema(schema)) => {
                let (survival, schema) = Survival::new(schema, time, event, cuts.clone())?;
                Ok((Some(survival), PublicFacts::Schema(schema)))
            }
            (Some(_), _, PublicFacts::Uniform(_)) => Err(Failure::Usage(
                "--survival needs a schema, in which times and events are declared: give --schema FILE"
                    .into(),
            )),
            (_, _, known) => Ok((None, known)),
        }
    }

    /// The features that were asked for alone, once it is known which columns have another role.
    fn with_features(&self, known: PublicFacts) -> Result<PublicFacts, Failure> {
        match (&self.features, known) {
            (Some(features), PublicFacts::Schema(schema)) => {
                Ok(PublicFacts::Schema(schema.with_features(features)?))
            }
            (_, known) => Ok(known),
        }
    }

    fn path(&self) -> Result<&Path, Failure> {
        self.file.as_deref().or(self.design.as_deref()).ok_or_else(|| {
            Failure::Usage("a table is needed: give FILE, or --design FILE --response FILE".into())
        })
    }

    /// What is publicly known, from the schema or from flags.
    fn known(&self) -> Result<PublicFacts, Failure> {
        let files = [&self.file, &self.design, &self.response, self.sparse.public_file()];
        match self.columns.known(&files.map(Option::as_ref))? {
            PublicFacts::Schema(mut schema) => {
                if let Some(formula) = &self.formula {
                    schema = schema.with_formula(Some(formula))?;
                }
                if let Some(target) = &self.target {
                    schema = schema.with_target(Some(target))?;
                }
                if let Some(unit) = &self.unit {
                    schema = schema.with_unit(Some(unit))?;
                }
                if let Some(weight) = &self.sample_weight {
                    schema = schema.with_weight(Some(weight))?;
                }
                if self.no_intercept {
                    schema = schema.with_intercept(false);
                }
                Ok(PublicFacts::Schema(schema))
            }
            PublicFacts::Uniform(_) if self.sample_weight.is_some() => Err(Failure::Usage(
                "--sample-weight needs bounds of its own: give --schema FILE, which declares the column"
                    .into(),
            )),
            PublicFacts::Uniform(uniform) => {
                let response = match (&self.response, &self.target) {
                    (Some(file), _) => Response::File(file.clone()),
                    (None, Some(column)) => Response::Column(column.clone()),
                    (None, None) if self.design.is_some() => {
                        return Err(Failure::Usage(
                            "--design holds the features alone: give the target with --response FILE".into(),
                        ));
                    }
                    (None, None) => Response::LastColumn,
                };
                if let Some((low, high)) = self.target_bounds {
                    dpglm_io::bounds::declared("--target-bounds", low, high)?;
                } else if !self.binary {
                    return Err(Failure::Usage(
                        "the target's public range is needed and has no default: give --target-bounds=LOW,HIGH or --binary"
                            .into(),
                    ));
                }
                let unit = self.unit.clone();
                let mut uniform = UniformBounds { response, unit, intercept: !self.no_intercept, ..uniform };
                (uniform.bounds.target, uniform.bounds.binary) = (self.target_bounds, self.binary);
                Ok(PublicFacts::Uniform(uniform))
            }
        }
    }

    fn model(&self, known: &PublicFacts, survival: Option<Survival>) -> Result<Model, Failure> {
        let request = FitRequest {
            family: self.family.clone(),
            power: self.power,
            dispersion: self.dispersion,
            survival,
            method: self.method,
            robust: self.robust,
            ridge: self.ridge,
            radius: self.radius,
            level: self.intervals,
            tune: self.tune.clone().unwrap_or_default(),
            ..self.sparse.request()
        };
        if request.tune.clip {
            tell(
                "note: clip=auto: rows and residuals are clipped at levels found privately, as --method likelihood and \
                  select-refine always do",
            );
        }
        Ok(request.model(known)?)
    }

    fn privacy(&self, method: Method) -> Result<Privacy, Failure> {
        if method.is_private() { self.budget.privacy() } else { self.budget.none(method) }
    }
}
