//! The planner's predictions beside fresh simulation, on settings that it has not seen.
//!
//! `cargo run --release --bin planning -- [RUNS] [FRESH] [FILTER]`. *Planned* is the mean of RUNS simulated fits at the point, as `dpglm
//! plan` reports it. *Law* is what the law fitted to three other points (twice the epsilon, half the rows, and half of both)
//! expects there: the harder test, since the point itself is left out. *Fresh* is the mean of FRESH fits with other seeds.

use dpglm::tuning::planner::{Law, PlannedModel, Problem};

/// A name, the model, columns, those that matter, rows, epsilon.
type Setting = (&'static str, PlannedModel, usize, Option<usize>, usize, f64);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().and_then(|s| s.parse().ok()).unwrap_or(default);
    let (runs, fresh) = (number(60), number(60));
    let filter = arguments.next().unwrap_or_default();
    let mean = PlannedModel::Mean { range: (-50.0, 50.0) };
    let linear = PlannedModel::Linear { target: (-10.0, 10.0) };
    let logistic = PlannedModel::Logistic;
    let settings: [Setting; 12] = [
        ("mean d 10", mean, 10, None, 4_000, 0.5),
        ("mean d 30", mean, 30, None, 20_000, 0.3),
        ("mean s 5 of 200", mean, 200, Some(5), 3_000, 0.7),
        ("mean s 10 of 500", mean, 500, Some(10), 5_000, 0.5),
        ("linear d 8", linear, 8, None, 6_000, 0.7),
        ("linear d 20", linear, 20, None, 25_000, 0.5),
        ("linear s 4 of 100", linear, 100, Some(4), 12_000, 0.8),
        ("linear s 6 of 300", linear, 300, Some(6), 15_000, 1.2),
        ("logistic d 6", logistic, 6, None, 8_000, 0.6),
        ("logistic d 15", logistic, 15, None, 30_000, 0.4),
        ("logistic s 4 of 100", logistic, 100, Some(4), 20_000, 0.7),
        ("logistic s 5 of 300", logistic, 300, Some(5), 25_000, 1.0),
    ];
    println!("setting                  n   epsilon   planned (s.e.)     fresh (s.e.)    off    law    off");
    for (name, model, columns, sparsity, rows, epsilon) in
        settings.into_iter().filter(|setting| setting.0.contains(&filter))
    {
        let problem = Problem { model, columns, sparsity, delta: 1e-6, sigma: 1.0 };
        let point = |rows: usize, epsilon: f64, seeds: std::ops::Range<u64>| {
            let simulator = problem.simulator(rows, epsilon).expect("valid");
            let errors: Vec<f64> = seeds.map(|seed| simulator.error(seed).expect("fits")).collect();
            problem.summary(rows, epsilon, &errors)
        };
        let planned = point(rows, epsilon, 0..runs);
        let others = [(rows, 2.0 * epsilon), (rows / 2, epsilon), (rows / 2, 0.5 * epsilon)]
            .map(|(rows, epsilon)| point(rows, epsilon, 0..runs / 2));
        let law = Law::fit(&others, problem.delta).error(rows as f64, epsilon);
        let fresh = point(rows, epsilon, 1_000_000..1_000_000 + fresh);
        let off = |predicted: f64| 100.0 * (predicted / fresh.error - 1.0);
        println!(
            "{name:20} {rows:6} {epsilon:6}   {:.5} ({:.5})   {:.5} ({:.5})   {:+.0}%   {law:.5}  {:+.0}%",
            planned.error,
            planned.standard_error,
            fresh.error,
            fresh.standard_error,
            off(planned.error),
            off(law)
        );
    }
}
