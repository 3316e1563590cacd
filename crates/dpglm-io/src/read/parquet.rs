//! Apache Parquet, row group by row group and column by column: a few thousand cells are held at a time.

pub(crate) mod lists;

use dpglm::error::{Message, Parameter};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use super::source::{self, Opening, Source};
use super::{ColumnPreview, Declared, InferredType};
use crate::cell::Cell;
use crate::encode::Builder;
use crate::error::{Error, Place, Result};

/// Rows decoded at a time.
const BATCH: usize = 4096;
/// What an open column takes: a page, packed and unpacked, and its dictionary.
const OPEN_COLUMN: usize = 4 << 20;

/// Apache Parquet.
pub(crate) struct Parquet;

impl Source for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn is_begun_by(&self, first: &[u8], _extension: &str) -> bool {
        first.starts_with(b"PAR1")
    }

    /// Lists of sparse rows do not say for how many columns they stand.
    fn says_columns(&self, path: &Path) -> Result<bool> {
        Ok(!self.has_lists(path)?)
    }

    fn has_lists(&self, path: &Path) -> Result<bool> {
        let reader = open(path)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        Ok(schema.columns().iter().any(|column| column.max_rep_level() > 0))
    }

    fn open(&self, path: &Path, opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        match opening.declared {
            Declared::Uniform(uniform) if self.has_lists(path)? => {
                opening.refuse_unit(path)?;
                Ok(Box::new(lists::Table::open(path, uniform)?))
            }
            _ => Ok(Box::new(Table::open(path)?)),
        }
    }

    fn open_response(&self, path: &Path, _opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        Ok(Box::new(Table::open(path)?))
    }

    fn preview(&self, path: &Path, has_header: Option<bool>) -> Result<(Vec<ColumnPreview>, Option<char>)> {
        if has_header.is_some() {
            return Err(Error::declaration(
                "header",
                format!("{} is a Parquet file and names its columns itself", path.display()),
                Message::new("leave out {} and {}", &[&Parameter::Header, &Parameter::NoHeader]),
            ));
        }
        Ok((Table::open(path)?.preview(), None))
    }
}

/// An open file whose footer has been read.
pub(crate) struct Table {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    names: Vec<String>,
    rows: u64,
}

impl Table {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let reader = open(path)?;
        let metadata = reader.metadata().file_metadata();
        let mut names = Vec::new();
        for column in metadata.schema_descr().columns() {
            if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
                return Err(Error::file(
                    path,
                    Place::Header,
                    format!("column `{}` is nested", column.path().string()),
                    "write a flat table: one value a row and column; sparse rows, a list of indices and one of values, are read \
                     with bounds for all features instead of a schema",
                ));
            }
            names.push(column.name().to_owned());
        }
        let rows = rows_of(path, &reader)?;
        Ok(Self { path: path.to_path_buf(), reader, names, rows })
    }

    /// The declared types of the columns.
    pub(crate) fn preview(&self) -> Vec<ColumnPreview> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let looks = |column: &ColumnDescriptor| match column.physical_type() {
            Physical::BOOLEAN => InferredType::Truth,
            Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE => InferredType::Number,
            _ => InferredType::Text,
        };
        schema
            .columns()
            .iter()
            .map(|column| ColumnPreview { name: column.name().to_owned(), looks: looks(column) })
            .collect()
    }
}

impl source::Table for Table {
    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn columns(&self) -> Result<Vec<String>> {
        Ok(self.names.clone())
    }

