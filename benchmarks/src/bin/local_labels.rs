//! Sparse regression from private labels and public features, beside what the paper prints.
//!
//! `cargo run --release --bin local_labels -- [RUNS] [SETTING] [METHOD]`, the last two as parts of names. Setting of Wang and Xu 2021 section VIII: x uniform on {-1, 1}^p, s* coefficients
//! uniform on [0, 1] scaled to norm at most 1, errors uniform within 0.05, labels declared in [-4, 4]. The server knows the features,
//! the declared interval, n, p, s and epsilon.

use dpglm::Result;
use dpglm::data::Design;
use dpglm::families::Family;
use dpglm::local::{LabelIht, LabelLasso, LabelNoise, ThresholdBit, ThresholdIht};
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm_benchmarks::{Generator, squared_distance, summary, uniform};
use rand_core::{Rng, SeedableRng};

const LABELS: (f64, f64) = (-4.0, 4.0);
const DELTA: f64 = 1e-3;

/// One simulated study: what is public, the labels, the truth.
struct Study {
    design: Design,
    labels: Vec<f64>,
    truth: Vec<f64>,
    sparsity: usize,
}

impl Study {
    fn new(setting: &Setting, seed: u64) -> Result<Self> {
        let Setting { n, p, s, correlation, errors, .. } = *setting;
        let rng = &mut Generator::seed_from_u64(seed);
        let mut truth = vec![0.0; p];
        let mut left = s;
        while left > 0 {
            let j = (uniform(rng) * p as f64) as usize;
            if truth[j] == 0.0 {
                truth[j] = uniform(rng);
                left -= 1;
            }
        }
        let norm = truth.iter().map(|b| b * b).sum::<f64>().sqrt().max(1.0);
        truth.iter_mut().for_each(|b| *b /= norm);
        let mut x = Vec::with_capacity(n * p);
        while x.len() < n * p {
            let bits = rng.next_u64();
            x.extend((0..64.min(n * p - x.len())).map(|k| if bits >> k & 1 == 1 { 1_i8 } else { -1 }));
        }
        if correlation > 0.0 {
            // A sign that repeats its left neighbour's with this probability has this correlation with it.
            for row in x.chunks_exact_mut(p) {
                for j in 1..p {
                    if uniform(rng) < correlation {
                        row[j] = row[j - 1];
                    }
                }
            }
        }
        let labels = x
            .chunks_exact(p)
            .map(|row| {
                let u: f64 = row.iter().zip(&truth).map(|(&x, b)| f64::from(x) * b).sum();
                u + errors * (2.0 * uniform(rng) - 1.0)
            })
            .collect();
        Ok(Self { design: Design::from_i8(n, p, x, 1.0)?, labels, truth, sparsity: s })
    }

    fn error(&self, estimate: &[f64]) -> f64 {
        (squared_distance(estimate, &self.truth)
            / squared_distance(&self.truth, &vec![0.0; self.truth.len()]))
        .sqrt()
    }
}

type Method = fn(&Study, f64, &mut RandomSource) -> Result<Vec<f64>>;

fn noisy(study: &Study, noise: &LabelNoise, rng: &mut RandomSource) -> Result<Vec<f64>> {
    study.labels.iter().map(|&y| noise.randomize(y, rng)).collect()
}

fn gaussian(epsilon: f64) -> Result<LabelNoise> {
    LabelNoise::gaussian(LABELS, Budget::new(epsilon, DELTA)?)
}

/// The paper's step, number of iterations and ball, with valid noise.
fn literal(study: &Study) -> Result<LabelIht> {
    let iterations = (study.labels.len() as f64 / study.truth.len() as f64).ln().ceil().max(1.0);
    LabelIht::new(Family::gaussian(), study.sparsity)?.literal(0.2, iterations as u64, 1.0)
}

