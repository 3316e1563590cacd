//! The call that the Python package makes, without Python: encodes a matrix that is in memory and fits it.
//!
//! `cargo run --release -p dpglm-workflow --example fit_in_memory -- ROWS COLUMNS RUNS` prints the seconds of each run, those of the
//! encoding alone, and the first coefficient. `benchmarks/python/overhead.py` compares.

use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
use dpglm_io::memory::{Cells, Matrix, Numbers, attach_response, encode_matrix};
use dpglm_io::{Domain, ReadOptions, Schema, UniformBounds};
use dpglm_workflow::model::{FitRequest, TableFacts};
use dpglm_workflow::{Failure, fit, render};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Failure> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [rows, columns, runs] = numbers[..] else {
        return Err(Failure::Usage("give ROWS COLUMNS RUNS".into()));
    };
    // The same rows as the Python side draws: a linear congruential generator is all that is needed.
    let mut state = 1_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 * 2f64.powi(-53)
    };
    let x: Vec<f64> = (0..rows * columns).map(|_| 2.0 * uniform() - 1.0).collect();
    let y: Vec<i64> = x.chunks_exact(columns).map(|row| i64::from(row[0] - row[1] > 0.0)).collect();
    let names: Vec<String> = (0..columns).map(|j| format!("x{j}")).collect();
    let target = Schema::parse("target = \"y\"\n[columns]\ny = { kind = \"binary\", levels = [0, 1] }")?;
    let options = ReadOptions { constant_column: true, ..ReadOptions::default() };
    for _ in 0..runs {
        let start = Instant::now();
        let mut encoded = 0.0;
        // As a function that is called does, it gives its table's memory back before it returns.
        let (document, json) = {
            let schema = UniformBounds::new(-1.0, 1.0).schema(Path::new("X"), &names)?;
            let matrix = Matrix { numbers: Numbers::F64(&x), rows, columns, column_major: false };
            let mut table = encode_matrix("X", matrix, &names, &schema, &options)?;
            attach_response(&mut table, "y", Cells::I64(&y), &target, &options)?;
            encoded += start.elapsed().as_secs_f64();
            let domain = Domain::Binary(["0".into(), "1".into()]);
            let model = FitRequest::default().model_of(
                TableFacts { domain, intercept: true, entry: 1.0, nonnegative: false, unit: None },
                None,
            )?;
            let privacy = Privacy::Budget(Budget::new(1.0, 1e-7)?);
            let prepared = fit::prepare(&model, table, schema, Path::new("X"))?;
            let rng = &mut RandomSource::insecure_seeded(1);
            let document = prepared.fit(&model, privacy, rng, &mut |_| (), &mut |_, _| ())?;
            let json = render::json(&document)?;
            (document, json)
        };
        let seconds = start.elapsed().as_secs_f64();
        println!("{seconds} {encoded} {} {}", document.coefficients["x0"], json.len());
    }
    Ok(())
}
