//! Arrays and columns as encoded tables.

use super::words::exception;
use dpglm_io::memory::{self, Cells, Matrix, Meaning, Numbers, SparseRows};
use dpglm_io::{Encoded, EncodedColumn, Precision, ReadOptions, Schema, Target, Touched};
use dpglm_workflow::Failure;
use dpglm_workflow::means::Means;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString};
use std::sync::{Mutex, PoisonError};

/// A table as it is stored for a fit. It holds private rows and shows its shape only.
#[pyclass(frozen)]
pub struct Table {
    /// Gone once it was fitted: a fit takes the rows and does not copy them.
    encoded: Mutex<Option<Encoded>>,
    rows: usize,
    pub columns: Vec<EncodedColumn>,
    pub target: Option<Target>,
    notes: String,
    pub schema: Schema,
    pub from: String,
}

impl Table {
    fn new(encoded: Encoded, schema: Schema, from: String) -> Self {
        Self {
            rows: encoded.rows(),
            columns: encoded.columns.clone(),
            target: encoded.target.clone(),
            notes: encoded.curator.to_string(),
            encoded: Mutex::new(Some(encoded)),
            schema,
            from,
        }
    }

    /// The rows, which are then gone from here.
    pub fn take(&self) -> Result<Encoded, Failure> {
        self.encoded.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(gone)
    }

    /// Does something with the rows.
    pub fn with<T>(&self, work: impl FnOnce(&Encoded) -> Result<T, Failure>) -> Result<T, Failure> {
        work(self.encoded.lock().unwrap_or_else(PoisonError::into_inner).as_ref().ok_or_else(gone)?)
    }

    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }
}

fn gone() -> Failure {
    Failure::Failed("the table was fitted already: encode it again".into())
}

#[pymethods]
impl Table {
    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.rows
    }

    /// The names of the encoded columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    /// What the public rule changed: for the curator's eyes.
    #[getter]
    fn curator_notes(&self) -> String {
        self.notes.clone()
    }

    /// The same as counts by column: missing, out of bounds, undeclared.
    #[getter]
    fn touched(&self) -> PyResult<Vec<(String, u64, u64, u64)>> {
        let counts = |t: &Touched| (t.column.clone(), t.missing, t.out_of_bounds, t.undeclared);
        self.with(|encoded| Ok(encoded.curator.0.iter().map(counts).collect())).map_err(exception)
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows, {} columns)", self.rows, self.columns.len())
    }
}

/// How a table is read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct How {
    /// JSON of the schema of the features.
    schema: String,
    /// What messages call the table.
    name: String,
    strict: bool,
    constant_column: bool,
    needs_target: bool,
    single: bool,
    /// Missing cells are counted out column by column, as means do, where the schema drops them.
    for_means: bool,
}

impl How {
    pub fn schema(&self) -> PyResult<Schema> {
        let schema = schema(&self.schema)?;
        Ok(if self.for_means { schema.counting_out() } else { schema })
    }

    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            precision: self.single.then_some(Precision::F32),
            strict: self.strict,
            constant_column: self.constant_column,
            needs_target: self.needs_target,
            ..ReadOptions::default()
        }
    }
}

