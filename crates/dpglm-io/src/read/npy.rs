//! NumPy `.npy` arrays of one or two dimensions: a short text header, then the numbers.
//!
//! Read by hand: crates for the format take its header at its word and give an array of one type back, while here a header is held
//! against the file's length before any memory is asked for, and numbers of every type go straight into the table.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::source::{self, Opening, Source};
use super::{ReadOptions, unnamed};
use crate::cell::Cell;
use crate::encode::{Builder, ByteScale, Layout, Plan, Precision, Purpose, Settings};
use crate::error::{Error, Place, Result};
use crate::schema::Schema;

/// A NumPy array.
pub(crate) struct Npy;

impl Source for Npy {
    fn name(&self) -> &'static str {
        "npy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["npy"]
    }

    fn is_begun_by(&self, first: &[u8], _extension: &str) -> bool {
        first.starts_with(b"\x93NUMPY")
    }

    fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        opening.refuse_unit(path)?;
        Ok(Box::new(Array::open(path)?))
    }
}

/// An open array whose header has been read and checked against the file's length.
pub(crate) struct Array {
    path: PathBuf,
    input: BufReader<File>,
    number: Number,
    column_major: bool,
    rows: usize,
    columns: usize,
}

/// How one number is stored. All little-endian.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    Truth,
}

impl Number {
    fn parse(descr: &str) -> Option<Self> {
        Some(match descr {
            "<f4" => Self::F4,
            "<f8" => Self::F8,
            "|i1" | "<i1" => Self::I1,
            "<i2" => Self::I2,
            "<i4" => Self::I4,
            "<i8" => Self::I8,
            "|u1" | "<u1" => Self::U1,
            "<u2" => Self::U2,
            "<u4" => Self::U4,
            "<u8" => Self::U8,
            "|b1" => Self::Truth,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I1 | Self::U1 | Self::Truth => 1,
            Self::I2 | Self::U2 => 2,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F8 | Self::I8 | Self::U8 => 8,
        }
    }

    /// Calls `put` with the value of each number in `bytes`.
    fn each(self, bytes: &[u8], put: impl FnMut(f64) -> Result<()>) -> Result<()> {
        match self {
            Self::F4 => values(bytes, |b| f64::from(f32::from_le_bytes(b)), put),
            Self::F8 => values(bytes, f64::from_le_bytes, put),
            Self::I1 => values(bytes, |b| f64::from(i8::from_le_bytes(b)), put),
            Self::I2 => values(bytes, |b| f64::from(i16::from_le_bytes(b)), put),
            Self::I4 => values(bytes, |b| f64::from(i32::from_le_bytes(b)), put),
            // Beyond 2^53 the nearest double.
            Self::I8 => values(bytes, |b| i64::from_le_bytes(b) as f64, put),
            Self::U1 => values(bytes, |b| f64::from(u8::from_le_bytes(b)), put),
            Self::U2 => values(bytes, |b| f64::from(u16::from_le_bytes(b)), put),
            Self::U4 => values(bytes, |b| f64::from(u32::from_le_bytes(b)), put),
            Self::U8 => values(bytes, |b| u64::from_le_bytes(b) as f64, put),
            Self::Truth => values(bytes, |b: [u8; 1]| f64::from(u8::from(b[0] != 0)), put),
        }
    }
}

fn values<const SIZE: usize>(
    bytes: &[u8],
    value: impl Fn([u8; SIZE]) -> f64,
    mut put: impl FnMut(f64) -> Result<()>,
) -> Result<()> {
    bytes.as_chunks::<SIZE>().0.iter().try_for_each(|chunk| put(value(*chunk)))
}

impl Array {
    /// Opens an array and checks that the file is as long as its header says.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::open(path, e))?;
        let length = file.metadata().map_err(|e| Error::read(path, e))?.len();
        let mut input = BufReader::with_capacity(1 << 18, file);
        let (header, offset) = header_text(path, &mut input, length)?;
        let header = Header::parse(&header).ok_or_else(|| damaged(path, "its header is not readable"))?;
        let number = number(path, &header.descr)?;
        let (rows, columns) = match header.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            ref other => {
                return Err(Error::file(
                    path,
                    Place::Header,
                    format!("the array has {} dimensions, not one or two", other.len()),
                    "save a matrix with one row a record: X.reshape(n, -1)",
                ));
            }
        };
        let data = rows.checked_mul(columns).and_then(|k| k.checked_mul(number.size()));
        match data.and_then(|bytes| offset.checked_add(bytes as u64)) {
            Some(expected) if expected == length => {}
            Some(expected) if expected < length => {
                return Err(Error::file(
                    path,
                    Place::Whole,
                    format!("the file has {} bytes after the end of its array", length - expected),
                    "save one array a file",
                ));
            }
            _ => {
                return Err(damaged(
                    path,
                    &format!(
                        "its header announces {rows} x {columns} numbers, but the file is cut short at {length} \
                         bytes"
                    ),
                ));
            }
        }
        Ok(Self { path: path.to_path_buf(), input, number, column_major: header.column_major, rows, columns })
    }

    fn fill(&mut self, bytes: &mut Vec<u8>, numbers: usize) -> Result<()> {
        bytes.resize(numbers * self.number.size(), 0);
        self.input.read_exact(bytes).map_err(|e| Error::read(&self.path, e))
    }
}

