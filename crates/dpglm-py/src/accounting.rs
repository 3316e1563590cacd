//! Events and certificates, as the JSON they are everywhere.

use super::words::exception;
use dpglm::accounting as library;
use dpglm::accounting::Certificate;
use dpglm::privacy::{Budget, Event};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn events(json: &str) -> PyResult<Vec<Event>> {
    serde_json::from_str(json).map_err(|error| {
        let message = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        PyValueError::new_err(message.strip_suffix(&place).unwrap_or(&message).to_owned())
    })
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Epsilon at a delta, and by which bound.
#[pyfunction]
pub fn account(py: Python<'_>, events_json: &str, delta: f64) -> PyResult<(f64, String)> {
    let events = events(events_json)?;
    let guarantee = py.detach(|| library::account(&events, delta)).map_err(exception)?;
    Ok((guarantee.epsilon, dpglm_workflow::render::bound(guarantee.method)))
}

/// Delta at an epsilon.
#[pyfunction]
pub fn delta_at(py: Python<'_>, events_json: &str, epsilon: f64) -> PyResult<f64> {
    let events = events(events_json)?;
    py.detach(|| library::delta_at(&events, epsilon)).map_err(exception)
}

/// The whole privacy curve.
#[pyfunction]
pub fn curve(py: Python<'_>, events_json: &str) -> PyResult<Vec<(f64, f64)>> {
    let events = events(events_json)?;
    py.detach(|| library::curve(&events)).map_err(exception)
}

/// The template with noise that meets the budget beside what is spent. Without a delta the guarantee is pure.
#[pyfunction]
#[pyo3(signature = (template_json, spent_json, epsilon, delta))]
pub fn calibrate(
    py: Python<'_>,
    template_json: &str,
    spent_json: &str,
    epsilon: f64,
    delta: Option<f64>,
) -> PyResult<String> {
    let (template, spent) = (events(template_json)?, events(spent_json)?);
    let budget = match delta {
        Some(delta) => Budget::new(epsilon, delta),
        None => Budget::pure(epsilon),
    };
    let budget = budget.map_err(exception)?;
    let calibrated = py.detach(|| library::calibrate(&template, &spent, budget)).map_err(exception)?;
    json(&calibrated)
}

/// Reads a certificate, computes its claim again from the events it lists, and gives it back as it is written.
#[pyfunction]
pub fn verify_certificate(certificate_json: &str) -> PyResult<String> {
    Ok(Certificate::from_json(certificate_json).map_err(exception)?.to_json())
}

/// A privacy number as it is printed, rounded up.
#[pyfunction]
pub fn rounded_up(value: f64) -> String {
    dpglm::privacy::decimal::rounded_up(value)
}

/// A certificate's sentence.
#[pyfunction]
pub fn certificate_text(certificate_json: &str) -> PyResult<String> {
    Ok(Certificate::from_json(certificate_json).map_err(exception)?.to_string())
}
