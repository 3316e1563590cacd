//! The entries of sparse rows, whatever their type.

use crate::data::csr::{self, Csr};
use crate::kernels::lanes::{Entry, LANES, Lanes};
use std::ops::Range;

/// What stands in the entries of some rows.
pub(super) trait Values: Copy + Send + Sync {
    /// The entries from `range`.
    fn part(self, range: Range<usize>) -> Self;
    /// One of them.
    fn at(self, k: usize) -> f64;
    /// One after the other.
    fn each(self) -> impl Iterator<Item = f64>;
    /// The eight from `k` on.
    fn eight<L: Lanes>(self, lanes: L, k: usize) -> L::Vector;
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
    fn eight<L: Lanes>(self, lanes: L, k: usize) -> L::Vector {
        T::lanes(lanes, &self[k..].as_chunks().0[0])
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
    fn eight<L: Lanes>(self, lanes: L, _: usize) -> L::Vector {
        lanes.splat(1.0)
    }
}

/// Sparse rows whose values are of a known type.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, V> {
    pub csr: &'a Csr,
    pub offsets: &'a [usize],
    pub indices: &'a [u32],
    pub values: V,
}

impl<'a, V: Values> Rows<'a, V> {
    #[inline(always)]
    pub fn row(self, row: usize) -> (&'a [u32], V) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.indices[range.clone()], self.values.part(range))
    }

    pub fn rows(self) -> usize {
        self.offsets.len() - 1
    }
}

/// Something to do with sparse rows, whatever their values.
pub(super) trait Task {
    type Output;
    fn run<V: Values>(self, rows: Rows<'_, V>) -> Self::Output;
}

pub(super) fn with_values<K: Task>(x: &Csr, task: K) -> K::Output {
    let (offsets, indices) = (x.offsets(), x.indices());
    match x.values() {
        csr::Values::F64(values) => task.run(Rows { csr: x, offsets, indices, values: &values[..] }),
        csr::Values::F32(values) => task.run(Rows { csr: x, offsets, indices, values: &values[..] }),
        csr::Values::Ones => task.run(Rows { csr: x, offsets, indices, values: Ones }),
    }
}

/// The inner product of a sparse row.
#[inline(always)]
pub(super) fn dot<V: Values, L: Lanes>(lanes: L, indices: &[u32], values: V, b: &[f64]) -> f64 {
    let mut sum = lanes.splat(0.0);
    let (eights, rest) = indices.as_chunks::<LANES>();
    for (k, columns) in eights.iter().enumerate() {
        let mut gathered = [0.0; LANES];
        for l in 0..LANES {
            gathered[l] = b[columns[l] as usize];
        }
        sum = lanes.mul_add(values.eight(lanes, k * LANES), lanes.load(&gathered), sum);
    }
    if !rest.is_empty() {
        let (mut x, mut gathered) = ([0.0; LANES], [0.0; LANES]);
        for (l, &column) in rest.iter().enumerate() {
            x[l] = values.at(eights.len() * LANES + l);
            gathered[l] = b[column as usize];
        }
        sum = lanes.mul_add(lanes.load(&x), lanes.load(&gathered), sum);
    }
    lanes.sum(sum)
}
