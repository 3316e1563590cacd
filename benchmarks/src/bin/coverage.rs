//! Coverage of nominal 95% intervals in simulation, per coefficient and pooled.
//!
//! `cargo run --release --bin coverage -- [FITS] [FILTER]`

use dpglm::central::{Glm, Interval, Prepared, Privacy, PrivateMean};
use dpglm::data::Shape;
use dpglm::data::{Dataset, Design};
use dpglm::families::{Domain, Family};
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm_benchmarks::{Generator, normal, uniform};
use rand_core::SeedableRng;
use std::sync::OnceLock;

const N: usize = 20_000;
const LEVEL: f64 = 0.95;

fn budget() -> Privacy {
    Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"))
}

/// The truth and the intervals of one simulated fit: an intercept and four features on [-1, 1].
fn regression(
    family: Family,
    prepared: &OnceLock<Prepared<Glm>>,
    target: (f64, f64),
    seed: u64,
) -> (Vec<f64>, Vec<Interval>) {
    let rng = &mut Generator::seed_from_u64(seed);
    let truth = vec![0.3, 0.8, -0.5, 0.25, 0.0];
    let d = truth.len();
    let x: Vec<f64> = (0..N * d).map(|i| if i % d == 0 { 1.0 } else { 2.0 * uniform(rng) - 1.0 }).collect();
    let y: Vec<f64> = x
        .chunks_exact(d)
        .map(|row| {
            let mean = family.mean(row.iter().zip(&truth).map(|(a, b)| a * b).sum());
            match family.domain() {
                Domain::Binary => f64::from(u8::from(uniform(rng) < mean)),
                Domain::Count => poisson(mean, rng),
                _ => mean + normal(rng),
            }
        })
        .collect();
    let data = Dataset::new(Design::from_f64(N, d, x).expect("shape"), y).expect("shape");
    let prepare = || {
        Glm::new(family, target)
            .and_then(|glm| glm.with_intercept().intervals(LEVEL))
            .and_then(|glm| glm.prepare(Shape::new(d, N), budget()))
            .expect("valid")
    };
    let fit =
        prepared.get_or_init(prepare).fit(&data, &mut RandomSource::insecure_seeded(seed)).expect("fit");
    (truth, fit.intervals.expect("asked for"))
}

fn poisson(mean: f64, rng: &mut Generator) -> f64 {
    let (mut k, mut product, floor) = (0.0, uniform(rng), (-mean).exp());
    while product > floor {
        k += 1.0;
        product *= uniform(rng);
    }
    k
}

fn mean(seed: u64) -> (Vec<f64>, Vec<Interval>) {
    let rng = &mut Generator::seed_from_u64(seed);
    let truth = vec![-4.0, 0.0, 1.0, 7.5, 9.0];
    let x: Vec<f64> = (0..N)
        .flat_map(|_| {
            truth.iter().enumerate().map(|(j, m)| m + (1.0 + j as f64) * normal(rng)).collect::<Vec<_>>()
        })
        .collect();
    let design = Design::from_f64(N, truth.len(), x).expect("shape");
    static PREPARED: OnceLock<Prepared<PrivateMean>> = OnceLock::new();
    let prepare = || {
        PrivateMean::new(vec![(-50.0, 50.0); truth.len()])
            .and_then(|m| m.intervals(LEVEL))
            .and_then(|m| m.prepare(Shape::new(truth.len(), N), budget()))
            .expect("valid")
    };
    let fit =
        PREPARED.get_or_init(prepare).fit(&design, &mut RandomSource::insecure_seeded(seed)).expect("fit");
    (truth, fit.intervals.expect("asked for"))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let fits: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(2_000);
    let filter = arguments.next().unwrap_or_default();
    type Run = fn(u64) -> (Vec<f64>, Vec<Interval>);
    static LINEAR: OnceLock<Prepared<Glm>> = OnceLock::new();
    static LOGISTIC: OnceLock<Prepared<Glm>> = OnceLock::new();
    static POISSON: OnceLock<Prepared<Glm>> = OnceLock::new();
    let settings: [(&str, Run); 4] = [
        ("linear", |seed| regression(Family::gaussian(), &LINEAR, (-6.0, 6.0), seed)),
        ("logistic", |seed| regression(Family::logistic(), &LOGISTIC, (0.0, 1.0), seed)),
        ("poisson", |seed| regression(Family::poisson(), &POISSON, (0.0, 20.0), seed)),
        ("mean", mean),
    ];
    println!(
        "model      fits  pooled  per coefficient; mean width / standard error   (n = {N}, epsilon 1, delta 1e-6)"
    );
    for (name, run) in settings {
        if !name.contains(&filter) {
            continue;
        }
        let results: Vec<_> = (0..fits).map(run).collect();
        let d = results[0].0.len();
        let covered = |j: usize| {
            results.iter().filter(|(truth, found)| (found[j].low..=found[j].high).contains(&truth[j])).count()
                as f64
                / fits as f64
        };
        let rates: Vec<f64> = (0..d).map(covered).collect();
        let centre = |i: &Interval| 0.5 * (i.low + i.high);
        let spread = |j: usize| {
            let m = results.iter().map(|(t, i)| centre(&i[j]) - t[j]).sum::<f64>() / fits as f64;
            let v =
                results.iter().map(|(t, i)| (centre(&i[j]) - t[j] - m).powi(2)).sum::<f64>() / fits as f64;
            let claimed = results.iter().map(|(_, i)| i[j].standard_error).sum::<f64>() / fits as f64;
            format!("{:+.4}/{:.4}/{:.4}", m, v.sqrt(), claimed)
        };
        let pooled = rates.iter().sum::<f64>() / d as f64;
        let list = |values: Vec<String>| values.join(" ");
        println!(
            "{name:9} {fits:5}  {pooled:.4}  {}  bias/sd/claimed {}",
            list(rates.iter().map(|r| format!("{r:.3}")).collect()),
            list((0..d).map(spread).collect())
        );
    }
}
