//! Accuracy of the dense estimators in simulation: squared error and excess over the non-private optimum.
//!
//! `cargo run --release --bin accuracy -- [SEEDS] [FILTER]`. Public bounds only: the estimators know n, d, the box of
//! each feature, the response's domain and the budget.

use dpglm::central::{Glm, Privacy, PrivateMean};
use dpglm::data::{Dataset, Design};
use dpglm::estimators::dense::{Likelihood, Regression};
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm::release::Estimator;
use dpglm_benchmarks::{Generator, normal, sphere, squared_distance, summary, uniform};
use rand_core::SeedableRng;

/// The exact optimum by Newton's method.
fn optimum(x: &[f64], y: &[f64], d: usize, family: &Family) -> Vec<f64> {
    let mut beta = vec![0.0; d];
    for _ in 0..15 {
        let mut gradient = nalgebra::DVector::zeros(d);
        let mut hessian = nalgebra::DMatrix::zeros(d, d);
        for (row, &y) in x.chunks_exact(d).zip(y) {
            let u: f64 = row.iter().zip(&beta).map(|(a, b)| a * b).sum();
            let (r, h) = (family.mean(u) - y, family.mean_slope(u));
            for j in 0..d {
                gradient[j] += r * row[j];
                for k in 0..d {
                    hessian[(j, k)] += h * row[j] * row[k];
                }
            }
        }
        let Some(factor) = hessian.cholesky() else { break };
        let step = factor.solve(&gradient);
        beta.iter_mut().zip(step.iter()).for_each(|(b, s)| *b -= s);
        if step.norm() < 1e-10 {
            break;
        }
    }
    beta
}

/// The default method, or the bounded score.
fn fitted(
    family: Family,
    target: (f64, f64),
    data: &Dataset,
    budget: Budget,
    seed: u64,
    bounded: bool,
) -> Vec<f64> {
    let (privacy, rng) = (Privacy::Budget(budget), &mut RandomSource::insecure_seeded(seed));
    if bounded {
        return Glm::new(family, target)
            .and_then(|glm| glm.fit(data, privacy, rng))
            .expect("fit")
            .coefficients;
    }
    let likelihood = Likelihood::new(family, target);
    let mut fit = Regression::new(likelihood).and_then(|model| model.fit(data, privacy, rng)).expect("fit");
    fit.coefficients.swap_remove(0)
}

/// (error of the non-private optimum, error of the private fit), both squared.
fn logistic<const BOUNDED: bool>(n: usize, d: usize, seed: u64) -> (f64, f64) {
    let rng = &mut Generator::seed_from_u64(seed);
    let beta = sphere(rng, d);
    let x: Vec<f64> = (0..n * d).map(|_| 2.0 * uniform(rng) - 1.0).collect();
    let y: Vec<f64> = x
        .chunks_exact(d)
        .map(|row| {
            let p = Family::logistic().mean(row.iter().zip(&beta).map(|(a, b)| a * b).sum());
            f64::from(u8::from(uniform(rng) < p))
        })
        .collect();
    let reference = optimum(&x, &y, d, &Family::logistic());
    let data = Dataset::new(Design::from_f64(n, d, x).expect("shape"), y).expect("shape");
    let budget = Budget::new(0.5, 0.5 / n as f64).expect("valid");
    let found = fitted(Family::logistic(), (0.0, 1.0), &data, budget, seed, BOUNDED);
    (squared_distance(&reference, &beta), squared_distance(&found, &beta))
}

fn linear<const BOUNDED: bool>(n: usize, d: usize, seed: u64) -> (f64, f64) {
    let rng = &mut Generator::seed_from_u64(seed);
    let beta = sphere(rng, d);
    // The declared box of each feature is [-1/sqrt d, 1/sqrt d]; scaling it to [-1, 1] divides the coefficients.
    let root = (d as f64).sqrt();
    let x: Vec<f64> = (0..n * d).map(|_| 2.0 * uniform(rng) - 1.0).collect();
    let y: Vec<f64> = x
        .chunks_exact(d)
        .map(|row| row.iter().zip(&beta).map(|(a, b)| a * b / root).sum::<f64>() + normal(rng))
        .map(|y| y.clamp(-5.0, 5.0))
        .collect();
    let to_user = |b: &[f64]| -> Vec<f64> { b.iter().map(|b| b * root).collect() };
    let reference = to_user(&optimum(&x, &y, d, &Family::gaussian()));
    let data = Dataset::new(Design::from_f64(n, d, x).expect("shape"), y).expect("shape");
    let budget = Budget::new(0.5, 10.0 / (n as f64).powf(1.1)).expect("valid");
    let found = fitted(Family::gaussian(), (-5.0, 5.0), &data, budget, seed, BOUNDED);
    (squared_distance(&reference, &beta), squared_distance(&to_user(&found), &beta))
}

/// l2 errors themselves, not squared.
fn mean(n: usize, d: usize, seed: u64) -> (f64, f64) {
    let rng = &mut Generator::seed_from_u64(seed);
    let mu: Vec<f64> = (0..d).map(|_| 20.0 * uniform(rng) - 10.0).collect();
    let x: Vec<f64> = (0..n).flat_map(|_| mu.iter().map(|m| m + normal(rng)).collect::<Vec<_>>()).collect();
    let average: Vec<f64> = (0..d).map(|j| x.iter().skip(j).step_by(d).sum::<f64>() / n as f64).collect();
    let budget = Budget::new(0.5, 10.0 / (n as f64).powf(1.1)).expect("valid");
    let design = Design::from_f64(n, d, x).expect("shape");
    let fit = PrivateMean::new(vec![(-50.0, 50.0); d])
        .and_then(|m| m.fit(&design, Privacy::Budget(budget), &mut RandomSource::insecure_seeded(seed)))
        .expect("fit");
    (squared_distance(&average, &mu).sqrt(), squared_distance(&fit.means, &mu).sqrt())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(200);
    let filter = arguments.next().unwrap_or_default();
    type Run = fn(usize, usize, u64) -> (f64, f64);
    let settings: [(&str, Run, usize, usize, &str); 10] = [
        ("logistic", logistic::<false>, 40_000, 10, "excess .00050"),
        ("logistic", logistic::<false>, 40_000, 20, "excess .00165"),
        ("logistic", logistic::<false>, 40_000, 40, "excess .00742"),
        ("linear", linear::<false>, 20_000, 20, "excess .0310"),
        ("logistic, bounded score", logistic::<true>, 40_000, 10, "excess .0010"),
        ("logistic, bounded score", logistic::<true>, 40_000, 20, "excess .0042"),
        ("logistic, bounded score", logistic::<true>, 40_000, 40, "excess .0150"),
        ("linear, bounded score", linear::<true>, 20_000, 20, "excess .055"),
        ("mean", mean, 20_000, 20, "error .041"),
        ("mean", mean, 100_000, 20, "error .0155"),
    ];
    println!("setting                        n    d  non-private    private     excess  (s.e.)     goal");
    for (name, run, n, d, goal) in settings {
        if !name.contains(&filter) {
            continue;
        }
        let results: Vec<(f64, f64)> = (0..seeds).map(|seed| run(n, d, seed)).collect();
        let of = |pick: fn(&(f64, f64)) -> f64| summary(&results.iter().map(pick).collect::<Vec<_>>());
        let ((plain, _), (private, _), (excess, error)) = (of(|r| r.0), of(|r| r.1), of(|r| r.1 - r.0));
        println!("{name:23} {n:8} {d:4}  {plain:11.5} {private:10.5} {excess:10.5}  {error:.5}  {goal}");
    }
}
