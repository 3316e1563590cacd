//! Which format a file has.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Place, Result};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text, perhaps compressed.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// A NumPy array.
    Npy,
    /// A SciPy sparse array.
    Npz,
    /// LIBSVM text, perhaps compressed.
    Libsvm,
}

impl Format {
    /// Tells a file's format from its first bytes, then from its name.
    pub fn of(path: &Path) -> Result<Self> {
        sniff(path)
    }

    /// Whether it is text in which the first line may hold names. A response in a file of its own is never LIBSVM text.
    pub fn is_delimited(self) -> bool {
        self == Format::Csv
    }
}

/// Tells a file's format from its first bytes, then from its name.
pub(crate) fn sniff(path: &Path) -> Result<Format> {
    let mut first = Vec::new();
    File::open(path)
        .map_err(|e| Error::open(path, e))?
        .take(6)
        .read_to_end(&mut first)
        .map_err(|e| Error::read(path, e))?;
    if first.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if first.starts_with(b"\x93NUMPY") {
        return Ok(Format::Npy);
    }
    if first.starts_with(b"PK\x03\x04") {
        if extension(path) == "npz" {
            return Ok(Format::Npz);
        }
        return Err(Error::file(
            path,
            Place::Whole,
            "this is a zip archive (.xlsx or .zip)",
            "save the sheet as .csv, or unpack the archive; a sparse array of SciPy has the extension .npz",
        ));
    }
    Ok(match extension(path).as_str() {
        "parquet" | "pq" => Format::Parquet,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        "libsvm" | "svm" | "svmlight" => Format::Libsvm,
        _ => Format::Csv,
    })
}

/// The file name's extension in lower case, without that of a compression.
pub(crate) fn extension(path: &Path) -> String {
    let last = |p: &Path| p.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match last(path).as_str() {
        "gz" | "xz" | "bz2" => last(Path::new(path.file_stem().unwrap_or_default())),
        other => other.to_owned(),
    }
}
