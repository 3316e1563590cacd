//! Accuracy of the local protocols in simulation.
//!
//! `cargo run --release --bin local -- [RUNS OF THE SPARSE STUDY] [RUNS OF THE ONE-SHOT STUDY]`. Estimates have the law of real
//! reports ([`dpglm::local::Imitation`]); the first run of each sparse study is repeated with real reports.
//! Public: n, p, s, epsilon, the bounds of features and response.

use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::local::one_shot::OneShotOutcome;
use dpglm::local::{Imitation, Kind, LocalIht, OneShotGlm, Randomizer};
use dpglm::noise::RandomSource;
use dpglm_benchmarks::{Generator, summary, uniform};
use rand_core::{Rng, SeedableRng};
use std::time::Instant;

/// Entries of random sign.
fn signs(rng: &mut Generator, count: usize) -> Vec<i8> {
    let mut bits = 1;
    (0..count)
        .map(|_| {
            if bits == 1 {
                bits = u128::from(rng.next_u64()) | 1 << 64;
            }
            let sign = if bits & 1 == 1 { 1 } else { -1 };
            bits >>= 1;
            sign
        })
        .collect()
}

/// Relative l2 errors of the sparse study: private, the same rounds without noise, Duchi's randomizer, and real reports if
/// asked for.
fn sparse(n: usize, seed: u64, real: bool) -> [f64; 4] {
    let (p, s, epsilon) = (50, 5, 2.0);
    let rng = &mut Generator::seed_from_u64(seed);
    let mut truth = vec![0.0; p];
    for _ in 0..s {
        let mut place = (uniform(rng) * p as f64) as usize;
        while truth[place] != 0.0 {
            place = (place + 1) % p;
        }
        truth[place] = uniform(rng);
    }
    let norm = truth.iter().map(|t| t * t).sum::<f64>().sqrt().max(1.0);
    truth.iter_mut().for_each(|t| *t /= norm);
    let x = signs(rng, n * p);
    let y: Vec<f64> = x
        .chunks_exact(p)
        .map(|row| {
            row.iter().zip(&truth).map(|(&x, t)| f64::from(x) * t).sum::<f64>() + 0.1 * uniform(rng) - 0.05
        })
        .collect();
    let data = Dataset::new(Design::from_i8(n, p, x, 1.0).expect("shape"), y).expect("shape");
    // The truth's norm is at most 1, so |y| is at most sqrt(5) + 0.05.
    let study = LocalIht::new(Family::gaussian(), (-2.3, 2.3), 1.0, s).expect("valid");
    let size = truth.iter().map(|t| t * t).sum::<f64>().sqrt();
    let error = |b: &[f64]| b.iter().zip(&truth).map(|(b, t)| (b - t).powi(2)).sum::<f64>().sqrt() / size;
    let private = study.imitate(&data, epsilon, seed).expect("fit");
    let noiseless = study.without_noise(&data, epsilon).expect("fit");
    let duchi = study.clone().kind(Kind::Duchi).imitate(&data, epsilon, seed).expect("fit");
    let reports = if real {
        let fit = study.simulate(&data, epsilon, &mut RandomSource::insecure_seeded(seed)).expect("fit");
        error(&fit.coefficients)
    } else {
        f64::NAN
    };
    [error(&private.coefficients), error(&noiseless.coefficients), error(&duchi.coefficients), reports]
}

