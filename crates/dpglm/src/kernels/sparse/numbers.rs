//! One number a row: its linear predictor, its squared norm.

use super::entries::{Index, Rows, Task, Values, dot, spread, tables_for};
use super::scratch;
use crate::data::csr::Csr;
use crate::kernels::lanes::{Kernel, LANES, Lanes, Level};
use crate::parallel;

/// `out = X b`.
pub(in crate::kernels) fn predict(level: Level, x: &Csr, coefficients: &[f64], out: &mut [f64]) {
    EachRow { level, out, numbers: coefficients, work: Work::Predict }.run_on(x);
}

/// `out_i = sum_j (multipliers_j x_ij)^2`, rounded to nearest in every operation.
pub(in crate::kernels) fn squares(level: Level, x: &Csr, multipliers: &[f64], out: &mut [f64]) {
    EachRow { level, out, numbers: multipliers, work: Work::Squares }.run_on(x);
}

/// The most roundings any square meets on its way through [`squares`] in a row of so many entries: three for the square
/// of a product, one for each addition to its lane and three to join the lanes.
pub(in crate::kernels) fn square_roundings(entries: usize) -> usize {
    3 + entries.div_ceil(LANES) + 3
}

/// What to do with a row and the numbers of its columns.
#[derive(Clone, Copy)]
enum Work {
    Predict,
    Squares,
}

struct EachRow<'a> {
    level: Level,
    out: &'a mut [f64],
    numbers: &'a [f64],
    work: Work,
}

impl Task for EachRow<'_> {
    type Output = ();

    fn run<I: Index, V: Values>(self, rows: Rows<'_, I, V>) {
        let Self { level, out, numbers, work } = self;
        let columns = numbers.len();
        let mut tables = tables_for::<I>(rows.csr, numbers, columns);
        spread::<I>(rows.csr, numbers, columns, &mut tables);
        let step = parallel::rows_per_piece(rows.rows(), rows.indices.len() / rows.rows());
        parallel::for_each(out.chunks_mut(step).enumerate(), |(piece, out)| {
            for table in I::tables(&tables, tables.len()) {
                level.run(RowPiece { rows, first: piece * step, out, table, work });
            }
        });
        scratch::give(tables);
    }
}

struct RowPiece<'a, I: Index, V> {
    rows: Rows<'a, I, V>,
    first: usize,
    out: &'a mut [f64],
    table: &'a I::Table,
    work: Work,
}

impl<I: Index, V: Values> Kernel for RowPiece<'_, I, V> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (k, out) in self.out.iter_mut().enumerate() {
            let (indices, values) = self.rows.row(self.first + k);
            *out = match self.work {
                Work::Predict => dot(lanes, indices, values, self.table),
                Work::Squares => sum_squares(lanes, indices, values, self.table),
            };
        }
    }
}

#[inline(always)]
fn sum_squares<I: Index, V: Values, L: Lanes>(
    lanes: L,
    indices: &[I],
    values: V,
    multipliers: &I::Table,
) -> f64 {
    let mut sum = lanes.splat(0.0);
    for (k, columns) in indices.chunks(LANES).enumerate() {
        let (mut x, mut gathered) = ([0.0; LANES], [0.0; LANES]);
        for (l, &column) in columns.iter().enumerate() {
            x[l] = values.at(k * LANES + l);
            gathered[l] = column.of(multipliers);
        }
        let x = lanes.mul(lanes.load(&x), lanes.load(&gathered));
        sum = lanes.mul_add(x, x, sum);
    }
    lanes.sum(sum)
}
