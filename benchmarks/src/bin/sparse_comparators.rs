//! Relative l2 errors of the sparse methods in simulation.
//!
//! `cargo run --release --bin sparse_comparators -- [SEEDS] [FILTER]`. Wang and Gu 2020 setting (i), linear: 800 rows, 1,000 columns, 10
//! coefficients that are not zero, standard normal; features uniform on (-1, 1), noise of variance 0.1, responses declared in
//! [-10, 10], delta 0.01. Frank-Wolfe is given the true l1 norm as its radius, all others the true sparsity. A FILTER that
//! begins with `logistic` runs the sparse logistic setting instead, which takes long.

use dpglm::central::{Glm, Iht, NoisyIht, Privacy, SelectRefine, Selection, Transfer};
use dpglm::comparators::{FrankWolfe, JohnsonLindenstrauss, KarwaVadhan, TwoStage};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm_benchmarks::{Generator, normal, sparse_logistic, squared_distance, summary, uniform};
use rand_core::SeedableRng;

const ROWS: usize = 800;
const COLUMNS: usize = 1_000;
const SPARSITY: usize = 10;
const TARGET: (f64, f64) = (-10.0, 10.0);

fn simulated(seed: u64) -> (Dataset, Vec<f64>) {
    let rng = &mut Generator::seed_from_u64(seed);
    let mut truth = vec![0.0; COLUMNS];
    while truth.iter().filter(|b| **b != 0.0).count() < SPARSITY {
        let j = (uniform(rng) * COLUMNS as f64) as usize;
        truth[j] = normal(rng);
    }
    let x: Vec<f64> = (0..ROWS * COLUMNS).map(|_| 2.0 * uniform(rng) - 1.0).collect();
    let y = x
        .chunks_exact(COLUMNS)
        .map(|row| row.iter().zip(&truth).map(|(a, b)| a * b).sum::<f64>() + 0.1f64.sqrt() * normal(rng))
        .collect();
    (Dataset::new(Design::from_f64(ROWS, COLUMNS, x).expect("shape"), y).expect("shape"), truth)
}

