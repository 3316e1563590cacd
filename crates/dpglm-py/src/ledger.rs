//! Ledgers that pay.

use super::fit::{granted, source};
use super::words::exception;
use dpglm::accounting::filter::Rule;
use dpglm::privacy::{Adjacency, Budget};
use dpglm_ledger::{Chain, Ledger, Terms};
use dpglm_workflow::Failure;
use dpglm_workflow::ledger::{Grant, LedgerDocument, Payer, failure};
use dpglm_workflow::render;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Where a ledger is, the name of the data, and what for.
pub type PaidFrom = (PathBuf, String, String);

/// Opens the ledger that pays, if one does.
pub fn payer(from: Option<PaidFrom>) -> Result<Option<Payer>, Failure> {
    from.map(|(path, data, purpose)| Payer::open(&path, data, purpose)).transpose()
}

/// Refuses a budget for which there is no room whatever is released, and units that the ledger does not protect: before a row is read.
#[pyfunction]
#[pyo3(signature = (paid, epsilon, delta, insecure_seed, unit))]
pub fn expect_ledger(
    paid: PaidFrom,
    epsilon: Option<f64>,
    delta: Option<f64>,
    insecure_seed: Option<u64>,
    unit: Option<String>,
) -> PyResult<()> {
    let expect = || -> Result<(), Failure> {
        let Some(payer) = payer(Some(paid))? else { return Ok(()) };
        let privacy = granted(epsilon, delta)?;
        Grant::new(privacy, Some(&payer), &source(insecure_seed)?)?;
        payer.expect(privacy, &unit.map_or(Adjacency::ReplaceRow, Adjacency::ReplaceUnit))
    };
    expect().map_err(exception)
}

fn read(path: &Path) -> PyResult<Chain> {
    Ledger::open(path).and_then(|ledger| ledger.read()).map_err(|error| exception(failure(path, error)))
}

/// Makes a new ledger.
#[pyfunction]
#[pyo3(signature = (path, epsilon, delta, reserve, rule, whom, about))]
pub fn create_ledger(
    path: PathBuf,
    epsilon: f64,
    delta: Option<f64>,
    reserve: f64,
    rule: &str,
    whom: (bool, String),
    about: String,
) -> PyResult<()> {
    let made = || -> Result<(), Failure> {
        let budget = delta.map_or_else(|| Budget::pure(epsilon), |delta| Budget::new(epsilon, delta))?;
        let rule: Rule = render::named("rule", rule)?;
        // The name of a unit, or a word.
        let protects = match (whom.0, whom.1.as_str()) {
            (true, _) => Adjacency::ReplaceUnit(whom.1),
            (_, "record") => Adjacency::ReplaceUserRecord,
            (_, "label") => Adjacency::ReplaceUserLabel,
            (_, "pair") => Adjacency::ReplacePair,
            _ => Adjacency::ReplaceRow,
        };
        let terms = Terms::new(about, protects, budget, reserve, rule)?;
        Ledger::create(&path, &terms).map_err(|error| failure(&path, error))?;
        Ok(())
    };
    made().map_err(exception)
}

/// What a ledger holds, as JSON. It is verified first.
#[pyfunction]
pub fn show_ledger(path: PathBuf) -> PyResult<String> {
    render::json(&LedgerDocument::new(&read(&path)?)).map_err(exception)
}

/// The largest epsilon of one more Gaussian release at this delta.
#[pyfunction]
pub fn room_in_ledger(path: PathBuf, delta: f64) -> PyResult<f64> {
    let chain = read(&path)?;
    chain.filter().room(chain.spent(), delta).map_err(exception)
}

/// The place of the line with this hash.
#[pyfunction]
pub fn line_of_ledger(path: PathBuf, hash: &str) -> PyResult<Option<usize>> {
    Ok(read(&path)?.holds(hash))
}
