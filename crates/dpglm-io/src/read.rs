//! Files in: one door for every format.
//!
//! The format is told by the file's first bytes (Parquet, NumPy, SciPy) or its name (LIBSVM, otherwise delimited text);
//! compression of text files by their first bytes.
//!
//! LIBSVM and SciPy files, and Parquet files with two list columns (`indices` from 0 and `values`), leave zeros out. Their
//! features are divided by the largest magnitude that the bounds allow and
//! not centred, and stored sparsely, however many there are: the format decides, not the private rows.

mod blank_lines;
mod compressed;
mod csv;
mod format;
mod libsvm;
mod npy;
mod npz;
mod parquet;
mod zip;

use std::path::Path;

pub use format::Format;
pub(crate) use format::sniff;

use crate::encode::{Builder, ByteScale, Encoded, Layout, Plan, Precision, Purpose, Settings};
use crate::error::{Error, Place, Result};
use crate::schema::{Naming, Schema};
use crate::uniform::{Response, UniformBounds};

/// How to read, apart from what the schema says.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// How the design is stored; by default double precision, or single for a `.npy` file that holds it.
    pub precision: Option<Precision>,
    /// Stop at the first cell that is not what the schema says, instead of mapping it by the public rule.
    pub strict: bool,
    /// The format; by default told from the file.
    pub format: Option<Format>,
    /// What separates the cells of a text file; by default the schema's, a tab for `.tsv`, else a comma.
    pub delimiter: Option<u8>,
    /// False for a file to predict for, which may lack target, exposure and unit.
    pub needs_target: bool,
    /// Whether the design of a model with an intercept begins with a column of ones, which estimators expect.
    pub constant_column: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            precision: None,
            strict: false,
            format: None,
            delimiter: None,
            needs_target: true,
            constant_column: false,
        }
    }
}

impl ReadOptions {
    fn settings(&self, default: Precision) -> Settings {
        Settings {
            layout: Layout::Dense(self.precision.unwrap_or(default)),
            strict: self.strict,
            constant_column: self.constant_column,
        }
    }

    /// Settings for a file that leaves zeros out. Always sparse: how rows are stored decides how they are measured, so it
    /// must not depend on how many entries the private rows have.
    fn sparse_settings(&self, default: Precision) -> Settings {
        let precision = self.precision.unwrap_or(default);
        Settings { layout: Layout::Sparse(precision), ..self.settings(precision) }
    }

    /// Settings for an array: whole numbers of one byte stay so where their bounds allow it.
    fn array_settings(&self, array: &npy::Array, schema: &Schema, plan: &Plan) -> Settings {
        let settings = self.settings(array.precision());
        let constant = self.constant_column && schema.intercept();
        let mut features = plan.slots.iter().filter_map(|slot| match &slot.purpose {
            Purpose::Number { numeric, scaling, .. } => Some((numeric.bounds, *scaling)),
            _ => None,
        });
        let first = features.next().filter(|first| features.all(|other| other == *first));
        match first.and_then(|(bounds, scaling)| ByteScale::new(bounds, &scaling, constant)) {
            Some(bytes) if self.precision.is_none() && array.is_bytes() && plan.keeps_order() => {
                Settings { layout: Layout::Bytes(bytes), ..settings }
            }
            _ => settings,
        }
    }
}

/// Reads a table under a schema.
pub fn read_table(path: &Path, schema: &Schema, options: &ReadOptions) -> Result<Encoded> {
    match format_of(path, options)? {
        Format::Csv => {
            let text = csv::Dialect::of(path, Some(schema), options.delimiter);
            let table = csv::Table::open(path, &text, schema.naming())?;
            let plan = Plan::new(schema, path, table.names(), options.needs_target)?;
            let mut builder = Builder::new(path, schema, plan, options.settings(Precision::F64));
            table.read_into(&mut builder)?;
            builder.finish()
        }
        Format::Parquet => {
            let table = parquet::Table::open(path)?;
            let plan = Plan::new(schema, path, table.names(), options.needs_target)?;
            let mut builder = Builder::new(path, schema, plan, options.settings(Precision::F64));
            table.read_into(&mut builder)?;
            builder.finish()
        }
        Format::Npy => {
            let array = npy::Array::open(path)?;
            let names = unnamed(array.columns());
            let plan = Plan::new(schema, path, &names, options.needs_target)?;
            let settings = options.array_settings(&array, schema, &plan);
            let mut builder = Builder::new(path, schema, plan, settings);
            array.read_into(&mut builder)?;
            builder.finish()
        }
        Format::Npz => npz::Array::open(path)?.read(schema, options),
        Format::Libsvm => Err(Error::file(
            path,
            Place::Whole,
            "a LIBSVM file has no column names for a schema to speak of",
            "give feature bounds instead of a schema",
        )),
    }
}

