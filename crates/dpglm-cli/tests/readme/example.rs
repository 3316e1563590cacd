use dpglm::prelude::*;

fn main() -> Result<()> {
    // Ages and weekly hours of 20,000 people, and whether their income is high.
    let x: Vec<[f64; 2]> = (0..20_000).map(|i| [f64::from(17 + i % 60), f64::from(i % 83)]).collect();
    let high = |[age, hours]: &[f64; 2]| f64::from(u8::from((7.0 * age) % 50.0 + age + hours > 100.0));
    let y: Vec<f64> = x.iter().map(high).collect();

    // Bounds come from public knowledge, the noise from the operating system.
    let model = Logistic::new([(17.0, 90.0), (0.0, 99.0)])?.names(["age", "hours"])?;
    let fit = model.intervals(0.95).fit(&x, &y, Budget::new(1.0, 1e-6)?)?;
    println!("{fit}"); // coefficients in the columns' units, their intervals, and what it cost
    Ok(())
}
