//! The flags that say which table to read and what is publicly known about it.

use crate::failure::Failure;
use crate::progress::tell;
use clap::{Args, ValueEnum};
use dpglm_io::{
    CuratorNotes, Encoded, Format, Precision, ReadOptions, Response, Schema, UniformBounds, read_table,
    read_uniform, uniform_of_file,
};
use std::path::{Path, PathBuf};

pub use dpglm_workflow::PublicFacts;

/// What is known about a table's columns, and how to read it.
#[derive(Args)]
pub struct Columns {
    /// A TOML file that declares every column's kind with public bounds or levels; `dpglm schema init` drafts one
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub schema: Option<PathBuf>,
    /// In place of a schema: public bounds that hold for every feature of a numeric file. Values outside are clamped
    #[arg(long, value_name = "LOW,HIGH", value_parser = bounds, allow_hyphen_values = true)]
    #[arg(conflicts_with = "schema", help_heading = "Data")]
    pub feature_bounds: Option<(f64, f64)>,
    /// The first line of text files holds the columns' names, which are published. Text without a schema needs this or
    /// --no-header: a first line may be somebody's row, so its cells do not decide
    #[arg(long, conflicts_with = "no_header", help_heading = "Data")]
    pub header: bool,
    /// Text files have no line of names: the columns are called x0, x1, ...
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
    /// Stop at the first cell that is missing, out of bounds or of an undeclared level, instead of mapping it by the public
    /// rule. Whether it stops depends on private cells: for the data's curator only
    #[arg(long, help_heading = "Data")]
    pub strict: bool,
    /// Precision of the stored features; f32 takes half the memory [default: f64, or that of a .npy file]
    #[arg(long, value_enum, value_name = "TYPE", help_heading = "Data")]
    pub precision: Option<Storage>,
    /// The number of columns of a LIBSVM file or of lists in a Parquet file, which do not say it, or of a dry run without a
    /// file. Entries beyond it are left out
    #[arg(long, value_name = "D", conflicts_with = "schema", help_heading = "Data")]
    pub columns: Option<usize>,
    /// The two list columns that hold the sparse rows of a Parquet file: the columns that are not zero, from 0 and ascending,
    /// and their values [default: indices,values]
    #[arg(long, value_name = "NAMES", value_parser = lists, help_heading = "Data")]
    #[arg(conflicts_with = "schema")]
    pub sparse_columns: Option<Lists>,
}

/// The names of the two lists of sparse rows.
#[derive(Clone)]
pub struct Lists(pub [String; 2]);

/// How features are stored.
#[derive(Clone, Copy, ValueEnum)]
pub enum Storage {
    /// Single precision
    F32,
    /// Double precision
    F64,
}

/// How bounds are found where none are declared.
#[derive(Args)]
pub struct Search {
    /// Where bounds come from: `declared` in the schema, or, of numbers that have a magnitude in their place, found privately with a part of
    /// the same budget
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Source::Declared, hide_default_value = true)]
    #[arg(help_heading = "Data")]
    bounds: Source,
    /// In place of the bounds of these numbers, the largest size that values can have and the smallest difference that matters
    #[arg(long, value_name = "NAME=MAX:RES,...", value_parser = magnitudes, help_heading = "Data")]
    magnitudes: Option<Magnitudes>,
    /// The part of the budget that finds bounds [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = crate::flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Data")]
    bounds_share: Option<f64>,
}

/// Where bounds come from.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Source {
    /// From the schema
    Declared,
    /// From the rows, privately
    Private,
}

/// Names with magnitudes and resolutions.
#[derive(Clone)]
struct Magnitudes(Vec<(String, f64, f64)>);

impl Search {
    /// The part of the budget for bounds, and the schema with the magnitudes that are given.
    pub fn of(&self, known: PublicFacts) -> Result<(Option<f64>, PublicFacts), Failure> {
        let private = self.bounds == Source::Private;
        let given =
            [("--magnitudes", self.magnitudes.is_some()), ("--bounds-share", self.bounds_share.is_some())];
        if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given && !private) {
            return Err(Failure::Usage(format!(
                "{flag} goes with --bounds private: give that too, or leave out {flag}"
            )));
        }
        let known = match (known, private) {
            (PublicFacts::Schema(schema), _) => {
                let given = self.magnitudes.iter().flat_map(|Magnitudes(all)| all.clone());
                PublicFacts::Schema(schema.with_magnitudes(&given.collect::<Vec<_>>())?)
            }
            (PublicFacts::Uniform(_), true) => {
                return Err(Failure::Usage(
                    "--bounds private needs a schema, in which a number has a magnitude: give --schema FILE, or leave out --bounds".into(),
                ));
            }
            (uniform, false) => uniform,
        };
        Ok((private.then(|| self.bounds_share.unwrap_or(dpglm::estimators::bounds::SHARE)), known))
    }
}

/// Names with their magnitudes.
fn magnitudes(text: &str) -> Result<Magnitudes, String> {
    let one = |part: &str| {
        let (name, rest) = part.rsplit_once('=')?;
        let (largest, resolution) = rest.split_once(':')?;
        Some((name.trim().to_owned(), largest.trim().parse().ok()?, resolution.trim().parse().ok()?))
    };
    let all: Option<Vec<(String, f64, f64)>> = text.split(',').map(one).collect();
    all.map(Magnitudes).ok_or_else(|| {
        "names with the largest size and the smallest difference are needed: write them like income=1e9:1,age=1e3:1".into()
    })
}

