//! Means with intervals of columns on different scales.
//!
//! `cargo run --release --example mean`

use dpglm::prelude::*;

fn main() -> Result<()> {
    // Age, and a gain that is zero for nine of ten.
    let gain = |i: u32| if i.is_multiple_of(10) { f64::from(i % 2_000) } else { 0.0 };
    let rows: Vec<[f64; 2]> = (0..20_000).map(|i| [f64::from(17 + i % 60), gain(i)]).collect();

    let fit =
        Mean::new([(17.0, 90.0), (0.0, 100_000.0)])?.intervals(0.95).fit(&rows, Budget::new(1.0, 1e-6)?)?;
    for (name, (mean, interval)) in
        ["age", "gain"].iter().zip(fit.means.iter().zip(fit.intervals.iter().flatten()))
    {
        println!("{name:4}  {mean:8.2}  [{:.2}, {:.2}]", interval.low, interval.high);
    }
    println!("{}", fit.certificate);
    Ok(())
}
