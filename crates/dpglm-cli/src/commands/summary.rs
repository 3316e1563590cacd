//! `dpglm summary`: what follows from a fitted model without another look at the rows.

use crate::artefact::{self, Artefact};
use crate::failure::Failure;
use crate::{Format, flags, render};
use clap::Args;
use dpglm_workflow::document::FitDocument;
use dpglm_workflow::inference::{Request, Together, ratio_of, summarize};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// Tests, ratios, contrasts and effects of a model that was fitted with intervals.
///
/// Each coefficient with z and p, and Wald's test of every term of several coefficients, such as a factor's levels. All of it follows from
/// the artefact, which was paid for: it costs no privacy, and may be done as often as one likes.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// A model written by `dpglm fit --intervals LEVEL --output`
    #[arg(value_name = "ARTEFACT")]
    artefact: PathBuf,
    /// The level of all intervals [default: the fit's own]
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    level: Option<f64>,
    /// Also give odds ratios, rate ratios, hazard ratios or ratios of means: exponentials of the coefficients
    #[arg(long)]
    ratios: bool,
    /// Also give intervals that hold for all coefficients together
    #[arg(long, value_enum, value_name = "HOW")]
    simultaneous: Option<Together>,
    /// A combination of coefficients, with its test and interval: 'sex=Male - 2 * age'. May be given again
    #[arg(long, value_name = "COMBINATION", allow_hyphen_values = true)]
    contrast: Vec<String>,
    /// Public values at which to predict, with what a change of each column does there: age=40,sex=Male. Columns that are not named have
    /// their fill values
    #[arg(long, value_name = "VALUES", value_parser = values)]
    at: Option<Values>,
    /// Values that are compared with those of --at; columns that are not named are as there
    #[arg(long, value_name = "VALUES", value_parser = values, requires = "at")]
    versus: Option<Values>,
}

const EXAMPLES: &str = "\
Examples:
  Tests and odds ratios:
    dpglm summary fit.json --ratios
  Intervals that hold together, and one contrast:
    dpglm summary fit.json --simultaneous max-z --contrast 'work=state - work=self'
  What does the model say of two people?
    dpglm summary fit.json --at age=40,sex=Male --versus sex=Female";

/// Columns with values.
#[derive(Clone)]
struct Values(IndexMap<String, String>);

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let fit = fit_of(&arguments.artefact)?;
    if arguments.ratios && ratio_of(&fit).is_none() {
        return Err(Failure::Usage(format!(
            "--ratios: exponentials of the coefficients of a {} model are no ratios: leave out the ratios, or explain the logarithm of the \
             target",
            fit.family.name()
        )));
    }
    let of = |values: &Option<Values>| values.as_ref().map(|Values(values)| values.clone());
    let request = Request {
        level: arguments.level,
        ratios: arguments.ratios,
        together: arguments.simultaneous,
        contrasts: arguments.contrast.clone(),
        at: of(&arguments.at),
        versus: of(&arguments.versus),
    };
    let summary = summarize(&fit, &request)?;
    match format {
        Format::Json => render::json(&summary),
        Format::Table => Ok(summary.text()),
    }
}

/// A fitted model.
pub(super) fn fit_of(path: &Path) -> Result<Box<FitDocument>, Failure> {
    match artefact::read(path)? {
        Artefact::Fit(fit) => Ok(fit),
        _ => Err(Failure::Failed(format!(
            "{}: this is no model: give a file that `dpglm fit --output` wrote",
            path.display()
        ))),
    }
}

/// Names with values. A value may hold commas where no name with an equals sign follows.
fn values(text: &str) -> Result<Values, String> {
    let mut all: IndexMap<String, String> = IndexMap::new();
    for part in text.split(',') {
        match (part.split_once('='), all.last_mut()) {
            (Some((name, value)), _) if !name.trim().is_empty() => {
                if all.insert(name.trim().to_owned(), value.trim().to_owned()).is_some() {
                    return Err(format!("{} is given twice: give it once", name.trim()));
                }
            }
            (None, Some((_, value))) => *value += &format!(",{part}"),
            _ => return Err("columns with values are needed: write them like age=40,sex=Male".into()),
        }
    }
    Ok(Values(all))
}