/// A schema from its JSON; what is wrong with it is said in the schema's words.
pub fn schema(json: &str) -> PyResult<Schema> {
    // A value forgets the order of its keys, which is that of the columns. But what is wrong is said of it: the user wrote no lines that a
    // message could count.
    let of_value = || serde_json::from_str::<serde_json::Value>(json).and_then(serde_json::from_value);
    let schema = serde_json::from_str(json).or_else(|_| of_value());
    schema.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A schema's TOML as JSON, with another target or unit, a formula, or some of its features alone.
#[pyfunction]
#[pyo3(signature = (text, target=None, unit=None, formula=None, features=None))]
pub fn read_schema(
    text: &str,
    target: Option<&str>,
    unit: Option<&str>,
    formula: Option<&str>,
    features: Option<Vec<String>>,
) -> PyResult<String> {
    let read = || -> Result<Schema, Failure> {
        let mut schema = Schema::parse(text)?;
        if formula.is_some() {
            schema = schema.with_formula(formula)?;
        }
        if target.is_some() {
            schema = schema.with_target(target)?;
        }
        if unit.is_some() {
            schema = schema.with_unit(unit)?;
        }
        if let Some(features) = &features {
            schema = schema.with_features(features)?;
        }
        Ok(schema)
    };
    serde_json::to_string(&read().map_err(exception)?)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The schema, as JSON, under which a table is read for means: with its groups and survey weights apart from the features.
#[pyfunction]
#[pyo3(signature = (features, by=None, sample_weight=None))]
pub fn schema_of_means(features: &str, by: Option<&str>, sample_weight: Option<&str>) -> PyResult<String> {
    let schema = Means::schema(schema(features)?, by, sample_weight).map_err(exception)?;
    serde_json::to_string(&schema).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The response beside the features: its name, its cells and JSON of its schema.
type ResponseOf<'py> = (String, Column<'py>, String);

/// Sampling weights: what they are called, one a row, and their bounds.
type WeightsOf<'py> = (String, Column<'py>, (f64, f64));

/// Whose row each row is: what a unit is called, and one id a row.
type UnitsOf<'py> = (String, Column<'py>);

