//! Sparse rows in two list columns of a Parquet file: the columns that are not zero, counted from 0 and ascending, and
//! their values. The number of columns is declared, as for LIBSVM text, and bad rows follow the same rules:
//!
//! | what a row holds | what is done |
//! | --- | --- |
//! | a value that is null, NaN or infinite | as any such cell |
//! | an index beyond the declared columns | the entry is left out |
//! | no list, or an empty one | a row of zeros |
//! | an index that is null, negative, repeated or out of order; lists of different lengths | a fault of the file |
//!
//! The response may be in a column of one value a row; all other such columns are not read.

use dpglm::error::{Message, Parameter};
use std::fs::File;
use std::path::{Path, PathBuf};

use ::parquet::basic::Repetition;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use super::super::{ReadOptions, source, unnamed};
use super::{BATCH, Chunk, Physical, damaged, guarded, open, rows_of};
use crate::cell::Cell;
use crate::encode::{Builder, Plan, Precision, Settings};
use crate::error::{Error, Place, Result, list};
use crate::schema::Schema;
use crate::uniform::{Response, UniformBounds};

/// An open file whose footer has been read.
pub(crate) struct Table {
    path: PathBuf,
    uniform: UniformBounds,
    reader: SerializedFileReader<File>,
    rows: u64,
    /// The positions of the two lists among the file's columns.
    indices: usize,
    values: usize,
    /// The columns of one value a row: position and name.
    flat: Vec<(usize, String)>,
}

impl Table {
    pub(crate) fn open(path: &Path, uniform: &UniformBounds) -> Result<Self> {
        let names = uniform.list_names();
        let reader = open(path)?;
        let rows = rows_of(path, &reader)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let (mut lists, mut flat) = (Vec::new(), Vec::new());
        for (position, column) in schema.columns().iter().enumerate() {
            let root = column.path().parts().first().cloned().unwrap_or_default();
            if column.max_rep_level() == 0 && column.path().parts().len() == 1 {
                flat.push((position, root));
            } else {
                lists.push((position, root));
            }
        }
        let found: Vec<&str> = lists.iter().map(|(_, name)| name.as_str()).collect();
        let position = |name: &str| {
            let mut named = lists.iter().filter(|(_, root)| root == name).map(|(position, _)| *position);
            let is_list =
                |column: &ColumnDescriptor| column.max_rep_level() == 1 && column.path().parts().len() <= 3;
            match (named.next(), named.next()) {
                (Some(at), None) if is_list(&schema.column(at)) => Ok(at),
                _ => Err(Error::file(
                    path,
                    Place::Header,
                    format!(
                        "there is no list `{name}` for the sparse rows; nested columns are {}",
                        list(&found)
                    ),
                    Message::new(
                        "name the list of indices and the list of values ({} INDICES,VALUES)",
                        &[&Parameter::SparseColumns],
                    ),
                )),
            }
        };
        let (indices, values) = (position(names[0])?, position(names[1])?);
        let whole = |column: &ColumnDescriptor| {
            let decimal = Chunk { path, descriptor: column, slot: 0, start: 0, rows: 0 }.is_decimal();
            matches!(column.physical_type(), Physical::INT32 | Physical::INT64) && !decimal
        };
        let number = |column: &ColumnDescriptor| {
            whole(column) || matches!(column.physical_type(), Physical::FLOAT | Physical::DOUBLE)
        };
        let refuse = |name: &str, what: &str| {
            Err(Error::file(
                path,
                Place::Header,
                format!("the elements of `{name}` are not {what}"),
                "write a list of whole numbers and a list of numbers",
            ))
        };
        if !whole(&schema.column(indices)) {
            return refuse(names[0], "whole numbers of 32 or 64 bits");
        }
        if !number(&schema.column(values)) {
            return refuse(names[1], "numbers");
        }
        Ok(Self { path: path.to_path_buf(), uniform: uniform.clone(), reader, rows, indices, values, flat })
    }

