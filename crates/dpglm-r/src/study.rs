//! Plans of studies.

use super::running;
use super::values;
use dpglm::privacy::Budget;
use dpglm_workflow::study::Question;
use dpglm_workflow::{Failure, render};
use extendr_api::Robj;
use serde::Deserialize;
use std::path::PathBuf;

/// What is asked: two of rows, epsilon and error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    model: String,
    columns: usize,
    rows: Option<usize>,
    epsilon: Option<f64>,
    delta: f64,
    error: Option<f64>,
    sparsity: Option<usize>,
    sigma: Option<f64>,
    feature_bounds: Option<(f64, f64)>,
    target_bounds: Option<(f64, f64)>,
    mean_count: Option<f64>,
    runs: u64,
    cache: Option<PathBuf>,
}

/// Begins to plan.
pub fn plan(asked: &Robj) -> Result<Robj, Failure> {
    let asked: Asked = values::read(asked)?;
    // Any valid epsilon serves to have delta checked.
    Budget::new(1.0, asked.delta)?;
    asked.epsilon.map(Budget::pure).transpose()?;
    let question = Question {
        model: render::named("model", &asked.model)?,
        rows: asked.rows,
        columns: asked.columns,
        sparsity: asked.sparsity,
        epsilon: asked.epsilon,
        delta: asked.delta,
        error: asked.error,
        sigma: asked.sigma,
        feature_bounds: asked.feature_bounds,
        target_bounds: asked.target_bounds,
        mean_count: asked.mean_count,
        runs: asked.runs,
        cache: asked.cache,
    };
    Ok(running::start(move |say, progress| {
        let answer = question.answer(say, progress)?;
        Ok((render::json(&answer.document)?, Some(answer.document.table())))
    }))
}
