//! Rows that are not all in memory: the blocks of a large table, as the library reads them.

use super::data::Frame;
use dpglm::data::Shape;
use dpglm::passes::{Block, Blocks};
use dpglm_io::{Error, LargeTable};
use std::sync::Arc;

/// Is told how many rows of a pass are read, and of how many.
pub type WatchRows = Box<dyn Fn(u64, u64) + Send + Sync>;

/// A large table, block by block.
pub(super) struct LargeRows {
    pub table: LargeTable,
    pub frame: Arc<Frame>,
    /// The column that says whose row it is.
    pub unit: Option<String>,
    pub watch: WatchRows,
}

impl Blocks for LargeRows {
    fn shape(&self) -> Shape {
        let table = &self.table;
        let columns = table.columns.len() + usize::from(table.intercept);
        let units = table.units.unwrap_or(table.rows as usize);
        let shape = Shape { dropped: table.has_weights(), ..Shape::new(columns, units) };
        let shape = if table.has_exposures() { shape.with_exposures() } else { shape };
        if table.units.is_some() { shape.grouped() } else { shape }
    }

    fn unit(&self) -> Option<&str> {
        self.unit.as_deref().filter(|_| self.table.units.is_some())
    }

    fn read(&self, give: &mut dyn FnMut(Block) -> dpglm::Result<()>) -> dpglm::Result<()> {
        let mut done = 0;
        let each = &mut |packed: dpglm_io::large::Packed| {
            done += packed.rows() as u64;
            let frame = self.frame.clone();
            give(Box::new(move || frame.dataset(packed.unpack().map_err(unreadable)?)))?;
            (self.watch)(done, self.table.rows);
            Ok(())
        };
        self.table.blocks(each).map_err(unreadable)
    }
}

/// A fault of the file, which ends the fit.
fn unreadable(error: Error) -> dpglm::Error {
    match error {
        Error::Core(error) => error,
        other => dpglm::Error::Conflict(other.to_string()),
    }
}
