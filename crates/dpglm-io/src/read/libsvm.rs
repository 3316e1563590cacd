//! LIBSVM text: `label index:value index:value ...`, indices from 1 and ascending, all else zero.
//!
//! [`Rows`] yields one sparse row at a time; [`read`] spreads it over a dense table. A sparse design takes the same
//! rows.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{compressed, unnamed};
use crate::cell::{Cell, parse};
use crate::encode::{Builder, Encoded, Plan, Settings};
use crate::error::{Error, Place, Result};
use crate::wide::Wide;

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
    pub fn open(path: &Path) -> Result<Self> {
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
    pub fn advance(&mut self) -> Result<bool> {
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
    let index: usize = std::str::from_utf8(&token[..colon])
        .ok()
        .and_then(|t| t.parse().ok())
        .ok_or(("an index is not a whole number", "write label index:value ... with indices from 1"))?;
    if index == 0 {
        return Err(("an index is 0", "LIBSVM counts columns from 1; add one to every index"));
    }
    if index == last {
        return Err(("an index is repeated", "keep one value a column and row"));
    }
    if index < last {
        return Err(("the indices are not ascending", "sort each row by index"));
    }
    if u32::try_from(index).is_err() {
        return Err(("an index is beyond 4,294,967,295", "renumber the columns"));
    }
    Ok((index, parse(&token[colon + 1..])))
}

/// A dense table wider than this is a mistake in an index.
const WIDEST: usize = 1 << 22;

/// Reads a file into a dense table. Its number of columns is `wide.features` or the largest index of a first pass.
pub(crate) fn read(path: &Path, wide: &Wide, with_label: bool, settings: Settings) -> Result<Encoded> {
    let (rows, largest) = count(path)?;
    let features = match wide.features {
        None => largest,
        Some(declared) if declared >= largest => declared,
        Some(declared) => {
            return Err(Error::file(
                path,
                Place::Whole,
                format!("an index exceeds the {declared} columns that were declared"),
                "declare as many columns as the file has",
            ));
        }
    };
    if features > WIDEST {
        return Err(Error::file(
            path,
            Place::Whole,
            format!("{features} columns are too many for a dense table (at most {WIDEST})"),
            "renumber the columns that occur, or hash them to fewer",
        ));
    }
    if !(wide.bounds.feature.0..=wide.bounds.feature.1).contains(&0.0) {
        return Err(Error::declaration(
            "feature bounds",
            format!(
                "must hold 0, the value of every entry that a LIBSVM file leaves out, got [{}, {}]",
                wide.bounds.feature.0, wide.bounds.feature.1
            ),
            "widen the bounds to include 0",
        ));
    }
    let mut names = unnamed(features);
    if with_label {
        names.push("y".to_owned());
    }
    let schema = wide.schema(path, &names)?;
    let plan = Plan::new(&schema, path, &names, with_label)?;
    let zeros: Vec<f64> = plan.columns.iter().map(|c| c.scaling.apply(0.0)).collect();
    let sparse_zero = zeros.iter().all(|z| *z == 0.0);
    let mut builder = Builder::new(path, &schema, plan, settings);
    builder.ensure_rows(rows)?;
    let mut input = Rows::open(path)?;
    let mut row = 0;
    while input.advance()? {
        if row == rows || input.entries.last().is_some_and(|(column, _)| *column >= features) {
            return Err(Error::file(
                path,
                Place::Line(input.line),
                "the file changed while it was read",
                "try again when nothing else writes to it",
            ));
        }
        if !sparse_zero {
            builder.put_features(row, &zeros);
        }
        for &(column, value) in &input.entries {
            // Columns stand in the table as they do in the file, so a column's slot is its number.
            builder.put(row, column, Cell::Number(value))?;
        }
        if with_label {
            builder.put(row, features, Cell::Number(input.label))?;
        }
        row += 1;
    }
    builder.finish()
}

fn count(path: &Path) -> Result<(usize, usize)> {
    let mut input = Rows::open(path)?;
    let (mut rows, mut largest) = (0, 0);
    while input.advance()? {
        rows += 1;
        largest = largest.max(input.entries.last().map_or(0, |(column, _)| column + 1));
    }
    if rows == 0 {
        return Err(Error::file(
            path,
            Place::Whole,
            "the file is empty",
            "check that the export was complete",
        ));
    }
    Ok((rows, largest))
}
