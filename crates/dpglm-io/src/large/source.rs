//! Rows read again from their source in every pass.
//!
//! The source must not change: each of its files must keep its size and the time of its last change, before and after every pass, and what is
//! read from them must be what was read the first time, by a checksum of all encoded cells. A change is an error, and nothing is released.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dpglm::data::design::Storage;

use super::{Form, Packed, Watch};
use crate::encode::{Encoded, Flow};
use crate::error::{Error, Place, Result};
use crate::read::{Declared, ReadOptions, Reading};
use crate::schema::Schema;
use crate::uniform::UniformBounds;

pub(super) struct Source {
    path: PathBuf,
    declared: Owned,
    options: ReadOptions,
    rows_of_a_block: usize,
    rows: u64,
    seen: Vec<Seen>,
    checksum: u64,
}

/// What is declared.
enum Owned {
    Schema(Box<Schema>),
    Uniform(UniformBounds),
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    path: PathBuf,
    size: u64,
    changed: Option<SystemTime>,
}

impl Seen {
    /// These files as they are.
    pub(super) fn now(files: &[PathBuf]) -> Result<Vec<Self>> {
        let look = |path: &PathBuf| {
            let found = fs::metadata(path).map_err(|e| Error::open(path, e))?;
            Ok(Self { path: path.clone(), size: found.len(), changed: found.modified().ok() })
        };
        files.iter().map(look).collect()
    }

    /// Refuses files that are not as they were.
    pub(super) fn require(before: &[Self]) -> Result<()> {
        for seen in before {
            let now = Self::now(std::slice::from_ref(&seen.path))?;
            if now[0] != *seen {
                return Err(changed(&seen.path));
            }
        }
        Ok(())
    }
}

fn changed(path: &Path) -> Error {
    Error::file(
        path,
        Place::Whole,
        "the file has changed while it was read",
        "nothing is released; fit again when nobody writes to it",
    )
}

impl Source {
    /// Reads a table through, and gives its last block for its public facts.
    pub(super) fn read_once(
        reading: Reading<'_>,
        path: &Path,
        declared: Declared<'_>,
        options: &ReadOptions,
        rows_of_a_block: usize,
        watch: Watch<'_>,
    ) -> Result<(Self, Encoded)> {
        let (seen, announced) = (Seen::now(reading.files())?, reading.rows());
        let (mut rows, mut sum) = (0, Checksum::default());
        let mut look = |block: &Encoded| {
            rows += block.rows() as u64;
            sum.add(block);
            watch(rows, announced);
        };
        let mut give = |block: Encoded| {
            look(&block);
            Ok(())
        };
        let last = reading.read(Some(Flow { rows: rows_of_a_block, spare: usize::MAX, give: &mut give }))?;
        look(&last);
        Seen::require(&seen)?;
        let declared = match declared {
            Declared::Schema(schema) => Owned::Schema(Box::new(schema.clone())),
            Declared::Uniform(uniform) => Owned::Uniform(uniform.clone()),
        };
        let (path, options) = (path.to_path_buf(), *options);
        Ok((Self { path, declared, options, rows_of_a_block, rows, seen, checksum: sum.0 }, last))
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Gives every block.
    pub(super) fn read_again(&self, give: &mut dyn FnMut(Packed) -> Result<()>) -> Result<()> {
        Seen::require(&self.seen)?;
        let declared = match &self.declared {
            Owned::Schema(schema) => Declared::Schema(schema),
            Owned::Uniform(uniform) => Declared::Uniform(uniform),
        };
        let reading = Reading::open(&self.path, declared, &self.options)?;
        let mut sum = Checksum::default();
        let mut look = |block: Encoded| {
            sum.add(&block);
            give(Packed(Form::Rows(Box::new(block.into()))))
        };
        let last =
            reading.read(Some(Flow { rows: self.rows_of_a_block, spare: usize::MAX, give: &mut look }))?;
        look(last)?;
        Seen::require(&self.seen)?;
        if sum.0 == self.checksum { Ok(()) } else { Err(changed(&self.path)) }
    }
}

/// Tells tables apart that differ by accident.
#[derive(Default)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, block: &Encoded) {
        match block.design.storage() {
            Storage::F64(entries) => entries.iter().for_each(|x| self.word(x.to_bits())),
            Storage::F32(entries) => entries.iter().for_each(|x| self.word(x.to_bits().into())),
            Storage::I8 { entries, .. } => entries.iter().for_each(|x| self.word(x.cast_unsigned().into())),
            // Refused before.
            Storage::Csr(_) => {}
        }
        let others = [
            Some(&block.response),
            block.weights.as_ref(),
            block.exposure.as_ref(),
            block.sample_weight.as_ref(),
        ];
        others.into_iter().flatten().flatten().for_each(|x| self.word(x.to_bits()));
    }

    fn word(&mut self, word: u64) {
        // One round of FNV on words, with a turn that brings high bits down.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}
