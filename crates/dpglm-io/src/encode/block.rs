//! A whole matrix of numbers at once, on all cores: what [`Builder::put`] does cell by cell, in the same order of roundings.

use std::num::NonZero;
use std::thread;

use super::builder::Builder;
use super::entries::Entries;
use super::plan::Purpose;
use crate::bounds::Scaling;
use crate::cell::{Cell, Fault, Numeric};
use crate::schema::Missing;

/// Rows that are worked on together: their part of the table stays in the processor's cache.
const BLOCK: usize = 64;
/// Cells that are worth a thread of their own.
const WORTH_A_THREAD: usize = 1 << 18;

/// One column's way into the table, and what the public rule did to it.
#[derive(Clone)]
struct Lane {
    /// Its column in the matrix.
    from: usize,
    /// Its column in the table.
    to: usize,
    numeric: Numeric,
    scaling: Scaling,
    missing: u64,
    out_of_bounds: u64,
}

impl Builder<'_> {
    /// Puts every number of a matrix. False, and nothing done, where cells must go one by one: in strict mode, where rows
    /// are dropped, and where a column is no number.
    pub(crate) fn put_block<T>(&mut self, numbers: &[T], columns: usize, column_major: bool) -> bool
    where
        T: Copy + Into<f64> + Sync,
    {
        if self.strict || self.missing != Missing::Fill {
            return false;
        }
        let (width, rows) = (self.width(), self.rows);
        let lanes: Option<Vec<Lane>> = self
            .slots
            .iter()
            .map(|slot| match &slot.purpose {
                Purpose::Number { at, numeric, scaling } => Some(Lane {
                    from: slot.position,
                    to: self.constants + at,
                    numeric: *numeric,
                    scaling: *scaling,
                    missing: 0,
                    out_of_bounds: 0,
                }),
                _ => None,
            })
            .collect();
        let Some(lanes) = lanes else { return false };
        let view = View { numbers, rows, columns, column_major };
        let touched = match &mut self.entries {
            Entries::F64(entries) => spread(&view, entries, width, &lanes, |lane, x| lane.scaling.apply(x)),
            Entries::F32(entries) => {
                spread(&view, entries, width, &lanes, |lane, x| lane.scaling.single(lane.scaling.apply(x)))
            }
            _ => return false,
        };
        for (slot, lane) in touched.iter().enumerate() {
            self.touched[slot].missing += lane.missing;
            self.touched[slot].out_of_bounds += lane.out_of_bounds;
        }
        true
    }
}

struct View<'a, T> {
    numbers: &'a [T],
    rows: usize,
    columns: usize,
    column_major: bool,
}

/// Gives every thread a run of rows, and adds up what they changed.
fn spread<T: Copy + Into<f64> + Sync, E: Copy + Send>(
    view: &View<'_, T>,
    entries: &mut [E],
    width: usize,
    lanes: &[Lane],
    store: impl Fn(&Lane, f64) -> E + Sync,
) -> Vec<Lane> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (view.numbers.len() / WORTH_A_THREAD).clamp(1, cores);
    let share = view.rows.div_ceil(threads).next_multiple_of(BLOCK);
    let store = &store;
    let done: Vec<Vec<Lane>> = thread::scope(|scope| {
        let running: Vec<_> = entries
            .chunks_mut(share * width)
            .enumerate()
            .map(|(piece, entries)| {
                let mut lanes = lanes.to_vec();
                scope.spawn(move || {
                    fill(view, piece * share, entries, width, &mut lanes, store);
                    lanes
                })
            })
            .collect();
        // A thread ends early only if it panics, and then the table must not be used.
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|p| std::panic::resume_unwind(p)))
            .collect()
    });
    let mut sum = lanes.to_vec();
    for part in &done {
        for (sum, lane) in sum.iter_mut().zip(part) {
            sum.missing += lane.missing;
            sum.out_of_bounds += lane.out_of_bounds;
        }
    }
    sum
}

fn fill<T: Copy + Into<f64>, E: Copy>(
    view: &View<'_, T>,
    first: usize,
    entries: &mut [E],
    width: usize,
    lanes: &mut [Lane],
    store: &impl Fn(&Lane, f64) -> E,
) {
    for (block, entries) in entries.chunks_mut(BLOCK * width).enumerate() {
        let start = first + block * BLOCK;
        let count = entries.len() / width;
        for lane in lanes.iter_mut() {
            for i in 0..count {
                let row = start + i;
                let at = if view.column_major {
                    lane.from * view.rows + row
                } else {
                    row * view.columns + lane.from
                };
                let (value, fault) = lane.numeric.decode(Cell::Number(view.numbers[at].into()));
                match fault {
                    None => {}
                    Some(Fault::Missing) => lane.missing += 1,
                    Some(_) => lane.out_of_bounds += 1,
                }
                entries[i * width + lane.to] = store(lane, value);
            }
        }
    }
}
