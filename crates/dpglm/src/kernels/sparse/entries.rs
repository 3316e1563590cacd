//! The entries of sparse rows, whatever their type.

use super::scratch;
use crate::data::csr::{self, Csr, Indices};
use crate::kernels::lanes::{Entry, LANES, Lanes};
use std::ops::Range;

/// Entries that are worked on side by side.
const STEP: usize = 4;

/// What stands in the entries of some rows.
pub(super) trait Values: Copy + Send + Sync {
    /// The entries from `range`.
    fn part(self, range: Range<usize>) -> Self;
    /// One of them.
    fn at(self, k: usize) -> f64;
    /// One after the other.
    fn each(self) -> impl Iterator<Item = f64>;
    /// Four after four, and those left.
    fn fours(self) -> (impl Iterator<Item = [f64; STEP]>, Self);
}

impl<T: Entry> Values for &[T] {
    #[inline(always)]
    fn part(self, range: Range<usize>) -> Self {
        &self[range]
    }
    #[inline(always)]
    fn at(self, k: usize) -> f64 {
        self[k].widen()
    }
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = f64> {
        self.iter().map(|x| x.widen())
    }
    #[inline(always)]
    fn fours(self) -> (impl Iterator<Item = [f64; STEP]>, Self) {
        let (fours, rest) = self.as_chunks::<STEP>();
        (fours.iter().map(|x| x.map(T::widen)), rest)
    }
}

/// Every entry is one.
#[derive(Clone, Copy)]
struct Ones;

impl Values for Ones {
    #[inline(always)]
    fn part(self, _: Range<usize>) -> Self {
        self
    }
    #[inline(always)]
    fn at(self, _: usize) -> f64 {
        1.0
    }
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = f64> {
        std::iter::repeat(1.0)
    }
    #[inline(always)]
    fn fours(self) -> (impl Iterator<Item = [f64; STEP]>, Self) {
        (std::iter::repeat([1.0; STEP]), self)
    }
}

/// How the column of an entry is stored, and the tables of one number a column that it is looked up in.
///
/// A table for indices of two bytes has a number for each of them, so that looking one up needs no check: the checks
/// would take an eighth of the time of a pass.
pub(super) trait Index: Copy + Send + Sync + 'static {
    type Table: ?Sized + Sync;
    /// The length of a table for so many columns: groups of eight, at least one.
    fn length(columns: usize) -> usize;
    /// Tables of this length that stand one after the other.
    fn tables(all: &[f64], length: usize) -> impl Iterator<Item = &Self::Table>;
    fn tables_mut(all: &mut [f64], length: usize) -> impl Iterator<Item = &mut Self::Table>;
    /// The numbers of four columns.
    fn four(columns: &[Self; STEP], table: &Self::Table) -> [f64; STEP];
    /// The number of this column.
    fn of(self, table: &Self::Table) -> f64;
    fn of_mut(self, table: &mut Self::Table) -> &mut f64;
}

impl Index for u32 {
    type Table = [f64];
    fn length(columns: usize) -> usize {
        columns.max(1).next_multiple_of(LANES)
    }
    #[inline(always)]
    fn tables(all: &[f64], length: usize) -> impl Iterator<Item = &[f64]> {
        all.chunks_exact(length)
    }
    #[inline(always)]
    fn tables_mut(all: &mut [f64], length: usize) -> impl Iterator<Item = &mut [f64]> {
        all.chunks_exact_mut(length)
    }
    #[inline(always)]
    fn four(columns: &[Self; STEP], table: &[f64]) -> [f64; STEP] {
        columns.map(|column| column.of(table))
    }
    #[inline(always)]
    fn of(self, table: &[f64]) -> f64 {
        table[self as usize]
    }
    #[inline(always)]
    fn of_mut(self, table: &mut [f64]) -> &mut f64 {
        &mut table[self as usize]
    }
}

impl Index for u16 {
    type Table = [f64; Indices::TABLE];
    fn length(_: usize) -> usize {
        Indices::TABLE
    }
    #[inline(always)]
    fn tables(all: &[f64], _: usize) -> impl Iterator<Item = &Self::Table> {
        all.as_chunks().0.iter()
    }
    #[inline(always)]
    fn tables_mut(all: &mut [f64], _: usize) -> impl Iterator<Item = &mut Self::Table> {
        all.as_chunks_mut().0.iter_mut()
    }
    #[inline(always)]
    fn four(columns: &[Self; STEP], table: &Self::Table) -> [f64; STEP] {
        // One read for the four of them: reading is what there is most of.
        let all = columns.iter().rev().fold(0, |all, &column| all << 16 | u64::from(column));
        std::array::from_fn(|l| table[(all >> (16 * l) & 0xffff) as usize])
    }
    #[inline(always)]
    fn of(self, table: &Self::Table) -> f64 {
        table[usize::from(self)]
    }
    #[inline(always)]
    fn of_mut(self, table: &mut Self::Table) -> &mut f64 {
        &mut table[usize::from(self)]
    }
}

