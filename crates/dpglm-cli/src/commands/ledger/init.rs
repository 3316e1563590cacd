//! `dpglm ledger init`.

use crate::failure::Failure;
use crate::{Format, flags, render};
use clap::{Args, ValueEnum};
use dpglm::accounting::filter;
use dpglm::privacy::{Adjacency, Budget};
use dpglm_ledger::{Ledger, Terms};
use dpglm_workflow::ledger::failure;
use serde::Serialize;
use std::path::PathBuf;

/// Make a ledger: fix what may be spent by everything that will ever be paid from it.
#[derive(Args)]
pub struct Arguments {
    /// The new file; one that exists is never overwritten
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// The privacy loss of everything together
    #[arg(long, value_name = "E", value_parser = flags::epsilon, allow_negative_numbers = true)]
    epsilon: f64,
    /// The probability with which that may fail, well below 1/n for n rows; without it only with --rule pure
    #[arg(long, value_name = "D", value_parser = flags::delta, allow_negative_numbers = true)]
    delta: Option<f64>,
    /// The part of delta for releases of which no more is known than that they are (e, d) private: two-stage, best-subset,
    /// johnson-lindenstrauss, karwa-vadhan, and means with --tune. A tenth of delta is enough for some, and costs the others little [default: 0, none of these]
    #[arg(long, value_name = "D", value_parser = flags::number, allow_negative_numbers = true)]
    reserve: Option<f64>,
    /// How losses add up: gdp is exact for Gaussian noise; zcdp counts private choices and Laplace noise for less, and Gaussian noise
    /// for more; pure adds epsilons, for answers from devices and others without Gaussian noise [default: gdp]
    #[arg(long, value_enum, value_name = "NAME")]
    rule: Option<Rule>,
    /// Protect all rows of a person together, whom this column names [default: each row by itself]. Everything that is paid from the
    /// ledger must protect the same
    #[arg(long, value_name = "COLUMN")]
    unit: Option<String>,
    /// Protect something else than one row: a user's record or label on their device (`dpglm collect serve --ledger`, methods in the local
    /// model), or one row that describes two people
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "unit")]
    protects: Option<Protects>,
    /// What the ledger is for
    #[arg(long, value_name = "TEXT")]
    about: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Rule {
    Gdp,
    Zcdp,
    Pure,
}

#[derive(Clone, Copy, ValueEnum)]
enum Protects {
    Row,
    Record,
    Label,
    Pair,
}

impl From<Protects> for Adjacency {
    fn from(protects: Protects) -> Self {
        match protects {
            Protects::Row => Adjacency::ReplaceRow,
            Protects::Record => Adjacency::ReplaceUserRecord,
            Protects::Label => Adjacency::ReplaceUserLabel,
            Protects::Pair => Adjacency::ReplacePair,
        }
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    ledger: String,
    head: String,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let budget = match (arguments.delta, arguments.rule) {
        (Some(delta), _) => Budget::new(arguments.epsilon, delta)?,
        (None, Some(Rule::Pure)) => Budget::pure(arguments.epsilon)?,
        (None, _) => {
            return Err(Failure::Usage(
                "give --delta: only where epsilons add up (--rule pure) a total needs none".into(),
            ));
        }
    };
    let rule = match arguments.rule {
        None | Some(Rule::Gdp) => filter::Rule::Gdp,
        Some(Rule::Zcdp) => filter::Rule::Zcdp,
        Some(Rule::Pure) => filter::Rule::Pure,
    };
    let protects = match &arguments.unit {
        Some(unit) => Adjacency::ReplaceUnit(unit.clone()),
        None => arguments.protects.unwrap_or(Protects::Row).into(),
    };
    let how = match protects {
        Adjacency::ReplaceUserRecord => "`dpglm collect serve`",
        _ => "`dpglm fit`, `dpglm mean` and `dpglm describe`",
    };
    let about = arguments.about.clone().unwrap_or_default();
    let terms = Terms::new(about, protects, budget, arguments.reserve.unwrap_or(0.0), rule)?;
    let ledger =
        Ledger::create(&arguments.ledger, &terms).map_err(|error| failure(&arguments.ledger, error))?;
    let chain = ledger.read().map_err(|error| failure(&arguments.ledger, error))?;
    let path = arguments.ledger.display().to_string();
    if format == Format::Json {
        let head = chain.head().to_owned();
        return render::json(&Document { schema: "dpglm.ledger-made/1", ledger: path, head });
    }
    Ok(format!(
        "Made {path}: everything that is paid from it will be ({}, {})-differentially private together.\n\nhead  {}\n\nPay with \
         --ledger {path} at {how}.\n",
        render::plain(arguments.epsilon),
        render::plain(budget.delta()),
        chain.head()
    ))
}