/// Reads a wide numeric file: every feature has the same bounds, no schema is needed.
pub fn read_uniform(path: &Path, uniform: &UniformBounds, options: &ReadOptions) -> Result<Encoded> {
    uniform.validate()?;
    let format = format_of(path, options)?;
    refuse_misplaced(path, format, uniform)?;
    let mut encoded = match format {
        Format::Libsvm => {
            uniform.require_no_unit(path)?;
            let column = match &uniform.response {
                Response::LastColumn => true,
                Response::None | Response::File(_) => false,
                Response::Column(_) => {
                    return Err(Error::file(
                        path,
                        Place::Whole,
                        "a LIBSVM file has no column names; its label is the target",
                        "leave the target's name out",
                    ));
                }
            };
            libsvm::read(path, uniform, column, options)?
        }
        Format::Npz => {
            if matches!(uniform.response, Response::LastColumn | Response::Column(_)) {
                return Err(Error::file(
                    path,
                    Place::Whole,
                    "a sparse array holds features only",
                    "give the response in a file of its own",
                ));
            }
            uniform.require_no_unit(path)?;
            let array = npz::Array::open(path)?;
            let schema = uniform.schema(path, &unnamed(array.columns()))?;
            array.read(&schema, options)?
        }
        Format::Csv => {
            let text = csv::Dialect::of(path, None, options.delimiter);
            let table = csv::Table::open(path, &text, uniform.naming(path)?)?;
            let schema = uniform.schema(path, table.names())?;
            let plan = Plan::new(&schema, path, table.names(), options.needs_target)?;
            let mut builder = Builder::new(path, &schema, plan, options.settings(Precision::F64));
            table.read_into(&mut builder)?;
            builder.finish()?
        }
        Format::Parquet if parquet::has_lists(path)? => {
            uniform.require_no_unit(path)?;
            parquet::lists::Table::open(path, uniform.list_names())?.read(uniform, options)?
        }
        Format::Parquet => {
            let table = parquet::Table::open(path)?;
            let schema = uniform.schema(path, table.names())?;
            let plan = Plan::new(&schema, path, table.names(), options.needs_target)?;
            let mut builder = Builder::new(path, &schema, plan, options.settings(Precision::F64));
            table.read_into(&mut builder)?;
            builder.finish()?
        }
        Format::Npy => {
            uniform.require_no_unit(path)?;
            let array = npy::Array::open(path)?;
            let names = unnamed(array.columns());
            let schema = uniform.schema(path, &names)?;
            let plan = Plan::new(&schema, path, &names, options.needs_target)?;
            let settings = options.array_settings(&array, &schema, &plan);
            let mut builder = Builder::new(path, &schema, plan, settings);
            array.read_into(&mut builder)?;
            builder.finish()?
        }
    };
    if let Response::File(file) = &uniform.response {
        attach_response(&mut encoded, path, file, uniform, options)?;
    }
    Ok(encoded)
}

/// Whether a file says how many columns it has; LIBSVM text and lists of Parquet do not.
fn says_columns(path: &Path, format: Format) -> Result<bool> {
    Ok(match format {
        Format::Libsvm => false,
        Format::Parquet => !parquet::has_lists(path)?,
        Format::Csv | Format::Npy | Format::Npz => true,
    })
}

