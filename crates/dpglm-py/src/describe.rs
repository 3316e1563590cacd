//! What a user asks for to a description, and its artefact to JSON.

use super::fit::{granted, source};
use super::ledger::{PaidFrom, payer};
use super::running;
use super::table::{Table, schema};
use super::words::{self, exception};
use dpglm::central::Privacy;
use dpglm::error::Message;
use dpglm_workflow::Failure;
use dpglm_workflow::describe::Description;
use dpglm_workflow::ledger::Grant;
use dpglm_workflow::render;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What is asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AskedDescription {
    epsilon: Option<f64>,
    delta: Option<f64>,
    insecure_seed: Option<u64>,
    by: Option<String>,
    level: f64,
    bins: Option<usize>,
    cross: Option<(String, String)>,
    correlations: bool,
    bounds_share: Option<f64>,
}

impl AskedDescription {
    pub fn privacy(&self) -> Result<Privacy, Failure> {
        granted(self.epsilon, self.delta)
    }

    pub fn insecure_seed(&self) -> Option<u64> {
        self.insecure_seed
    }

    pub fn description(self) -> Description {
        Description {
            by: self.by,
            level: self.level,
            bins: self.bins,
            cross: self.cross.map(|(a, b)| [a, b]),
            correlations: self.correlations,
            bounds_share: self.bounds_share,
        }
    }
}

/// The schema, as JSON, under which a table is read to be described.
#[pyfunction]
pub fn schema_of_description(
    features: &str,
    by: Option<String>,
    magnitudes: Vec<(String, f64, f64)>,
) -> PyResult<String> {
    let features = schema(features)?.with_magnitudes(&magnitudes).map_err(exception)?;
    let read = Description { by, ..Description::default() }.schema(features).map_err(exception)?;
    serde_json::to_string(&read).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Describes a table that was read under such a schema. Gives the artefact's JSON and what is to be said beside it.
#[pyfunction]
#[pyo3(signature = (table, asked, ledger=None))]
pub fn describe(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    asked: AskedDescription,
    ledger: Option<PaidFrom>,
) -> PyResult<(String, Vec<String>)> {
    let payer = payer(ledger).map_err(exception)?;
    let table = table.get();
    let privacy = asked.privacy().map_err(exception)?;
    let mut rng = source(asked.insecure_seed).map_err(exception)?;
    let prepared = asked.description().prepare(&table.schema).map_err(exception)?;
    let encoded = table.take().map_err(exception)?;
    running::run(py, None, move |_| {
        let mut said = Vec::new();
        let say = &mut |note: &Message| said.push(words::said(note));
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = prepared.describe(&encoded, grant, &mut rng, say)?;
        Ok((render::json(&document)?, said))
    })
}
