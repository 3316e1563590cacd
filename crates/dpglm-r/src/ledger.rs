//! Ledgers that pay.

use super::fit::Budgeted;
use super::values;
use dpglm::accounting::filter::Rule;
use dpglm::privacy::{Adjacency, Budget};
use dpglm_ledger::{Chain, Ledger, Terms};
use dpglm_workflow::Failure;
use dpglm_workflow::ledger::{Grant, LedgerDocument, Payer, failure};
use dpglm_workflow::render;
use extendr_api::Robj;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Where a ledger is, the name of the data, and what for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaidFrom {
    path: PathBuf,
    data: String,
    purpose: String,
}

/// What a new ledger fixes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    epsilon: f64,
    delta: Option<f64>,
    reserve: f64,
    rule: String,
    unit: Option<String>,
    protects: String,
    about: String,
}

/// Opens the ledger that pays, if one does.
pub fn payer(from: Option<PaidFrom>) -> Result<Option<Payer>, Failure> {
    from.map(|from| Payer::open(&from.path, from.data, from.purpose)).transpose()
}

/// Refuses a budget for which there is no room whatever is released, and units that the ledger does not protect: before a row is read.
pub fn expect(ledger: &Robj, budget: &Robj, unit: Option<&str>) -> Result<(), Failure> {
    let Some(payer) = payer(values::read::<Option<PaidFrom>>(ledger)?)? else { return Ok(()) };
    let budget: Budgeted = values::read(budget)?;
    let privacy = budget.granted()?;
    Grant::new(privacy, Some(&payer), &budget.source()?)?;
    payer.expect(privacy, &unit.map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.to_owned())))
}

fn read(path: &Path) -> Result<Chain, Failure> {
    Ledger::open(path).and_then(|ledger| ledger.read()).map_err(|error| failure(path, error))
}

/// Makes a new ledger.
pub fn create(path: &Path, asked: &Robj) -> Result<(), Failure> {
    let asked: Asked = values::read(asked)?;
    let budget =
        asked.delta.map_or_else(|| Budget::pure(asked.epsilon), |delta| Budget::new(asked.epsilon, delta))?;
    let rule: Rule = render::named("rule", &asked.rule)?;
    let protects = match (asked.unit, asked.protects.as_str()) {
        (Some(unit), "row") => Adjacency::ReplaceUnit(unit),
        (Some(_), _) => {
            return Err(Failure::Usage("unit and protects say two things: leave out one of them".into()));
        }
        (None, "record") => Adjacency::ReplaceUserRecord,
        (None, "label") => Adjacency::ReplaceUserLabel,
        (None, "pair") => Adjacency::ReplacePair,
        (None, _) => Adjacency::ReplaceRow,
    };
    let terms = Terms::new(asked.about, protects, budget, asked.reserve, rule)?;
    Ledger::create(path, &terms).map_err(|error| failure(path, error))?;
    Ok(())
}

/// What a ledger holds, as JSON. It is verified first.
pub fn show(path: &Path) -> Result<String, Failure> {
    render::json(&LedgerDocument::new(&read(path)?))
}

/// The largest epsilon of one more Gaussian release at this delta.
pub fn room(path: &Path, delta: f64) -> Result<f64, Failure> {
    let chain = read(path)?;
    Ok(chain.filter().room(chain.spent(), delta)?)
}

/// Whether a line has this hash.
pub fn holds(path: &Path, hash: &str) -> Result<bool, Failure> {
    Ok(read(path)?.holds(hash).is_some())
}
