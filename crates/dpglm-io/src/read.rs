//! Files in: one door for every format, and one `Source` behind it per format.
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
mod files;
mod json_lines;
mod libsvm;
mod npy;
mod npz;
mod parquet;
mod source;

use dpglm::error::{Message, Parameter};
use std::path::{Path, PathBuf};

pub use source::Format;
use source::{Opening, Source};

use crate::encode::{Builder, Encoded, Flow, Layout, Plan, Precision, Present, Record, Settings};
use crate::error::{Error, Place, Result};
use crate::schema::Schema;
use crate::uniform::{Response, UniformBounds};

/// The formats. The first one takes what no other recognises.
static SOURCES: &[&dyn Source] =
    &[&csv::Csv, &parquet::Parquet, &npy::Npy, &npz::Npz, &libsvm::Libsvm, &json_lines::JsonLines];

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

    fn opening<'a>(&self, declared: Declared<'a>) -> Opening<'a> {
        Opening { declared, delimiter: self.delimiter }
    }
}

/// Reads a table under a schema.
pub fn read_table(path: &Path, schema: &Schema, options: &ReadOptions) -> Result<Encoded> {
    read(path, Declared::Schema(schema), options)
}

/// Reads a wide numeric file: every feature has the same bounds, no schema is needed.
pub fn read_uniform(path: &Path, uniform: &UniformBounds, options: &ReadOptions) -> Result<Encoded> {
    uniform.validate()?;
    refuse_misplaced(path, format_of(path, options)?, uniform)?;
    let mut encoded = read(path, Declared::Uniform(uniform), options)?;
    if let Response::File(file) = &uniform.response {
        attach_response(&mut encoded, path, file, uniform, options)?;
    }
    Ok(encoded)
}

fn read(path: &Path, declared: Declared<'_>, options: &ReadOptions) -> Result<Encoded> {
    Reading::open(path, declared, options)?.read(None)
}

/// A table whose header has been read: one file, or several of the same columns whose rows follow one another.
pub(crate) struct Reading<'a> {
    path: PathBuf,
    files: Vec<PathBuf>,
    declared: Declared<'a>,
    options: ReadOptions,
    first: Box<dyn source::Table>,
    names: Vec<String>,
    schema: Schema,
    plan: Plan,
    settings: Settings,
}

