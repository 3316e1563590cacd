//! Accuracy of the sparse estimators in simulation, beside non-private iterative hard thresholding.
//!
//! `cargo run --release --bin sparse -- [SEEDS] [FILTER]`. Public bounds only: the estimators know n, d, s, the box of the
//! features, the response's domain and the budget.

use dpglm::central::{Glm, Iht, Privacy, SelectRefine, SparseMean};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::fused_pass;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm_benchmarks::{
    Generator, features, normal, sparse_logistic, sparse_normal, spread, squared_distance, summary, support,
};
use rand_core::SeedableRng;

/// Steps of non-private iterative hard thresholding: the support stands after a few, and Newton's method ends it.
const STEPS: u64 = 15;

/// The squared errors of the estimate and of non-private iterative hard thresholding, with the coefficients' truth on `s` columns,
/// given `asked` of them.
fn logistic(n: usize, s: usize, asked: usize, seed: u64) -> Errors {
    let d = 10_000;
    let (data, beta) = sparse_logistic(n, d, s, seed).expect("shape");
    let budget = Budget::new(0.5, 0.5 / n as f64).expect("valid");
    let fit = Glm::new(Family::logistic(), (0.0, 1.0))
        .and_then(|glm| SelectRefine::new(glm, asked))
        .and_then(|m| m.fit(&data, Privacy::Budget(budget), &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    let plain = Iht::new(asked)
        .and_then(|iht| iht.iterations(STEPS)?.fit(&Family::logistic(), &data, 0.0))
        .expect("fit");
    [squared_distance(&fit.coefficients(d), &beta), squared_distance(&plain, &beta)]
}

/// Relative l2 error in the linear setting (i) of Wang and Gu 2020.
fn linear(epsilon: f64, asked: usize, seed: u64) -> Errors {
    let (n, d, s) = (800, 1_000, 10);
    let rng = &mut Generator::seed_from_u64(seed);
    let places = support(rng, d, s);
    let mut beta = vec![0.0; d];
    places.iter().for_each(|&j| beta[j] = normal(rng));
    let x = features(seed, n * d);
    let y: Vec<f64> = x
        .chunks_exact(d)
        .map(|row| {
            places.iter().map(|&j| f64::from(row[j]) * beta[j]).sum::<f64>() + 0.1f64.sqrt() * normal(rng)
        })
        .collect();
    let data = Dataset::new(Design::from_f32(n, d, x).expect("shape"), y).expect("shape");
    let budget = Budget::new(epsilon, 0.01).expect("valid");
    let fit = Glm::new(Family::gaussian(), (-10.0, 10.0))
        .and_then(|glm| SelectRefine::new(glm, asked))
        .and_then(|m| m.fit(&data, Privacy::Budget(budget), &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    let plain = Iht::new(asked).and_then(|iht| iht.fit(&Family::gaussian(), &data, 0.0)).expect("fit");
    let size = squared_distance(&beta, &vec![0.0; d]);
    [fit.coefficients(d), plain].map(|b| (squared_distance(&b, &beta) / size).sqrt())
}

/// l2 errors of a sparse mean of normal rows, and of the plain mean of the columns that are largest without noise.
fn mean(asked: usize, seed: u64) -> Errors {
    let (n, d, s) = (2_000, 2_000, 20);
    let (table, mu) = sparse_normal(n, d, s, seed).expect("shape");
    let mut plain = vec![0.0_f64; d];
    fused_pass(&table, &vec![0.0; d], |_, _| 1.0 / n as f64, &mut plain);
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&i, &j| plain[j].abs().total_cmp(&plain[i].abs()));
    order[asked..].iter().for_each(|&j| plain[j] = 0.0);
    let budget = Budget::new(0.5, 10.0 / (n as f64).powf(1.1)).expect("valid");
    let fit = SparseMean::new(vec![(-50.0, 50.0); d], asked)
        .and_then(|m| m.fit(&table, Privacy::Budget(budget), &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    [spread(d, &fit.support, &fit.fit.means), plain].map(|b| squared_distance(&b, &mu).sqrt())
}

/// Of the private estimate, and of one without privacy.
type Errors = [f64; 2];

/// A name, the errors of one seed, the goal.
type Setting = (&'static str, Box<dyn Fn(u64) -> Errors>, &'static str);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(20);
    let filter = arguments.next().unwrap_or_default();
    let settings: [Setting; 15] = [
        ("mean", Box::new(|seed| mean(20, seed)), ".45"),
        ("mean, 2 s", Box::new(|seed| mean(40, seed)), ".90"),
        ("linear eps 1.5", Box::new(|seed| linear(1.5, 10, seed)), ".42"),
        ("linear eps 3", Box::new(|seed| linear(3.0, 10, seed)), ".30"),
        ("linear eps 5", Box::new(|seed| linear(5.0, 10, seed)), ".24"),
        ("linear eps 1.5, 2 s", Box::new(|seed| linear(1.5, 20, seed)), ".84"),
        ("linear eps 3, 2 s", Box::new(|seed| linear(3.0, 20, seed)), ".60"),
        ("linear eps 5, 2 s", Box::new(|seed| linear(5.0, 20, seed)), ".48"),
        ("logistic n 20000, s 10", Box::new(|seed| logistic(20_000, 10, 10, seed)), ".040"),
        ("logistic n 40000, s 10", Box::new(|seed| logistic(40_000, 10, 10, seed)), ".012"),
        ("logistic n 80000, s 10", Box::new(|seed| logistic(80_000, 10, 10, seed)), ".006"),
        ("logistic n 40000, s 20", Box::new(|seed| logistic(40_000, 20, 20, seed)), ".044"),
        ("logistic n 80000, s 40", Box::new(|seed| logistic(80_000, 40, 40, seed)), ".036"),
        ("logistic n 20000, s 10, 2 s", Box::new(|seed| logistic(20_000, 10, 20, seed)), "twice"),
        ("logistic n 40000, s 10, 2 s", Box::new(|seed| logistic(40_000, 10, 20, seed)), "twice"),
    ];
    println!("setting                         error   (s.e.)   goal   non-private");
    for (name, run, goal) in settings.iter().filter(|(name, ..)| name.contains(&filter)) {
        let errors: Vec<Errors> = (0..seeds).map(run).collect();
        let of = |which: usize| summary(&errors.iter().map(|e| e[which]).collect::<Vec<_>>());
        let ((mean, error), (plain, _)) = (of(0), of(1));
        println!("{name:28} {mean:10.4}  {error:.4}   {goal:5}  {plain:.5}");
    }
}
