//! Rows that Python holds elsewhere: how they are packed, what they answer, and estimators that ask for them.

use super::describe::AskedDescription;
use super::fit::{Asked, AskedMeans, source};
use super::ledger::{PaidFrom, payer};
use super::running;
use super::table::{Column, How, Table, schema};
use super::words::{self, exception};
use dpglm::error::Message;
use dpglm::passes::{Ask, Respondent, merge};
use dpglm_io::packing::{Beside, Packing as Bytes, unit_ids};
use dpglm_io::{CuratorNotes, EncodedColumn, Target, Touched};
use dpglm_workflow::document::TargetDocument;
use dpglm_workflow::ledger::Grant;
use dpglm_workflow::packed::PackedRows;
use dpglm_workflow::{Failure, fit as assembly, render};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// What is packed: how tables are read, the columns' names, the response's name and schema where it has one of its own, what a unit is
/// called, and whether the numbers come as bytes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Packed {
    how: How,
    names: Vec<String>,
    response: Option<(String, String)>,
    unit: Option<String>,
    bytes: bool,
}

/// Rows packed in few bytes, and what they answer. It is made of public facts alone.
#[pyclass(frozen)]
pub struct Packing {
    rows: Arc<PackedRows>,
    columns: Vec<EncodedColumn>,
    target: Option<Target>,
    features: dpglm_io::Schema,
}

/// Bytes, rows, units and the sum of fingerprints.
type Block<'py> = (Bound<'py, PyBytes>, u64, u64, u64);

#[pymethods]
impl Packing {
    #[new]
    fn new(packed: Packed) -> PyResult<Self> {
        let options = packed.how.options();
        let response = packed.response.as_ref();
        let declared = response.map(|(_, json)| schema(json)).transpose()?;
        let mut features = packed.how.schema()?;
        let made = |features: &dpglm_io::Schema| -> Result<_, Failure> {
            let (columns, own) = features.encoded()?;
            let target = match &declared {
                Some(declared) => declared.encoded()?.1,
                None => own,
            };
            let beside = Beside {
                response: response.map(|(name, _)| name.as_str()).zip(declared.as_ref()),
                units: packed.unit.is_some(),
                bytes: packed.bytes,
            };
            Ok((Bytes::new(&packed.names, features, beside, &options)?, columns, target))
        };
        let (bytes, columns, target) = made(&features).map_err(exception)?;
        if let Some(unit) = &packed.unit {
            features = features.with_unit(Some(unit)).map_err(exception)?;
        }
        let rows = Arc::new(PackedRows::new(bytes, &features, &columns));
        Ok(Self { rows, columns, target, features })
    }

    /// The bytes of a row.
    #[getter]
    fn row_bytes(&self) -> usize {
        self.rows.packing().row_bytes()
    }

    /// The levels of the response, if it has some.
    #[getter]
    fn levels(&self) -> Option<Vec<String>> {
        self.target.as_ref().and_then(|target| TargetDocument::from(target).levels)
    }

    /// A table as a block, each row a unit.
    fn block<'py>(&self, py: Python<'py>, table: &Bound<'py, Table>) -> PyResult<Block<'py>> {
        let (table, rows) = (table.get(), &self.rows);
        let packed = py.detach(|| table.with(|table| Ok(rows.packing().block(table)?)));
        let block = packed.map_err(exception)?;
        Ok((PyBytes::new(py, &block.bytes), block.rows, block.units, block.print))
    }

    /// The rows of a table, one after the other.
    fn pack<'py>(&self, py: Python<'py>, table: &Bound<'py, Table>) -> PyResult<Bound<'py, PyBytes>> {
        let (table, rows) = (table.get(), &self.rows);
        let packed = py.detach(|| table.with(|table| Ok(rows.packing().pack(table)?)));
        Ok(PyBytes::new(py, &packed.map_err(exception)?))
    }

