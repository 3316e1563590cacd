//! Delimited text, row after row into the table: the file's text is never held.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::format::extension;
use super::{Glimpse, Looks, compressed, unnamed};
use crate::cell::{Cell, parse};
use crate::encode::Builder;
use crate::error::{Error, Place, Result};
use crate::schema::{DEFAULT_MISSING, Schema};

/// How a text file is written.
pub(crate) struct Dialect {
    delimiter: u8,
    comment: Option<u8>,
}

impl Dialect {
    /// The caller's delimiter, else the schema's, else a tab for `.tsv`, else a comma.
    pub fn of(path: &Path, schema: Option<&Schema>, delimiter: Option<u8>) -> Self {
        let ascii = |mark: Option<char>| mark.and_then(|m| u8::try_from(m).ok());
        let default = if extension(path) == "tsv" { b'\t' } else { b',' };
        Self {
            delimiter: delimiter.or_else(|| schema.and_then(|s| ascii(s.raw.delimiter))).unwrap_or(default),
            comment: schema.and_then(|s| ascii(s.raw.comment)),
        }
    }
}

/// An open file whose column names are known.
pub(crate) struct Table {
    path: PathBuf,
    reader: Reader<Box<dyn Read>>,
    names: Vec<String>,
    /// The first line, where it is a row and not a header.
    first: Option<ByteRecord>,
    has_comments: bool,
    two_character_ends: bool,
}

impl Table {
    /// Opens a file with a header line, or without one if `names` are given.
    pub fn open(path: &Path, dialect: &Dialect, names: Option<&[String]>) -> Result<Self> {
        let (reader, line) = first_line(path, dialect)?;
        match names {
            None => Ok(Self::new(path, dialect, reader, header(path, &line)?, None)),
            Some(names) if names.len() == line.len() => {
                let names = names.iter().map(|n| n.trim().to_owned()).collect();
                Ok(Self::new(path, dialect, reader, names, Some(line)))
            }
            Some(names) => Err(Error::file(
                path,
                Place::Line(1),
                format!("the schema names {} columns, this line has {}", names.len(), line.len()),
                "correct `names` or `delimiter` in the schema",
            )),
        }
    }

    /// Opens a file that no schema declares yet, to speak of its columns by name. A first line that may be somebody's
    /// row is refused, for its cells are private.
    pub fn open_undeclared(path: &Path, dialect: &Dialect, has_header: bool) -> Result<Self> {
        let (reader, line) = first_line(path, dialect)?;
        if !has_header {
            let names = (1..=line.len()).map(|j| format!("c{j}")).collect();
            return Ok(Self::new(path, dialect, reader, names, Some(line)));
        }
        if let Some(why) = may_be_a_row(&line) {
            return Err(Error::file(
                path,
                Place::Line(1),
                format!(
                    "{why}, so this may be somebody's row and no header: its cells must not become names"
                ),
                "if the file has no header line, say so with --no-header; else give every column a name of its own",
            ));
        }
        Ok(Self::new(path, dialect, reader, header(path, &line)?, None))
    }

    /// Opens a numeric file: unless the caller says so, a first line of numbers and missing cells only is a row, and one
    /// without any number is the header. A mixture is refused: names are published, and it may be somebody's row.
    pub fn open_numeric(path: &Path, dialect: &Dialect, has_header: Option<bool>) -> Result<Self> {
        let (reader, line) = first_line(path, dialect)?;
        let numbers = line.iter().filter(|cell| !parse(cell.trim_ascii()).is_nan()).count();
        let missing = line.iter().filter(|cell| is_missing(cell.trim_ascii())).count();
        if has_header.is_none() && numbers > 0 && numbers + missing < line.len() {
            return Err(Error::file(
                path,
                Place::Line(1),
                "some cells are numbers and some are not, so this may be a header or somebody's row",
                "give every column a name that is no number, or put a header line above the rows",
            ));
        }
        if has_header.unwrap_or(numbers == 0) {
            return Ok(Self::new(path, dialect, reader, header(path, &line)?, None));
        }
        Ok(Self::new(path, dialect, reader, unnamed(line.len()), Some(line)))
    }