const METHODS: [(&str, Method); 8] = [
    ("paper's iteration, valid Gaussian noise", |study, epsilon, rng| {
        literal(study)?.fit(&study.design, &noisy(study, &gaussian(epsilon)?, rng)?)
    }),
    ("IHT, Gaussian noise", |study, epsilon, rng| {
        let labels = noisy(study, &gaussian(epsilon)?, rng)?;
        LabelIht::new(Family::gaussian(), study.sparsity)?.fit(&study.design, &labels)
    }),
    ("IHT, Laplace noise", |study, epsilon, rng| {
        let labels = noisy(study, &LabelNoise::laplace(LABELS, epsilon)?, rng)?;
        LabelIht::new(Family::gaussian(), study.sparsity)?.fit(&study.design, &labels)
    }),
    ("Lasso, Laplace noise", |study, epsilon, rng| {
        let noise = LabelNoise::laplace(LABELS, epsilon)?;
        let labels = noisy(study, &noise, rng)?;
        let (n, p) = (study.design.rows(), study.design.columns());
        LabelLasso::for_noise(noise.deviation(), n, p)?.fit(&study.design, &labels)
    }),
    ("IHT, threshold bits as labels", |study, epsilon, rng| {
        let bit = ThresholdBit::new(LABELS, epsilon)?;
        let labels: Vec<f64> = study.labels.iter().map(|&y| bit.value(&bit.randomize(y, rng))).collect();
        LabelIht::new(Family::gaussian(), study.sparsity)?.fit(&study.design, &labels)
    }),
    ("Lasso, threshold bits as labels", |study, epsilon, rng| {
        let bit = ThresholdBit::new(LABELS, epsilon)?;
        let labels: Vec<f64> = study.labels.iter().map(|&y| bit.value(&bit.randomize(y, rng))).collect();
        let (n, p) = (study.design.rows(), study.design.columns());
        LabelLasso::for_noise(bit.variance(0.0).sqrt(), n, p)?.fit(&study.design, &labels)
    }),
    ("threshold bits, closing window", |study, epsilon, rng| {
        let bit = ThresholdBit::new(LABELS, epsilon)?;
        let reports: Vec<_> = study.labels.iter().map(|&y| bit.randomize(y, rng)).collect();
        ThresholdIht::new(Family::gaussian(), study.sparsity)?.fit(&study.design, &bit, &reports)
    }),
    ("IHT, no privacy", |study, _, _| {
        LabelIht::new(Family::gaussian(), study.sparsity)?.fit(&study.design, &study.labels)
    }),
];

struct Setting {
    n: usize,
    p: usize,
    s: usize,
    epsilon: f64,
    /// Correlation of neighbouring columns.
    correlation: f64,
    /// Errors are uniform within this distance.
    errors: f64,
}

const MAIN: Setting = Setting { n: 24_000, p: 500, s: 10, epsilon: 1.0, correlation: 0.0, errors: 0.05 };

/// The main setting first; then others that differ from it in one number.
const SETTINGS: [Setting; 9] = [
    MAIN,
    Setting { n: 6_000, ..MAIN },
    Setting { n: 12_000, ..MAIN },
    Setting { epsilon: 0.5, ..MAIN },
    Setting { epsilon: 2.0, ..MAIN },
    Setting { p: 1_000, ..MAIN },
    Setting { s: 20, ..MAIN },
    Setting { correlation: 0.5, ..MAIN },
    Setting { errors: 1.0, ..MAIN },
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(20);
    let filter = arguments.next().unwrap_or_default();
    let method = arguments.next().unwrap_or_default();
    let methods: Vec<_> = METHODS.iter().filter(|(what, _)| what.contains(&method)).collect();
    println!("relative l2 error, mean over {runs} runs (standard error)");
    for setting in &SETTINGS {
        let Setting { n, p, s, epsilon, correlation, errors } = setting;
        let name = format!("n={n},p={p},s={s},epsilon={epsilon},correlation={correlation},errors={errors}");
        if !name.contains(&filter) {
            continue;
        }
        println!("\n{name}");
        let mut errors = vec![Vec::new(); methods.len()];
        for seed in 0..runs {
            let study = Study::new(setting, seed)?;
            for ((_, method), errors) in methods.iter().zip(&mut errors) {
                let rng = &mut RandomSource::insecure_seeded(seed);
                errors.push(study.error(&method(&study, *epsilon, rng)?));
            }
        }
        for ((what, _), errors) in methods.iter().zip(&errors) {
            let (mean, error) = summary(errors);
            println!("{what:42} {mean:.3} ({error:.3})");
        }
    }
    Ok(())
}
