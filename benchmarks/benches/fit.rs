//! A whole private logistic fit at n = 1,000,000 and d = 50, beside its parts: planning with all accounting, and the noise.
//!
//! `cargo bench --bench fit`. The design takes 400 MB; what a fit needs beyond it is printed first.

use divan::{Bencher, black_box};
use dpglm::central::{Glm, Prepared, Privacy};
use dpglm::data::Shape;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::mechanisms::GaussianVector;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use std::sync::LazyLock;

const ROWS: usize = 1_000_000;
const COLUMNS: usize = 50;

static DATA: LazyLock<Dataset> = LazyLock::new(|| {
    let mut state = 1_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 * 2f64.powi(-53)
    };
    let x: Vec<f64> = (0..ROWS * COLUMNS).map(|_| 2.0 * uniform() - 1.0).collect();
    let y = x
        .chunks_exact(COLUMNS)
        .map(|row| f64::from(u8::from(uniform() < Family::logistic().mean(row[0] - row[1]))));
    let y = y.collect();
    Dataset::new(Design::from_f64(ROWS, COLUMNS, x).expect("shape"), y).expect("shape")
});

fn prepared() -> Prepared<Glm> {
    let budget = Budget::new(1.0, 1e-7).expect("valid");
    Glm::new(Family::logistic(), (0.0, 1.0))
        .and_then(|glm| glm.prepare(Shape::new(COLUMNS, ROWS), Privacy::Budget(budget)))
        .expect("valid")
}

/// The largest resident size so far, in bytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0
}

fn main() {
    let design = (ROWS * COLUMNS * 8) as f64;
    let model = prepared();
    LazyLock::force(&DATA);
    let before = peak();
    let fit = model.fit(&DATA, &mut RandomSource::insecure_seeded(1)).expect("fit");
    println!(
        "peak memory with the data loaded {:.3}, after a fit {:.3} of the stored design ({} coefficients)",
        before / design,
        peak() / design,
        fit.coefficients.len()
    );
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn whole_fit(bencher: Bencher) {
    let model = prepared();
    bencher.bench_local(|| model.fit(black_box(&DATA), &mut RandomSource::insecure_seeded(1)).expect("fit"));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn planning_and_accounting() -> Prepared<Glm> {
    prepared()
}

/// As many numbers as a fit releases: gradients, moments and levels of the columns.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn noise(bencher: Bencher) {
    let vector = GaussianVector::new(1.0, 10.0, COLUMNS).expect("valid");
    let mut rng = RandomSource::from_os().expect("random bits");
    bencher.bench_local(|| {
        for _ in 0..100 + COLUMNS.div_ceil(2) + 24 {
            black_box(vector.release(&[0.0; COLUMNS], &mut rng).expect("release"));
        }
    });
}
