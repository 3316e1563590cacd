//! What a user asks for as a description, and its artefact as JSON.

use super::fit::Budgeted;
use super::ledger::{PaidFrom, payer};
use super::running;
use super::table::{Table, schema};
use super::values;
use dpglm_workflow::describe::Description;
use dpglm_workflow::ledger::Grant;
use dpglm_workflow::{Failure, render};
use extendr_api::Robj;
use serde::Deserialize;

/// What is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    budget: Budgeted,
    by: Option<String>,
    intervals: f64,
    histograms: Option<usize>,
    cross: Option<[String; 2]>,
    correlations: bool,
    bounds_share: Option<f64>,
}

/// The schema, as JSON, under which a table is read to be described.
pub fn schema_of(features: &Robj, by: Option<&str>) -> Result<String, Failure> {
    let asked = Description { by: by.map(str::to_owned), ..Description::default() };
    serde_json::to_string(&asked.schema(schema(features)?)?)
        .map_err(|error| Failure::Failed(error.to_string().into()))
}

/// Begins to describe a table that was read under such a schema.
pub fn describe(table: &Table, asked: &Robj, ledger: &Robj) -> Result<Robj, Failure> {
    let payer = payer(values::read::<Option<PaidFrom>>(ledger)?)?;
    let asked: Asked = values::read(asked)?;
    let privacy = asked.budget.granted()?;
    let mut rng = asked.budget.source()?;
    let description = Description {
        by: asked.by,
        level: asked.intervals,
        bins: asked.histograms,
        cross: asked.cross,
        correlations: asked.correlations,
        bounds_share: asked.bounds_share,
    };
    let prepared = description.prepare(&table.schema)?;
    let encoded = table.take()?;
    Ok(running::start(move |say, progress| {
        progress(0, 1);
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = prepared.describe(&encoded, grant, &mut rng, say)?;
        Ok((render::json(&document)?, None))
    }))
}
