//! Logistic regression with intervals: does a longer week go with a high income?
//!
//! `cargo run --release --example logistic`

use dpglm::prelude::*;

fn main() -> Result<()> {
    // 30,000 people: age, hours per week, and whether their income is high.
    let mut state = 1_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (x, y): (Vec<[f64; 2]>, Vec<f64>) = (0..30_000)
        .map(|_| {
            let (age, hours) = (17.0 + 60.0 * uniform(), 20.0 + 40.0 * uniform());
            let risk = 1.0 / (1.0 + (6.0 - 0.03 * age - 0.08 * hours).exp());
            ([age, hours], f64::from(u8::from(uniform() < risk)))
        })
        .unzip();

    // Bounds come from public knowledge, never from the rows.
    let fit = Logistic::new([(17.0, 90.0), (0.0, 99.0)])?.names(["age", "hours"])?.intervals(0.95).fit(
        &x,
        &y,
        Budget::new(1.0, 1e-6)?,
    )?;
    println!("{fit}");
    println!("at 50 years and 60 hours: {:.2}", fit.predict(&[[50.0, 60.0]])?[0]);
    Ok(())
}
