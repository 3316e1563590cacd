//! The 100 largest of a million coordinates: one-shot Gumbel noise beside the papers' peeling.

use divan::{Bencher, black_box};
use dpglm::mechanisms::{GumbelTop, LaplacePeeling};
use dpglm::noise::RandomSource;

const DIMENSION: usize = 1_000_000;
const SUPPORT: usize = 100;

fn main() {
    divan::main();
}

fn vector() -> Vec<f64> {
    (0..DIMENSION).map(|j| ((j * 7919) % 1009) as f64 / 1009.0).collect()
}

#[divan::bench]
fn gumbel_top(bencher: Bencher) {
    let mut rng = RandomSource::from_os().expect("random bits");
    let mut mechanism = GumbelTop::new(SUPPORT, 0.01, 0.5, 0.5, DIMENSION).expect("valid");
    let values = vector();
    bencher.bench_local(|| mechanism.release(black_box(&values), &mut rng));
}

#[divan::bench(sample_count = 2, sample_size = 1)]
fn laplace_peeling(bencher: Bencher) {
    let mut rng = RandomSource::from_os().expect("random bits");
    let mechanism = LaplacePeeling::new(SUPPORT, 0.01, 0.5, DIMENSION).expect("valid");
    let values = vector();
    bencher.bench_local(|| mechanism.release(black_box(&values), &mut rng));
}
