//! Rows that are not one table in memory: read block by block in every pass, each block answered by itself, and the answers added.
//!
//! The answers are exact, so the result is that of one table, to the last bit, whatever the blocks are and whichever thread answers one.
//!
//! # Why private
//! What bounds a unit in a pass holds within a block, so a unit's rows must all be in one. [`Blocks`] promises that; the number of units, which
//! is public and decides the noise, is counted in every pass, and a pass that meets another number is an error. An error releases nothing.
//!
//! # Memory
//! A few blocks at a time: one per core, one that is read ahead and one that waits. Each row's norm is kept from pass to pass while it fits in
//! what the caller allows for that, and computed again where it does not.

use super::kept::Kept;
use super::partial::Partial;
use super::pass::{Pass, Rows};
use super::table::Table;
use crate::data::{Dataset, Shape};
use crate::error::{Error, Result};
use crate::parallel::{self, lock};
use crate::privacy::Adjacency;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

/// A block of rows that is still to be brought into its form: on another core.
pub type Block = Box<dyn FnOnce() -> Result<Dataset> + Send>;

/// Private rows in blocks, which can be gone through as often as needed.
pub trait Blocks: Send + Sync {
    /// What is public of all rows together.
    fn shape(&self) -> Shape;

    /// Whether designs leave zeros out. All of them do, or none.
    fn is_sparse(&self) -> bool {
        false
    }

    /// What a unit is called; `None` where every row is a person. The blocks' tables have units of this name, or none.
    fn unit(&self) -> Option<&str>;

    /// Gives every block, the same ones in the same order each time. **All rows of a unit are in one block**, in an order that does not
    /// change; units are numbered within their block. Ends with the first error of `give`.
    fn read(&self, give: &mut dyn FnMut(Block) -> Result<()>) -> Result<()>;
}

/// Rows in blocks, of which passes are asked.
pub struct Streamed {
    blocks: Arc<dyn Blocks>,
    /// How columns were measured anew, one after the other.
    rescaled: Vec<Vec<Option<(f64, f64)>>>,
    /// Bytes of norms that may be kept.
    memory: usize,
    kept: Mutex<Kept<usize>>,
}

/// A pass in progress.
#[derive(Default)]
struct Sum {
    total: Option<Partial>,
    units: usize,
    failed: Option<Error>,
}

impl Streamed {
    /// Rows in these blocks. Up to so many bytes of what is derived from rows are kept from pass to pass, which spares time.
    pub fn new(blocks: Arc<dyn Blocks>, memory: usize) -> Self {
        Self { blocks, rescaled: Vec::new(), memory, kept: Mutex::new(Kept::new(memory)) }
    }

    /// What is public of all rows together.
    pub fn shape(&self) -> Shape {
        self.blocks.shape()
    }

    /// The most blocks that are in memory at a time: one per core, one that is read ahead, and one that waits.
    pub fn blocks_at_a_time() -> usize {
        parallel::cores() + 2
    }

    /// Answers for a block.
    fn answer(&self, pass: &Pass, block: usize, mut data: Dataset) -> Result<(Partial, usize)> {
        self.require_fit(&data)?;
        for maps in &self.rescaled {
            data = data.with_design(data.design().rescaled(maps)?);
        }
        let units = data.units();
        let table = Table::carrying(data, lock(&self.kept).take(&block));
        let partial = table.pass(pass)?;
        lock(&self.kept).keep(block, table.carried());
        Ok((partial, units))
    }

    /// Refuses a block that is not of these rows.
    fn require_fit(&self, data: &Dataset) -> Result<()> {
        let (shape, whole) = (data.shape(), self.blocks.shape());
        let same = Shape { units: whole.units, ..shape } == whole
            && data.unit_name() == self.blocks.unit()
            && data.design().is_dense() != self.blocks.is_sparse();
        if same {
            return Ok(());
        }
        Err(Error::Conflict("a block of rows has another shape than all rows: nothing is released".into()))
    }
}

impl Rows for Streamed {
    fn shape(&self) -> Shape {
        self.blocks.shape()
    }

    fn is_sparse(&self) -> bool {
        self.blocks.is_sparse()
    }

    fn adjacency(&self) -> Adjacency {
        self.blocks.unit().map_or(Adjacency::ReplaceRow, |name| Adjacency::ReplaceUnit(name.into()))
    }

    fn pass(&self, pass: &Pass) -> Result<Partial> {
        let (send, receive) = mpsc::sync_channel::<(usize, Block)>(1);
        let receive = Arc::new(Mutex::new(receive));
        let (sum, stopped) = (Mutex::new(Sum::default()), AtomicBool::new(false));
        let work = |receive: Arc<Mutex<mpsc::Receiver<(usize, Block)>>>| {
            loop {
                let next = lock(&receive).recv();
                let Ok((block, data)) = next else { break };
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let answer = data().and_then(|data| self.answer(pass, block, data));
                let sum = &mut *lock(&sum);
                if let Err(error) = answer.and_then(|(partial, units)| sum.add(partial, units)) {
                    stopped.store(true, Ordering::Relaxed);
                    sum.failed.get_or_insert(error);
                }
            }
        };
        let read = std::thread::scope(|scope| {
            for _ in 0..parallel::cores() {
                let (receive, work) = (receive.clone(), &work);
                scope.spawn(move || parallel::alone(|| work(receive)));
            }
            // Whoever waits for nobody must learn of it: the threads alone hold the other end.
            drop(receive);
            let mut block = 0;
            let read = self.blocks.read(&mut |data| {
                block += 1;
                let sent = !stopped.load(Ordering::Relaxed) && send.send((block, data)).is_ok();
                if sent { Ok(()) } else { Err(unanswered()) }
            });
            drop(send);
            read
        });
        let Sum { total, units, failed } = sum.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(error) = failed {
            return Err(error);
        }
        read?;
        if units != self.blocks.shape().units {
            return Err(Error::Conflict(
                "the rows are not as many as before: they have changed while they were read, and nothing is released".into(),
            ));
        }
        total.ok_or_else(unanswered)
    }

    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>> {
        let mut rescaled = self.rescaled.clone();
        rescaled.push(maps.to_vec());
        let (blocks, memory) = (self.blocks.clone(), self.memory);
        Ok(Box::new(Self { blocks, rescaled, memory, kept: Mutex::new(Kept::new(memory)) }))
    }
}

impl Sum {
    fn add(&mut self, partial: Partial, units: usize) -> Result<()> {
        self.units += units;
        match &mut self.total {
            Some(total) => total.merge(&partial),
            None => {
                self.total = Some(partial);
                Ok(())
            }
        }
    }
}

fn unanswered() -> Error {
    Error::Conflict("a pass over the rows was not finished: nothing is released".into())
}

impl std::fmt::Debug for Streamed {
    /// The shape only: rows are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Streamed({:?})", self.blocks.shape())
    }
}
