//! Benchmarks of dpglm beside its peers, and simulations of its accuracy and coverage.
//!
//! Read speeds as ratios within one run: machines differ and are noisy.

use rand_core::Rng;
use rand_distr::{Distribution, StandardNormal};

/// The simulations' generator.
pub type Generator = chacha20::ChaCha20Rng;

/// Uniform on [0, 1).
pub fn uniform(rng: &mut Generator) -> f64 {
    (rng.next_u64() >> 11) as f64 * 2f64.powi(-53)
}

/// Standard normal.
pub fn normal(rng: &mut Generator) -> f64 {
    StandardNormal.sample(rng)
}

/// Uniform on the unit sphere.
pub fn sphere(rng: &mut Generator, d: usize) -> Vec<f64> {
    let v: Vec<f64> = (0..d).map(|_| normal(rng)).collect();
    let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.into_iter().map(|x| x / norm).collect()
}

/// Squared l2 distance.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Reads all entries on every core, as fast as memory goes: their sum, in as many running sums as fill the registers.
pub fn read<T: Copy + Default + Sync + std::ops::AddAssign, const SUMS: usize>(entries: &[T]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for part in entries.chunks(entries.len().div_ceil(cores)) {
            scope.spawn(move || {
                let mut sums = [T::default(); SUMS];
                for chunk in part.as_chunks::<SUMS>().0 {
                    for (sum, x) in sums.iter_mut().zip(chunk) {
                        *sum += *x;
                    }
                }
                std::hint::black_box(sums);
            });
        }
    });
}