    /// Puts every cell of the columns that are read.
    fn read_into(self: Box<Self>, builder: &mut Builder) -> Result<()> {
        let mut start = 0;
        for g in 0..self.reader.num_row_groups() {
            let group = guarded(&self.path, || self.reader.get_row_group(g))?;
            let rows = usize::try_from(group.metadata().num_rows())
                .map_err(|_| damaged(&self.path, "negative number of rows"))?;
            let schema = group.metadata().schema_descr();
            let open = |slot: usize, builder: &Builder| {
                let position = builder.position(slot);
                let column = guarded(&self.path, || group.get_column_reader(position))?;
                Ok::<_, Error>((column, schema.column(position)))
            };
            let put = |slot, column: &mut _, descriptor: &_, from, to, builder: &mut Builder| {
                Chunk { path: &self.path, descriptor, slot, start: start + from, rows: to - from }
                    .put(column, builder)
            };
            match builder.at_a_time(BATCH) {
                // One column is open at a time.
                None => {
                    for slot in 0..builder.slots() {
                        let (mut column, descriptor) = open(slot, builder)?;
                        put(slot, &mut column, &descriptor, 0, rows, builder)?;
                    }
                }
                // All columns are read side by side, a few rows at a time.
                Some(step) => {
                    self.require_room(&group, builder)?;
                    let mut columns =
                        (0..builder.slots()).map(|slot| open(slot, builder)).collect::<Result<Vec<_>>>()?;
                    for from in (0..rows).step_by(step) {
                        let to = (from + step).min(rows);
                        for (slot, (column, descriptor)) in columns.iter_mut().enumerate() {
                            put(slot, column, descriptor, from, to, builder)?;
                        }
                    }
                }
            }
            start += rows;
        }
        if start as u64 != self.rows {
            return Err(damaged(&self.path, "its row groups do not add up to its number of rows"));
        }
        Ok(())
    }
}

impl Table {
    /// Refuses a row group whose columns cannot be open all at once in the memory that is allowed. The footer says how large they are.
    fn require_room(&self, group: &Group<'_>, builder: &Builder) -> Result<()> {
        let of_column = |slot: usize| {
            let size = group.metadata().column(builder.position(slot)).uncompressed_size();
            usize::try_from(size).unwrap_or(usize::MAX).min(OPEN_COLUMN)
        };
        let needed: usize = (0..builder.slots()).map(of_column).sum();
        if builder.spare().is_none_or(|spare| needed <= spare) {
            return Ok(());
        }
        Err(Error::file(
            &self.path,
            Place::Whole,
            format!(
                "its {} columns, which are read side by side, do not fit in the memory that is allowed",
                builder.slots()
            ),
            "allow more memory, or write the table with smaller row groups",
        ))
    }
}

/// An open row group.
type Group<'a> = Box<dyn RowGroupReader + 'a>;

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(|e| Error::open(path, e))?;
    if file.metadata().map_err(|e| Error::read(path, e))?.len() == 0 {
        let remedy = "check that the export was complete";
        return Err(Error::file(path, Place::Whole, "the file is empty", remedy));
    }
    guarded(path, || SerializedFileReader::new(file))
}

fn rows_of(path: &Path, reader: &SerializedFileReader<File>) -> Result<u64> {
    u64::try_from(reader.metadata().file_metadata().num_rows())
        .map_err(|_| damaged(path, "negative number of rows"))
}

/// One column of one row group.
struct Chunk<'a> {
    path: &'a Path,
    descriptor: &'a ColumnDescriptor,
    slot: usize,
    start: usize,
    rows: usize,
}

