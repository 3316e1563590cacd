//! The fused pass beside a loop that only reads the rows, taken in turns: other work on the machine slows both alike.

use dpglm::data::Design;
use dpglm::data::design::Storage;
use dpglm::kernels::{fused_pass, predict};
use dpglm_benchmarks::read;
use std::hint::black_box;
use std::time::Instant;

/// Single precision?, rows, columns.
const SHAPES: [(bool, usize, usize); 5] = [
    (false, 40_000, 1_000),
    (true, 40_000, 1_000),
    (false, 1_000_000, 50),
    (true, 1_000_000, 50),
    (true, 40_000, 10_000),
];
const ROUNDS: usize = 60;

fn main() {
    println!(
        "{:>6} {:>8} {:>7} {:>12} {:>12} {:>12}",
        "stored", "rows", "columns", "read GB/s", "pass / read", "Xb / read"
    );
    for (single, rows, columns) in SHAPES {
        let entries = (0..rows * columns).map(|i| (i.wrapping_mul(7_919) % 1_009) as f64 / 504.5 - 1.0);
        let design = if single {
            Design::from_f32(rows, columns, entries.map(|x| x as f32).collect())
        } else {
            Design::from_f64(rows, columns, entries.collect())
        }
        .expect("the shape fits");
        let b = vec![0.5 / columns as f64; columns];
        let mut gradient = vec![0.0; columns];
        let mut predictors = vec![0.0; rows];
        let residual = |i: usize, u: f64| 1.0 / (1.0 + (-u).exp()) - (i % 2) as f64;
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            let start = Instant::now();
            read_all(black_box(&design));
            times[0].push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            fused_pass(black_box(&design), &b, residual, black_box(&mut gradient));
            times[1].push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            predict(black_box(&design), &b, black_box(&mut predictors));
            times[2].push(start.elapsed().as_secs_f64());
        }
        let [read, pass, product] = times.map(median);
        let stored = if single { "f32" } else { "f64" };
        let bytes = (rows * columns * if single { 4 } else { 8 }) as f64;
        println!(
            "{stored:>6} {rows:>8} {columns:>7} {:>12.1} {:>11.0}% {:>11.0}%",
            bytes / read / 1e9,
            100.0 * read / pass,
            100.0 * read / product
        );
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn read_all(design: &Design) {
    match design.storage() {
        Storage::F64(x) => read::<f64, 16>(x),
        Storage::F32(x) => read::<f32, 32>(x),
        _ => unreachable!("dense shapes only"),
    }
}
