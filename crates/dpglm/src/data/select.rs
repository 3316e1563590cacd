//! A few columns of a design, as a design of their own.

use super::csr::{Csr, Values};
use super::design::{Design, Storage};
use crate::error::{Error, Result};
use crate::parallel;

impl Design {
    /// The chosen columns in the given order, stored densely in the design's own precision.
    ///
    /// # Errors
    /// If no column is chosen, one is chosen twice, or there is none of that number.
    pub fn select_columns(&self, chosen: &[usize]) -> Result<Self> {
        let place = places(self.columns(), chosen)?;
        let (rows, width) = (self.rows(), chosen.len());
        match self.storage() {
            Storage::F64(x) => Self::from_f64(rows, width, dense(x, self.columns(), chosen)),
            Storage::F32(x) => Self::from_f32(rows, width, dense(x, self.columns(), chosen)),
            Storage::I8 { entries, scale } => {
                Self::from_i8(rows, width, dense(entries, self.columns(), chosen), *scale)
            }
            Storage::Csr(x) => match x.values() {
                Values::F64(values) => Self::from_f64(rows, width, sparse(x, &place, width, |k| values[k])),
                Values::F32(values) => Self::from_f32(rows, width, sparse(x, &place, width, |k| values[k])),
                Values::Ones => Self::from_f32(rows, width, sparse(x, &place, width, |_| 1.0_f32)),
            },
        }
    }
}

/// Marks a column that was not chosen.
const NOWHERE: u32 = u32::MAX;

/// Where each column goes.
fn places(columns: usize, chosen: &[usize]) -> Result<Vec<u32>> {
    let mut place = vec![NOWHERE; columns];
    for (k, &column) in chosen.iter().enumerate() {
        match place.get_mut(column) {
            // There are at most as many chosen columns as columns, which fit 32 bits.
            Some(place) if *place == NOWHERE => *place = k as u32,
            Some(_) => {
                return Err(Error::Conflict(format!("column {column} is chosen twice: choose it once")));
            }
            None => {
                return Err(Error::Conflict(format!(
                    "column {column} of a design with {columns} columns: they are numbered from 0"
                )));
            }
        }
    }
    Ok(place)
}

fn dense<T: Copy + Default + Send + Sync>(entries: &[T], columns: usize, chosen: &[usize]) -> Vec<T> {
    let rows = entries.len() / columns;
    let mut out = vec![T::default(); rows * chosen.len()];
    if chosen.is_empty() {
        return out;
    }
    let step = parallel::rows_per_piece(rows, chosen.len());
    let pieces = entries.chunks(step * columns).zip(out.chunks_mut(step * chosen.len()));
    parallel::for_each(pieces, |(entries, out)| {
        for (row, out) in entries.chunks_exact(columns).zip(out.chunks_exact_mut(chosen.len())) {
            for (out, &column) in out.iter_mut().zip(chosen) {
                *out = row[column];
            }
        }
    });
    out
}

fn sparse<T: Copy + Default + Send>(
    x: &Csr,
    place: &[u32],
    width: usize,
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut out = vec![T::default(); x.rows() * width];
    if width == 0 {
        return out;
    }
    let step = parallel::rows_per_piece(x.rows(), width + x.entries() / x.rows());
    parallel::for_each(out.chunks_mut(step * width).enumerate(), |(piece, out)| {
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            let row = piece * step + row;
            for k in x.offsets()[row]..x.offsets()[row + 1] {
                if let Some(entry) = out.get_mut(place[x.column(k)] as usize) {
                    *entry = value(k);
                }
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_storage_gives_the_columns_asked_for() {
        let entries = [1.0, 0.0, 3.0, 0.0, 0.0, 6.0];
        let csr = |values| Design::from_csr(3, vec![0, 2, 3], vec![0, 2, 2], values).unwrap();
        let designs = [
            Design::from_f64(2, 3, entries.to_vec()).unwrap(),
            Design::from_f32(2, 3, entries.map(|x| x as f32).to_vec()).unwrap(),
            Design::from_i8(2, 3, vec![2, 0, 6, 0, 0, 12], 0.5).unwrap(),
            csr(Values::F64(vec![1.0, 3.0, 6.0])),
            csr(Values::F32(vec![1.0, 3.0, 6.0])),
        ];
        for design in designs {
            let chosen = design.select_columns(&[2, 0]).unwrap();
            assert_eq!(chosen.columns(), 2);
            assert!(!matches!(chosen.storage(), Storage::Csr(_)));
            let found: Vec<f64> = (0..2).flat_map(|i| chosen.row(i).collect::<Vec<_>>()).collect();
            assert_eq!(found, [3.0, 1.0, 6.0, 0.0]);
        }
        let ones = csr(Values::Ones).select_columns(&[2]).unwrap();
        assert_eq!(ones.row(1).collect::<Vec<_>>(), [1.0]);
    }

    #[test]
    fn wrong_choices_are_refused() {
        let design = Design::from_f64(1, 3, vec![1.0; 3]).unwrap();
        let message = |chosen: &[usize]| design.select_columns(chosen).unwrap_err().to_string();
        assert!(message(&[]).contains("0 columns"));
        assert!(message(&[3]).contains("3 columns"));
        assert!(message(&[1, 1]).contains("twice"));
    }

    #[test]
    fn many_rows_on_several_cores() {
        let (rows, columns) = (5_000, 40);
        let entries: Vec<f64> = (0..rows * columns).map(|k| k as f64).collect();
        let design = Design::from_f64(rows, columns, entries).unwrap();
        let chosen = design.select_columns(&[39, 7]).unwrap();
        for i in 0..rows {
            let first = (i * columns) as f64;
            assert_eq!(chosen.row(i).collect::<Vec<_>>(), [first + 39.0, first + 7.0]);
        }
    }
}