impl Chunk<'_> {
    fn put(&self, column: &mut ColumnReader, builder: &mut Builder) -> Result<()> {
        let scale = self.decimal_scale();
        let unsigned = self.is_unsigned();
        match column {
            ColumnReader::BoolColumnReader(c) => self.cells(c, builder, |x| Cell::Truth(*x)),
            ColumnReader::Int32ColumnReader(c) => self.cells(c, builder, |x| {
                let whole = if unsigned { f64::from(x.cast_unsigned()) } else { f64::from(*x) };
                Cell::Number(whole / scale)
            }),
            ColumnReader::Int64ColumnReader(c) if self.is_decimal() => {
                self.cells(c, builder, |x| Cell::Number(*x as f64 / scale))
            }
            ColumnReader::Int64ColumnReader(c) if unsigned => {
                self.cells(c, builder, |x| Cell::Number(x.cast_unsigned() as f64))
            }
            ColumnReader::Int64ColumnReader(c) => self.cells(c, builder, |x| Cell::Integer(*x)),
            ColumnReader::FloatColumnReader(c) => self.cells(c, builder, |x| Cell::Number(f64::from(*x))),
            ColumnReader::DoubleColumnReader(c) => self.cells(c, builder, |x| Cell::Number(*x)),
            ColumnReader::ByteArrayColumnReader(c) if self.is_decimal() => {
                self.cells(c, builder, |x: &ByteArray| Cell::Number(big_endian(x.data()) / scale))
            }
            ColumnReader::ByteArrayColumnReader(c) => self.cells(c, builder, |x: &ByteArray| text(x.data())),
            ColumnReader::FixedLenByteArrayColumnReader(c) if self.is_decimal() => {
                self.cells(c, builder, |x: &FixedLenByteArray| Cell::Number(big_endian(x.data()) / scale))
            }
            ColumnReader::FixedLenByteArrayColumnReader(c) => {
                self.cells(c, builder, |x: &FixedLenByteArray| text(x.data()))
            }
            ColumnReader::Int96ColumnReader(_) => Err(Error::file(
                self.path,
                Place::Header,
                format!("column `{}` holds 96-bit times", self.descriptor.name()),
                "declare it `kind = \"ignore\"`, or write it as a number",
            )),
        }
    }

    fn cells<T: DataType>(
        &self,
        column: &mut ColumnReaderImpl<T>,
        builder: &mut Builder,
        cell: impl Fn(&T::T) -> Cell<'_>,
    ) -> Result<()> {
        let full = self.descriptor.max_def_level();
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut done = 0;
        while done < self.rows {
            values.clear();
            levels.clear();
            let wanted = BATCH.min(self.rows - done);
            let (read, _, _) =
                guarded(self.path, || column.read_records(wanted, Some(&mut levels), None, &mut values))?;
            if read == 0 {
                let what = format!("column `{}` ends before its last row", self.descriptor.name());
                return Err(damaged(self.path, &what));
            }
            builder.ensure_rows(self.start + done + read)?;
            let mut present = values.iter();
            for i in 0..read {
                let is_null = full > 0 && levels.get(i).is_none_or(|level| *level < full);
                let found = if is_null { None } else { present.next() };
                builder.put(self.start + done + i, self.slot, found.map_or(Cell::Missing, &cell))?;
            }
            done += read;
        }
        Ok(())
    }

    fn is_decimal(&self) -> bool {
        self.descriptor.converted_type() == ConvertedType::DECIMAL
            || matches!(self.descriptor.logical_type_ref(), Some(LogicalType::Decimal { .. }))
    }

    /// What a decimal's whole number is divided by.
    fn decimal_scale(&self) -> f64 {
        if self.is_decimal() { 10_f64.powi(self.descriptor.type_scale()) } else { 1.0 }
    }

    fn is_unsigned(&self) -> bool {
        matches!(self.descriptor.converted_type(), ConvertedType::UINT_32 | ConvertedType::UINT_64)
    }
}

fn text(bytes: &[u8]) -> Cell<'_> {
    match bytes.trim_ascii() {
        [] => Cell::Missing,
        trimmed => Cell::Text(trimmed),
    }
}

/// A signed whole number of any length, to the nearest double or nearly so.
fn big_endian(bytes: &[u8]) -> f64 {
    let Some((first, rest)) = bytes.split_first() else { return f64::NAN };
    rest.iter().fold(f64::from(first.cast_signed()), |sum, byte| sum * 256.0 + f64::from(*byte))
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::file(
        path,
        Place::Whole,
        format!("not a whole Parquet file ({what})"),
        "it may be cut short or damaged; fetch or write it again",
    )
}

/// Runs a step of the Parquet decoder. A damaged file must end in a message: a panic within the decoder counts as
/// damage.
fn guarded<T>(path: &Path, step: impl FnOnce() -> ::parquet::errors::Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) if error.to_string().contains("Disabled feature") => Err(Error::file(
            path,
            Place::Whole,
            "the columns are compressed by a method that is not built in",
            "write the file with snappy, zstd, gzip or lz4",
        )),
        Ok(Err(error)) => Err(damaged(path, &error.to_string())),
        Err(_) => Err(damaged(path, "its pages cannot be decoded")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::errors::ParquetError;

    #[test]
    fn whatever_the_decoder_does_ends_in_a_message() {
        let path = Path::new("t.parquet");
        let message =
            |step: fn() -> ::parquet::errors::Result<()>| guarded(path, step).unwrap_err().to_string();
        let codec = message(|| Err(ParquetError::General("Disabled feature at compile time: brotli".into())));
        assert!(codec.contains("snappy, zstd, gzip or lz4"), "{codec}");
        assert!(message(|| panic!("a decoder's own check")).contains("cannot be decoded"));
    }

    #[test]
    fn whole_numbers_of_any_length() {
        assert_eq!(big_endian(&[0x01, 0x00]), 256.0);
        assert_eq!(big_endian(&[0xff, 0xfe]), -2.0);
        assert!(big_endian(&[]).is_nan());
    }
}
