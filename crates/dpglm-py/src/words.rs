//! Failures as exceptions: the words of the command line, with its flags spelled as Python's parameters.

use dpglm_workflow::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The exception for a failure.
pub fn exception(failure: impl Into<Failure>) -> PyErr {
    PyValueError::new_err(as_in_python(&failure.into().to_string()))
}

/// `--feature-bounds=LOW,HIGH` is `feature_bounds=(LOW, HIGH)` in Python, `--ridge R` is `ridge R`.
pub fn as_in_python(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        let end = flag[2..].find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        let name = &flag[2..end.map_or(flag.len(), |end| end + 2)];
        text.push_str(before);
        if name.is_empty() {
            text.push_str("--");
        }
        text.push_str(&name.replace('-', "_"));
        rest = &flag[2 + name.len()..];
        if let Some(after) = rest.strip_prefix("=LOW,HIGH") {
            text.push_str("=(LOW, HIGH)");
            rest = after;
        }
    }
    text.push_str(rest);
    text
}

/// The version of the library.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
