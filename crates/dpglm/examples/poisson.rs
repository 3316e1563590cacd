//! Poisson regression of counts: visits to a doctor by age and chronic conditions.
//!
//! `cargo run --release --example poisson`

use dpglm::prelude::*;

fn main() -> Result<()> {
    let x: Vec<[f64; 2]> =
        (0..25_000).map(|i| [f64::from(20 + i % 60), f64::from(u8::from(i % 5 == 0))]).collect();
    let y: Vec<f64> = x
        .iter()
        .enumerate()
        .map(|(i, [age, ill])| (age / 20.0 + 3.0 * ill + (i % 3) as f64 - 1.0).floor())
        .collect();

    let model = Poisson::new([(0.0, 110.0), (0.0, 1.0)], (0.0, 100.0))?.names(["age", "chronic"])?;
    let fit = model.intervals(0.95).fit(&x, &y, Budget::new(1.0, 1e-6)?)?;
    println!("{fit}");
    println!("visits at 70, chronically ill: {:.1}", fit.predict(&[[70.0, 1.0]])?[0]);
    Ok(())
}