impl Columns {
    /// The schema or the bounds, checked before any table is opened. `files` are all tables of the command.
    pub fn known(&self, files: &[Option<&PathBuf>]) -> Result<PublicFacts, Failure> {
        match (&self.schema, self.feature_bounds) {
            (Some(path), _) => {
                if let Some((flag, _)) = self.declared_header() {
                    return Err(Failure::Usage(format!(
                        "{flag} goes with --feature-bounds: write header = true in the schema, or names = [...] for a file \
                         without a header line"
                    )));
                }
                Ok(PublicFacts::Schema(Schema::load(path)?))
            }
            (None, Some((low, high))) => {
                dpglm_io::bounds::declared("--feature-bounds", low, high)?;
                Ok(PublicFacts::Uniform(UniformBounds {
                    features: self.columns,
                    header: self.header_of(files)?,
                    lists: self.sparse_columns.as_ref().map(|Lists(names)| names.clone()),
                    ..UniformBounds::new(low, high)
                }))
            }
            (None, None) => Err(Failure::Usage(
                "public bounds are needed and have no default: give --schema FILE, or --feature-bounds=LOW,HIGH for a \
                 numeric file (`dpglm schema init` drafts a schema)"
                    .into(),
            )),
        }
    }

    fn declared_header(&self) -> Option<(&'static str, bool)> {
        declared_header(self.header, self.no_header)
    }

    /// What is declared about the first line of text files; refused where there is none among the files.
    fn header_of(&self, files: &[Option<&PathBuf>]) -> Result<Option<bool>, Failure> {
        let Some((flag, header)) = self.declared_header() else { return Ok(None) };
        // A file that cannot be opened is complained of when it is read.
        if files.iter().flatten().any(|file| is_text(file).unwrap_or(true)) {
            return Ok(Some(header));
        }
        Err(Failure::Usage(format!(
            "{flag} speaks of the first line of delimited text, and no such file is given: leave out {flag}"
        )))
    }

    /// Reads the features of a public table of the same kind. It may lack target, exposure and unit.
    pub fn read_features(&self, path: &Path, known: &PublicFacts) -> Result<Encoded, Failure> {
        let options = ReadOptions { needs_target: false, ..self.options(false) };
        Ok(match known {
            PublicFacts::Schema(schema) => read_table(path, schema, &options)?,
            PublicFacts::Uniform(uniform) => {
                let mut features = UniformBounds { response: Response::None, unit: None, ..uniform.clone() };
                (features.bounds.target, features.bounds.binary) = (None, false);
                read_uniform(path, &uniform_of_file(&features, path)?, &options)?
            }
        })
    }

    /// Reads a table. What the public rule changed is told on the error stream, to the curator.
    pub fn read(&self, path: &Path, known: &PublicFacts, constant_column: bool) -> Result<Encoded, Failure> {
        let options = self.options(constant_column);
        let table = match self.for_file(path, known)? {
            PublicFacts::Schema(schema) => read_table(path, &schema, &options)?,
            PublicFacts::Uniform(uniform) => read_uniform(path, &uniform, &options)?,
        };
        self.tell_curator(&table.curator);
        Ok(table)
    }

    /// What is known, without what was declared for another of the command's files.
    pub(crate) fn for_file(&self, path: &Path, known: &PublicFacts) -> Result<PublicFacts, Failure> {
        Ok(match known {
            PublicFacts::Schema(schema) => PublicFacts::Schema(schema.clone()),
            PublicFacts::Uniform(uniform) => {
                let header = uniform_of_file(uniform, path)?.header;
                PublicFacts::Uniform(UniformBounds { header, ..uniform.clone() })
            }
        })
    }

    /// Tells the curator what the public rule changed.
    pub(crate) fn tell_curator(&self, notes: &CuratorNotes) {
        let notes = notes.to_string();
        if !notes.is_empty() {
            tell(&format!(
                "note for the curator, not for publication: cells mapped by the public rule\n  {}",
                notes.replace('\n', "\n  ")
            ));
        }
    }

    pub(crate) fn options(&self, constant_column: bool) -> ReadOptions {
        ReadOptions {
            precision: self.precision.map(|p| match p {
                Storage::F32 => Precision::F32,
                Storage::F64 => Precision::F64,
            }),
            strict: self.strict,
            constant_column,
            ..ReadOptions::default()
        }
    }

    /// The flags that say how cells are read, each with whether it is given.
    pub fn about_cells(&self) -> [(&'static str, bool); 2] {
        [("--strict", self.strict), ("--precision", self.precision.is_some())]
    }
}

/// The flag about the first line of text files that is given, and what it says.
pub fn declared_header(header: bool, no_header: bool) -> Option<(&'static str, bool)> {
    match (header, no_header) {
        (true, _) => Some(("--header", true)),
        (_, true) => Some(("--no-header", false)),
        _ => None,
    }
}

/// Whether a file is text whose first line may hold names.
pub fn is_text(path: &Path) -> Result<bool, Failure> {
    Ok(Format::of(path)?.is_delimited())
}

/// Two names.
pub fn lists(text: &str) -> Result<Lists, String> {
    match text.split_once(',').map(|(indices, values)| (indices.trim(), values.trim())) {
        Some((indices, values)) if !indices.is_empty() && !values.is_empty() && indices != values => {
            Ok(Lists([indices.to_owned(), values.to_owned()]))
        }
        _ => Err("two different names are needed: write them like indices,values".into()),
    }
}

/// Two numbers, the lower first; their order is checked where they are used.
pub fn bounds(text: &str) -> Result<(f64, f64), String> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    text.split_once(',')
        .and_then(|(low, high)| Some((number(low)?, number(high)?)))
        .ok_or_else(|| "two numbers are needed: write them like -1,1".into())
}
