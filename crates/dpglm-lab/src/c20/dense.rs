//! What Figures 1(a) to 1(c) share: a logistic model in few dimensions, iterate by iterate.
//!
//! beta uniform on the unit sphere, entries of x uniform on (-1, 1), step 1 from zero, delta = 1/(2n). Measured: the logarithm
//! of the squared distance from beta. The certified method releases its last estimate only, so it is a level line.

use crate::Result;
use crate::draw::{Draw, squared_distance};
use crate::figure::{
    AT_TRUE, Axes, CERTIFIED, LITERAL, Line, Measure, NON_PRIVATE, Point, Promises, Scale, USUAL, comparator,
    usual_promises,
};
use crate::literal::{GradientNoise, noisy_gradient};
use crate::task::Task;
use dpglm::central::{Glm, reference};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::release::Estimator;

/// Steps of the literal algorithm: the paper does not print T.
pub const STEPS: u32 = 20;
/// `4 (R + c_1) sigma_x` with R = c_1 = sigma_x = 1.
pub const SCALE: f64 = 8.0;
/// The literal algorithm with half the steps, where less noise is added.
pub(crate) const FEWER: &str = "literal, T = 10";
/// All lines.
pub const LINES: [Line; 5] = [USUAL[0], comparator(FEWER), USUAL[1], USUAL[2], USUAL[3]];
/// The axes of all three.
pub(crate) const AXES: Axes = Axes {
    x: "iteration t",
    y: "log of the squared l2 error",
    x_scale: Scale::Steps,
    y_scale: Scale::Linear,
    measure: Measure::LogError,
};
/// What is open in all three.
pub(crate) const CHOICES: &[&str] = &[
    "T is not printed: T = 20, and T = 10 beside it",
    "B = 8 = 4 (R + c_1) sigma_x with R = c_1 = sigma_x = 1, as Lemma 1 asks; 2 would do",
    "the printed budget split: (epsilon/T, delta/T) a step",
    "the paper's number of repetitions is not printed: 100",
];
/// Where the rows come from.
pub const DATA: &str = "simulated as in the paper";

/// A point of any of the three.
pub fn point(name: String, n: f64, d: f64, epsilon: f64) -> Point {
    Point::new(name, d, &[("n", n), ("d", d), ("epsilon", epsilon), ("delta", 0.5 / n)])
}

fn noise(point: &Point, steps: u32) -> GradientNoise {
    GradientNoise {
        n: point.whole("n"),
        d: point.whole("d"),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        scale: SCALE,
        steps,
        step: 1.0,
    }
}

/// What the lines promise.
pub fn promises(point: &Point) -> Result<Promises> {
    let mut promises = usual_promises(noise(point, STEPS).logistic_promise()?);
    promises.push((FEWER, noise(point, 10).logistic_promise()?));
    Ok(promises)
}

/// Rows of the paper's logistic model.
pub fn simulated(draw: &mut Draw, n: usize, d: usize) -> Result<(Dataset, Vec<f64>)> {
    let beta = draw.sphere(d);
    let x = draw.features(n * d);
    let predictor = |row: &[f32]| row.iter().zip(&beta).map(|(a, b)| f64::from(*a) * b).sum();
    let y = x.chunks_exact(d).map(|row| draw.logistic(predictor(row))).collect();
    Ok((Dataset::new(Design::from_f32(n, d, x)?, y)?, beta))
}

/// One repetition.
pub fn run(point: &Point, task: &mut Task) -> Result<()> {
    let (data, beta) = simulated(&mut task.rows(), point.whole("n"), point.whole("d"))?;
    let error = |estimate: &[f64]| squared_distance(estimate, &beta).ln();
    for (line, steps) in [(LITERAL, STEPS), (FEWER, 10)] {
        let iterates =
            noisy_gradient(&Family::logistic(), &data, &noise(point, steps), &mut task.noise(line));
        let path: Vec<f64> = iterates.iter().map(|b| error(b)).collect();
        task.path(line, &path);
    }
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            let fit = Glm::new(Family::logistic(), (0.0, 1.0))?.fit(&data, privacy, rng)?;
            Ok(error(&fit.coefficients))
        })?;
    }
    task.value(NON_PRIVATE, error(&reference::glm(&Family::logistic(), &data, 0.0, false)?.coefficients));
    Ok(())
}

/// Gigabytes.
pub fn memory(point: &Point) -> f64 {
    point.get("n") * point.get("d") * 16e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An independent implementation finds 0.21 at n = 40,000, d = 10.
    #[test]
    fn literal_agrees_with_an_independent_implementation() {
        let point = point("d = 10".into(), 40_000.0, 10.0, 0.5);
        let errors: Vec<f64> = (0..30_u64)
            .map(|i| {
                let mut draw = Draw::new(crate::task::seed(&["c20 dense", &i.to_string()]));
                let (data, beta) = simulated(&mut draw, 40_000, 10).unwrap();
                let iterates = noisy_gradient(&Family::logistic(), &data, &noise(&point, STEPS), &mut draw);
                squared_distance(&iterates[STEPS as usize], &beta).ln()
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / 30.0;
        let deviation = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / 29.0).sqrt();
        // Five standard errors of ours and as many of theirs (ten runs).
        let allowed = 5.0 * deviation * (1.0 / 30.0_f64 + 0.1).sqrt();
        assert!((mean - 0.21).abs() < allowed && allowed < 1.5, "{mean} {allowed}");
        // Noise half as large would be seen: the squared error falls to about a quarter.
        assert!((mean + 0.25_f64.ln() - 0.21).abs() > allowed, "no power: {allowed}");
    }
}