    /// Packed rows in blocks, the rows of a unit in one.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        ids: PyReadonlyArray1<'py, u8>,
        ends: PyReadonlyArray1<'py, i64>,
        rows: PyReadonlyArray1<'py, u8>,
    ) -> PyResult<Vec<Block<'py>>> {
        let ends: Vec<usize> =
            ends.as_slice()?.iter().map(|&end| usize::try_from(end).unwrap_or(0)).collect();
        let (ids, bytes, packing) = (ids.as_slice()?, rows.as_slice()?, &self.rows);
        let gathered = py.detach(|| packing.packing().gather(ids, &ends, bytes));
        let block = |block: dpglm_io::packing::PackedBlock| {
            (PyBytes::new(py, &block.bytes), block.rows, block.units, block.print)
        };
        Ok(gathered.map_err(exception)?.into_iter().map(block).collect())
    }

    /// Ids of units as bytes that are equal where the ids are, and the end of each.
    fn ids<'py>(
        &self,
        py: Python<'py>,
        ids: Column<'py>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>)> {
        let (bytes, ends) = unit_ids(&self.features, ids.cells()?).map_err(exception)?;
        let ends: Vec<i64> = ends.into_iter().map(|end| end as i64).collect();
        Ok((PyBytes::new(py, &bytes), ends.into_pyarray(py)))
    }

    fn __repr__(&self) -> String {
        format!("Packing({} columns, {} bytes per row)", self.columns.len(), self.row_bytes())
    }
}

/// What packed rows say to one question, block after block.
#[pyclass(frozen)]
pub struct Answering {
    rows: Arc<PackedRows>,
    state: Mutex<Option<(Respondent, u64)>>,
}

#[pymethods]
impl Answering {
    #[new]
    fn new(packing: &Bound<'_, Packing>, question: &str) -> PyResult<Self> {
        let respondent = Respondent::new(question).map_err(exception)?;
        Ok(Self { rows: packing.get().rows.clone(), state: Mutex::new(Some((respondent, 0))) })
    }

    /// Adds a block.
    fn add(&self, py: Python<'_>, block: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let block = block.as_slice()?;
        let done = py.detach(|| -> Result<(), Failure> {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let (respondent, print) = state.as_mut().ok_or_else(over)?;
            *print = print.wrapping_add(self.rows.add(respondent, block)?);
            Ok(())
        });
        done.map_err(exception)
    }

    /// The answer, if there was a block, and the sum of fingerprints. **It is not noised.**
    fn answer(&self) -> PyResult<(Option<String>, u64)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (respondent, print) = state.ok_or_else(over).map_err(exception)?;
        Ok((respondent.answer().map_err(exception)?, print % (1 << 40)))
    }
}

fn over() -> Failure {
    Failure::Failed("the question was answered already: ask again".into())
}

/// Several answers to one question as one.
#[pyfunction]
pub fn merge_answers(py: Python<'_>, answers: Vec<String>) -> PyResult<String> {
    py.detach(|| merge(&answers)).map_err(exception)
}

/// Counts of cells that the public rule changed, in words: column, missing, out of bounds, undeclared. For the curator's eyes.
#[pyfunction]
pub fn curator_text(touched: Vec<(String, u64, u64, u64)>) -> String {
    let touched = touched.into_iter().map(|(column, missing, out_of_bounds, undeclared)| Touched {
        column,
        missing,
        out_of_bounds,
        undeclared,
        left_out: 0,
    });
    CuratorNotes(touched.collect()).to_string()
}

/// Asks a Python function: it takes a question, and gives the answers of all rows, or one of all together.
struct Asking(Py<PyAny>);

impl Ask for Asking {
    fn ask(&self, question: &str) -> dpglm::Result<Vec<String>> {
        // Whoever asked knows what was wrong: the words of others may hold cells.
        let failed = |_| dpglm::Error::Conflict("the rows could not be asked: nothing is released".into());
        Python::attach(|py| self.0.call1(py, (question,))?.extract::<Vec<String>>(py)).map_err(failed)
    }
}

