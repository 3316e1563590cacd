//! The flags that say which table to read and what is publicly known about it.

use crate::failure::Failure;
use crate::progress::tell;
use clap::{Args, ValueEnum};
use dpglm_io::{Bounds, Encoded, Precision, ReadOptions, Response, Schema, Wide, read_table, read_wide};
use std::path::{Path, PathBuf};

pub use dpglm_io::assembly::Known;

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
    /// Stop at the first cell that is missing, out of bounds or of an undeclared level, instead of mapping it by the public
    /// rule. Whether it stops depends on private cells: for the data's curator only
    #[arg(long, help_heading = "Data")]
    pub strict: bool,
    /// Precision of the stored features; f32 takes half the memory [default: f64, or that of a .npy file]
    #[arg(long, value_enum, value_name = "TYPE", help_heading = "Data")]
    pub precision: Option<Storage>,
    /// The number of columns of a LIBSVM file or of lists in a Parquet file, which do not say it, or of a dry run without a
    /// file. Entries beyond it are left out
    #[arg(long, value_name = "D", help_heading = "Data")]
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

impl Columns {
    /// The schema or the bounds, checked before any table is opened.
    pub fn known(&self) -> Result<Known, Failure> {
        match (&self.schema, self.feature_bounds) {
            (Some(path), _) => Ok(Known::Schema(Schema::load(path)?)),
            (None, Some((low, high))) => {
                Bounds::new("--feature-bounds", low, high)?;
                let mut wide = Wide { features: self.columns, ..Wide::new(low, high) };
                if let Some(Lists(names)) = &self.sparse_columns {
                    wide.lists.clone_from(names);
                }
                Ok(Known::Wide(wide))
            }
            (None, None) => Err(Failure::Usage(
                "public bounds are needed and have no default: give --schema FILE, or --feature-bounds=LOW,HIGH for a \
                 numeric file (`dpglm schema init` drafts a schema)"
                    .into(),
            )),
        }
    }

    /// Reads the features of a public table of the same kind. It may lack target, exposure and unit.
    pub fn read_features(&self, path: &Path, known: &Known) -> Result<Encoded, Failure> {
        let options = ReadOptions { needs_target: false, strict: self.strict, ..ReadOptions::default() };
        Ok(match known {
            Known::Schema(schema) => read_table(path, schema, &options)?,
            Known::Wide(wide) => {
                let mut features = Wide { response: Response::None, ..wide.clone() };
                (features.bounds.target, features.bounds.binary) = (None, false);
                read_wide(path, &features, &options)?
            }
        })
    }

    /// Reads a table. What the public rule changed is told on the error stream, to the curator.
    pub fn read(&self, path: &Path, known: &Known, constant_column: bool) -> Result<Encoded, Failure> {
        let options = ReadOptions {
            precision: self.precision.map(|p| match p {
                Storage::F32 => Precision::F32,
                Storage::F64 => Precision::F64,
            }),
            strict: self.strict,
            constant_column,
            ..ReadOptions::default()
        };
        let table = match known {
            Known::Schema(schema) => read_table(path, schema, &options)?,
            Known::Wide(wide) => read_wide(path, wide, &options)?,
        };
        let notes = table.curator.to_string();
        if !notes.is_empty() {
            tell(&format!(
                "note for the curator, not for publication: cells mapped by the public rule\n  {}",
                notes.replace('\n', "\n  ")
            ));
        }
        Ok(table)
    }
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
