//! Delimited text, row after row into the table: the file's text is never held.
//!
//! Nothing about how a file is read is told from its cells. Whether the first line holds names is declared. Comments stand before the
//! table only. In a file of one column a blank line is a missing cell, so that nobody's missing cell changes the number of rows.

use dpglm::error::{Message, Parameter};
use std::collections::HashSet;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::blank_lines::BlankLines;
use super::source::{self, Opening, Source, extension};
use super::{ColumnPreview, Declared, InferredType, compressed, unnamed};
use crate::cell::{Cell, parse};
use crate::encode::Builder;
use crate::error::{Error, Place, Result};
use crate::schema::{DEFAULT_MISSING, Naming, Schema};
use crate::uniform::UniformBounds;

/// How a text file is written.
pub(crate) struct Dialect {
    delimiter: u8,
    comment: Option<u8>,
}

impl Dialect {
    /// The caller's delimiter, else the schema's, else a tab for `.tsv`, else a comma.
    pub(super) fn of(path: &Path, schema: Option<&Schema>, delimiter: Option<u8>) -> Self {
        let ascii = |mark: Option<char>| mark.and_then(|m| u8::try_from(m).ok());
        let default = if extension(path) == "tsv" { b'\t' } else { b',' };
        Self {
            delimiter: delimiter.or_else(|| schema.and_then(|s| ascii(s.raw.delimiter))).unwrap_or(default),
            comment: schema.and_then(|s| ascii(s.raw.comment)),
        }
    }
}

/// What separates the cells of a file that no schema declares yet: of the usual marks the one that splits its first lines into most cells,
/// as many in each. For drafts, which the curator checks; a table is read by what is declared. `None` if it is the usual one.
pub(crate) fn guessed_delimiter(path: &Path) -> Result<Option<u8>> {
    let mut start = Vec::new();
    compressed::open(path)?.take(START).read_to_end(&mut start).map_err(|e| Error::read(path, e))?;
    let whole = (start.len() as u64) < START;
    let mut lines: Vec<&[u8]> = start.split(|b| *b == b'\n').take(GUESSED_FROM + 1).collect();
    // The last line may be cut off, or what follows the last line end.
    if !whole || lines.len() > GUESSED_FROM || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let marks = |line: &[u8], mark: u8| {
        let mut quoted = false;
        line.iter()
            .filter(|b| {
                quoted ^= **b == b'"';
                **b == mark && !quoted
            })
            .count()
    };
    let usual = Dialect::of(path, None, None).delimiter;
    let splits = |mark: u8| {
        let mut counts = lines.iter().map(|line| marks(line, mark));
        let first = counts.next().unwrap_or(0);
        counts.all(|count| count == first).then_some(first).filter(|count| *count > 0)
    };
    let mut best = (usual, splits(usual));
    for mark in *b",;\t|" {
        let found = splits(mark);
        if found > best.1 {
            best = (mark, found);
        }
    }
    Ok((best.0 != usual).then_some(best.0))
}

/// Lines that a delimiter is guessed from.
const GUESSED_FROM: usize = 20;

/// Delimited text, perhaps compressed.
pub(crate) struct Csv;

impl Source for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "tsv", "txt"]
    }

    fn is_delimited(&self) -> bool {
        true
    }

    fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        let (schema, naming) = match opening.declared {
            Declared::Schema(schema) => (Some(schema), schema.naming()),
            Declared::Uniform(uniform) => (None, uniform.naming(path)?),
        };
        let dialect = Dialect::of(path, schema, opening.delimiter);
        Ok(Box::new(Table::open(path, &dialect, naming)?))
    }

    fn preview(&self, path: &Path, has_header: Option<bool>) -> Result<(Vec<ColumnPreview>, Option<char>)> {
        // The same words as for a table that is read without a schema.
        let uniform = UniformBounds { header: has_header, ..UniformBounds::new(0.0, 1.0) };
        let has_header = matches!(uniform.naming(path)?, Naming::FirstLine);
        let delimiter = guessed_delimiter(path)?;
        let dialect = Dialect::of(path, None, delimiter);
        let columns = Table::open_undeclared(path, &dialect, has_header)?.preview()?;
        Ok((columns, delimiter.map(char::from)))
    }
}

/// An open file whose column names are known.
pub(crate) struct Table {
    path: PathBuf,
    reader: Reader<Box<dyn Read>>,
    names: Vec<String>,
    /// The first line, where it is a row and not a header.
    first: Option<ByteRecord>,
    /// Comment lines before the first line that is read.
    skipped: u64,
}

impl Table {
    /// Opens a file whose columns' names come from where the curator declared.
    pub(super) fn open(path: &Path, dialect: &Dialect, naming: Naming<'_>) -> Result<Self> {
        let opened = Opened::new(path, dialect)?;
        match naming {
            Naming::FirstLine => {
                let names = header(path, &opened.line)?;
                Ok(opened.table(path, names, false))
            }
            Naming::Numbered => {
                let names = unnamed(opened.line.len());
                Ok(opened.table(path, names, true))
            }
            Naming::Listed(names) if names.len() == opened.line.len() => {
                let names = names.iter().map(|n| n.trim().to_owned()).collect();
                Ok(opened.table(path, names, true))
            }
            Naming::Listed(names) => Err(Error::file(
                path,
                Place::Line(opened.skipped + 1),
                format!("the schema names {} columns, this line has {}", names.len(), opened.line.len()),
                "correct `names` or `delimiter` in the schema",
            )),
        }
    }

