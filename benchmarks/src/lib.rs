//! Benchmarks of dpglm beside its peers, and simulations of its accuracy and coverage.
//!
//! Read speeds as ratios within one run: machines differ and are noisy.

use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use rand_core::{Rng, SeedableRng};
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

/// A support of s columns among d.
pub fn support(rng: &mut Generator, d: usize, s: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    while chosen.len() < s {
        let j = (uniform(rng) * d as f64) as usize;
        if !chosen.contains(&j) {
            chosen.push(j);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Entries uniform on (-1, 1) in single precision, by a fast generator: there are hundreds of millions.
pub fn features(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 40) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// Sparse logistic regression: features uniform on (-1, 1), coefficients uniform on the unit sphere of s columns. The rows, and the
/// coefficients.
pub fn sparse_logistic(n: usize, d: usize, s: usize, seed: u64) -> dpglm::Result<(Dataset, Vec<f64>)> {
    let rng = &mut Generator::seed_from_u64(seed);
    let (places, values) = (support(rng, d, s), sphere(rng, s));
    let x = features(seed, n * d);
    let y = x.chunks_exact(d).map(|row| {
        let u = places.iter().zip(&values).map(|(&j, b)| f64::from(row[j]) * b).sum();
        f64::from(u8::from(uniform(rng) < Family::logistic().mean(u)))
    });
    let y = y.collect();
    Ok((Dataset::new(Design::from_f32(n, d, x)?, y)?, spread(d, &places, &values)))
}

/// Normal rows of variance 1; s of the d means are uniform on (-10, 10), the others zero. The rows, and the means.
pub fn sparse_normal(n: usize, d: usize, s: usize, seed: u64) -> dpglm::Result<(Design, Vec<f64>)> {
    let rng = &mut Generator::seed_from_u64(seed);
    let mut means = vec![0.0; d];
    support(rng, d, s).into_iter().for_each(|j| means[j] = 20.0 * uniform(rng) - 10.0);
    let x = (0..n * d).map(|i| means[i % d] + normal(rng)).collect();
    Ok((Design::from_f64(n, d, x)?, means))
}

/// Values at their places among d, zero elsewhere.
pub fn spread(d: usize, places: &[usize], values: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; d];
    places.iter().zip(values).for_each(|(&j, &value)| all[j] = value);
    all
}

/// Mean and standard error.
pub fn summary(values: &[f64]) -> (f64, f64) {
    let m = values.len() as f64;
    let mean = values.iter().sum::<f64>() / m;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (m - 1.0).max(1.0);
    (mean, (variance / m).sqrt())
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
