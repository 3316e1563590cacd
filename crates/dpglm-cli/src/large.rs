//! Tables larger than memory: the flags that say so, and what is chosen where none is given.

use crate::failure::Failure;
use crate::progress::tell;
use crate::table::{Columns, PublicFacts};
use clap::Args;
use dpglm::passes::Streamed;
use dpglm_io::LargeTable;
use dpglm_io::large::{Room, available_memory, bytes, size_in_memory};
use dpglm_workflow::model::Model;
use std::path::{Path, PathBuf};

/// Where rows are held that do not fit in memory.
#[derive(Args)]
pub struct Large {
    /// Use no more memory than this (1GiB), however many rows there are: the table is read block by block. The result is the same to the last
    /// digit [default: the table is held in memory if it fits, else four fifths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Memory")]
    memory: Option<usize>,
    /// Where rows wait that do not fit in memory: a file without a name in this folder, for its owner alone, gone when the command
    /// ends. It holds private rows in the clear [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR", conflicts_with = "no_scratch", help_heading = "Memory")]
    scratch: Option<PathBuf>,
    /// Write no such file: read the table again in each pass. It must not change meanwhile
    #[arg(long, help_heading = "Memory")]
    no_scratch: bool,
}

/// A number of bytes.
fn memory(text: &str) -> Result<usize, String> {
    bytes(text).ok_or_else(|| "a size is needed: write it like 1GiB or 500M".into())
}

impl Large {
    fn is_given(&self) -> bool {
        self.memory.is_some() || self.scratch.is_some() || self.no_scratch
    }

    /// Refuses flags that a dry run has no use for.
    pub fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--memory", self.memory.is_some()),
            ("--scratch", self.scratch.is_some()),
            ("--no-scratch", self.no_scratch),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::Usage(format!(
                "{flag} says where rows are held, and --dry-run reads none: leave out {flag}"
            ))),
            None => Ok(()),
        }
    }

    /// What a table may take; `None` if it is to be held in memory.
    pub fn room(
        &self,
        path: &Path,
        columns: &Columns,
        known: &PublicFacts,
        model: &Model,
    ) -> Result<Option<Room>, Failure> {
        if self.is_given() {
            model.require_passes()?;
        } else if !columns.is_too_large(path, known, model)? {
            return Ok(None);
        }
        let free = || available_memory().map(|free| free / 5 * 4);
        let memory = self.memory.or_else(free).ok_or_else(|| {
            Failure::Usage("the system does not say how much memory is free: give --memory SIZE".into())
        })?;
        let scratch = (!self.no_scratch).then(|| self.scratch.clone().unwrap_or_else(std::env::temp_dir));
        Ok(Some(Room { memory, scratch, blocks: Streamed::blocks_at_a_time(), outputs: model.outputs() }))
    }
}

impl Columns {
    /// Whether a table is too large for the memory that is free, by its size and header alone.
    fn is_too_large(&self, path: &Path, known: &PublicFacts, model: &Model) -> Result<bool, Failure> {
        let Some(free) = available_memory().filter(|_| model.require_passes().is_ok()) else {
            return Ok(false);
        };
        // A file takes at most so many times its size; most are not worth a look.
        let largest = 64;
        let small = |file: &Path| {
            std::fs::metadata(file)
                .is_ok_and(|found| found.is_file() && found.len() < (free / largest) as u64)
        };
        if small(path) {
            return Ok(false);
        }
        let size = size_in_memory(path, self.for_file(path, known)?.declared(), &self.options(true))?;
        let too_large = size.is_some_and(|size| size > free / 5 * 4);
        if too_large {
            tell(
                "note: the table may not fit in memory: it is read block by block, with the same result (--memory sets the limit)",
            );
        }
        Ok(too_large)
    }

    /// Reads a table that is not to be held in memory.
    pub fn read_large(
        &self,
        path: &Path,
        known: &PublicFacts,
        room: &Room,
        watch: &(dyn Fn(u64, Option<u64>) + Sync),
    ) -> Result<LargeTable, Failure> {
        let known = self.for_file(path, known)?;
        let table = LargeTable::read(path, known.declared(), &self.options(true), room, watch)?;
        self.tell_curator(&table.curator);
        Ok(table)
    }
}
