//! Sparse regression: five of two hundred columns matter, and nobody knows which.
//!
//! `cargo run --release --example sparse`

use dpglm::central::{Glm, Privacy, SelectRefine};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::prelude::*;
use dpglm::release::Estimator as _;

fn main() -> Result<()> {
    let (rows, columns) = (20_000, 200);
    let entry = |i: usize, j: usize| ((i * (2 * j + 7_919) + j * j) % 2_001) as f64 / 1_000.0 - 1.0;
    let x: Vec<f64> = (0..rows * columns).map(|k| entry(k / columns, k % columns)).collect();
    let y = x.chunks_exact(columns).map(|row| row[3] - row[50] + row[77] - row[120] + row[199]).collect();

    // Columns as the estimators take them: already within [-1, 1].
    let data = Dataset::new(Design::from_f64(rows, columns, x)?, y)?;
    let model = Glm::new(Family::gaussian(), (-5.0, 5.0))?;
    let privacy = Privacy::Budget(Budget::new(1.0, 1e-6)?);
    let fit = SelectRefine::new(model, 5)?.fit(&data, privacy, &mut RandomSource::from_os()?)?;
    let found = fit.coefficients(columns);
    for (j, b) in found.iter().enumerate().filter(|(_, b)| **b != 0.0) {
        println!("column {j:3}  {b:+.3}");
    }
    Ok(())
}