/// One column of cells.
#[derive(FromPyObject)]
pub enum Column<'py> {
    #[pyo3(transparent)]
    F64(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    F32(PyReadonlyArray1<'py, f32>),
    #[pyo3(transparent)]
    I64(PyReadonlyArray1<'py, i64>),
    #[pyo3(transparent)]
    Truth(PyReadonlyArray1<'py, bool>),
    Coded(PyReadonlyArray1<'py, i64>, Meanings),
}

/// What the codes of a column stand for.
pub struct Meanings(Vec<Meaning>);

impl<'a, 'py> FromPyObject<'a, 'py> for Meanings {
    type Error = PyErr;

    fn extract(list: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let meanings = list.cast::<PyList>()?.iter().map(|cell| {
            // A truth value is an integer too, and an integer a number.
            Ok(if let Ok(truth) = cell.cast::<PyBool>() {
                Meaning::Truth(truth.is_true())
            } else if let Ok(text) = cell.cast::<PyString>() {
                Meaning::Text(text.to_str()?.to_owned())
            } else if let Ok(integer) = cell.cast::<PyInt>() {
                Meaning::Integer(integer.extract()?)
            } else {
                Meaning::Number(cell.extract()?)
            })
        });
        Ok(Self(meanings.collect::<PyResult<_>>()?))
    }
}

impl Column<'_> {
    pub fn cells(&self) -> PyResult<Cells<'_>> {
        Ok(match self {
            Self::F64(cells) => Cells::F64(cells.as_slice()?),
            Self::F32(cells) => Cells::F32(cells.as_slice()?),
            Self::I64(cells) => Cells::I64(cells.as_slice()?),
            Self::Truth(cells) => Cells::Truth(cells.as_slice()?),
            Self::Coded(codes, meanings) => Cells::Coded { codes: codes.as_slice()?, meanings: &meanings.0 },
        })
    }
}

/// Numbers of a matrix.
#[derive(FromPyObject)]
pub enum Array2<'py> {
    #[pyo3(transparent)]
    F64(PyReadonlyArray2<'py, f64>),
    #[pyo3(transparent)]
    F32(PyReadonlyArray2<'py, f32>),
    #[pyo3(transparent)]
    I8(PyReadonlyArray2<'py, i8>),
}

impl Array2<'_> {
    fn matrix(&self) -> PyResult<Matrix<'_>> {
        let (shape, c_order) = match self {
            Self::F64(x) => (x.shape(), x.is_c_contiguous()),
            Self::F32(x) => (x.shape(), x.is_c_contiguous()),
            Self::I8(x) => (x.shape(), x.is_c_contiguous()),
        };
        let numbers = match self {
            Self::F64(x) => Numbers::F64(x.as_slice()?),
            Self::F32(x) => Numbers::F32(x.as_slice()?),
            Self::I8(x) => Numbers::I8(x.as_slice()?),
        };
        Ok(Matrix { numbers, rows: shape[0], columns: shape[1], column_major: !c_order })
    }
}

/// Encodes a matrix whose rows or columns are contiguous; it is read where it stands.
#[pyfunction]
#[pyo3(signature = (how, array, names, response, units=None, weights=None))]
pub fn encode_matrix(
    py: Python<'_>,
    how: How,
    array: Array2<'_>,
    names: Vec<String>,
    response: Option<ResponseOf<'_>>,
    units: Option<UnitsOf<'_>>,
    weights: Option<WeightsOf<'_>>,
) -> PyResult<Table> {
    let (schema, options, matrix) = (how.schema()?, how.options(), array.matrix()?);
    let encoded = py.detach(|| memory::encode_matrix(&how.name, matrix, &names, &schema, &options));
    finish(py, how.name, encoded.map_err(exception)?, schema, &options, (response, units, weights))
}

/// Encodes compressed sparse rows.
#[pyfunction]
#[pyo3(signature = (how, sparse, names, response, units=None, weights=None))]
pub fn encode_sparse(
    py: Python<'_>,
    how: How,
    sparse: (PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, u32>, Column<'_>),
    names: Vec<String>,
    response: Option<ResponseOf<'_>>,
    units: Option<UnitsOf<'_>>,
    weights: Option<WeightsOf<'_>>,
) -> PyResult<Table> {
    let (schema, options) = (how.schema()?, how.options());
    let (offsets, indices, values) = sparse;
    let offsets: Option<Vec<usize>> = offsets.as_slice()?.iter().map(|&x| usize::try_from(x).ok()).collect();
    let offsets = offsets.ok_or_else(|| PyValueError::new_err("X: a row begins before the first entry"))?;
    let numbers = match values.cells()? {
        Cells::F64(values) => Numbers::F64(values),
        Cells::F32(values) => Numbers::F32(values),
        _ => return Err(PyTypeError::new_err("the entries of sparse rows must be float64 or float32")),
    };
    let sparse =
        SparseRows { offsets: &offsets, indices: indices.as_slice()?, numbers, columns: names.len() };
    let encoded = py.detach(|| memory::encode_sparse(&how.name, sparse, &names, &schema, &options));
    finish(py, how.name, encoded.map_err(exception)?, schema, &options, (response, units, weights))
}

/// Encodes named columns.
#[pyfunction]
#[pyo3(signature = (how, columns, response, units=None, weights=None))]
pub fn encode_columns(
    py: Python<'_>,
    how: How,
    columns: Vec<(String, Column<'_>)>,
    response: Option<ResponseOf<'_>>,
    units: Option<UnitsOf<'_>>,
    weights: Option<WeightsOf<'_>>,
) -> PyResult<Table> {
    let (schema, options) = (how.schema()?, how.options());
    let cells: Vec<(String, Cells<'_>)> =
        columns.iter().map(|(name, column)| Ok((name.clone(), column.cells()?))).collect::<PyResult<_>>()?;
    let encoded = py.detach(|| memory::encode_columns(&how.name, &cells, &schema, &options));
    finish(py, how.name, encoded.map_err(exception)?, schema, &options, (response, units, weights))
}

fn finish(
    py: Python<'_>,
    from: String,
    mut encoded: Encoded,
    mut features: Schema,
    options: &ReadOptions,
    (response, units, weights): (Option<ResponseOf<'_>>, Option<UnitsOf<'_>>, Option<WeightsOf<'_>>),
) -> PyResult<Table> {
    if let Some((name, column, declared)) = response {
        let (cells, declared) = (column.cells()?, schema(&declared)?);
        let attached = py.detach(|| memory::attach_response(&mut encoded, &name, cells, &declared, options));
        attached.map_err(exception)?;
    }
    if let Some((name, column)) = units {
        let cells = column.cells()?;
        features = features.with_unit(Some(&name)).map_err(exception)?;
        let attached = py.detach(|| memory::attach_units(&mut encoded, &name, cells, options));
        attached.map_err(exception)?;
    }
    if let Some((name, column, bounds)) = weights {
        let cells = column.cells()?;
        let attached =
            py.detach(|| memory::attach_weights(&mut encoded, features, (&name, bounds), cells, options));
        features = attached.map_err(exception)?;
    }
    Ok(Table::new(encoded, features, from))
}
