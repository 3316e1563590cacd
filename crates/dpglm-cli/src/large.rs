//! Tables larger than memory: the flags that say so, and what is chosen where none is given.

use crate::failure::Failure;
use crate::progress::{LargeProgress, tell};
use crate::table::{Columns, PublicFacts};
use clap::Args;
use dpglm::passes::Streamed;
use dpglm_io::LargeTable;
use dpglm_io::large::{Room, available_memory, bytes, size_in_memory};
use dpglm_workflow::WatchRows;
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
    /// The first of these flags that is given.
    fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--memory", self.memory.is_some()),
            ("--scratch", self.scratch.is_some()),
            ("--no-scratch", self.no_scratch),
        ];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Refuses flags that a dry run has no use for.
    pub fn refuse(&self) -> Result<(), Failure> {
        match self.given() {
            Some(flag) => Err(Failure::Usage(format!(
                "{flag} says where rows are held, and --dry-run reads none: leave out {flag}"
            ))),
            None => Ok(()),
        }
    }

    /// What a table may take that a model is fitted to; `None` if it is to be held in memory.
    pub fn room(
        &self,
        path: &Path,
        columns: &Columns,
        known: &PublicFacts,
        model: &Model,
    ) -> Result<Option<Room>, Failure> {
        if self.given().is_some() {
            model.require_passes()?;
        }
        let in_blocks = model.require_passes().is_ok();
        self.room_for(path, columns, known, in_blocks, model.outputs())
    }

    /// The same of a table whose means are taken, or that is described. `in_blocks` says whether its method can do without all rows in memory.
    pub fn room_of_cells(
        &self,
        path: &Path,
        columns: &Columns,
        known: &PublicFacts,
        in_blocks: bool,
    ) -> Result<Option<Room>, Failure> {
        if let Some(flag) = self.given().filter(|_| !in_blocks) {
            return Err(Failure::Usage(format!(
                "{flag}: this method of means holds the table in memory: leave out {flag}, or use --method columns"
            )));
        }
        self.room_for(path, columns, known, in_blocks, 1)
    }

    fn room_for(
        &self,
        path: &Path,
        columns: &Columns,
        known: &PublicFacts,
        in_blocks: bool,
        outputs: usize,
    ) -> Result<Option<Room>, Failure> {
        if self.given().is_none() && !(in_blocks && columns.is_too_large(path, known)?) {
            return Ok(None);
        }
        let free = || available_memory().map(|free| free / 5 * 4);
        let memory = self.memory.or_else(free).ok_or_else(|| {
            Failure::Usage("the system does not say how much memory is free: give --memory SIZE".into())
        })?;
        let scratch = (!self.no_scratch).then(|| self.scratch.clone().unwrap_or_else(std::env::temp_dir));
        Ok(Some(Room { memory, scratch, blocks: Streamed::blocks_at_a_time(), outputs }))
    }
}

impl Columns {
    /// Whether a table is too large for the memory that is free, by its size and header alone.
    fn is_too_large(&self, path: &Path, known: &PublicFacts) -> Result<bool, Failure> {
        let Some(free) = available_memory() else {
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
        constant_column: bool,
        room: &Room,
        watch: &(dyn Fn(u64, Option<u64>) + Sync),
    ) -> Result<LargeTable, Failure> {
        let (known, options) = (self.for_file(path, known)?, self.options(constant_column));
        let table = LargeTable::read(path, known.declared(), &options, room, watch)?;
        self.tell_curator(&table.curator);
        Ok(table)
    }

    /// The same of a table whose cells are asked for, and what is told how far a pass is.
    pub fn read_cells(
        &self,
        path: &Path,
        known: &PublicFacts,
        room: &Room,
    ) -> Result<(LargeTable, WatchRows), Failure> {
        let bar = LargeProgress::new();
        let table = self.read_large(path, known, false, room, &|done, of| bar.read(done, of))?;
        Ok((table, Box::new(move |done, of| bar.pass(done, of))))
    }
}