impl<'a> Reading<'a> {
    /// Opens a table; no cell is looked at.
    pub(crate) fn open(path: &Path, declared: Declared<'a>, options: &ReadOptions) -> Result<Self> {
        let files = files::files(path)?;
        // There is at least one.
        let file = files.first().map_or(path, |file| file);
        let mut first = format_of(file, options)?.source().open(file, &options.opening(declared))?;
        let names = first.columns()?;
        let schema = match declared {
            Declared::Schema(schema) => schema.clone(),
            Declared::Uniform(uniform) => uniform.schema(file, &names)?,
        };
        let mut plan = Plan::new(&schema, file, &names, options.needs_target)?;
        if first.leaves_zeros_out() {
            plan = plan.without_centring(&schema)?;
        }
        let settings = first.settings(options, &schema, &plan)?;
        let (path, options) = (path.to_path_buf(), *options);
        Ok(Self { path, files, declared, options, first, names, schema, plan, settings })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The number of rows, where the header says it.
    pub(crate) fn rows(&self) -> Option<u64> {
        if self.files.len() == 1 { self.first.rows() } else { None }
    }

    /// What rows have beside their features.
    pub(crate) fn present(&self) -> Present {
        Present::new(&self.schema, &self.plan, &self.settings)
    }

    /// How rows are written in a scratch file; `None` if they leave zeros out.
    pub(crate) fn record(&self) -> Option<Record> {
        Record::new(&self.plan, &self.settings, &self.present())
    }

    /// Reads every row, into one table or away in blocks.
    pub(crate) fn read(self, flow: Option<Flow<'_>>) -> Result<Encoded> {
        let Self { files, declared, options, first, names, schema, plan, settings, .. } = self;
        let file = files.first().map_or(self.path.as_path(), PathBuf::as_path);
        let mut builder = Builder::new(file, &schema, plan, settings).flowing(flow);
        first.read_into(&mut builder)?;
        for file in files.iter().skip(1) {
            let table = format_of(file, &options)?.source().open(file, &options.opening(declared))?;
            if table.columns()? != names {
                return Err(Error::file(
                    file,
                    Place::Header,
                    format!("its columns are not those of {}", files[0].display()),
                    "give files of the same columns in the same order, and no others",
                ));
            }
            builder.begin(file);
            table.read_into(&mut builder)?;
        }
        builder.finish()
    }
}

/// The declaration for one of several files: without what says nothing about it and was meant for another.
pub fn uniform_of_file(uniform: &UniformBounds, path: &Path) -> Result<UniformBounds> {
    let (format, mut uniform) = (Format::of(path)?, uniform.clone());
    let has_text = format.is_delimited()
        || matches!(&uniform.response, Response::File(file) if Format::of(file)?.is_delimited());
    if !has_text {
        uniform.header = None;
    }
    if format.source().says_columns(path)? {
        (uniform.features, uniform.lists) = (None, None);
    }
    Ok(uniform)
}

/// Refuses declarations that say nothing about files of this format.
pub(crate) fn refuse_misplaced(path: &Path, format: Format, uniform: &UniformBounds) -> Result<()> {
    let refuse = |key: &str, problem: &str, remedy: Message| {
        Err(Error::declaration(key, format!("{} {problem}", path.display()), remedy))
    };
    let has_text = match &uniform.response {
        // A response in a file of its own is never LIBSVM text, whatever its name.
        Response::File(file) => format.is_delimited() || Format::of(file)?.source().is_response_text(),
        _ => format.is_delimited(),
    };
    if uniform.header.is_some() && !has_text {
        return refuse(
            "header",
            "is no delimited text: it has no line of names",
            Message::new("leave out {} and {}", &[&Parameter::Header, &Parameter::NoHeader]),
        );
    }
    if uniform.features.is_some() && format.source().says_columns(path)? {
        return refuse(
            "columns",
            "says itself how many columns it has",
            Message::new("leave out {}", &[&Parameter::Columns]),
        );
    }
    if uniform.lists.is_some() && !format.source().has_lists(path)? {
        return refuse(
            "sparse columns",
            "has no lists of sparse rows",
            Message::new("leave out {}", &[&Parameter::SparseColumns]),
        );
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
    let alone = UniformBounds { response: Response::None, unit: None, ..uniform.clone() };
    let opening = options.opening(Declared::Uniform(&alone));
    let mut table = Format::of(file)?.source().open_response(file, &opening)?;
    let mut names = table.columns()?;
    if names.len() != 1 {
        return Err(Error::file(
            file,
            Place::Header,
            format!("a response has one column, this file has {}", names.len()),
            "give a file with the response alone",
        ));
    }
    if !table.names_its_columns() {
        names = vec!["y".to_owned()];
    }
    let schema = uniform.response_schema(&names[0])?;
    let plan = Plan::new(&schema, file, &names, true)?;
    let settings = table.settings(options, &schema, &plan)?;
    let mut builder = Builder::new(file, &schema, plan, settings);
    table.read_into(&mut builder)?;
    let found = builder.rows;
    if found != encoded.rows() {
        return Err(Error::file(
            file,
            Place::Whole,
            format!("{found} responses for the {} rows of {}", encoded.rows(), design.display()),
            "give the two files of one export",
        ));
    }
    builder.finish_response(encoded)
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
    }
    let says_columns = format.source().says_columns(path)?;
    if !says_columns && matches!(declared, Declared::Schema(_)) {
        // No schema can speak of it, and its header says nothing.
        return Ok(Shape { rows: None, columns: None });
    }
    let (mut rows, mut columns) = (Some(0), None);
    for file in files::files(path)? {
        let table = format.source().open(&file, &options.opening(declared))?;
        rows = rows.zip(table.rows()).map(|(rows, more)| rows + more);
        if says_columns && columns.is_none() {
            columns = Some(table.columns()?);
        }
    }
    Ok(Shape { rows, columns })
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
    Format::of(path)?.source().preview(path, has_header)
}

pub(crate) fn format_of(path: &Path, options: &ReadOptions) -> Result<Format> {
    match options.format {
        Some(format) => Ok(format),
        None => Format::of(path),
    }
}

/// The names of columns that have none.
pub(crate) fn unnamed(columns: usize) -> Vec<String> {
    (0..columns).map(|j| format!("x{j}")).collect()
}
