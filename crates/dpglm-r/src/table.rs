//! Columns and matrices as encoded tables.

use super::values;
use dpglm_io::memory::{self, Cells, Matrix, Meaning, Numbers, SparseRows};
use dpglm_io::{Encoded, EncodedColumn, ReadOptions, Schema, Target};
use dpglm_workflow::Failure;
use extendr_api::prelude::*;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::HashMap;

type Done<T> = std::result::Result<T, Failure>;

/// A table as it is stored for a fit. It holds private rows, and R sees its shape only.
pub struct Table {
    /// Gone once it was fitted: a fit takes the rows and does not copy them.
    encoded: RefCell<Option<Encoded>>,
    /// The encoded columns.
    pub columns: Vec<EncodedColumn>,
    /// The column to explain.
    pub target: Option<Target>,
    /// Under which it was read.
    pub schema: Schema,
    /// What messages call it.
    pub from: String,
}

impl Table {
    /// The rows, which are then gone from here.
    pub fn take(&self) -> Done<Encoded> {
        self.encoded.take().ok_or_else(gone)
    }

    /// Does something with the rows.
    pub fn with<T>(&self, work: impl FnOnce(&Encoded) -> Done<T>) -> Done<T> {
        work(self.encoded.borrow().as_ref().ok_or_else(gone)?)
    }

    /// The names of the encoded columns.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }
}

fn gone() -> Failure {
    Failure::Failed("the table was fitted already: encode it again".into())
}

/// What R handed over that is no object of this package.
pub fn stranger(what: &str) -> Failure {
    Failure::Failed(format!("{what} is not what this package made in this session: make it again").into())
}

/// How a table is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct How {
    /// What messages call the table.
    name: String,
    strict: bool,
    constant_column: bool,
    needs_target: bool,
    /// Missing cells are counted out column by column, as means do, where the schema drops them.
    for_means: bool,
}

impl How {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            strict: self.strict,
            constant_column: self.constant_column,
            needs_target: self.needs_target,
            ..ReadOptions::default()
        }
    }

    fn schema(&self, declared: &Robj) -> Done<Schema> {
        let schema = schema(declared)?;
        Ok(if self.for_means { schema.counting_out() } else { schema })
    }
}

/// A schema from R's lists, or from its JSON.
pub fn schema(declared: &Robj) -> Done<Schema> {
    let text = match values::optional_text(declared)? {
        Some(text) => text.to_owned(),
        None => values::json(declared)?,
    };
    schema_of(&text)
}

fn schema_of(text: &str) -> Done<Schema> {
    // What is wrong is said of a value: the user wrote no lines that a message could count. A value forgets the order of its keys, which is
    // that of the columns.
    let of_value = || serde_json::from_str::<serde_json::Value>(text).and_then(serde_json::from_value);
    let schema = serde_json::from_str(text).or_else(|_| of_value());
    schema.map_err(|error| Failure::Usage(error.to_string().into()))
}

/// One column of cells: doubles, whole numbers of 64 bits, or codes from 0 with what they stand for.
enum Column {
    Numbers(Robj),
    Coded(Vec<i64>, Vec<Meaning>),
}

impl Column {
    fn new(cells: &Robj) -> Done<Self> {
        if let Some(numbers) = cells.as_real_slice() {
            return Ok(if cells.inherits("integer64") {
                Self::wide(numbers)
            } else {
                Self::Numbers(cells.clone())
            });
        }
        let wrong = || Failure::Failed("a column of cells is neither numbers nor codes".into());
        let parts = cells.as_list().ok_or_else(wrong)?;
        let (codes, meanings) = (parts.elt(0).map_err(|_| wrong())?, parts.elt(1).map_err(|_| wrong())?);
        // A missing code is the smallest integer: no place, so a missing cell.
        let codes = codes.as_integer_slice().ok_or_else(wrong)?.iter().map(|code| i64::from(*code)).collect();
        let meanings = if meanings.is_string() {
            values::texts(&meanings)?.into_iter().map(Meaning::Text).collect()
        } else {
            let truths = meanings.as_logical_slice().ok_or_else(wrong)?;
            truths.iter().map(|truth| Meaning::Truth(truth.is_true())).collect()
        };
        Ok(Self::Coded(codes, meanings))
    }

    /// R has no integers of 64 bits: package bit64 keeps their bits in doubles, and the least of them for a missing one.
    fn wide(bits: &[f64]) -> Self {
        let mut places: HashMap<i64, i64> = HashMap::new();
        let mut meanings = Vec::new();
        let code = |bits: &f64| match bits.to_bits().cast_signed() {
            i64::MIN => -1,
            integer => *places.entry(integer).or_insert_with(|| {
                meanings.push(Meaning::Integer(integer));
                meanings.len() as i64 - 1
            }),
        };
        let codes = bits.iter().map(code).collect();
        Self::Coded(codes, meanings)
    }

    fn cells(&self) -> Cells<'_> {
        match self {
            Self::Numbers(robj) => Cells::F64(robj.as_real_slice().unwrap_or_default()),
            Self::Coded(codes, meanings) => Cells::Coded { codes, meanings },
        }
    }
}

