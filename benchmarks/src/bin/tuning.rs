//! Sparsity chosen privately, beside the same method told the truth: squared errors and their ratio.
//!
//! `cargo run --release --bin tuning -- [SEEDS] [FILTER] [LARGEST]`. The tuned runs know n, d, the bounds, the budget and a largest
//! number of columns, by default four times the truth; both runs of a seed see the same table.

use dpglm::central::{Glm, Privacy, SelectRefine, SparseMean};
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm::tuning::{TunedSparseMean, TunedSparsity};
use dpglm_benchmarks::{sparse_logistic, sparse_normal, spread, squared_distance, summary};

/// Squared error told s, squared error not told, columns kept.
type Outcome = (f64, f64, usize);

/// A name, and the outcome of one seed.
type Setting<'a> = (&'static str, Box<dyn Fn(u64) -> Outcome + 'a>);

/// Sparse logistic regression: 10,000 columns uniform on (-1, 1), coefficients on the unit sphere of s columns.
fn logistic(n: usize, d: usize, s: usize, largest: usize, seed: u64) -> Outcome {
    let (data, beta) = sparse_logistic(n, d, s, seed).expect("shape");
    let privacy = Privacy::Budget(Budget::new(0.5, 0.5 / n as f64).expect("valid"));
    let glm = || Glm::new(Family::logistic(), (0.0, 1.0)).expect("valid");
    let told = SelectRefine::new(glm(), s)
        .and_then(|m| m.fit(&data, privacy, &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    let tuned = TunedSparsity::new(glm(), largest)
        .and_then(|m| m.fit(&data, privacy, &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    let error = |b: Vec<f64>| squared_distance(&b, &beta);
    (error(told.coefficients(d)), error(tuned.coefficients(d)), tuned.support.len())
}

/// The sparse mean of Cai et al. 2021 §5.2: normal rows, d = n, 20 means uniform on (-10, 10).
fn mean(n: usize, largest: usize, seed: u64) -> Outcome {
    let (d, s) = (n, 20);
    let (table, mu) = sparse_normal(n, d, s, seed).expect("shape");
    let privacy = Privacy::Budget(Budget::new(0.5, 10.0 / (n as f64).powf(1.1)).expect("valid"));
    let ranges = vec![(-50.0, 50.0); d];
    let told = SparseMean::new(ranges.clone(), s)
        .and_then(|m| m.fit(&table, privacy, &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    let tuned = TunedSparseMean::new(ranges, largest)
        .and_then(|m| m.fit(&table, privacy, &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    let error = |support: &[usize], means: &[f64]| squared_distance(&spread(d, support, means), &mu);
    (error(&told.support, &told.fit.means), error(&tuned.support, &tuned.fit.means), tuned.support.len())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(10);
    let filter = arguments.next().unwrap_or_default();
    let largest: Option<usize> = arguments.next().and_then(|s| s.parse().ok());
    let at_most = |default: usize| largest.unwrap_or(default);
    let settings: [Setting<'_>; 5] = [
        ("mean n 1000", Box::new(|seed| mean(1_000, at_most(40), seed))),
        ("mean n 2000", Box::new(|seed| mean(2_000, at_most(40), seed))),
        ("small logistic n 20000 d 1000", Box::new(|seed| logistic(20_000, 1_000, 10, at_most(40), seed))),
        ("mid logistic n 80000 d 1000", Box::new(|seed| logistic(80_000, 1_000, 10, at_most(40), seed))),
        ("large logistic n 80000 d 10000", Box::new(|seed| logistic(80_000, 10_000, 10, at_most(40), seed))),
    ];
    println!("setting                         told s (s.e.)      tuned (s.e.)      ratio   of l2   kept");
    for (name, run) in settings.iter().filter(|(name, _)| name.contains(&filter)) {
        let outcomes: Vec<Outcome> = (0..seeds).map(run).collect();
        let summary = |pick: fn(&Outcome) -> f64| summary(&outcomes.iter().map(pick).collect::<Vec<_>>());
        let (told, tuned, kept) = (summary(|o| o.0), summary(|o| o.1), summary(|o| o.2 as f64));
        let l2 = (summary(|o| o.0.sqrt()).0, summary(|o| o.1.sqrt()).0);
        println!(
            "{name:30} {:.4} ({:.4})    {:.4} ({:.4})    {:.2}    {:.2}    {:.1}",
            told.0,
            told.1,
            tuned.0,
            tuned.1,
            tuned.0 / told.0,
            l2.1 / l2.0,
            kept.0
        );
    }
}