/// The declaration for one of several files: without what says nothing about it and was meant for another.
pub fn uniform_of_file(uniform: &UniformBounds, path: &Path) -> Result<UniformBounds> {
    let (format, mut uniform) = (sniff(path)?, uniform.clone());
    let has_text = format.is_delimited()
        || matches!(&uniform.response, Response::File(file) if sniff(file)?.is_delimited());
    if !has_text {
        uniform.header = None;
    }
    if says_columns(path, format)? {
        (uniform.features, uniform.lists) = (None, None);
    }
    Ok(uniform)
}

/// Refuses declarations that say nothing about files of this format.
fn refuse_misplaced(path: &Path, format: Format, uniform: &UniformBounds) -> Result<()> {
    let refuse = |key: &str, problem: &str, remedy: &str| {
        Err(Error::declaration(key, format!("{} {problem}", path.display()), remedy))
    };
    let has_text = format.is_delimited()
        || matches!(&uniform.response, Response::File(file) if matches!(sniff(file)?, Format::Csv | Format::Libsvm));
    if uniform.header.is_some() && !has_text {
        return refuse(
            "header",
            "is no delimited text: it has no line of names",
            "leave out --header and --no-header",
        );
    }
    let has_lists = format == Format::Parquet && parquet::has_lists(path)?;
    if uniform.features.is_some() && says_columns(path, format)? {
        return refuse("columns", "says itself how many columns it has", "leave out --columns");
    }
    if uniform.lists.is_some() && !has_lists {
        return refuse("sparse columns", "has no lists of sparse rows", "leave out --sparse-columns");
    }
    Ok(())
}

/// Reads the response from a file of its own: one column, one row for each row of the design.
fn attach_response(
    encoded: &mut Encoded,
    design: &Path,
    file: &Path,
    uniform: &UniformBounds,
    options: &ReadOptions,
) -> Result<()> {
    let one_column = |columns: usize| {
        if columns == 1 {
            return Ok(());
        }
        Err(Error::file(
            file,
            Place::Header,
            format!("a response has one column, this file has {columns}"),
            "give a file with the response alone",
        ))
    };
    let settings = options.settings(Precision::F64);
    let format = sniff(file)?;
    let builder = match format {
        Format::Npy => {
            let array = npy::Array::open(file)?;
            one_column(array.columns())?;
            let names = vec!["y".to_owned()];
            let schema = uniform.response_schema(&names[0])?;
            let plan = Plan::new(&schema, file, &names, true)?;
            let mut builder = Builder::new(file, &schema, plan, settings);
            array.read_into(&mut builder)?;
            builder
        }
        Format::Parquet => {
            let table = parquet::Table::open(file)?;
            one_column(table.names().len())?;
            let schema = uniform.response_schema(&table.names()[0])?;
            let plan = Plan::new(&schema, file, table.names(), true)?;
            let mut builder = Builder::new(file, &schema, plan, settings);
            table.read_into(&mut builder)?;
            builder
        }
        Format::Npz => {
            return Err(Error::file(
                file,
                Place::Whole,
                "a response is not read from a sparse array",
                "save it with numpy.save",
            ));
        }
        Format::Csv | Format::Libsvm => {
            let text = csv::Dialect::of(file, None, options.delimiter);
            let table = csv::Table::open(file, &text, uniform.naming(file)?)?;
            one_column(table.names().len())?;
            // A column without a name is called as that of an array is.
            let names =
                if uniform.header == Some(true) { table.names().to_vec() } else { vec!["y".to_owned()] };
            let schema = uniform.response_schema(&names[0])?;
            let plan = Plan::new(&schema, file, &names, true)?;
            let mut builder = Builder::new(file, &schema, plan, settings);
            table.read_into(&mut builder)?;
            builder
        }
    };
    let (response, target, notes) = builder.finish_response()?;
    if response.len() != encoded.rows() {
        return Err(Error::file(
            file,
            Place::Whole,
            format!("{} responses for the {} rows of {}", response.len(), encoded.rows(), design.display()),
            "give the two files of one export",
        ));
    }
    encoded.response = response;
    encoded.target = target;
    encoded.curator.0.extend(notes.0);
    Ok(())
}

/// What a file's header says about its shape, without a look at a private cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The number of rows, where the header says it.
    pub rows: Option<u64>,
    /// The columns' names, where the header says them; `x0, x1, ...` if they have none.
    pub columns: Option<Vec<String>>,
}

