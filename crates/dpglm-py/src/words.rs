//! Failures as exceptions, with parameters as Python writes them.

use dpglm::error::{Dialect, Message, Parameter};
use dpglm_workflow::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Python's way: `feature_bounds`.
struct Arguments;

impl Dialect for Arguments {
    fn name(&self, parameter: Parameter) -> String {
        match parameter {
            Parameter::NoHeader => "header=False".into(),
            Parameter::NoIntercept => "fit_intercept=False".into(),
            other => other.words().replace(' ', "_"),
        }
    }

    fn bounds(&self, parameter: Parameter) -> String {
        format!("{}=(LOW, HIGH)", self.name(parameter))
    }
}

/// The exception for a failure.
pub fn exception(failure: impl Into<Failure>) -> PyErr {
    PyValueError::new_err(failure.into().in_dialect(&Arguments))
}

/// What is said beside a result.
pub fn said(message: &Message) -> String {
    message.in_dialect(&Arguments)
}

/// The version of the library.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
