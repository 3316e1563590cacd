//! The device's side of a collection.

use dpglm::noise::RandomSource;
use dpglm_collect::client::{Device, Service};
use dpglm_collect::study::PublicKey;
use dpglm_collect::token::Token;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Answers a study: checks it, makes one report or takes the one that was made, keeps it, sends it. Gives JSON.
#[pyfunction]
pub fn answer_study(
    py: Python<'_>,
    service: &str,
    record: BTreeMap<String, f64>,
    key: &str,
    limit: f64,
    token: &str,
    device: &str,
) -> PyResult<String> {
    py.detach(|| answer(service, &record, key, limit, token, Path::new(device)))
}

fn answer(
    service: &str,
    record: &BTreeMap<String, f64>,
    key: &str,
    limit: f64,
    token: &str,
    folder: &Path,
) -> PyResult<String> {
    let wrong = |error: dpglm_collect::Error| PyValueError::new_err(error.to_string());
    let service = Service::new(service).map_err(wrong)?;
    let key = PublicKey::parse(key).map_err(|error| wrong(error.into()))?;
    let token = Token::parse(token).ok_or_else(|| {
        PyValueError::new_err("the token is not one that a curator issued: check it for slips")
    })?;
    let accepted = service.accept(&key, "", limit).map_err(wrong)?;
    let mut device = Device::open(folder).map_err(wrong)?;
    let mut rng = RandomSource::from_os().map_err(super::words::exception)?;
    let told = dpglm_collect::client::answer(
        &service,
        &accepted,
        &mut device,
        limit,
        &token,
        || accepted.record(record),
        &mut rng,
    )
    .map_err(|error| match error {
        dpglm_collect::Error::Unanswered(message) => PyRuntimeError::new_err(message),
        other => wrong(other),
    })?;
    let (study, spent) = (accepted.study(), device.spent());
    let document = serde_json::json!({
        "schema": "dpglm.collect.report/1",
        "study": study.name(),
        "code": told.answer.code(),
        "epsilon": study.epsilon(),
        "spent": spent,
        "limit": limit,
    });
    Ok(document.to_string())
}
