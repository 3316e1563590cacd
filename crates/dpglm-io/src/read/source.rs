//! What a file format is to the rest of the crate: one [`Source`] per format, listed in `SOURCES`.
//!
//! A source tells its files and opens them; an open file is a [`Table`], which says what its header says and puts its cells. Schemas,
//! public rules and scaling are the same for all of them and stand in no format's file.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::files::files;
use super::{ColumnPreview, Declared, ReadOptions, SOURCES};
use crate::encode::{Builder, Plan, Precision, Settings};
use crate::error::{Error, Place, Result};
use crate::schema::Schema;

/// A file format.
pub(crate) trait Source: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// The endings of its files' names, in lower case and without that of a compression.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether a file that begins with these bytes, under a name with this ending, has the format for certain.
    fn is_begun_by(&self, _first: &[u8], _extension: &str) -> bool {
        false
    }

    /// Whether it is text in which the first line may hold names.
    fn is_delimited(&self) -> bool {
        false
    }

    /// Whether a file that holds a response alone is text in which the first line may be its name.
    fn is_response_text(&self) -> bool {
        self.is_delimited()
    }

    /// Whether a file says how many columns it has. If not, the number must be declared.
    fn says_columns(&self, _path: &Path) -> Result<bool> {
        Ok(true)
    }

    /// Whether a file holds sparse rows in lists that can be named.
    fn has_lists(&self, _path: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Opens a file and reads its header; no cell is looked at. Refuses declarations that no file of the format can meet.
    fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn Table>>;

    /// Opens a file that holds a response alone.
    fn open_response(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn Table>> {
        self.open(path, opening)
    }

    /// The columns and the types of their first rows, for the draft of a schema, and what separates cells where that is not usual.
    fn preview(&self, path: &Path, _has_header: Option<bool>) -> Result<(Vec<ColumnPreview>, Option<char>)> {
        Err(Error::file(
            path,
            Place::Whole,
            "the file has no column names for a schema to speak of",
            "no schema is needed: give feature bounds and target bounds instead",
        ))
    }
}

/// What is known of a file when it is opened.
pub(crate) struct Opening<'a> {
    pub declared: Declared<'a>,
    /// What separates the cells of a text file, if the caller says so.
    pub delimiter: Option<u8>,
}

impl Opening<'_> {
    /// Refuses a column of units, for a format whose columns have no names.
    pub(crate) fn refuse_unit(&self, path: &Path) -> Result<()> {
        match self.declared {
            Declared::Uniform(uniform) => uniform.require_no_unit(path),
            Declared::Schema(_) => Ok(()),
        }
    }
}

/// An open file.
pub(crate) trait Table {
    /// The number of rows, where the header says it.
    fn rows(&self) -> Option<u64>;

    /// The names of the columns as they are read.
    fn columns(&self) -> Result<Vec<String>>;

    /// Whether these names stand in the file.
    fn names_its_columns(&self) -> bool {
        true
    }

    /// Whether what is not written is zero: then features are scaled but not centred.
    fn leaves_zeros_out(&self) -> bool {
        false
    }

    /// How the design is stored.
    fn settings(&mut self, options: &ReadOptions, _schema: &Schema, _plan: &Plan) -> Result<Settings> {
        Ok(options.settings(Precision::F64))
    }

    /// Puts every cell of the columns that are read.
    fn read_into(self: Box<Self>, builder: &mut Builder) -> Result<()>;
}

/// The name of a file format that can be read.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Source);

impl Format {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> {
        SOURCES.iter().copied().map(Self)
    }

    /// The format of this name: `csv`, `parquet`, `npy`, `npz`, `libsvm`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// Tells a file's format from its first bytes, then from its name.
    pub fn of(path: &Path) -> Result<Self> {
        let path = &files(path)?.swap_remove(0);
        let mut first = Vec::new();
        File::open(path)
            .map_err(|e| Error::open(path, e))?
            .take(6)
            .read_to_end(&mut first)
            .map_err(|e| Error::read(path, e))?;
        let extension = extension(path);
        if let Some(format) = Self::all().find(|format| format.0.is_begun_by(&first, &extension)) {
            return Ok(format);
        }
        if first.starts_with(b"PK\x03\x04") {
            return Err(Error::file(
                path,
                Place::Whole,
                "this is a zip archive (.xlsx or .zip)",
                "save the sheet as .csv, or unpack the archive; a sparse array of SciPy has the extension .npz",
            ));
        }
        let by_name = Self::all().find(|format| format.0.extensions().contains(&extension.as_str()));
        Ok(by_name.unwrap_or(Self(SOURCES[0])))
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Whether it is text in which the first line may hold names. A response in a file of its own is never LIBSVM text.
    pub fn is_delimited(self) -> bool {
        self.0.is_delimited()
    }

    pub(crate) fn source(self) -> &'static dyn Source {
        self.0
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

/// The file name's extension in lower case, without that of a compression.
pub(crate) fn extension(path: &Path) -> String {
    let last = |p: &Path| p.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match last(path).as_str() {
        "gz" | "xz" | "bz2" => last(Path::new(path.file_stem().unwrap_or_default())),
        other => other.to_owned(),
    }
}
