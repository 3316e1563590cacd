//! Plans of studies.

use super::running;
use super::words::{self, exception};
use dpglm::privacy::Budget;
use dpglm_workflow::study::Question;
use dpglm_workflow::{Failure, render};
use pyo3::prelude::*;
use std::path::PathBuf;

/// What is asked: two of rows, epsilon and error.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
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

/// The answer's JSON, the same in words, and what is to be said beside it.
#[pyfunction]
pub fn plan_study(py: Python<'_>, asked: Asked) -> PyResult<(String, String, Vec<String>)> {
    let question = || -> Result<Question, Failure> {
        // Any valid epsilon serves to have delta checked.
        Budget::new(1.0, asked.delta)?;
        asked.epsilon.map(Budget::pure).transpose()?;
        Ok(Question {
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
        })
    };
    let question = question().map_err(exception)?;
    running::run(py, None, move |progress| {
        let mut said = Vec::new();
        let answer = question.answer(&mut |note| said.push(words::said(note)), progress)?;
        Ok((render::json(&answer.document)?, answer.document.table(), said))
    })
}