    fn new(
        path: &Path,
        dialect: &Dialect,
        reader: Reader<Box<dyn Read>>,
        names: Vec<String>,
        first: Option<ByteRecord>,
    ) -> Self {
        Self {
            path: path.to_path_buf(),
            // One line has been read: the parser still counts it only if its line end is not complete.
            two_character_ends: reader.position().line() == 1,
            reader,
            names,
            first,
            has_comments: dialect.comment.is_some(),
        }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Puts every cell of every row.
    pub fn read_into(mut self, builder: &mut Builder) -> Result<()> {
        let positions: Vec<usize> = (0..builder.slots()).map(|s| builder.position(s)).collect();
        let mut record = ByteRecord::new();
        let mut row = 0;
        while self.next(&mut record)? {
            builder.ensure_rows(row + 1)?;
            for (slot, &position) in positions.iter().enumerate() {
                // The reader has checked that the record is as long as the header.
                let text = record.get(position).unwrap_or_default().trim_ascii();
                let cell = if text.is_empty() { Cell::Missing } else { Cell::Text(text) };
                builder.put(row, slot, cell)?;
            }
            row += 1;
        }
        Ok(())
    }

    /// The types of the first hundred rows.
    pub fn glimpse(mut self) -> Result<Vec<Glimpse>> {
        let mut looks = vec![None; self.names.len()];
        let mut record = ByteRecord::new();
        for _ in 0..100 {
            if !self.next(&mut record)? {
                break;
            }
            for (look, cell) in looks.iter_mut().zip(record.iter()) {
                let text = cell.trim_ascii();
                if text.is_empty() || *look == Some(Looks::Text) {
                    continue;
                }
                *look = Some(if parse(text).is_finite() { Looks::Number } else { Looks::Text });
            }
        }
        let seen = looks.into_iter().map(|l| l.unwrap_or(Looks::Text));
        Ok(self.names.into_iter().zip(seen).map(|(name, looks)| Glimpse { name, looks }).collect())
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if let Some(first) = self.first.take() {
            *record = first;
            return Ok(true);
        }
        let before = self.reader.position().line();
        let more = self.reader.read_byte_record(record).map_err(|e| fault(&self.path, e))?;
        if self.names.len() == 1 && !self.has_comments {
            self.refuse_blank_lines(record, before, more)?;
        }
        Ok(more)
    }

    /// The parser skips blank lines. With one column a blank line is a missing cell: n must not shrink unseen.
    fn refuse_blank_lines(&self, record: &ByteRecord, before: u64, more: bool) -> Result<()> {
        let passed = self.reader.position().line() - before;
        let inside = record.get(0).unwrap_or_default().iter().filter(|b| **b == b'\n').count() as u64;
        // The parser stops between the two characters of a two-character line end.
        let expected = if more { 1 + inside } else { u64::from(self.two_character_ends) };
        if passed <= expected {
            return Ok(());
        }
        Err(Error::file(
            &self.path,
            Place::Line(before),
            "a blank line in a file of one column could be a missing cell or nothing",
            "write NA for a missing cell, or delete the line",
        ))
    }
}

fn first_line(path: &Path, dialect: &Dialect) -> Result<(Reader<Box<dyn Read>>, ByteRecord)> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(dialect.delimiter)
        .comment(dialect.comment)
        .buffer_capacity(1 << 16)
        .from_reader(compressed::open(path)?);
    let mut line = ByteRecord::new();
    if reader.read_byte_record(&mut line).map_err(|e| fault(path, e))? {
        return Ok((reader, line));
    }
    Err(Error::file(path, Place::Whole, "the file is empty", "check that the export was complete"))
}

/// What in a first line looks like a row's cell. The cell itself is not repeated.
fn may_be_a_row(line: &ByteRecord) -> Option<String> {
    let mut seen = HashSet::with_capacity(line.len());
    line.iter().enumerate().find_map(|(j, cell)| {
        let cell = cell.trim_ascii();
        let why = if cell.is_empty() {
            "is empty"
        } else if !parse(cell).is_nan() || is_missing(cell) {
            "is a number or missing"
        } else if !seen.insert(cell) {
            "repeats another"
        } else {
            return None;
        };
        Some(format!("cell {} of the first line {why}", j + 1))
    })
}

fn is_missing(text: &[u8]) -> bool {
    DEFAULT_MISSING.iter().any(|mark| mark.as_bytes() == text)
}

fn header(path: &Path, line: &ByteRecord) -> Result<Vec<String>> {
    line.iter()
        .enumerate()
        .map(|(j, cell)| match std::str::from_utf8(cell.trim_ascii()) {
            Ok("") => Ok(format!("x{j}")),
            Ok(name) => Ok(name.to_owned()),
            Err(_) => Err(Error::file(
                path,
                Place::Header,
                format!("the name of column {} is not UTF-8 text", j + 1),
                "save the file as UTF-8; a file of another format needs its usual extension",
            )),
        })
        .collect()
}

fn fault(path: &Path, error: ::csv::Error) -> Error {
    match error.into_kind() {
        ErrorKind::Io(source) => Error::read(path, source),
        ErrorKind::UnequalLengths { pos, expected_len, len } => Error::file(
            path,
            pos.map_or(Place::Whole, |p| Place::Line(p.line())),
            format!("the line has {len} cells, the first line has {expected_len}"),
            "quote cells that hold the delimiter, close open quotes, or complete the line",
        ),
        other => Error::file(
            path,
            Place::Whole,
            format!("not readable as delimited text ({other:?})"),
            "check the file's format",
        ),
    }
}