/// Squared relative l-infinity errors of the one-shot study: without privacy, then for each epsilon.
fn one_shot(seed: u64, epsilons: &[f64]) -> Vec<f64> {
    let (n, p) = (290_000, 10);
    let rng = &mut Generator::seed_from_u64(seed);
    let truth = 1.0 / (p as f64).sqrt();
    let features = |rng: &mut Generator| signs(rng, n * p);
    let public = Design::from_i8(n, p, features(rng), 1.0 / p as f64).expect("shape");
    let x: Vec<f64> = features(rng).into_iter().map(|x| f64::from(x) / p as f64).collect();
    let y: Vec<f64> = x
        .chunks_exact(p)
        .map(|row| f64::from(u8::from(uniform(rng) < Family::logistic().mean(row.iter().sum::<f64>() * truth))))
        .collect();
    let model = OneShotGlm::new(Family::logistic(), (0.0, 1.0), (1.0 / p as f64).sqrt()).expect("valid");
    let error = |outcome: OneShotOutcome| match outcome {
        OneShotOutcome::Fitted { coefficients, .. } => {
            (coefficients.iter().fold(0.0_f64, |m, b| m.max((b - truth).abs())) / truth).powi(2)
        }
        _ => f64::INFINITY,
    };
    let mut out = Vec::new();
    for &epsilon in [f64::INFINITY].iter().chain(epsilons) {
        let private = epsilon.is_finite();
        let randomizer = model.randomizer(p, if private { epsilon } else { 1.0 }).expect("valid");
        let mut imitation = Imitation::new(&randomizer, seed ^ epsilon.to_bits());
        let mut sum = vec![0.0; p];
        for (x, &y) in x.chunks_exact(p).zip(&y) {
            let product = model.product(x, y);
            if private {
                imitation.add(&product, &mut sum).expect("shape");
            } else {
                sum.iter_mut().zip(&product).for_each(|(s, v)| *s += v);
            }
        }
        let model = model.clone().shrink(private);
        out.push(error(model.fit_public(&randomizer, &sum, n as u64, &public).expect("fit")));
    }
    out
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u64>().ok());
    let sparse_runs = arguments.next().flatten().unwrap_or(20).max(1);
    let one_shot_runs = arguments.next().flatten().unwrap_or(40).max(1);

    println!("randomizers, radius 1: mean square of an estimate (candidates a device computes)");
    println!("dimension  epsilon      Duchi   PrivUnit");
    for p in [5, 10, 50, 500] {
        for epsilon in [0.5, 1.0, 2.0, 4.0, 8.0] {
            let made = |kind| Randomizer::new(kind, p, 1.0, epsilon).expect("valid");
            let (duchi, ours) = (made(Kind::Duchi), made(Kind::PrivUnit));
            // Estimates leave the lifted coordinate out.
            let square = ours.mean_square() * p as f64 / (p + 1) as f64;
            println!(
                "{p:9}  {epsilon:7}  {:9.2}  {square:9.2}  ({})",
                duchi.mean_square(),
                ours.candidates()
            );
        }
    }

    println!("epsilon 2: microseconds for a report by PrivUnit (device) and for its estimate (server)");
    for p in [10, 50, 500] {
        let randomizer = Randomizer::new(Kind::PrivUnit, p, 1.0, 2.0).expect("valid");
        let rng = &mut RandomSource::insecure_seeded(1);
        let (vector, mut sum) = (vec![0.01; p], vec![0.0; p]);
        let start = Instant::now();
        let reports: Vec<_> = (0..200).map(|_| randomizer.randomize(&vector, rng).expect("report")).collect();
        let device = start.elapsed().as_secs_f64() * 1e6 / 200.0;
        let start = Instant::now();
        reports.iter().for_each(|report| randomizer.estimate(report, &mut sum).expect("estimate"));
        println!("{p:9}  {device:9.1}  {:9.2}", start.elapsed().as_secs_f64() * 1e6 / 200.0);
    }

    println!("sparse study, p 50, s 5, epsilon 2: mean relative l2 error (s.e.) over {sparse_runs} runs");
    println!(
        "      n   private          noiseless  Duchi            goal   one run, imitated / real reports"
    );
    for (n, goal) in [(10_000, ".45"), (40_000, ".10"), (160_000, ".06")] {
        let runs: Vec<[f64; 4]> = (0..sparse_runs).map(|seed| sparse(n, seed, seed == 0)).collect();
        let column = |j: usize| summary(&runs.iter().map(|r| r[j]).collect::<Vec<_>>());
        let ((a, sa), (b, _), (c, sc)) = (column(0), column(1), column(2));
        let first = runs.first().map_or((0.0, 0.0), |r| (r[0], r[3]));
        println!(
            "{n:7}   {a:.4} ({sa:.4})  {b:.4}     {c:.4} ({sc:.4})  {goal}   {:.4} / {:.4}",
            first.0, first.1
        );
    }

    println!(
        "one-shot logistic study, n 290,000, p 10: median squared relative l-infinity error, {one_shot_runs} runs"
    );
    let epsilons = [10.0, 5.0, 3.0, 2.0];
    let runs: Vec<Vec<f64>> = (0..one_shot_runs).map(|seed| one_shot(seed, &epsilons)).collect();
    for (j, (name, goal)) in [
        ("non-private", ""),
        ("epsilon 10", ".12"),
        ("epsilon 5", ".22"),
        ("epsilon 3", ".45"),
        ("epsilon 2", ".75"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut column: Vec<f64> = runs.iter().map(|r| r[j]).collect();
        column.sort_by(f64::total_cmp);
        let half = column.len() / 2;
        let median = if column.len().is_multiple_of(2) {
            0.5 * (column[half - 1] + column[half])
        } else {
            column[half]
        };
        println!("{name:12}  {median:.4}   {goal}");
    }
}
