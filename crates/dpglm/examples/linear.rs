//! Linear regression of a response far from zero: a year.
//!
//! `cargo run --release --example linear`

use dpglm::prelude::*;

fn main() -> Result<()> {
    let x: Vec<[f64; 2]> = (0..20_000).map(|i| [f64::from(i % 11), f64::from(i % 7)]).collect();
    let noise = |i: usize| ((i * 7_919) % 1_000) as f64 / 250.0 - 2.0;
    let y: Vec<f64> = x.iter().enumerate().map(|(i, [a, b])| 2005.0 + 0.8 * a - 0.5 * b + noise(i)).collect();

    let fit = Linear::new([(0.0, 10.0), (0.0, 10.0)], (1990.0, 2020.0))?
        .names(["a", "b"])?
        .intervals(0.95)
        .fit(&x, &y, Budget::new(1.0, 1e-6)?)?;
    println!("{fit}");
    Ok(())
}
