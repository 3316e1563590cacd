//! Without a trusted curator: what leaves a device is already private.
//!
//! `cargo run --release --example local_report`

use dpglm::local::RandomizedResponse;
use dpglm::prelude::*;

fn main() -> Result<()> {
    let response = RandomizedResponse::new(2, 1.0)?;
    let mut device = RandomSource::from_os()?;
    // 30% of 50,000 people would say 1; each reports a randomized answer.
    let reports: Vec<u32> =
        (0..50_000).map(|i| response.randomize(u32::from(i % 10 < 3), &mut device)).collect();
    let share =
        reports.iter().map(|&report| response.indicator(report, 1)).sum::<f64>() / reports.len() as f64;
    println!("share of ones, from reports alone: {share:.3}");
    println!("{}", response.certificate(&device)?);
    Ok(())
}