/// Fits a model to so many rows or units that are asked. Gives the artefact's JSON and what is to be said beside it.
#[pyfunction]
#[pyo3(signature = (packing, asked, rows, ask, progress=None, ledger=None))]
pub fn fit_asked(
    py: Python<'_>,
    packing: &Bound<'_, Packing>,
    asked: Asked,
    rows: usize,
    ask: Py<PyAny>,
    progress: Option<Py<PyAny>>,
    ledger: Option<PaidFrom>,
) -> PyResult<(String, Vec<String>)> {
    let payer = payer(ledger).map_err(exception)?;
    let Packing { columns, target, features, .. } = packing.get();
    let Some(target) = target.clone() else {
        return Err(exception(Failure::Usage("there is no target to explain: name its column".into())));
    };
    let model = asked.model(&target, columns, features, None).map_err(exception)?;
    model.require_passes().map_err(exception)?;
    let privacy = asked.privacy(model.method).map_err(exception)?;
    let mut rng = asked.source().map_err(exception)?;
    let (ask, columns): (Arc<dyn Ask>, _) = (Arc::new(Asking(ask)), columns.clone());
    let prepared = assembly::prepare_asked(&model, features.clone(), (columns, target), rows, ask);
    let prepared = prepared.map_err(exception)?;
    running::run(py, progress.as_ref(), move |progress| {
        let mut said = Vec::new();
        let say = &mut |note: &Message| said.push(words::said(note));
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = prepared.fit(&model, grant, &mut rng, say, progress)?;
        Ok((render::json(&document)?, said))
    })
}

/// Takes means of so many rows or units that are asked.
#[pyfunction]
#[pyo3(signature = (packing, asked, rows, ask, ledger=None))]
pub fn mean_asked(
    py: Python<'_>,
    packing: &Bound<'_, Packing>,
    asked: AskedMeans,
    rows: usize,
    ask: Py<PyAny>,
    ledger: Option<PaidFrom>,
) -> PyResult<(String, Vec<String>)> {
    let payer = payer(ledger).map_err(exception)?;
    let Packing { columns, features, .. } = packing.get();
    let (means, privacy) = asked.means(features).map_err(exception)?;
    means.require_passes().map_err(exception)?;
    let mut rng = asked.source().map_err(exception)?;
    let (ask, columns): (Arc<dyn Ask>, _) = (Arc::new(Asking(ask)), columns.clone());
    running::run(py, None, move |_| {
        let mut said = Vec::new();
        let say = &mut |note: &Message| said.push(words::said(note));
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = assembly::take_means_asked(&means, &columns, rows, ask, grant, &mut rng, say)?;
        Ok((render::json(&document)?, said))
    })
}

/// Describes so many rows that are asked.
#[pyfunction]
#[pyo3(signature = (packing, asked, rows, ask, ledger=None))]
pub fn describe_asked(
    py: Python<'_>,
    packing: &Bound<'_, Packing>,
    asked: AskedDescription,
    rows: usize,
    ask: Py<PyAny>,
    ledger: Option<PaidFrom>,
) -> PyResult<(String, Vec<String>)> {
    let payer = payer(ledger).map_err(exception)?;
    let privacy = asked.privacy().map_err(exception)?;
    let mut rng = source(asked.insecure_seed()).map_err(exception)?;
    let Packing { columns, features, .. } = packing.get();
    let prepared = asked.description().prepare(features).map_err(exception)?;
    let (ask, columns): (Arc<dyn Ask>, _) = (Arc::new(Asking(ask)), columns.clone());
    running::run(py, None, move |_| {
        let mut said = Vec::new();
        let say = &mut |note: &Message| said.push(words::said(note));
        let grant = Grant::new(privacy, payer.as_ref(), &rng)?;
        let document = prepared.describe_asked(&columns, rows, ask, grant, &mut rng, say)?;
        Ok((render::json(&document)?, said))
    })
}
