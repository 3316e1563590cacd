//! Tables that are already in memory: the same rules as for files, and the same encoded table.
//!
//! Numbers are read where they stand, in either order of storage, and written once, scaled, into the design. A column
//! of text, or of cells of several kinds, comes as codes and what they stand for, as data frames keep categories.

use std::path::Path;

use crate::cell::Cell;
use crate::encode::{Builder, ByteScale, Encoded, Layout, Plan, Precision, Purpose, Settings};
use crate::error::{Error, Place, Result};
use crate::formula::SourceKind;
use crate::read::ReadOptions;
use crate::schema::Schema;

/// A matrix of numbers, one row a record, that somebody else owns.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// The numbers, in the order of storage.
    pub numbers: Numbers<'a>,
    /// How many rows there are.
    pub rows: usize,
    /// How many columns there are.
    pub columns: usize,
    /// True if a column's numbers stand together, false if a row's do.
    pub column_major: bool,
}

/// Numbers as they are stored.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision: the design is stored so too.
    F32(&'a [f32]),
    /// Whole numbers in a byte: they stay bytes where their bounds allow it.
    I8(&'a [i8]),
}

/// Compressed sparse rows that somebody else owns.
#[derive(Clone, Copy)]
pub struct SparseRows<'a> {
    /// Where each row begins, and where the last one ends.
    pub offsets: &'a [usize],
    /// The columns of the entries, strictly increasing in each row.
    pub indices: &'a [u32],
    /// The entries.
    pub numbers: Numbers<'a>,
    /// How many columns there are.
    pub columns: usize,
}

/// One column's cells.
#[derive(Clone, Copy)]
pub enum Cells<'a> {
    /// Double precision; NaN for a missing cell.
    F64(&'a [f64]),
    /// Single precision; NaN for a missing cell.
    F32(&'a [f32]),
    /// Whole numbers.
    I64(&'a [i64]),
    /// Truth values.
    Truth(&'a [bool]),
    /// Codes, each the place of what it means; a code that is no place is a missing cell.
    Coded {
        /// One code a row.
        codes: &'a [i64],
        /// What the codes stand for.
        meanings: &'a [Meaning],
    },
}

/// What a code stands for. Cells of one column may be of several kinds, each read by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
}

impl Numbers<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(numbers) => numbers.len(),
            Self::F32(numbers) => numbers.len(),
            Self::I8(numbers) => numbers.len(),
        }
    }

    #[inline]
    fn at(&self, k: usize) -> f64 {
        match self {
            Self::F64(numbers) => numbers[k],
            Self::F32(numbers) => f64::from(numbers[k]),
            Self::I8(numbers) => f64::from(numbers[k]),
        }
    }

    fn precision(&self) -> Precision {
        if matches!(self, Self::F32(_)) { Precision::F32 } else { Precision::F64 }
    }
}

impl Cells<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F64(cells) => cells.len(),
            Self::F32(cells) => cells.len(),
            Self::I64(cells) => cells.len(),
            Self::Truth(cells) => cells.len(),
            Self::Coded { codes, .. } => codes.len(),
        }
    }

    #[inline]
    pub(crate) fn at(&self, row: usize) -> Cell<'_> {
        match self {
            Self::F64(cells) => Cell::Number(cells[row]),
            Self::F32(cells) => Cell::Number(f64::from(cells[row])),
            Self::I64(cells) => Cell::Integer(cells[row]),
            Self::Truth(cells) => Cell::Truth(cells[row]),
            Self::Coded { codes, meanings } => {
                let place = usize::try_from(codes[row]).ok();
                match place.and_then(|place| meanings.get(place)) {
                    Some(Meaning::Truth(truth)) => Cell::Truth(*truth),
                    Some(Meaning::Integer(integer)) => Cell::Integer(*integer),
                    Some(Meaning::Number(number)) => Cell::Number(*number),
                    Some(Meaning::Text(text)) => Cell::Text(text.trim().as_bytes()),
                    None => Cell::Missing,
                }
            }
        }
    }
}

