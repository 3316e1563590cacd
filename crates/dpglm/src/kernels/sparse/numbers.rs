//! One number a row: its linear predictor, its squared norm.

use super::entries::{Rows, Task, Values, dot, with_values};
use crate::data::csr::Csr;
use crate::kernels::lanes::{Kernel, LANES, Lanes, Level};
use crate::parallel;

/// `out = X b`.
pub(in crate::kernels) fn predict(level: Level, x: &Csr, coefficients: &[f64], out: &mut [f64]) {
    with_values(x, EachRow { level, out, work: Predict { coefficients } });
}

/// `out_i = sum_j (multipliers_j x_ij)^2`, rounded to nearest in every operation.
pub(in crate::kernels) fn squares(level: Level, x: &Csr, multipliers: &[f64], out: &mut [f64]) {
    with_values(x, EachRow { level, out, work: Squares { multipliers } });
}

/// The most roundings any square meets on its way through [`squares`] in a row of so many entries: three for the square
/// of a product, one for each addition to its lane and three to join the lanes.
pub(in crate::kernels) fn square_roundings(entries: usize) -> usize {
    3 + entries.div_ceil(LANES) + 3
}

/// One number a row.
trait RowWork: Copy + Send + Sync {
    fn row<V: Values, L: Lanes>(self, lanes: L, indices: &[u32], values: V) -> f64;
}

#[derive(Clone, Copy)]
struct Predict<'a> {
    coefficients: &'a [f64],
}

impl RowWork for Predict<'_> {
    #[inline(always)]
    fn row<V: Values, L: Lanes>(self, lanes: L, indices: &[u32], values: V) -> f64 {
        dot(lanes, indices, values, self.coefficients)
    }
}

#[derive(Clone, Copy)]
struct Squares<'a> {
    multipliers: &'a [f64],
}

impl RowWork for Squares<'_> {
    #[inline(always)]
    fn row<V: Values, L: Lanes>(self, lanes: L, indices: &[u32], values: V) -> f64 {
        let mut sum = lanes.splat(0.0);
        for (k, columns) in indices.chunks(LANES).enumerate() {
            let (mut x, mut gathered) = ([0.0; LANES], [0.0; LANES]);
            for (l, &column) in columns.iter().enumerate() {
                x[l] = values.at(k * LANES + l);
                gathered[l] = self.multipliers[column as usize];
            }
            let x = lanes.mul(lanes.load(&x), lanes.load(&gathered));
            sum = lanes.mul_add(x, x, sum);
        }
        lanes.sum(sum)
    }
}

struct EachRow<'a, W> {
    level: Level,
    out: &'a mut [f64],
    work: W,
}

impl<W: RowWork> Task for EachRow<'_, W> {
    type Output = ();

    fn run<V: Values>(self, rows: Rows<'_, V>) {
        let Self { level, out, work } = self;
        let step = parallel::rows_per_piece(rows.rows(), rows.indices.len() / rows.rows());
        parallel::for_each(out.chunks_mut(step).enumerate(), |(piece, out)| {
            level.run(RowPiece { rows, first: piece * step, out, work });
        });
    }
}

struct RowPiece<'a, V, W> {
    rows: Rows<'a, V>,
    first: usize,
    out: &'a mut [f64],
    work: W,
}

impl<V: Values, W: RowWork> Kernel for RowPiece<'_, V, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (k, out) in self.out.iter_mut().enumerate() {
            let (indices, values) = self.rows.row(self.first + k);
            *out = self.work.row(lanes, indices, values);
        }
    }
}