/// Encodes named columns.
pub fn columns(how: &Robj, declared: &Robj, columns: &Robj) -> Done<Robj> {
    let how: How = values::read(how)?;
    let schema = how.schema(declared)?;
    let list = columns.as_list().ok_or_else(|| stranger("the table"))?;
    let read: Vec<(String, Column)> = list
        .iter()
        .map(|(name, cells)| Ok((values::utf8(name)?.to_owned(), Column::new(&cells)?)))
        .collect::<Done<_>>()?;
    let cells: Vec<(String, Cells<'_>)> =
        read.iter().map(|(name, column)| (name.clone(), column.cells())).collect();
    let encoded = memory::encode_columns(&how.name, &cells, &schema, &how.options())?;
    Ok(finish(encoded, schema, how.name))
}

/// Encodes a matrix: R's own, whose columns stand together, or compressed sparse rows as a list of offsets, indices and entries. What is
/// `beside` it, the response, units and sampling weights, are lists of a name, cells, and the response's schema or the weights' bounds.
pub fn matrix(how: &Robj, declared: &Robj, x: &Robj, names: &Robj, beside: &Robj) -> Done<Robj> {
    let beside = beside.as_list().ok_or_else(|| stranger("the matrix"))?;
    let part = |place| beside.elt(place).map_err(|_| stranger("the matrix"));
    let (response, units, weights) = (part(0)?, part(1)?, part(2)?);
    let how: How = values::read(how)?;
    let mut schema = how.schema(declared)?;
    let names = values::texts(names)?;
    let options = how.options();
    let mut encoded = match given(x) {
        Some(sparse) => {
            let part = |place| sparse.elt(place).map_err(|_| stranger("the matrix"));
            let (offsets, indices, entries) = (part(0)?, part(1)?, part(2)?);
            let whole = |robj: &Robj| -> Done<Vec<usize>> {
                let all = robj.as_integer_slice().ok_or_else(|| stranger("the matrix"))?;
                all.iter().map(|i| usize::try_from(*i).map_err(|_| stranger("the matrix"))).collect()
            };
            let offsets = whole(&offsets)?;
            let indices: Vec<u32> = whole(&indices)?.into_iter().map(|i| i as u32).collect();
            let numbers = Numbers::F64(entries.as_real_slice().ok_or_else(|| stranger("the matrix"))?);
            let rows = SparseRows { offsets: &offsets, indices: &indices, numbers, columns: names.len() };
            memory::encode_sparse(&how.name, rows, &names, &schema, &options)?
        }
        None => {
            let numbers = x.as_real_slice().ok_or_else(|| stranger("the matrix"))?;
            let rows = numbers.len() / names.len().max(1);
            let matrix =
                Matrix { numbers: Numbers::F64(numbers), rows, columns: names.len(), column_major: true };
            memory::encode_matrix(&how.name, matrix, &names, &schema, &options)?
        }
    };
    if let Some(parts) = given(&response) {
        let (name, cells, declared) = three(&parts)?;
        let column = Column::new(&cells)?;
        memory::attach_response(&mut encoded, &name, column.cells(), &self::schema(&declared)?, &options)?;
    }
    if let Some(parts) = given(&units) {
        let (name, cells, _) = three(&parts)?;
        let column = Column::new(&cells)?;
        schema = schema.with_unit(Some(&name))?;
        memory::attach_units(&mut encoded, &name, column.cells(), &options)?;
    }
    if let Some(parts) = given(&weights) {
        let (name, cells, bounds) = three(&parts)?;
        let column = Column::new(&cells)?;
        let Some(&[low, high]) = bounds.as_real_slice() else { return Err(stranger("the weights")) };
        schema =
            memory::attach_weights(&mut encoded, schema, (&name, (low, high)), column.cells(), &options)?;
    }
    Ok(finish(encoded, schema, how.name))
}

/// A list, unless it is NULL, which R takes for one without elements.
fn given(robj: &Robj) -> Option<List> {
    if robj.is_null() { None } else { robj.as_list() }
}

fn three(parts: &List) -> Done<(String, Robj, Robj)> {
    let part = |place| parts.elt(place).map_err(|_| stranger("the column"));
    let name = part(0)?;
    let name = values::optional_text(&name)?.map(str::to_owned).ok_or_else(|| stranger("the column"))?;
    Ok((name, part(1)?, part(2)?))
}

/// A handle for R, and what R may know of it.
fn finish(encoded: Encoded, schema: Schema, from: String) -> Robj {
    let notes = encoded.curator.to_string();
    let rows = encoded.rows() as f64;
    let table = Table {
        columns: encoded.columns.clone(),
        target: encoded.target.clone(),
        encoded: RefCell::new(Some(encoded)),
        schema,
        from,
    };
    let names = table.names();
    list!(table = ExternalPtr::new(table), rows = rows, columns = names, notes = notes).into()
}

/// A schema's TOML as JSON.
pub fn read_schema(text: &str) -> Done<String> {
    let schema = Schema::parse(text)?;
    serde_json::to_string(&schema).map_err(|error| Failure::Failed(error.to_string().into()))
}
