//! The lengths of rows after a linear map.

use super::lanes::{Entry, Kernel, Lanes, Level, Line};
use super::rows::{STRIP, dot_rows, padded};
use super::times;
use crate::data::design::{Design, Storage};
use crate::parallel;

/// For every row `sum_k (map_k . x_i)^2`, in one read of the design; `map` holds vectors of one entry a column, one after
/// the other. Each inner product meets at most `columns + 8` roundings, and a square at most as many more as there
/// are vectors, plus two.
pub(crate) fn mapped_squares(design: &Design, map: &[f64]) -> Vec<f64> {
    let (rows, columns) = (design.rows(), design.columns());
    assert!(map.len().is_multiple_of(columns), "map: vectors of one entry a column");
    let mut out = vec![0.0; rows];
    let level = Level::best();
    match design.storage() {
        Storage::F64(x) => dense(level, x, columns, map, &mut out),
        Storage::F32(x) => dense(level, x, columns, map, &mut out),
        Storage::I8 { entries, scale } => dense(level, entries, columns, &times(map, *scale), &mut out),
        Storage::Csr(csr) => {
            let outputs = map.len() / columns;
            // By columns, so that a stored entry adds one vector.
            let by_column: Vec<f64> =
                (0..map.len()).map(|at| map[at % outputs * columns + at / outputs]).collect();
            let step = parallel::rows_per_piece(rows, outputs);
            parallel::for_each(out.chunks_mut(step).enumerate(), |(piece, out)| {
                let mut mapped = vec![0.0; outputs];
                for (row, out) in (piece * step..).zip(out) {
                    mapped.fill(0.0);
                    for (column, x) in csr.row(row) {
                        let vector = &by_column[column * outputs..(column + 1) * outputs];
                        mapped.iter_mut().zip(vector).for_each(|(u, a)| *u += a * x);
                    }
                    *out = mapped.iter().map(|u| u * u).sum();
                }
            });
        }
    }
    out
}

fn dense<T: Entry>(level: Level, entries: &[T], columns: usize, map: &[f64], out: &mut [f64]) {
    let map: Vec<Line> = map.chunks_exact(columns).flat_map(padded).collect();
    let outputs = map.len() / columns.div_ceil(super::lanes::LANES);
    let step = parallel::rows_per_piece(out.len(), columns.saturating_mul(outputs));
    let pieces = entries.chunks(step * columns).zip(out.chunks_mut(step));
    parallel::for_each(pieces, |(entries, out)| {
        level.run(Mapped { entries, columns, outputs, map: &map, out });
    });
}

struct Mapped<'a, T> {
    entries: &'a [T],
    columns: usize,
    outputs: usize,
    map: &'a [Line],
    out: &'a mut [f64],
}

impl<T: Entry> Kernel for Mapped<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { entries, columns, outputs, map, out } = self;
        let mut mapped = vec![0.0; STRIP * outputs];
        for (strip, out) in entries.chunks(STRIP * columns).zip(out.chunks_mut(STRIP)) {
            dot_rows(lanes, strip, columns, map, &mut mapped, &[]);
            for (mapped, out) in mapped.chunks_exact(outputs).zip(out) {
                *out = mapped.iter().map(|u| u * u).sum();
            }
        }
    }
}
