//! Rows in a scratch file that nobody else can open.
//!
//! The file has no name: it is unlinked as soon as it is open (or never linked, where the system can do that), so it goes when the program ends,
//! however it ends, and its owner alone can read it. It holds private rows in the clear: it belongs on a disk where the table itself might lie.
//!
//! Where units have several rows, rows are first written as they come. Then units, in the order in which they first appeared, are
//! divided into runs of as many rows as a block has, and every row goes to its unit's run: the second file. The rows of a unit stay in their order,
//! and those beyond the most that count are left out.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dpglm::data::dataset::MOST_UNIT_ROWS;

use super::room::{Room, Share};
use super::source::Seen;
use super::{Form, Packed, Watch};
use crate::encode::{Encoded, Flow, Record};
use crate::error::{Error, Place, Result};
use crate::read::Reading;

/// What an id of a unit takes in memory while a table is read.
const ID: usize = 96;

pub(super) struct Scratch {
    folder: PathBuf,
    file: Mutex<File>,
    record: Arc<Record>,
    rows: u64,
    blocks: Vec<Block>,
    units: Option<usize>,
}

/// A run of rows.
#[derive(Clone, Copy)]
struct Block {
    rows: usize,
    /// The first of its units, and their number.
    units: (u32, usize),
}

impl Scratch {
    /// Reads a table into a scratch file, and gives its last block for its public facts.
    pub(super) fn write(
        reading: Reading<'_>,
        record: Arc<Record>,
        room: &Room,
        share: &Share,
        watch: Watch<'_>,
    ) -> Result<(Self, Encoded)> {
        let folder = room.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let path = reading.path().to_path_buf();
        let mut file = unnamed(&folder)?;
        let (mut bytes, mut rows, mut counts) = (Vec::new(), 0_u64, Vec::<u32>::new());
        let (announced, seen) = (reading.rows(), Seen::now(reading.files())?);
        let mut put = |block: &Encoded| -> Result<()> {
            bytes.clear();
            if !record.write(block, &mut bytes) {
                return Err(unexpected(&path));
            }
            file.write_all(&bytes).map_err(|e| full(&folder, e))?;
            if let Some(units) = &block.units {
                if units.count.saturating_mul(ID) > share.spare {
                    return Err(Error::file(
                        &path,
                        Place::Whole,
                        "the ids of its units alone do not fit in the memory that is allowed",
                        "allow more memory",
                    ));
                }
                counts.resize(units.count, 0);
                units
                    .of_row
                    .iter()
                    .for_each(|&unit| counts[unit as usize] = counts[unit as usize].saturating_add(1));
            }
            rows += block.rows() as u64;
            watch(rows, announced);
            Ok(())
        };
        let flow = Flow { rows: share.rows, spare: share.spare, give: &mut |block| put(&block) };
        let last = reading.read(Some(flow))?;
        put(&last)?;
        Seen::require(&seen)?;
        let mut scratch =
            Self { folder, file: Mutex::new(file), record, rows, blocks: Vec::new(), units: None };
        if last.units.is_some() {
            scratch.units = Some(counts.len());
            scratch.bring_together(&path, &counts, share)?;
        } else {
            let whole = rows / share.rows as u64;
            scratch.blocks = vec![Block { rows: share.rows, units: (0, 0) }; whole as usize];
            let rest = (rows % share.rows as u64) as usize;
            scratch.blocks.extend((rest > 0).then_some(Block { rows: rest, units: (0, 0) }));
        }
        Ok((scratch, last))
    }

