//! LIBSVM text: `label index:value index:value ...`, indices from 1 and ascending, all else zero.
//!
//! [`Rows`] yields one sparse row at a time, and the table is stored sparsely. The number of columns is declared: the
//! largest index of the file would be one private row's to set. An entry beyond the declared columns is left out. Indices
//! that are no numbers, repeated or out of order are faults of the file.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::source::{self, Opening, Source};
use super::{Declared, ReadOptions, compressed, csv, unnamed};
use crate::cell::{Cell, parse};
use crate::encode::{Builder, Plan, Precision, Settings};
use crate::error::{Error, Place, Result};
use crate::schema::Schema;
use crate::uniform::{Response, UniformBounds};

/// LIBSVM text, perhaps compressed.
pub(crate) struct Libsvm;

impl Source for Libsvm {
    fn name(&self) -> &'static str {
        "libsvm"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["libsvm", "svm", "svmlight"]
    }

    fn is_response_text(&self) -> bool {
        true
    }

    fn says_columns(&self, _path: &Path) -> Result<bool> {
        Ok(false)
    }

    fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        let refuse = |problem: &str, remedy: &str| Err(Error::file(path, Place::Whole, problem, remedy));
        let Declared::Uniform(uniform) = opening.declared else {
            return refuse(
                "a LIBSVM file has no column names for a schema to speak of",
                "give feature bounds instead of a schema",
            );
        };
        opening.refuse_unit(path)?;
        if matches!(uniform.response, Response::Column(_)) {
            return refuse(
                "a LIBSVM file has no column names; its label is the target",
                "leave the target's name out",
            );
        }
        Ok(Box::new(Table { path: path.to_path_buf(), uniform: uniform.clone() }))
    }

    /// A column of numbers alone is delimited text, whatever the file is called.
    fn open_response(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        csv::Csv.open(path, opening)
    }
}

/// The rows of a file, one at a time.
pub(crate) struct Rows {
    path: PathBuf,
    input: BufReader<Box<dyn Read>>,
    text: Vec<u8>,
    line: u64,
    /// The current row's label; NaN if it is not a number.
    pub label: f64,
    /// The current row's entries: column from 0, and value, NaN if it is not a number.
    pub entries: Vec<(usize, f64)>,
}

impl Rows {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let input = BufReader::with_capacity(1 << 16, compressed::open(path)?);
        Ok(Self {
            path: path.to_path_buf(),
            input,
            text: Vec::new(),
            line: 0,
            label: f64::NAN,
            entries: Vec::new(),
        })
    }

    /// Reads the next row; false at the end. A comment from `#` on is skipped, and so is a line without a row.
    pub(super) fn advance(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            self.line += 1;
            let read =
                self.input.read_until(b'\n', &mut self.text).map_err(|e| Error::read(&self.path, e))?;
            if read == 0 {
                return Ok(false);
            }
            let end = self.text.iter().position(|b| *b == b'#').unwrap_or(self.text.len());
            let row = self.text[..end].trim_ascii();
            if row.is_empty() {
                continue;
            }
            let mut tokens = row.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty());
            self.label = tokens.next().map_or(f64::NAN, parse);
            self.entries.clear();
            let mut last = 0;
            for token in tokens {
                let (index, value) = entry(token, last).map_err(|(problem, remedy)| {
                    Error::file(&self.path, Place::Line(self.line), problem, remedy)
                })?;
                last = index;
                self.entries.push((index - 1, value));
            }
            return Ok(true);
        }
    }
}

type Complaint = (&'static str, &'static str);

fn entry(token: &[u8], last: usize) -> std::result::Result<(usize, f64), Complaint> {
    let colon = token.iter().position(|b| *b == b':').ok_or((
        "an entry is not of the form index:value",
        "write label index:value ..., or give the file its usual extension",
    ))?;
    if token.starts_with(b"-") {
        return Err(("an index is negative", "LIBSVM counts columns from 1"));
    }
    let digits = &token[..colon];
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(("an index is not a whole number", "write label index:value ... with indices from 1"));
    }
    // One that no number holds is beyond every declared column.
    let index: usize = std::str::from_utf8(digits).ok().and_then(|t| t.parse().ok()).unwrap_or(usize::MAX);
    if index == 0 {
        return Err(("an index is 0", "LIBSVM counts columns from 1; add one to every index"));
    }
    if index == last {
        return Err(("an index is repeated", "keep one value a column and row"));
    }
    if index < last {
        return Err(("the indices are not ascending", "sort each row by index"));
    }
    Ok((index, parse(&token[colon + 1..])))
}

/// A file that was not opened yet: it has no header.
struct Table {
    path: PathBuf,
    uniform: UniformBounds,
}

impl Table {
    /// Whether the label is read.
    fn with_label(&self) -> bool {
        self.uniform.response == Response::LastColumn
    }
}

impl source::Table for Table {
    fn rows(&self) -> Option<u64> {
        None
    }

    /// As many as were declared, and the label.
    fn columns(&self) -> Result<Vec<String>> {
        let mut names = unnamed(self.uniform.declared_features(&self.path)?);
        names.extend(self.with_label().then(|| "y".to_owned()));
        Ok(names)
    }

    fn leaves_zeros_out(&self) -> bool {
        true
    }

    fn settings(&mut self, options: &ReadOptions, _schema: &Schema, _plan: &Plan) -> Result<Settings> {
        Ok(options.sparse_settings(Precision::F64))
    }

    /// Puts the entries; those beyond the declared columns are left out.
    fn read_into(self: Box<Self>, builder: &mut Builder) -> Result<()> {
        let path = &self.path;
        let (features, with_label) = (self.uniform.declared_features(path)?, self.with_label());
        let rows = count_rows(path)?;
        builder.ensure_rows(rows)?;
        let mut input = Rows::open(path)?;
        let mut row = 0;
        while input.advance()? {
            if row == rows {
                return Err(Error::file(
                    path,
                    Place::Line(input.line),
                    "the file changed while it was read",
                    "try again when nothing else writes to it",
                ));
            }
            for &(column, value) in &input.entries {
                // Columns stand in the table as they do in the file, so a column's slot is its number.
                if column < features {
                    builder.put(row, column, Cell::Number(value))?;
                } else {
                    builder.leave_out(row)?;
                }
            }
            if with_label {
                builder.put(row, features, Cell::Number(input.label))?;
            }
            row += 1;
        }
        Ok(())
    }
}

/// The number of rows, from a first pass that also finds the faults of the format.
fn count_rows(path: &Path) -> Result<usize> {
    let mut input = Rows::open(path)?;
    let mut rows = 0;
    while input.advance()? {
        rows += 1;
    }
    if rows == 0 {
        return Err(Error::file(
            path,
            Place::Whole,
            "the file is empty",
            "check that the export was complete",
        ));
    }
    Ok(rows)
}
