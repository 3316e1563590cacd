//! Documents of every kind as one page.

use super::words::exception;
use dpglm_io::write_atomically;
use dpglm_report::{PaidFrom, Source, html};
use dpglm_workflow::Failure;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The page of documents, each given as its name and its JSON, and of the ledger that they were paid from.
#[pyfunction]
pub fn report_html(documents: Vec<(String, String)>, ledger: Option<PathBuf>) -> PyResult<String> {
    let read = |(name, text): (String, String)| {
        Source::parse(name, &text).map_err(|what| exception(Failure::Failed(what)))
    };
    let sources = documents.into_iter().map(read).collect::<PyResult<Vec<Source>>>()?;
    let ledger = ledger.as_deref().map(PaidFrom::read).transpose().map_err(exception)?;
    html(&sources, ledger.as_ref()).map_err(exception)
}

/// Writes a page, whole or not at all.
#[pyfunction]
pub fn save_report(html: &str, path: PathBuf) -> PyResult<()> {
    write_atomically(&path, html.as_bytes()).map_err(exception)
}