/// What is known of a file before it is opened.
#[derive(Debug, Clone, Copy)]
pub enum Declared<'a> {
    /// Every column's own.
    Schema(&'a Schema),
    /// One pair of bounds for all features.
    Uniform(&'a UniformBounds),
}

/// Reads a file's header: a text file's first line, a NumPy header, a Parquet footer. LIBSVM files have none, and lists
/// of a Parquet file do not say how many columns they stand for.
pub fn shape(path: &Path, declared: Declared<'_>, options: &ReadOptions) -> Result<Shape> {
    let format = format_of(path, options)?;
    if let Declared::Uniform(uniform) = declared {
        refuse_misplaced(path, format, uniform)?;
        if matches!(format, Format::Npy | Format::Npz | Format::Libsvm)
            || (format == Format::Parquet && parquet::has_lists(path)?)
        {
            uniform.require_no_unit(path)?;
        }
    }
    match format {
        Format::Csv => {
            let (schema, naming) = match declared {
                Declared::Schema(schema) => (Some(schema), schema.naming()),
                Declared::Uniform(uniform) => (None, uniform.naming(path)?),
            };
            let text = csv::Dialect::of(path, schema, options.delimiter);
            let table = csv::Table::open(path, &text, naming)?;
            Ok(Shape { rows: None, columns: Some(table.names().to_vec()) })
        }
        Format::Npy => {
            let array = npy::Array::open(path)?;
            Ok(Shape { rows: Some(array.rows() as u64), columns: Some(unnamed(array.columns())) })
        }
        Format::Parquet if parquet::has_lists(path)? => {
            Ok(Shape { rows: Some(parquet::rows(path)?), columns: None })
        }
        Format::Parquet => {
            let table = parquet::Table::open(path)?;
            Ok(Shape { rows: Some(table.rows()), columns: Some(table.names().to_vec()) })
        }
        Format::Npz => {
            let array = npz::Array::open(path)?;
            Ok(Shape { rows: Some(array.rows() as u64), columns: Some(unnamed(array.columns())) })
        }
        Format::Libsvm => Ok(Shape { rows: None, columns: None }),
    }
}

/// A column of a file as a draft of its schema sees it.
pub(crate) struct ColumnPreview {
    pub name: String,
    pub looks: InferredType,
}

/// What the first cells of a column look like. Says nothing about their values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InferredType {
    Number,
    Text,
    Truth,
    /// 0 and 1.
    Bit,
    /// No cell at all.
    Empty,
}

/// The columns of a file and the types of its first rows, and what separates its cells where that is not usual. Columns of a text file
/// without a header are called c1, c2, ...
pub(crate) fn preview(path: &Path, has_header: Option<bool>) -> Result<(Vec<ColumnPreview>, Option<char>)> {
    match sniff(path)? {
        Format::Csv => {
            // The same words as for a table that is read without a schema.
            let has_header = matches!(
                UniformBounds { header: has_header, ..UniformBounds::new(0.0, 1.0) }.naming(path)?,
                Naming::FirstLine
            );
            let delimiter = csv::guessed_delimiter(path)?;
            let dialect = csv::Dialect::of(path, None, delimiter);
            let columns = csv::Table::open_undeclared(path, &dialect, has_header)?.preview()?;
            Ok((columns, delimiter.map(char::from)))
        }
        Format::Parquet if has_header.is_some() => Err(Error::declaration(
            "header",
            format!("{} is a Parquet file and names its columns itself", path.display()),
            "leave out --header and --no-header",
        )),
        Format::Parquet => Ok((parquet::Table::open(path)?.preview(), None)),
        Format::Npy | Format::Npz | Format::Libsvm => Err(Error::file(
            path,
            Place::Whole,
            "the file has no column names for a schema to speak of",
            "no schema is needed: give feature bounds and target bounds instead",
        )),
    }
}

fn format_of(path: &Path, options: &ReadOptions) -> Result<Format> {
    match options.format {
        Some(format) => Ok(format),
        None => sniff(path),
    }
}

/// The names of columns that have none.
pub(crate) fn unnamed(columns: usize) -> Vec<String> {
    (0..columns).map(|j| format!("x{j}")).collect()
}
