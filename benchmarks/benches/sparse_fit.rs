//! Whole sparse fits at n = 40,000 and d = 10,000 in single precision, in units of one read of the design.
//!
//! `cargo bench --bench sparse_fit`. The design takes 1.6 GB. Everything is taken in turns, so that other work on the
//! machine slows all alike; numbers are medians.

use dpglm::central::noisy_iht::{NoisyIht, Selection};
use dpglm::central::{Glm, Privacy, SelectRefine};
use dpglm::data::Shape;
use dpglm::data::design::Storage;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm_benchmarks::read;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 40_000;
const COLUMNS: usize = 10_000;
const SPARSITY: usize = 10;
const ROUNDS: usize = 7;

fn data() -> Dataset {
    let mut state = 1_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 * 2f32.powi(-24)
    };
    let x: Vec<f32> = (0..ROWS * COLUMNS).map(|_| 2.0 * uniform() - 1.0).collect();
    let y = x
        .chunks_exact(COLUMNS)
        .map(|row| {
            let predictor = row[..SPARSITY].iter().map(|&x| f64::from(x)).sum::<f64>() / 3.0;
            f64::from(u8::from(f64::from(uniform()) < Family::logistic().mean(predictor)))
        })
        .collect();
    Dataset::new(Design::from_f32(ROWS, COLUMNS, x).expect("shape"), y).expect("shape")
}

fn main() {
    let data = data();
    let Storage::F32(entries) = data.design().storage() else {
        unreachable!("single precision was asked for")
    };
    let privacy = Privacy::Budget(Budget::new(0.5, 1.25e-5).expect("budget"));
    let model = || Glm::new(Family::logistic(), (0.0, 1.0)).expect("model");
    let default = SelectRefine::new(model(), SPARSITY)
        .and_then(|m| m.prepare(Shape::new(COLUMNS, ROWS), privacy))
        .expect("plan");
    let steps = 20;
    let iht = |selection| {
        NoisyIht::new(model(), SPARSITY, 1.0, selection)
            .and_then(|m| m.steps(steps))
            .and_then(|m| m.prepare(Shape::new(COLUMNS, ROWS), privacy))
            .expect("plan")
    };
    let (gumbel, peeling) = (iht(Selection::Gumbel), iht(Selection::Peeling));
    let b = vec![1e-4; COLUMNS];
    let mut gradient = vec![0.0; COLUMNS];
    let residual = |i: usize, u: f64| 1.0 / (1.0 + (-u).exp()) - (i % 2) as f64;
    let mut rng = RandomSource::from_os().expect("random bits");
    let mut times = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        let mut time = |k: usize, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            times[k].push(start.elapsed().as_secs_f64());
        };
        time(0, &mut || read::<f32, 32>(black_box(entries)));
        time(1, &mut || fused_pass(black_box(data.design()), &b, residual, black_box(&mut gradient)));
        time(2, &mut || drop(black_box(default.fit(&data, &mut rng).expect("fit"))));
        time(3, &mut || drop(black_box(gumbel.fit(&data, &mut rng).expect("fit"))));
        time(4, &mut || drop(black_box(peeling.fit(&data, &mut rng).expect("fit"))));
    }
    let [read, others @ ..] = times.map(|mut t| {
        t.sort_by(f64::total_cmp);
        t[t.len() / 2]
    });
    println!("one read of the design: {:.1} GB/s", (ROWS * COLUMNS * 4) as f64 / read / 1e9);
    let names = [
        "fused pass, one iteration".into(),
        "select-refine, whole fit: one pass over all columns, a hundred over ten".to_owned(),
        format!("noisy IHT, {steps} steps, Gumbel selection: {steps} passes"),
        format!("noisy IHT, {steps} steps, literal peeling: {steps} passes"),
    ];
    for (name, time) in names.iter().zip(others) {
        println!("{:8.2} reads  {name}", time / read);
    }
}