    /// The column of the response, if it is in this file.
    fn response(&self) -> Result<Option<&(usize, String)>> {
        let missing = |problem: String| {
            let names: Vec<&str> = self.flat.iter().map(|(_, name)| name.as_str()).collect();
            Error::file(
                &self.path,
                Place::Header,
                problem,
                format!(
                    "columns of one value a row: {}; name one, or give the response in a file of its own",
                    list(&names)
                ),
            )
        };
        match &self.uniform.response {
            Response::None | Response::File(_) => Ok(None),
            Response::LastColumn => match self.flat.last() {
                None => Err(missing("there is no column besides the lists for the response".into())),
                last => Ok(last),
            },
            Response::Column(name) => match self.flat.iter().find(|(_, other)| other == name) {
                None => Err(missing(format!("there is no column `{name}` for the response"))),
                found => Ok(found),
            },
        }
    }

    fn descriptor(&self, position: usize) -> ::parquet::schema::types::ColumnDescPtr {
        self.reader.metadata().file_metadata().schema_descr().column(position)
    }

    /// Puts the entries of a row group's rows, a few thousand rows at a time.
    fn put_lists(
        &self,
        group: &dyn RowGroupReader,
        rows: std::ops::Range<usize>,
        features: usize,
        builder: &mut Builder,
    ) -> Result<()> {
        let lists = |position: usize| {
            let column = guarded(&self.path, || group.get_column_reader(position));
            column.map(|column| Lists { path: &self.path, descriptor: self.descriptor(position), column })
        };
        let (mut indices, mut values) = (lists(self.indices)?, lists(self.values)?);
        let mut start = rows.start;
        while start < rows.end {
            let wanted = BATCH.min(rows.end - start);
            let (columns, entries) =
                (indices.next(wanted, -1, index)?, values.next(wanted, f64::NAN, value)?);
            builder.ensure_rows(start + wanted)?;
            for (k, row) in (start..start + wanted).enumerate() {
                let (columns, entries) = (columns.row(k), entries.row(k));
                if let Some((problem, remedy)) = fault(columns, entries.len()) {
                    let problem = format!("row {}: {problem}", row + 1);
                    return Err(Error::file(&self.path, Place::Whole, problem, remedy));
                }
                for (&column, &entry) in columns.iter().zip(entries) {
                    match usize::try_from(column).ok().filter(|column| *column < features) {
                        // Columns stand in the table as they are numbered, so a column's slot is its number.
                        Some(slot) => builder.put(row, slot, Cell::Number(entry))?,
                        None => builder.leave_out(row)?,
                    }
                }
            }
            start += wanted;
        }
        Ok(())
    }
}

impl source::Table for Table {
    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn columns(&self) -> Result<Vec<String>> {
        let mut names = unnamed(self.uniform.declared_features(&self.path)?);
        names.extend(self.response()?.map(|(_, name)| name.clone()));
        Ok(names)
    }

    fn leaves_zeros_out(&self) -> bool {
        true
    }

    fn settings(&mut self, options: &ReadOptions, _schema: &Schema, _plan: &Plan) -> Result<Settings> {
        let is_single = self.descriptor(self.values).physical_type() == Physical::FLOAT;
        Ok(options.sparse_settings(if is_single { Precision::F32 } else { Precision::F64 }))
    }

    /// Puts the rows, and the response if it is in a column of the same file.
    fn read_into(self: Box<Self>, builder: &mut Builder) -> Result<()> {
        let path = &self.path;
        let features = self.uniform.declared_features(path)?;
        let response = self.response()?;
        let mut start = 0;
        for g in 0..self.reader.num_row_groups() {
            let group = guarded(path, || self.reader.get_row_group(g))?;
            let rows = usize::try_from(group.metadata().num_rows())
                .map_err(|_| damaged(path, "negative number of rows"))?;
            self.put_lists(&*group, start..start + rows, features, builder)?;
            if let Some(&(position, _)) = response {
                let mut column = guarded(path, || group.get_column_reader(position))?;
                let descriptor = self.descriptor(position);
                Chunk { path, descriptor: &descriptor, slot: features, start, rows }
                    .put(&mut column, builder)?;
            }
            start += rows;
        }
        if start as u64 != self.rows {
            return Err(damaged(path, "its row groups do not add up to its number of rows"));
        }
        Ok(())
    }
}