    /// Opens a file that no schema declares yet, to speak of its columns by name. A declared header that looks like
    /// somebody's row is refused, for the cells of one are private: a slip would write them into a schema.
    pub(crate) fn open_undeclared(path: &Path, dialect: &Dialect, has_header: bool) -> Result<Self> {
        let opened = Opened::new(path, dialect)?;
        if !has_header {
            let names = (1..=opened.line.len()).map(|j| format!("c{j}")).collect();
            return Ok(opened.table(path, names, true));
        }
        if let Some(why) = may_be_a_row(&opened.line) {
            return Err(Error::file(
                path,
                Place::Line(1),
                format!(
                    "{why}, so this may be somebody's row and no header: its cells must not become names"
                ),
                Message::new(
                    "if the file has no header line, say so with {}; else give every column a name of its own",
                    &[&Parameter::NoHeader],
                ),
            ));
        }
        let names = header(path, &opened.line)?;
        Ok(opened.table(path, names, false))
    }

    /// The types of the first hundred rows; cells that are missing as a rule say nothing.
    pub(crate) fn preview(mut self) -> Result<Vec<ColumnPreview>> {
        let mut looks = vec![None; self.names.len()];
        let mut bits = vec![[false; 2]; self.names.len()];
        let mut record = ByteRecord::new();
        for _ in 0..100 {
            if !self.next(&mut record)? {
                break;
            }
            for ((look, bits), cell) in looks.iter_mut().zip(&mut bits).zip(record.iter()) {
                let text = cell.trim_ascii();
                if is_missing(text) || *look == Some(InferredType::Text) {
                    continue;
                }
                let bit = [&b"0"[..], b"1"].iter().position(|bit| *bit == text);
                bit.into_iter().for_each(|bit| bits[bit] = true);
                *look = Some(match (parse(text).is_finite(), bit, *look) {
                    (false, ..) => InferredType::Text,
                    (true, Some(_), None | Some(InferredType::Bit)) => InferredType::Bit,
                    _ => InferredType::Number,
                });
            }
        }
        let seen = looks.into_iter().zip(bits).map(|(look, bits)| match look {
            None => InferredType::Empty,
            // A column of zeros may well be a number that is mostly zero.
            Some(InferredType::Bit) if bits != [true; 2] => InferredType::Number,
            Some(look) => look,
        });
        Ok(self.names.into_iter().zip(seen).map(|(name, looks)| ColumnPreview { name, looks }).collect())
    }

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if let Some(first) = self.first.take() {
            *record = first;
            return Ok(true);
        }
        self.reader.read_byte_record(record).map_err(|e| fault(&self.path, e, self.skipped))
    }
}

impl source::Table for Table {
    fn rows(&self) -> Option<u64> {
        None
    }

    fn columns(&self) -> Result<Vec<String>> {
        Ok(self.names.clone())
    }

    fn names_its_columns(&self) -> bool {
        self.first.is_none()
    }

    /// Puts every cell of every row.
    fn read_into(mut self: Box<Self>, builder: &mut Builder) -> Result<()> {
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
}

/// Bytes at the start of a file that are looked at to see how it is written.
const START: u64 = 1 << 16;

/// An open file whose first line has been read; nothing is known yet of its columns.
struct Opened {
    reader: Reader<Box<dyn Read>>,
    line: ByteRecord,
    skipped: u64,
}

impl Opened {
    fn new(path: &Path, dialect: &Dialect) -> Result<Self> {
        let mut input = compressed::open(path)?;
        let mut start = Vec::new();
        input.by_ref().take(START).read_to_end(&mut start).map_err(|e| Error::read(path, e))?;
        let (skipped, bytes) = before_the_table(&start, dialect.comment);
        let start = start.split_off(bytes);
        let mut line = ByteRecord::new();
        let empty =
            || Error::file(path, Place::Whole, "the file is empty", "check that the export was complete");
        if !builder(dialect)
            .from_reader(start.as_slice())
            .read_byte_record(&mut line)
            .map_err(|e| fault(path, e, skipped))?
        {
            return Err(empty());
        }
        let whole = Cursor::new(start).chain(input);
        let whole: Box<dyn Read> =
            if line.len() == 1 { Box::new(BlankLines::new(whole)) } else { Box::new(whole) };
        let mut reader = builder(dialect).from_reader(whole);
        match reader.read_byte_record(&mut line).map_err(|e| fault(path, e, skipped))? {
            true => Ok(Self { reader, line, skipped }),
            false => Err(empty()),
        }
    }

    fn table(self, path: &Path, names: Vec<String>, is_row: bool) -> Table {
        let Self { reader, line, skipped } = self;
        Table { path: path.to_path_buf(), reader, names, first: is_row.then_some(line), skipped }
    }
}

fn builder(dialect: &Dialect) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).delimiter(dialect.delimiter).buffer_capacity(1 << 16);
    builder
}

/// The comment lines before the table, and the bytes up to it. Below the first line of the table a line is a row whatever it
/// starts with: a mark in somebody's cell must not make the row vanish.
fn before_the_table(start: &[u8], comment: Option<u8>) -> (u64, usize) {
    let (mut lines, mut at) = (0, if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
    while comment.is_some() && start.get(at).copied() == comment {
        let line = start[at..].iter().position(|b| *b == b'\n');
        at = line.map_or(start.len(), |end| at + end + 1);
        lines += 1;
    }
    (lines, at)
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

fn fault(path: &Path, error: ::csv::Error, skipped: u64) -> Error {
    match error.into_kind() {
        ErrorKind::Io(source) => Error::read(path, source),
        ErrorKind::UnequalLengths { pos, expected_len, len } => Error::file(
            path,
            pos.map_or(Place::Whole, |p| Place::Line(p.line() + skipped)),
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