impl source::Table for Array {
    fn rows(&self) -> Option<u64> {
        Some(self.rows as u64)
    }

    fn columns(&self) -> Result<Vec<String>> {
        Ok(unnamed(self.columns))
    }

    fn names_its_columns(&self) -> bool {
        false
    }

    /// As the file itself stores them; whole numbers of one byte stay so where their bounds allow it.
    fn settings(&mut self, options: &ReadOptions, schema: &Schema, plan: &Plan) -> Result<Settings> {
        let settings =
            options.settings(if self.number == Number::F4 { Precision::F32 } else { Precision::F64 });
        let constant = options.constant_column && schema.intercept();
        let mut features = plan.slots.iter().filter_map(|slot| match &slot.purpose {
            Purpose::Number { numeric, scaling, .. } => Some((numeric.bounds, *scaling)),
            _ => None,
        });
        let first = features.next().filter(|first| features.all(|other| other == *first));
        let bytes = first.and_then(|(bounds, scaling)| ByteScale::new(bounds, &scaling, constant));
        Ok(match bytes {
            Some(bytes) if options.precision.is_none() && self.number == Number::I1 && plan.keeps_order() => {
                Settings { layout: Layout::Bytes(bytes), ..settings }
            }
            _ => settings,
        })
    }

    /// Puts every number. In column-major order a few columns are held at a time, so that the table is written in
    /// runs of several entries, at the cost of at most an eighth of its size.
    fn read_into(mut self: Box<Self>, builder: &mut Builder) -> Result<()> {
        let flowing = builder.at_a_time(usize::MAX).is_some();
        if !flowing {
            builder.ensure_rows(self.rows)?;
        }
        let mut slot_of = vec![None; self.columns];
        for slot in 0..builder.slots() {
            slot_of[builder.position(slot)] = Some(slot);
        }
        let (rows, columns) = (self.rows, self.columns);
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        if !self.column_major || columns == 1 || rows == 1 {
            let block = (1 << 16) / columns.min(1 << 16);
            let block = builder.at_a_time(block).unwrap_or(block);
            let mut bytes = Vec::new();
            for start in (0..rows).step_by(block.max(1)) {
                let taken = block.max(1).min(rows - start);
                self.fill(&mut bytes, taken * columns)?;
                builder.ensure_rows(start + taken)?;
                let (mut row, mut column) = (start, 0);
                self.number.each(&bytes, |x| {
                    let slot = slot_of[column];
                    let put = slot.map_or(Ok(()), |slot| builder.put(row, slot, Cell::Number(x)));
                    column += 1;
                    if column == columns {
                        (row, column) = (row + 1, 0);
                    }
                    put
                })?;
            }
            return Ok(());
        }
        if flowing {
            return Err(Error::file(
                &self.path,
                Place::Header,
                "the array stands column after column, so no row is whole before the last column is read",
                "save it row after row: numpy.save(file, numpy.ascontiguousarray(X))",
            ));
        }
        let group = (columns / 8).clamp(1, 16);
        let (mut bytes, mut one) = (Vec::new(), vec![0.0; group]);
        let size = self.number.size();
        for first in (0..columns).step_by(group) {
            let taken = group.min(columns - first);
            self.fill(&mut bytes, taken * rows)?;
            for row in 0..rows {
                for (k, value) in one[..taken].iter_mut().enumerate() {
                    let at = (k * rows + row) * size;
                    self.number.each(&bytes[at..at + size], |x| {
                        *value = x;
                        Ok(())
                    })?;
                }
                for (k, &value) in one[..taken].iter().enumerate() {
                    if let Some(slot) = slot_of[first + k] {
                        builder.put(row, slot, Cell::Number(value))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The numbers of an array held in memory, such as a member of an archive.
pub(crate) struct Member<'a> {
    number: Number,
    bytes: &'a [u8],
}

impl<'a> Member<'a> {
    /// A whole array of at most one dimension.
    pub(super) fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self> {
        let (header, offset) = header_text(path, &mut &*bytes, bytes.len() as u64)?;
        let header = Header::parse(&header).ok_or_else(|| damaged(path, "its header is not readable"))?;
        let number = number(path, &header.descr)?;
        let count = match header.shape[..] {
            [] => 1,
            [count] => count,
            _ => return Err(damaged(path, "a part of it has more than one dimension")),
        };
        let bytes = &bytes[offset as usize..];
        if count.checked_mul(number.size()) != Some(bytes.len()) {
            return Err(damaged(path, "a part of it is not as long as its header says"));
        }
        Ok(Self { number, bytes })
    }

    /// How many numbers there are.
    pub(super) fn count(&self) -> usize {
        self.bytes.len() / self.number.size()
    }

    /// What the file itself stores.
    pub(super) fn precision(&self) -> Precision {
        if self.number == Number::F4 { Precision::F32 } else { Precision::F64 }
    }

    /// Calls `put` with every number in turn.
    pub(super) fn each(&self, put: impl FnMut(f64) -> Result<()>) -> Result<()> {
        self.number.each(self.bytes, put)
    }
}

/// The header's text and the offset of the first number.
fn header_text(path: &Path, input: &mut impl Read, length: u64) -> Result<(String, u64)> {
    if length == 0 {
        return Err(Error::file(
            path,
            Place::Whole,
            "the file is empty",
            "check that the export was complete",
        ));
    }
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        match input.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(_) => Err(damaged(path, "it is cut short within its header")),
        }
    };
    let magic = take(8)?;
    if !magic.starts_with(b"\x93NUMPY") {
        return Err(damaged(path, "it does not begin as a NumPy array does"));
    }
    let (prefix, size) = match magic[6] {
        1 => (10, take(2)?.iter().rev().fold(0_usize, |n, b| n << 8 | usize::from(*b))),
        2 | 3 => (12, take(4)?.iter().rev().fold(0_usize, |n, b| n << 8 | usize::from(*b))),
        other => {
            return Err(Error::file(
                path,
                Place::Header,
                format!("version {other} of the .npy format is not known"),
                "save the array again with numpy.save",
            ));
        }
    };
    if prefix + size as u64 > length {
        return Err(damaged(path, "it is cut short within its header"));
    }
    let text = String::from_utf8_lossy(&take(size)?).into_owned();
    Ok((text, prefix + size as u64))
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::file(
        path,
        Place::Whole,
        format!("not a whole NumPy array: {what}"),
        "fetch the file or save the array again",
    )
}

fn number(path: &Path, descr: &str) -> Result<Number> {
    if let Some(number) = Number::parse(descr) {
        return Ok(number);
    }
    let remedy = if descr.contains('O') {
        "Python objects are never unpickled; convert first: X.astype('<f8')"
    } else if descr.starts_with('>') {
        "big-endian arrays are not read; convert first: X.astype('<f8')"
    } else if descr.starts_with('[') {
        "records are not read; save a plain matrix, or a CSV or Parquet file"
    } else {
        "convert first: X.astype('<f8')"
    };
    Err(Error::file(
        path,
        Place::Header,
        format!("numbers of type {descr} are not read (f4, f8, i1 to i8, u1 to u8 and bool are)"),
        remedy,
    ))
}

/// The header's dictionary: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
struct Header {
    descr: String,
    column_major: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| {
            let (_, after) = text.split_once(&format!("'{key}'"))?;
            Some(after.trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = value("descr")?;
        let descr = match descr.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'')?.0.to_owned(),
            // A list of fields: kept to say so.
            None => descr.chars().take(40).collect(),
        };
        let order = value("fortran_order")?;
        let column_major = match (order.starts_with("True"), order.starts_with("False")) {
            (true, _) => true,
            (_, true) => false,
            _ => return None,
        };
        let inside = value("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let shape = inside
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<usize>>>()?;
        Some(Self { descr, column_major, shape })
    }
}
