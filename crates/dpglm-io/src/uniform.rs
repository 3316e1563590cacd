//! UniformBounds numeric files: one pair of bounds for every feature stands in for a schema.

use dpglm::error::{Message, Parameter};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::bounds::{self, Scale};
use crate::error::{Error, Place, Result, list};
use crate::schema::raw::{RawColumn, RawKind, RawLevel, RawSchema, Scalar};
use crate::schema::{Missing, Undeclared};
use crate::schema::{Naming, Schema};

/// A table wider than this is a mistake in the number of columns.
const WIDEST: usize = 1 << 22;

/// Public bounds for a whole file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableBounds {
    /// The bounds of every feature.
    pub feature: (f64, f64),
    /// The bounds of a numeric target.
    pub target: Option<(f64, f64)>,
    /// True for a target of 0 or 1; -1 counts as 0.
    pub binary: bool,
}

/// Where a wide file's response is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// There is none.
    None,
    /// In the last column, or the label of a LIBSVM file.
    LastColumn,
    /// In the column of this name.
    Column(String),
    /// In a file of its own.
    File(PathBuf),
}

/// How to read a wide numeric file.
#[derive(Debug, Clone, PartialEq)]
pub struct UniformBounds {
    /// The public bounds.
    pub bounds: TableBounds,
    /// Where the response is.
    pub response: Response,
    /// How features are scaled. Files that leave zeros out (LIBSVM, SciPy, lists of Parquet) are never centred: their features are divided
    /// by the largest magnitude that the bounds allow.
    pub scale: Scale,
    /// What a missing cell does to its row.
    pub missing: Missing,
    /// True if the model has an intercept.
    pub intercept: bool,
    /// The column that says whose row it is; it is no feature. Of files that name their columns, and of text.
    pub unit: Option<String>,
    /// Whether text files begin with a line of names. It must be declared: a first line may be somebody's row, so its cells cannot
    /// decide. Other files have no such line and refuse the declaration.
    pub header: Option<bool>,
    /// The number of columns of a file that does not say it: LIBSVM, and sparse rows in the lists of a Parquet file. Such
    /// a file is refused without it, because the largest index is one private row's to set.
    pub features: Option<usize>,
    /// The names of the two lists that hold the sparse rows of a Parquet file: the columns from 0, and their values. By default
    /// `indices` and `values`.
    pub lists: Option<[String; 2]>,
}

impl UniformBounds {
    /// Features within `lower` and `upper`, no response, scaled to [-1, 1], with an intercept.
    pub fn new(lower: f64, upper: f64) -> Self {
        Self {
            bounds: TableBounds { feature: (lower, upper), target: None, binary: false },
            response: Response::None,
            scale: Scale::default(),
            missing: Missing::default(),
            intercept: true,
            unit: None,
            header: None,
            features: None,
            lists: None,
        }
    }

    /// With a numeric response within bounds.
    pub fn with_response(mut self, response: Response, lower: f64, upper: f64) -> Self {
        self.response = response;
        self.bounds.target = Some((lower, upper));
        self
    }

    /// With a response of 0 or 1 (or -1 or 1).
    pub fn with_binary_response(mut self, response: Response) -> Self {
        self.response = response;
        self.bounds.binary = true;
        self
    }

    /// Checks the bounds before a file is opened.
    pub fn validate(&self) -> Result<()> {
        bounds::declared("feature bounds", self.bounds.feature.0, self.bounds.feature.1)?;
        if let Some((lower, upper)) = self.bounds.target {
            bounds::declared("target bounds", lower, upper)?;
        }
        let has_response = self.response != Response::None;
        match (self.bounds.target.is_some(), self.bounds.binary) {
            (true, true) => Err(Error::declaration(
                "target bounds",
                "a binary target has no bounds",
                "give either target bounds or a binary target",
            )),
            (false, false) if has_response => Err(Error::declaration(
                "target bounds",
                "needed for a response",
                "give the range that public knowledge allows for it, or say that it is binary",
            )),
            _ => Ok(()),
        }
    }