/// Encodes a matrix whose columns have these names. `from` is what messages call it.
pub fn encode_matrix(
    from: &str,
    matrix: Matrix<'_>,
    names: &[String],
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Encoded> {
    let path = Path::new(from);
    let Matrix { numbers, rows, columns, column_major } = matrix;
    if rows.checked_mul(columns) != Some(numbers.len()) || names.len() != columns {
        return Err(misfit(path));
    }
    let plan = Plan::new(schema, path, names, options.needs_target)?;
    let settings = matrix_settings(&numbers, schema, &plan, options);
    let mut builder = Builder::new(path, schema, plan, settings);
    builder.ensure_rows(rows)?;
    if rows == 0 || columns == 0 {
        return builder.finish();
    }
    let taken = match numbers {
        Numbers::F64(numbers) => builder.put_block(numbers, columns, column_major),
        Numbers::F32(numbers) => builder.put_block(numbers, columns, column_major),
        Numbers::I8(_) => false,
    };
    if !taken {
        for row in 0..rows {
            for slot in 0..builder.slots() {
                let column = builder.position(slot);
                let at = if column_major { column * rows + row } else { row * columns + column };
                builder.put(row, slot, Cell::Number(numbers.at(at)))?;
            }
        }
    }
    builder.finish()
}

/// Encodes named columns of equal length.
pub fn encode_columns(
    from: &str,
    columns: &[(String, Cells<'_>)],
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Encoded> {
    let builder = columns_into_builder(from, columns, schema, options)?;
    builder.finish()
}

/// Encodes sparse rows whose columns have these names. As with files that leave zeros out, no column is centred.
pub fn encode_sparse(
    from: &str,
    sparse: SparseRows<'_>,
    names: &[String],
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Encoded> {
    let path = Path::new(from);
    let SparseRows { offsets, indices, numbers, columns } = sparse;
    let sound = offsets.first() == Some(&0)
        && offsets.last() == Some(&indices.len())
        && offsets.is_sorted()
        && numbers.len() == indices.len()
        && names.len() == columns;
    if !sound {
        return Err(misfit(path));
    }
    let plan = Plan::new(schema, path, names, options.needs_target)?.without_centring(schema)?;
    let precision = options.precision.unwrap_or(numbers.precision());
    let layout = if plan.keeps_order() { Layout::Sparse(precision) } else { Layout::Dense(precision) };
    let settings = Settings { layout, strict: options.strict, constant_column: options.constant_column };
    let mut builder = Builder::new(path, schema, plan, settings);
    builder.ensure_rows(offsets.len() - 1)?;
    let mut slot_of = vec![None; columns];
    for slot in 0..builder.slots() {
        slot_of[builder.position(slot)] = Some(slot);
    }
    for (row, range) in offsets.windows(2).enumerate() {
        let range = range[0]..range[1];
        if !indices[range.clone()].is_sorted_by(|a, b| a < b) {
            return Err(Error::file(
                path,
                Place::Whole,
                format!("the columns of row {} are out of order or repeated", row + 1),
                "call X.sum_duplicates() first",
            ));
        }
        for k in range {
            let Some(slot) = slot_of.get(indices[k] as usize) else {
                return Err(Error::file(
                    path,
                    Place::Whole,
                    format!("row {} has an entry beyond the {columns} columns", row + 1),
                    "build the matrix again",
                ));
            };
            if let Some(slot) = slot {
                builder.put(row, *slot, Cell::Number(numbers.at(k)))?;
            }
        }
    }
    builder.finish()
}

/// Gives an encoded table its response, which has a schema of its own.
pub fn attach_response(
    encoded: &mut Encoded,
    name: &str,
    cells: Cells<'_>,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<()> {
    let found = cells.len();
    let builder = columns_into_builder(name, &[(name.to_owned(), cells)], schema, options)?;
    if found != encoded.rows() {
        return Err(Error::file(
            Path::new(name),
            Place::Whole,
            format!("{found} responses for {} rows", encoded.rows()),
            "give one for each row",
        ));
    }
    builder.finish_response(encoded)
}

/// Gives an encoded table its units: one id for each row, of any kind. `name` says what a unit is ("patient").
pub fn attach_units(
    encoded: &mut Encoded,
    name: &str,
    cells: Cells<'_>,
    options: &ReadOptions,
) -> Result<()> {
    let found = cells.len();
    if found != encoded.rows() {
        return Err(Error::file(
            Path::new(name),
            Place::Whole,
            format!("{found} ids of units for {} rows", encoded.rows()),
            "give one for each row",
        ));
    }
    let schema = Schema::of_unit(name)?;
    let builder = columns_into_builder(name, &[(name.to_owned(), cells)], &schema, options)?;
    let (units, notes) = builder.finish_units()?;
    encoded.units = units;
    encoded.curator.0.extend(notes.0);
    Ok(())
}

/// Gives an encoded table its sampling weights, one for each row, and the schema their column of this name, within these bounds. A missing
/// weight follows the schema's rule for missing cells.
pub fn attach_weights(
    encoded: &mut Encoded,
    schema: Schema,
    (name, bounds): (&str, (f64, f64)),
    cells: Cells<'_>,
    options: &ReadOptions,
) -> Result<Schema> {
    let found = cells.len();
    if found != encoded.rows() {
        return Err(Error::file(
            Path::new(name),
            Place::Whole,
            format!("{found} sample weights for {} rows", encoded.rows()),
            "give one for each row",
        ));
    }
    let own = Schema::of_weight(name, bounds, schema.missing())?;
    let schema = schema.with_column_of(&own, name)?.with_weight(Some(name))?;
    let builder = columns_into_builder(name, &[(name.to_owned(), cells)], &own, options)?;
    builder.finish_weights(encoded)?;
    Ok(schema)
}

fn columns_into_builder(
    from: &str,
    columns: &[(String, Cells<'_>)],
    schema: &Schema,
    options: &ReadOptions,
) -> Result<Builder<'static>> {
    let path = Path::new(from);
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    if columns.iter().any(|(_, cells)| cells.len() != rows) {
        return Err(misfit(path));
    }
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let plan = Plan::new(schema, path, &names, options.needs_target)?;
    refuse_alike(path, &plan)?;
    let precision = options.precision.unwrap_or(Precision::F64);
    let settings = Settings {
        layout: Layout::Dense(precision),
        strict: options.strict,
        constant_column: options.constant_column,
    };
    let mut builder = Builder::new(path, schema, plan, settings);
    builder.ensure_rows(rows)?;
    for row in 0..rows {
        for slot in 0..builder.slots() {
            let cells = &columns[builder.position(slot)].1;
            builder.put(row, slot, cells.at(row))?;
        }
    }
    Ok(builder)
}

/// Refuses levels that are two as text and one as a number or truth value. Whoever made the columns may have guessed their types from the cells,
/// and then one cell decides whether the others are told apart.
fn refuse_alike(path: &Path, plan: &Plan) -> Result<()> {
    for slot in &plan.slots {
        let levels = match &slot.purpose {
            Purpose::Binary { levels, .. }
            | Purpose::Indicators { levels, .. }
            | Purpose::LevelTarget(levels) => levels,
            Purpose::Term { kind: SourceKind::Levels(levels), .. } => levels,
            _ => continue,
        };
        if let Some((one, other)) = levels.levels.alike() {
            return Err(Error::file(
                path,
                Place::Whole,
                format!(
                    "column `{}`: the levels \"{one}\" and \"{other}\" are the same to a reader that makes numbers or truth values of text",
                    slot.name
                ),
                "put a letter before each of them in table and declaration, declare them as spellings of one level, or fit from the file",
            ));
        }
    }
    Ok(())
}

/// As for a `.npy` file: whole numbers of one byte stay so where their bounds allow it.
fn matrix_settings(numbers: &Numbers<'_>, schema: &Schema, plan: &Plan, options: &ReadOptions) -> Settings {
    let settings = Settings {
        layout: Layout::Dense(options.precision.unwrap_or(numbers.precision())),
        strict: options.strict,
        constant_column: options.constant_column,
    };
    if !matches!(numbers, Numbers::I8(_)) {
        return settings;
    }
    match byte_layout(schema, plan, options) {
        Some(layout) => Settings { layout, ..settings },
        None => settings,
    }
}

/// How bytes are stored as such, if their bounds allow it.
pub(crate) fn byte_layout(schema: &Schema, plan: &Plan, options: &ReadOptions) -> Option<Layout> {
    if options.precision.is_some() || !plan.keeps_order() {
        return None;
    }
    let constant = options.constant_column && schema.intercept();
    let mut features = plan.slots.iter().filter_map(|slot| match &slot.purpose {
        Purpose::Number { numeric, scaling, .. } => Some((numeric.bounds, *scaling)),
        _ => None,
    });
    let (bounds, scaling) = features.next().filter(|first| features.all(|other| other == *first))?;
    ByteScale::new(bounds, &scaling, constant).map(Layout::Bytes)
}

fn misfit(path: &Path) -> Error {
    Error::file(
        path,
        Place::Whole,
        "its parts do not fit together",
        "give as many names and cells as its shape says",
    )
}
