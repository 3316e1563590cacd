//! Tables larger than memory: read once into a scratch file of short rows (`scratch`), or again from their source in every pass
//! (`source`).
//!
//! A [`LargeTable`] knows what is public of a table and gives its rows in blocks, as often as needed, always the same. All rows of a unit are in
//! one block. Its memory is what [`Room`] allows, however many rows there are.
//!
//! | what | where |
//! | --- | --- |
//! | how much memory goes where | `room` |
//! | rows in a scratch file, those of a unit brought together | `scratch` |
//! | rows from their source, which must not change | `source` |

mod room;
mod scratch;
mod source;

use std::path::Path;
use std::sync::Arc;

use crate::encode::{CuratorNotes, Encoded, EncodedColumn, Present, Record, RowBlock, Target};
use crate::error::{Error, Place, Result};
use crate::read::{Declared, ReadOptions, Reading, format_of, refuse_misplaced};
use crate::uniform::Response;
pub use room::{Room, available_memory, bytes};
use scratch::Scratch;
use source::Source;

/// A table of which a few blocks are in memory at a time.
pub struct LargeTable {
    /// As in [`Encoded`].
    pub columns: Vec<EncodedColumn>,
    /// As in [`Encoded`].
    pub target: Option<Target>,
    /// As in [`Encoded`].
    pub intercept: bool,
    /// As in [`Encoded`].
    pub curator: CuratorNotes,
    /// The number of rows.
    pub rows: u64,
    /// The number of units, where rows have units.
    pub units: Option<usize>,
    /// The bytes that are left for what is derived from rows.
    pub spare: usize,
    present: Present,
    from: From,
}

/// Where rows come from.
enum From {
    Scratch(Scratch),
    Source(Source),
}

/// A block of rows, not yet in the form in which they are computed with.
pub struct Packed(Form);

enum Form {
    Bytes { record: Arc<Record>, bytes: Vec<u8>, units: (u32, usize) },
    Rows(Box<RowBlock>),
}

impl Packed {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.0 {
            Form::Bytes { record, bytes, .. } => bytes.len() / record.bytes(),
            Form::Rows(rows) => rows.design.rows(),
        }
    }

    /// The rows.
    pub fn unpack(self) -> Result<RowBlock> {
        match self.0 {
            Form::Bytes { record, bytes, units } => Ok(record.read(&bytes, units)?),
            Form::Rows(rows) => Ok(*rows),
        }
    }
}

/// Is told how many rows are done, and of how many where that is known.
pub type Watch<'w> = &'w (dyn Fn(u64, Option<u64>) + Sync);

impl LargeTable {
    /// Reads a table once: into a scratch file, or, if its source is to be read again, to count its rows.
    pub fn read(
        path: &Path,
        declared: Declared<'_>,
        options: &ReadOptions,
        room: &Room,
        watch: Watch<'_>,
    ) -> Result<Self> {
        if let Declared::Uniform(uniform) = declared {
            uniform.validate()?;
            refuse_misplaced(path, format_of(path, options)?, uniform)?;
            if let Response::File(file) = &uniform.response {
                return Err(Error::file(
                    file,
                    Place::Whole,
                    "a response in a file of its own is read into memory",
                    "write it as the last column of the table, or leave out the limit of memory",
                ));
            }
        }
        let reading = Reading::open(path, declared, options)?;
        let present = reading.present();
        let Some(record) = reading.record() else {
            return Err(Error::file(
                path,
                Place::Whole,
                "the file leaves zeros out, and such rows are held in memory",
                "leave out the limit of memory, or write every entry",
            ));
        };
        let share = room.share(&record, path)?;
        let record = Arc::new(record);
        let (from, last, count) = match room.reads_again() {
            false => {
                let (scratch, last) = Scratch::write(reading, record, room, &share, watch)?;
                let count = (scratch.rows(), scratch.units());
                (From::Scratch(scratch), last, count)
            }
            true if present.units => {
                return Err(Error::file(
                    path,
                    Place::Whole,
                    "rows of a unit are brought together in a scratch file, and none is allowed",
                    "let one be written, or give a table in which each row is a unit",
                ));
            }
            true => {
                let (source, last) = Source::read_once(reading, path, declared, options, share.rows, watch)?;
                let count = (source.rows(), None);
                (From::Source(source), last, count)
            }
        };
        let Encoded { columns, target, intercept, curator, .. } = last;
        Ok(Self {
            columns,
            target,
            intercept,
            curator,
            rows: count.0,
            units: count.1,
            spare: share.spare,
            present,
            from,
        })
    }

    /// Whether rows may have weight zero: public, whichever have it.
    pub fn has_weights(&self) -> bool {
        self.present.weights
    }

    /// Whether rows have an exposure.
    pub fn has_exposures(&self) -> bool {
        self.present.exposure
    }

    /// Whether rows have a sampling weight.
    pub fn has_sample_weights(&self) -> bool {
        self.present.sample_weight
    }

    /// The bytes of the scratch file; 0 if there is none.
    pub fn scratch_bytes(&self) -> u64 {
        match &self.from {
            From::Scratch(scratch) => scratch.bytes(),
            From::Source(_) => 0,
        }
    }

    /// Gives every block, always the same ones in the same order.
    pub fn blocks(&self, give: &mut dyn FnMut(Packed) -> Result<()>) -> Result<()> {
        match &self.from {
            From::Scratch(scratch) => scratch.read(give),
            From::Source(source) => source.read_again(give),
        }
    }
}

/// About how many bytes a table takes in memory, from its size and header alone; `None` for rows that leave zeros out.
pub fn size_in_memory(path: &Path, declared: Declared<'_>, options: &ReadOptions) -> Result<Option<usize>> {
    let reading = Reading::open(path, declared, options)?;
    let Some(record) = reading.record() else { return Ok(None) };
    let rows = match reading.rows() {
        Some(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
        // A cell takes two bytes of text at least, and packed text is about a tenth as long.
        None => files_size(&reading)?.saturating_mul(10) / (2 * record.width().max(1)),
    };
    Ok(Some(rows.saturating_mul(record.bytes_in_memory() + 100)))
}

fn files_size(reading: &Reading<'_>) -> Result<usize> {
    let size =
        |file: &std::path::PathBuf| Ok(std::fs::metadata(file).map_err(|e| Error::open(file, e))?.len());
    let total = reading.files().iter().map(size).sum::<Result<u64>>()?;
    Ok(usize::try_from(total).unwrap_or(usize::MAX))
}

impl std::fmt::Debug for LargeTable {
    /// Shapes and public facts only: the cells are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LargeTable({} rows, {} columns)", self.rows, self.columns.len())
    }
}
