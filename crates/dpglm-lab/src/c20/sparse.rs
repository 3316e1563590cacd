//! What Figures 2(a) to 2(c) share: a sparse logistic model in 10,000 dimensions, iterate by iterate.
//!
//! The first s coefficients uniform on the unit sphere, all others zero; entries of x uniform on (-1, 1), step 1 from zero, the
//! sparsity level twice the truth, delta = 1/(2n). Measured: the logarithm of the squared distance from beta.

use crate::Result;
use crate::draw::{Draw, squared_distance};
use crate::figure::{
    AT_TRUE, Axes, CERTIFIED, LITERAL, Measure, NON_PRIVATE, Point, Promises, Repetitions, Scale,
    usual_promises,
};
use crate::literal::Thresholding;
use crate::task::Task;
use dpglm::central::{Glm, Iht, SelectRefine};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::release::Estimator;

/// Columns.
pub const COLUMNS: usize = 10_000;
/// Steps of the literal algorithm: the paper does not print T.
pub const STEPS: u32 = 10;
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
    "T is not printed: T = 10, because more steps add more noise",
    "B = 8 = 4 (R + c_1) sigma_x with R = c_1 = sigma_x = 1, as Lemma 5 asks; 2 would do",
    "the printed budget split: (epsilon/T, delta/T) a step",
    "Algorithm 5 prints beta^(T) where it must be beta^t: read so",
    "every method is told twice the true sparsity, as in the paper",
    "non-private: iterative hard thresholding, 15 steps of length 8, refitted on the support; it keeps all 2s columns, the certified method those clear of zero",
    "the paper's number of repetitions is not printed: 20",
];
/// How often: each repetition reads gigabytes.
pub(crate) const REPETITIONS: Repetitions = Repetitions { quick: 5, full: 20 };

/// A point of any of the three.
pub fn point(name: String, n: f64, s: f64, epsilon: f64) -> Point {
    let d = COLUMNS as f64;
    Point::new(name, s, &[("n", n), ("d", d), ("s", s), ("epsilon", epsilon), ("delta", 0.5 / n)])
}

fn literal(point: &Point) -> Thresholding {
    Thresholding {
        n: point.whole("n"),
        sparsity: 2 * point.whole("s"),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        scale: 8.0,
        sensitivity: 2.0,
        steps: STEPS,
        step: 1.0,
        truncation: 1.0,
        radius: f64::INFINITY,
    }
}

/// What the lines promise.
pub fn promises(point: &Point) -> Result<Promises> {
    Ok(usual_promises(literal(point).promise("rows with entries in [-1, 1], labels 0 or 1")?))
}

/// Rows of the paper's sparse logistic model.
pub fn simulated(draw: &mut Draw, n: usize, d: usize, s: usize) -> Result<(Dataset, Vec<f64>)> {
    let mut beta = draw.sphere(s);
    let x = draw.features(n * d);
    let predictor = |row: &[f32]| row.iter().zip(&beta).map(|(a, b)| f64::from(*a) * b).sum();
    let y = x.chunks_exact(d).map(|row| draw.logistic(predictor(row))).collect();
    beta.resize(d, 0.0);
    Ok((Dataset::new(Design::from_f32(n, d, x)?, y)?, beta))
}

/// One repetition.
pub fn run(point: &Point, task: &mut Task) -> Result<()> {
    let s = point.whole("s");
    let (data, beta) = simulated(&mut task.rows(), point.whole("n"), COLUMNS, s)?;
    let error = |estimate: &[f64]| squared_distance(estimate, &beta).ln();
    let iterates = literal(point).iterates(&Family::logistic(), &data, &mut task.noise(LITERAL));
    let path: Vec<f64> = iterates.iter().map(|b| error(b)).collect();
    task.path(LITERAL, &path);
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            let model = SelectRefine::new(Glm::new(Family::logistic(), (0.0, 1.0))?, 2 * s)?;
            Ok(error(&model.fit(&data, privacy, rng)?.coefficients(COLUMNS)))
        })?;
    }
    // The curvature of this model is at most 1/12: a step of 8 is safe and fast.
    let plain = Iht::new(2 * s)?.step(8.0)?.iterations(15)?.fit(&Family::logistic(), &data, 0.0)?;
    task.value(NON_PRIVATE, error(&plain));
    Ok(())
}

/// Gigabytes.
pub fn memory(point: &Point) -> f64 {
    point.get("n") * point.get("d") * 4.4e-9
}
