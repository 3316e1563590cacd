//! A sparse classifier under a loss of the program's own: three of a hundred columns matter, and a tenth of the labels are wrong.
//!
//! `cargo run --release --example smooth_loss`

use dpglm::central::{Loss, LossBounds, LossModel, NoisyIht, Privacy, Selection};
use dpglm::data::{Dataset, Design};
use dpglm::prelude::*;
use dpglm::release::Estimator as _;

/// The squared distance of the predictor's sigmoid from the label: a wrong label far from the boundary counts for little.
#[derive(Debug)]
struct SigmoidDistance;

impl SigmoidDistance {
    fn mean(predictor: f64) -> f64 {
        1.0 / (1.0 + (-predictor).exp())
    }
}

impl Loss for SigmoidDistance {
    fn value(&self, predictor: f64, y: f64) -> f64 {
        2.0 * (Self::mean(predictor) - y).powi(2)
    }

    fn slope(&self, predictor: f64, y: f64) -> f64 {
        let p = Self::mean(predictor);
        4.0 * (p - y) * p * (1.0 - p)
    }

    // No promise rests on these numbers: derivatives are clipped to the first, and the second only sets the length of steps.
    fn bounds(&self) -> LossBounds {
        LossBounds { slope: 16.0 / 27.0, curvature: 0.4 }
    }
}

fn main() -> Result<()> {
    let (rows, columns) = (20_000, 100);
    let entry = |i: usize, j: usize| ((i * (2 * j + 7_919) + j * j) % 2_001) as f64 / 1_000.0 - 1.0;
    let x: Vec<f64> = (0..rows * columns).map(|k| entry(k / columns, k % columns)).collect();
    let label = |(i, row): (usize, &[f64])| {
        let truly = row[3] - row[50] + row[77] > 0.0;
        f64::from(u8::from(truly != (i % 10 == 0)))
    };
    let y = x.chunks_exact(columns).enumerate().map(label).collect();
    let data = Dataset::new(Design::from_f64(rows, columns, x)?, y)?;

    let loss = LossModel::new(SigmoidDistance, (0.0, 1.0))?;
    let privacy = Privacy::Budget(Budget::new(2.0, 1e-6)?);
    let model = NoisyIht::new(loss, 3, 1.0, Selection::Gumbel)?.steps(15)?;
    let fit = model.fit(&data, privacy, &mut RandomSource::from_os()?)?;
    for (j, b) in fit.support.iter().zip(&fit.fit.coefficients) {
        println!("column {j:3}  {b:+.3}");
    }
    let spent = fit.fit.certificate.guarantee();
    println!(
        "{}",
        spent.map_or_else(String::new, |g| format!("epsilon {:.3} at delta {}", g.epsilon, g.delta))
    );
    Ok(())
}
