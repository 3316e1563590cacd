//! Rows that are not all in memory: the blocks of a large table, as the library reads them.

use super::data::Frame;
use super::failure::Failure;
use super::means::Means;
use super::means::columns::{Parts, blocks};
use dpglm::data::Shape;
use dpglm::passes::{Ask, Block, Blocks, Respondent};
use dpglm_io::large::Packed;
use dpglm_io::{Error, LargeTable};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, available_parallelism};

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
        let shape = if table.has_sample_weights() { shape.weighted() } else { shape };
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

/// The cells of a large table, of which means and descriptions are asked.
pub(super) struct LargeCells {
    pub table: LargeTable,
    /// What is public of the rows.
    pub means: Means,
    pub watch: WatchRows,
}

impl Ask for LargeCells {
    /// One answer of each thread: they share out the blocks, and the sums are exact.
    fn ask(&self, question: &str) -> dpglm::Result<Vec<String>> {
        let blocks = blocks(&self.table.columns).len();
        let (send, receive) = mpsc::sync_channel::<Packed>(1);
        let receive = Mutex::new(receive);
        let next = || receive.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let work = || {
            let mut respondent = Respondent::new(question)?;
            let mut answer = |packed: Packed| -> Result<(), Failure> {
                let rows = packed.unpack()?;
                Parts::from(&rows).with_rows(&self.means, blocks, |rows| Ok(respondent.add_cells(rows)?))
            };
            let mut done = Ok(());
            // All blocks are taken, also after a fault: whoever reads them must not wait for ever.
            while let Some(packed) = next() {
                done = done.and_then(|()| answer(packed));
            }
            done.map_err(|failure| dpglm::Error::Conflict(failure.to_string()))?;
            respondent.answer()
        };
        let threads = available_parallelism().map_or(1, NonZero::get);
        let (read, answers) = thread::scope(|scope| {
            let working: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut done = 0;
            let read = self.table.blocks(&mut |packed| {
                done += packed.rows() as u64;
                (self.watch)(done, self.table.rows);
                // The threads take blocks until there are no more.
                send.send(packed).map_err(|_| Error::Core(unfinished()))
            });
            drop(send);
            let answers =
                working.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(unfinished())));
            (read, answers.collect::<dpglm::Result<Vec<_>>>())
        });
        read.map_err(unreadable)?;
        Ok(answers?.into_iter().flatten().collect())
    }
}

fn unfinished() -> dpglm::Error {
    dpglm::Error::Conflict("a pass over the rows was not finished: nothing is released".into())
}

/// A fault of the file, which ends the fit.
fn unreadable(error: Error) -> dpglm::Error {
    match error {
        Error::Core(error) => error,
        other => dpglm::Error::Conflict(other.to_string()),
    }
}
