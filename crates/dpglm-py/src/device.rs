//! The device's side of a collection.

use dpglm::noise::RandomSource;
use dpglm::privacy::decimal::rounded_up;
use dpglm_collect::client::{Accepted, Device, Service, Standing};
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
    let accepted = Accepted::check(&service.study().map_err(wrong)?, &key, limit).map_err(wrong)?;
    let mut device = Device::open(folder).map_err(wrong)?;
    let answered = match device.made(&accepted).map_err(wrong)? {
        Some(before) => before,
        None => {
            let record = accepted.record(record).map_err(wrong)?;
            let round = service.round().map_err(wrong)?;
            if round.phase != "open" {
                return Err(PyRuntimeError::new_err(format!(
                    "no round is open (round {} is {}): try again later; nothing was spent",
                    round.round, round.phase
                )));
            }
            let mut rng = RandomSource::from_os().map_err(super::words::exception)?;
            device
                .answer(&accepted, limit, &token, (round.round, &round.state), &record, &mut rng)
                .map_err(wrong)?
        }
    };
    let told = service.send(&answered.token, &answered.message).map_err(wrong)?;
    let standing = device.settle(&accepted, told).map_err(wrong)?;
    let (study, spent) = (accepted.study(), device.spent());
    if standing != Standing::Counted {
        let again = if told.retry() { "; call again to send the same bytes" } else { "" };
        return Err(PyRuntimeError::new_err(format!(
            "the service answered {}: {}{again}; epsilon {} is spent",
            told.code(),
            told.message(),
            rounded_up(study.epsilon())
        )));
    }
    let document = serde_json::json!({
        "schema": "dpglm.collect.report/1",
        "study": study.name(),
        "code": told.code(),
        "epsilon": study.epsilon(),
        "spent": spent,
        "limit": limit,
    });
    Ok(document.to_string())
}
