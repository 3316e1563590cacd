//! Artefacts as what is shown and predicted.

use super::table::Table;
use super::words::exception;
use dpglm_sign::PublicKey;
use dpglm_workflow::Failure;
use dpglm_workflow::describe::document::DescribeDocument;
use dpglm_workflow::document::{Artefact as Document, FitDocument, parse};
use dpglm_workflow::inference::{Request, average, compare, predict_with_intervals, summarize};
use dpglm_workflow::predict::{linear_predictors, predict};
use dpglm_workflow::render::{json, named};
use dpglm_workflow::signed;
use indexmap::IndexMap;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::path::PathBuf;

/// An artefact that was read and whose certificate was checked.
#[pyclass(frozen)]
pub struct Artefact(Document);

#[pymethods]
impl Artefact {
    /// Reads an artefact's JSON and computes its certificate's claim again from the events it lists.
    #[new]
    fn new(json: &str) -> PyResult<Self> {
        parse(json).map(Self).map_err(|what| exception(Failure::Failed(what)))
    }

    /// The whole artefact as JSON, as the command line writes it.
    fn json(&self) -> PyResult<String> {
        self.0.json().map_err(exception)
    }

    /// The heading and the table of estimates.
    fn table(&self) -> String {
        self.0.table()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> String {
        self.0.certificate().to_json()
    }

    /// For each linear predictor the intercept, if there is one, and the slopes of all columns.
    fn blocks(&self) -> PyResult<Vec<(Option<f64>, Vec<f64>)>> {
        let blocks = self.fit()?.blocks().map_err(|what| exception(Failure::Failed(what.into())))?;
        Ok(blocks.into_iter().map(|block| (block.intercept, block.slopes)).collect())
    }

    /// The mean response of every row, or the probability of each level.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (fit, table) = (self.fit_of(table.get())?, table.get());
        let blocks = fit.blocks().map_err(|what| exception(Failure::Failed(what.into())))?;
        let predicted = py.detach(|| {
            table.with(|encoded| {
                let predictors = linear_predictors(encoded, &blocks, &fit.encoding);
                Ok(predict(fit, &predictors, encoded.exposure.as_deref()))
            })
        });
        let predicted = predicted.map_err(exception)?;
        let (rows, columns) = (predicted.rows.len(), predicted.columns.len());
        let numbers: Vec<f64> = predicted.rows.into_iter().flatten().collect();
        numbers.into_pyarray(py).reshape([rows, columns])
    }

    /// For every row the mean response without shrinkage, and the ends of its interval.
    fn predict_with_intervals<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        level: f64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (fit, table) = (self.fit_of(table.get())?, table.get());
        let found = py.detach(|| table.with(|encoded| predict_with_intervals(fit, encoded, level)));
        let rows: Vec<f64> = found
            .map_err(exception)?
            .iter()
            .flat_map(|p| [p.estimate, p.interval[0], p.interval[1]])
            .collect();
        let count = rows.len() / 3;
        rows.into_pyarray(py).reshape([count, 3])
    }

    /// The average of the predictions for all rows, as JSON.
    fn average(&self, py: Python<'_>, table: &Bound<'_, Table>, level: f64) -> PyResult<String> {
        let (fit, table) = (self.fit_of(table.get())?, table.get());
        let found = py.detach(|| table.with(|encoded| average(fit, encoded, level)));
        json(&found.map_err(exception)?).map_err(exception)
    }

    /// Tests, ratios, contrasts and effects, as JSON and as text.
    fn summary(
        &self,
        level: Option<f64>,
        ratios: bool,
        together: Option<String>,
        contrasts: Vec<String>,
        at: Option<Vec<(String, String)>>,
        versus: Option<Vec<(String, String)>>,
    ) -> PyResult<(String, String)> {
        let together = together.map(|name| named("simultaneous", &name)).transpose().map_err(exception)?;
        let of = |values: Option<Vec<(String, String)>>| values.map(IndexMap::from_iter);
        let request = Request { level, ratios, together, contrasts, at: of(at), versus: of(versus) };
        let summary = summarize(self.fit()?, &request).map_err(exception)?;
        Ok((json(&summary).map_err(exception)?, summary.text()))
    }

    /// Another model beside this one, as JSON and as text.
    fn compare(&self, other: &Bound<'_, Self>) -> PyResult<(String, String)> {
        let comparison = compare(self.fit()?, other.get().fit()?).map_err(exception)?;
        Ok((json(&comparison).map_err(exception)?, comparison.text()))
    }

    /// Histograms and shares of a description as bars of text.
    fn bars(&self) -> PyResult<String> {
        Ok(self.description()?.bars())
    }

    /// The same as SVG.
    fn svg(&self) -> PyResult<String> {
        Ok(self.description()?.svg())
    }

    /// A description as one HTML page.
    fn html(&self) -> PyResult<String> {
        Ok(self.description()?.html())
    }

    /// What stands in that page's body.
    fn fragment(&self) -> PyResult<String> {
        Ok(self.description()?.fragment())
    }

    fn __repr__(&self) -> String {
        self.0.table()
    }
}

/// Makes a key pair: writes the secret key to a new file and gives the public one.
#[pyfunction]
pub fn keygen(path: PathBuf) -> PyResult<String> {
    Ok(signed::keygen(&path).map_err(exception)?.to_string())
}

/// Writes an artefact as the command line does, and its signature beside it if a file with a secret key is given.
#[pyfunction]
#[pyo3(signature = (json, path, key_file=None))]
pub fn save_artefact(json: &str, path: PathBuf, key_file: Option<PathBuf>) -> PyResult<()> {
    let key = key_file.as_deref().map(signed::signing_key).transpose().map_err(exception)?;
    signed::write(&path, json, key.as_ref()).map_err(exception)
}

/// The JSON of an artefact that the holder of this public key signed.
#[pyfunction]
pub fn verify_artefact(path: PathBuf, key: &str) -> PyResult<String> {
    let key = PublicKey::parse(key).map_err(|error| exception(Failure::Usage(error.to_string().into())))?;
    signed::read(&path, &key).and_then(|artefact| artefact.json()).map_err(exception)
}

impl Artefact {
    /// The model, of a table with its columns.
    fn fit_of(&self, table: &Table) -> PyResult<&FitDocument> {
        let fit = self.fit()?;
        if table.names() == fit.features() {
            return Ok(fit);
        }
        Err(exception(Failure::Failed(
            "X: its columns are not those of the model: give the columns that it was fitted to".into(),
        )))
    }

    fn fit(&self) -> PyResult<&FitDocument> {
        match &self.0 {
            Document::Fit(fit) => Ok(fit),
            Document::Mean(_) => Err(exception(Failure::Failed("means predict nothing: fit a model".into()))),
            Document::Describe(_) => {
                Err(exception(Failure::Failed("a description predicts nothing: fit a model".into())))
            }
        }
    }

    fn description(&self) -> PyResult<&DescribeDocument> {
        match &self.0 {
            Document::Describe(description) => Ok(description),
            _ => Err(exception(Failure::Failed("only a description can be drawn".into()))),
        }
    }
}