    /// Writes the rows anew, those of a unit in one block.
    fn bring_together(&mut self, path: &Path, counts: &[u32], share: &Share) -> Result<()> {
        let mut block_of = Vec::with_capacity(counts.len());
        for (unit, &count) in counts.iter().enumerate() {
            let count = count.min(MOST_UNIT_ROWS) as usize;
            match self.blocks.last_mut() {
                Some(block) if block.rows + count <= share.rows => {
                    block.rows += count;
                    block.units.1 += 1;
                }
                _ => self.blocks.push(Block { rows: count, units: (unit as u32, 1) }),
            }
            block_of.push(self.blocks.len() - 1);
        }
        let size = self.record.bytes();
        let starts = self.blocks.iter().scan(0_u64, |rows, block| {
            let start = *rows * size as u64;
            *rows += block.rows as u64;
            Some(start)
        });
        let mut places: Vec<u64> = starts.collect();
        // What waits to be written, of each block.
        let room = (share.spare / (2 * self.blocks.len())).min(1 << 20) / size * size;
        if room < size {
            return Err(Error::file(
                path,
                Place::Whole,
                "the rows of units cannot be brought together in the memory that is allowed",
                "allow more memory",
            ));
        }
        let mut waiting = vec![Vec::new(); self.blocks.len()];
        let mut sorted = unnamed(&self.folder)?;
        let mut seen = vec![0_u32; counts.len()];
        let mut flush = |block: usize, bytes: &mut Vec<u8>| -> Result<()> {
            sorted.seek(SeekFrom::Start(places[block])).map_err(|e| full(&self.folder, e))?;
            sorted.write_all(bytes).map_err(|e| full(&self.folder, e))?;
            places[block] += bytes.len() as u64;
            bytes.clear();
            Ok(())
        };
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        rewind(file, &self.folder)?;
        let (mut left, mut bytes) = (self.rows, Vec::new());
        while left > 0 {
            let rows = left.min(share.rows as u64);
            fill(file, &mut bytes, rows as usize * size, &self.folder)?;
            left -= rows;
            for row in bytes.chunks_exact(size) {
                let unit = self.record.unit_of(row) as usize;
                seen[unit] = seen[unit].saturating_add(1);
                if seen[unit] > MOST_UNIT_ROWS {
                    continue;
                }
                let waiting = &mut waiting[block_of[unit]];
                waiting.extend_from_slice(row);
                if waiting.len() >= room {
                    flush(block_of[unit], waiting)?;
                }
            }
        }
        for (block, bytes) in waiting.iter_mut().enumerate() {
            flush(block, bytes)?;
        }
        self.file = Mutex::new(sorted);
        Ok(())
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn units(&self) -> Option<usize> {
        self.units
    }

    pub(super) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.rows as u64).sum::<u64>() * self.record.bytes() as u64
    }

    /// Gives every block.
    pub(super) fn read(&self, give: &mut dyn FnMut(Packed) -> Result<()>) -> Result<()> {
        let file = &mut *self.file.lock().unwrap_or_else(PoisonError::into_inner);
        rewind(file, &self.folder)?;
        for block in &self.blocks {
            let mut bytes = Vec::new();
            fill(file, &mut bytes, block.rows * self.record.bytes(), &self.folder)?;
            give(Packed(Form::Bytes { record: self.record.clone(), bytes, units: block.units }))?;
        }
        Ok(())
    }
}

/// A file without a name, for its owner alone.
fn unnamed(folder: &Path) -> Result<File> {
    tempfile::tempfile_in(folder).map_err(|source| Error::Io {
        path: folder.to_path_buf(),
        action: "used for a scratch file",
        source,
        remedy: "name a folder for scratch files in which you may write",
    })
}

fn full(folder: &Path, source: std::io::Error) -> Error {
    let remedy = match source.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "the disk is full: name a folder for scratch files on a larger one, or let the source be read again in every pass"
        }
        _ => "name another folder for scratch files",
    };
    Error::Io { path: folder.to_path_buf(), action: "written as scratch", source, remedy }
}

fn rewind(file: &mut File, folder: &Path) -> Result<()> {
    file.rewind().map_err(|e| Error::read(folder, e))
}

fn fill(file: &mut File, bytes: &mut Vec<u8>, size: usize, folder: &Path) -> Result<()> {
    bytes.resize(size, 0);
    file.read_exact(bytes).map_err(|e| Error::read(folder, e))
}

/// What the declaration does not allow was found in an encoded table.
pub(super) fn unexpected(path: &Path) -> Error {
    Error::file(
        path,
        Place::Whole,
        "a row was not encoded as declared",
        "please report this; nothing is released",
    )
}