/// Sparse rows whose indices and values are of a known type.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, I, V> {
    pub csr: &'a Csr,
    pub offsets: &'a [usize],
    pub indices: &'a [I],
    pub values: V,
}

impl<'a, I: Index, V: Values> Rows<'a, I, V> {
    #[inline(always)]
    pub fn row(self, row: usize) -> (&'a [I], V) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.indices[range.clone()], self.values.part(range))
    }

    #[inline(always)]
    pub fn rows(self) -> usize {
        self.offsets.len() - 1
    }
}

/// Room for [`spread`].
pub(super) fn tables_for<I: Index>(csr: &Csr, vectors: &[f64], columns: usize) -> Vec<f64> {
    scratch::take(vectors.len() / columns * I::length(csr.columns().original().len()))
}

/// Lays vectors of one number a column out as tables for indices of type `I`. What no index names stays as it is.
pub(super) fn spread<I: Index>(csr: &Csr, vectors: &[f64], columns: usize, tables: &mut [f64]) {
    let original = csr.columns().original();
    let length = I::length(original.len());
    for (table, vector) in tables.chunks_exact_mut(length).zip(vectors.chunks_exact(columns)) {
        for (number, &column) in table.iter_mut().zip(original) {
            *number = vector[column as usize];
        }
    }
}

/// Something to do with sparse rows, whatever their values.
pub(super) trait Task: Sized {
    type Output;
    fn run<I: Index, V: Values>(self, rows: Rows<'_, I, V>) -> Self::Output;

    fn run_on(self, x: &Csr) -> Self::Output {
        match x.columns().indices() {
            Indices::Narrow(indices) => with_values(x, indices, self),
            Indices::Wide(indices) => with_values(x, indices, self),
        }
    }
}

fn with_values<I: Index, K: Task>(x: &Csr, indices: &[I], task: K) -> K::Output {
    let offsets = x.offsets();
    match x.values() {
        csr::Values::F64(values) => task.run(Rows { csr: x, offsets, indices, values: &values[..] }),
        csr::Values::F32(values) => task.run(Rows { csr: x, offsets, indices, values: &values[..] }),
        csr::Values::Ones => task.run(Rows { csr: x, offsets, indices, values: Ones }),
    }
}

/// The inner product of a sparse row.
#[inline(always)]
pub(super) fn dot<I: Index, V: Values, L: Lanes>(lanes: L, indices: &[I], values: V, b: &I::Table) -> f64 {
    let mut sums = [0.0; STEP];
    let (columns, last) = indices.as_chunks::<STEP>();
    let (entries, rest) = values.fours();
    for (columns, x) in columns.iter().zip(entries) {
        let b = I::four(columns, b);
        for l in 0..STEP {
            sums[l] = lanes.mul_add_one(x[l], b[l], sums[l]);
        }
    }
    for (&column, x) in last.iter().zip(rest.each()) {
        sums[0] = lanes.mul_add_one(x, column.of(b), sums[0]);
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Adds a row times `r` to the sums, on their grid. The last bit of r is set.
#[inline(always)]
pub(super) fn add_row<I: Index, V: Values, L: Lanes>(
    lanes: L,
    indices: &[I],
    values: V,
    r: f64,
    sums: &mut I::Table,
) {
    let (columns, last) = indices.as_chunks::<STEP>();
    let (entries, rest) = values.fours();
    for (columns, x) in columns.iter().zip(entries) {
        // The columns of a row differ, so four sums can be under way at once; the compiler cannot know that.
        let mut sums_of = [0.0; STEP];
        for l in 0..STEP {
            sums_of[l] = lanes.mul_add_one(r, x[l], columns[l].of(sums));
        }
        for l in 0..STEP {
            *columns[l].of_mut(sums) = sums_of[l];
        }
    }
    for (&column, x) in last.iter().zip(rest.each()) {
        let sum = column.of_mut(sums);
        *sum = lanes.mul_add_one(r, x, *sum);
    }
}