    /// For text files with (or without) a line of names.
    pub fn with_header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }

    /// With a column that says whose row it is.
    pub fn with_unit(mut self, column: impl Into<String>) -> Self {
        self.unit = Some(column.into());
        self
    }

    /// With sparse rows of so many columns.
    pub fn with_features(mut self, features: usize) -> Self {
        self.features = Some(features);
        self
    }

    /// The names of the two lists of sparse rows.
    pub(crate) fn list_names(&self) -> [&str; 2] {
        self.lists.as_ref().map_or(["indices", "values"], |[indices, values]| [indices, values])
    }

    /// The number of columns of a file that does not say it itself.
    pub(crate) fn declared_features(&self, path: &Path) -> Result<usize> {
        let Some(features) = self.features else {
            return Err(Error::file(
                path,
                Place::Whole,
                "the number of columns must be given: the file does not say it, and its largest index would let one \
                 private row set it",
                Message::new(
                    "give the number that public knowledge allows ({} D); entries beyond it are left out",
                    &[&Parameter::Columns],
                ),
            ));
        };
        if features > WIDEST {
            return Err(Error::file(
                path,
                Place::Whole,
                format!("{features} columns are too many (at most {WIDEST})"),
                "renumber the columns that occur, or hash them to fewer",
            ));
        }
        Ok(features)
    }

    /// Where the names of a text file's columns come from; it must have been declared.
    pub(crate) fn naming(&self, path: &Path) -> Result<Naming<'static>> {
        match self.header {
            Some(true) => Ok(Naming::FirstLine),
            Some(false) => Ok(Naming::Numbered),
            None => Err(Error::declaration(
                "header",
                format!(
                    "whether {} begins with a line of column names must be declared: its first line may be somebody's row, so \
                     its cells do not decide",
                    path.display()
                ),
                Message::new("give {} or {}", &[&Parameter::Header, &Parameter::NoHeader]),
            )),
        }
    }

    /// Refuses a unit in a file whose columns have no names.
    pub(crate) fn require_no_unit(&self, path: &Path) -> Result<()> {
        match &self.unit {
            None => Ok(()),
            Some(unit) => Err(Error::declaration(
                "unit",
                format!(
                    "the columns of {} have no names, so none of them is called `{unit}`",
                    path.display()
                ),
                Message::new(
                    "leave out {}, or give a CSV or Parquet file with the column",
                    &[&Parameter::Unit],
                ),
            )),
        }
    }

    /// The schema that a file with columns of these names has; `path` is named in a message only.
    pub fn schema(&self, path: &Path, names: &[String]) -> Result<Schema> {
        let absent = |what: &str, name: &str| {
            Error::file(
                path,
                Place::Header,
                format!("there is no column `{name}` for the {what}"),
                format!("the file has {}; name one of them", list(names)),
            )
        };
        let target = match &self.response {
            Response::None | Response::File(_) => None,
            Response::LastColumn => names.last().cloned(),
            Response::Column(name) if names.contains(name) => Some(name.clone()),
            Response::Column(name) => return Err(absent("response", name)),
        };
        if let Some(unit) = &self.unit {
            if !names.contains(unit) {
                return Err(absent("unit", unit));
            }
            if target.as_ref() == Some(unit) {
                return Err(Error::declaration(
                    "unit",
                    format!("`{unit}` says whose row it is and cannot be the target too"),
                    Message::new("name the target with {} COLUMN, or another unit", &[&Parameter::Target]),
                ));
            }
        }
        let mut columns = IndexMap::with_capacity(names.len());
        for name in names {
            let declared = if Some(name) == target.as_ref() {
                self.target_column()
            } else if Some(name) == self.unit.as_ref() {
                RawColumn::of(RawKind::Ignore)
            } else {
                numeric(self.bounds.feature)
            };
            if columns.insert(name.clone(), declared).is_some() {
                return Err(Error::file(
                    path,
                    Place::Header,
                    format!("column name `{name}` occurs more than once"),
                    "give every column a name of its own",
                ));
            }
        }
        self.raw(target, self.unit.clone(), columns)
    }

    /// The schema of a response file.
    pub(crate) fn response_schema(&self, name: &str) -> Result<Schema> {
        self.raw(Some(name.to_owned()), None, IndexMap::from([(name.to_owned(), self.target_column())]))
    }

    fn raw(
        &self,
        target: Option<String>,
        unit: Option<String>,
        columns: IndexMap<String, RawColumn>,
    ) -> Result<Schema> {
        Schema::try_from(RawSchema {
            target,
            intercept: self.intercept,
            missing: self.missing,
            undeclared: Undeclared::default(),
            missing_values: None,
            scale: self.scale,
            exposure: None,
            weight: None,
            unit,
            delimiter: None,
            comment: None,
            header: self.header,
            names: None,
            formula: None,
            columns,
        })
    }

    fn target_column(&self) -> RawColumn {
        match self.bounds.target {
            Some(bounds) => numeric(bounds),
            None => {
                let level =
                    |a: i64, b: &str| RawLevel::Several(vec![Scalar::Integer(a), Scalar::Text(b.to_owned())]);
                let levels = Some(vec![level(0, "-1"), level(1, "+1")]);
                RawColumn { levels, ..RawColumn::of(RawKind::Binary) }
            }
        }
    }
}

fn numeric((lower, upper): (f64, f64)) -> RawColumn {
    RawColumn { bounds: Some(vec![lower, upper]), ..RawColumn::of(RawKind::Real) }
}