type Method = (&'static str, fn(&Dataset, &[f64], Privacy, &mut RandomSource) -> dpglm::Result<Vec<f64>>);

const METHODS: [Method; 7] = [
    ("non-private IHT", |data, _, _, _| Iht::new(SPARSITY)?.fit(&Family::gaussian(), data, 0.0)),
    ("frank-wolfe", |data, truth, privacy, rng| {
        let radius = truth.iter().map(|b| b.abs()).sum();
        Ok(FrankWolfe::linear(TARGET, 1.0, radius)?.fit(data, privacy, rng)?.coefficients)
    }),
    ("frank-wolfe, 2x radius", |data, truth, privacy, rng| {
        let radius = 2.0 * truth.iter().map(|b| b.abs()).sum::<f64>();
        Ok(FrankWolfe::linear(TARGET, 1.0, radius)?.fit(data, privacy, rng)?.coefficients)
    }),
    ("two-stage", |data, _, privacy, rng| {
        Ok(TwoStage::linear(TARGET, 1.0, SPARSITY)?.fit(data, privacy, rng)?.coefficients)
    }),
    ("transfer", |data, _, privacy, rng| {
        Ok(Transfer::linear(TARGET, 1.0, SPARSITY)?.fit(data, privacy, rng)?.coefficients)
    }),
    ("transfer, literal (conditional)", |data, _, privacy, rng| {
        let model = Transfer::linear(TARGET, 1.0, SPARSITY)?.literal();
        let model = model.accepting("one record does not change the support")?;
        Ok(model.fit(data, privacy, rng)?.coefficients)
    }),
    ("johnson-lindenstrauss", |data, _, privacy, rng| {
        let model = JohnsonLindenstrauss::linear(TARGET, 1.0)?.projected_rows(1_500)?;
        Ok(model.fit(data, privacy, rng)?.coefficients)
    }),
];

/// The same for the sparse logistic setting: 40,000 rows, 10,000 columns uniform on (-1, 1), epsilon 0.5, delta 1/2n.
const LOGISTIC: [Method; 6] = [
    ("non-private IHT", |data, _, _, _| {
        Iht::new(SPARSITY)?.iterations(15)?.fit(&Family::logistic(), data, 0.0)
    }),
    ("select-refine", |data, truth, privacy, rng| {
        let model = SelectRefine::new(Glm::new(Family::logistic(), (0.0, 1.0))?, SPARSITY)?;
        Ok(model.fit(data, privacy, rng)?.coefficients(truth.len()))
    }),
    ("noisy-iht", |data, truth, privacy, rng| {
        let glm = Glm::new(Family::logistic(), (0.0, 1.0))?;
        let model = NoisyIht::new(glm, SPARSITY, 1.0, Selection::Gumbel)?;
        Ok(model.fit(data, privacy, rng)?.coefficients(truth.len()))
    }),
    ("frank-wolfe", |data, truth, privacy, rng| {
        let radius = truth.iter().map(|b| b.abs()).sum();
        Ok(FrankWolfe::logistic(1.0, radius)?.fit(data, privacy, rng)?.coefficients)
    }),
    ("two-stage", |data, _, privacy, rng| {
        Ok(TwoStage::logistic(1.0, SPARSITY)?.fit(data, privacy, rng)?.coefficients)
    }),
    ("transfer", |data, _, privacy, rng| {
        Ok(Transfer::logistic(1.0, SPARSITY)?.fit(data, privacy, rng)?.coefficients)
    }),
];

fn logistic(seeds: u64, filter: &str) {
    let (n, d) = (40_000, 10_000);
    println!("\nsparse logistic, squared l2 error, mean over {seeds} seeds (standard error)");
    let privacy = Privacy::Budget(Budget::new(0.5, 0.5 / n as f64).expect("valid"));
    let methods: Vec<&Method> = LOGISTIC.iter().filter(|(name, _)| name.contains(filter)).collect();
    let mut errors = vec![Vec::new(); methods.len()];
    for seed in 0..seeds {
        let (data, truth) = sparse_logistic(n, d, SPARSITY, seed).expect("shape");
        for ((_, fit), errors) in methods.iter().zip(&mut errors) {
            let estimate =
                fit(&data, &truth, privacy, &mut RandomSource::insecure_seeded(seed)).expect("fit");
            errors.push(squared_distance(&estimate, &truth));
        }
    }
    for ((name, _), errors) in methods.iter().zip(&errors) {
        let (mean, error) = summary(errors);
        println!("{name:32} {mean:8.4} ({error:.4})");
    }
}

/// l2 errors of the Karwa-Vadhan mean beside the plain one: normal columns of variance 1 with means in +-10, declared in +-1000.
fn means(seeds: u64) {
    println!("\nmean of 20 normal columns, ranges [-1000, 1000], deviations [0.01, 100]: l2 error");
    for (n, epsilon) in [(2_000, 0.5), (20_000, 0.5), (100_000, 0.5)] {
        let mut errors = (0.0, 0.0);
        for seed in 0..seeds {
            let rng = &mut Generator::seed_from_u64(seed);
            let truth: Vec<f64> = (0..20).map(|_| 20.0 * uniform(rng) - 10.0).collect();
            let x: Vec<f64> =
                (0..n).flat_map(|_| truth.iter().map(|m| m + normal(rng)).collect::<Vec<_>>()).collect();
            let plain: Vec<f64> =
                (0..20).map(|j| x.iter().skip(j).step_by(20).sum::<f64>() / n as f64).collect();
            let privacy = Privacy::Budget(Budget::new(epsilon, 10.0 / (n as f64).powf(1.1)).expect("valid"));
            let fit = KarwaVadhan::new(vec![(-1_000.0, 1_000.0); 20], (0.01, 100.0))
                .and_then(|model| {
                    let table = Design::from_f64(n, 20, x)?;
                    model.fit(&table, privacy, &mut RandomSource::insecure_seeded(seed))
                })
                .expect("fit");
            errors.0 += squared_distance(&plain, &truth).sqrt() / seeds as f64;
            errors.1 += squared_distance(&fit.means, &truth).sqrt() / seeds as f64;
        }
        println!("n = {n:7}, epsilon {epsilon}: plain {:.4}, karwa-vadhan {:.4}", errors.0, errors.1);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(20);
    let filter = arguments.next().unwrap_or_default();
    if let Some(filter) = filter.strip_prefix("logistic") {
        return logistic(seeds, filter.trim_start());
    }
    println!("relative l2 error, mean over {seeds} seeds (standard error)");
    println!("{:32} {:>15} {:>15} {:>15}", "epsilon", "1.5", "3", "5");
    for (name, fit) in METHODS.iter().filter(|(name, _)| name.contains(&filter)) {
        print!("{name:32}");
        for epsilon in [1.5, 3.0, 5.0] {
            let privacy = Privacy::Budget(Budget::new(epsilon, 0.01).expect("valid"));
            let errors: Vec<f64> = (0..seeds)
                .map(|seed| {
                    let (data, truth) = simulated(seed);
                    let rng = &mut RandomSource::insecure_seeded(seed);
                    let estimate = fit(&data, &truth, privacy, rng).expect("fit");
                    let size = truth.iter().map(|b| b * b).sum::<f64>();
                    (squared_distance(&estimate, &truth) / size).sqrt()
                })
                .collect();
            let (mean, error) = summary(&errors);
            print!(" {mean:8.3} ({error:.3})");
        }
        println!();
    }
    if "karwa-vadhan".contains(&filter) {
        means(seeds);
    }
}