/// What is wrong with the structure of a row, and what to do about it.
fn fault(columns: &[i64], values: usize) -> Option<(&'static str, &'static str)> {
    if columns.len() != values {
        return Some(("the lists have different lengths", "write one value for each index"));
    }
    if columns.iter().any(|column| *column < 0) {
        return Some(("an index is missing or negative", "columns count from 0"));
    }
    match columns.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) if pair[0] == pair[1] => Some(("an index is repeated", "keep one value a column and row")),
        Some(_) => Some(("the indices are not ascending", "sort each row by index")),
        None => None,
    }
}

/// A number of a list, in the file's own type.
enum Element {
    Whole(i64),
    Real(f64),
}

fn index(element: Element) -> i64 {
    match element {
        Element::Whole(x) => x,
        // Lists of indices hold whole numbers only.
        Element::Real(_) => -1,
    }
}

fn value(element: Element) -> f64 {
    match element {
        Element::Whole(x) => x as f64,
        Element::Real(x) => x,
    }
}

/// A list column of one row group.
struct Lists<'a> {
    path: &'a Path,
    descriptor: ::parquet::schema::types::ColumnDescPtr,
    column: ColumnReader,
}

/// The lists of some rows.
struct Batch<T> {
    ends: Vec<usize>,
    elements: Vec<T>,
}

impl<T> Batch<T> {
    fn row(&self, k: usize) -> &[T] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.elements[start..self.ends[k]]
    }
}

impl Lists<'_> {
    /// The lists of the next `wanted` rows; `null` stands for an element that is not there.
    fn next<T: Copy>(&mut self, wanted: usize, null: T, take: fn(Element) -> T) -> Result<Batch<T>> {
        let (path, descriptor) = (self.path, &self.descriptor);
        let unsigned = Chunk { path, descriptor, slot: 0, start: 0, rows: 0 }.is_unsigned();
        match &mut self.column {
            ColumnReader::Int32ColumnReader(c) => batch(path, descriptor, c, wanted, null, |x| {
                take(Element::Whole(if unsigned { i64::from(x.cast_unsigned()) } else { i64::from(*x) }))
            }),
            ColumnReader::Int64ColumnReader(c) => batch(path, descriptor, c, wanted, null, |x| {
                // Beyond every number of columns, and every bound.
                take(Element::Whole(if unsigned && *x < 0 { i64::MAX } else { *x }))
            }),
            ColumnReader::FloatColumnReader(c) => {
                batch(path, descriptor, c, wanted, null, |x| take(Element::Real(f64::from(*x))))
            }
            ColumnReader::DoubleColumnReader(c) => {
                batch(path, descriptor, c, wanted, null, |x| take(Element::Real(*x)))
            }
            _ => Err(damaged(path, "a list's type differs between footer and pages")),
        }
    }
}

fn batch<D: DataType, T: Copy>(
    path: &Path,
    descriptor: &ColumnDescriptor,
    column: &mut ColumnReaderImpl<D>,
    wanted: usize,
    null: T,
    take: impl Fn(&D::T) -> T,
) -> Result<Batch<T>> {
    let present = descriptor.max_def_level();
    // An element that may be null takes one level of its own.
    let may_be_null = descriptor.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
    let element = present - i16::from(may_be_null);
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = 0;
    while rows < wanted {
        let (read, _, _) = guarded(path, || {
            column.read_records(wanted - rows, Some(&mut definitions), Some(&mut repetitions), &mut values)
        })?;
        if read == 0 {
            let what = format!("list `{}` ends before its last row", descriptor.path().string());
            return Err(damaged(path, &what));
        }
        rows += read;
    }
    let mut batch = Batch { ends: Vec::with_capacity(wanted), elements: Vec::with_capacity(values.len()) };
    let mut values = values.iter();
    for (definition, repetition) in definitions.iter().zip(&repetitions) {
        if *repetition == 0 && batch.ends.len() < wanted {
            batch.ends.push(batch.elements.len());
        }
        if *definition >= element {
            let found = if *definition == present { values.next() } else { None };
            batch.elements.push(found.map_or(null, &take));
        }
        if let Some(end) = batch.ends.last_mut() {
            *end = batch.elements.len();
        }
    }
    if batch.ends.len() != wanted || definitions.len() != repetitions.len() || values.next().is_some() {
        return Err(damaged(path, "the levels of a list do not fit its values"));
    }
    Ok(batch)
}
