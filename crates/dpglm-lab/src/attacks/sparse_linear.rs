//! Cai et al. 2021 (4.5): the tracing attack `<(M - beta) on supp(beta), (y - x'beta) x>` on sparse linear regression.

use super::{LINES, area, axes};
use crate::Result;
use crate::c21;
use crate::data::entries;
use crate::draw::Draw;
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions};
use crate::literal::Thresholding;
use crate::task::Task;
use dpglm::audit::tracing;
use dpglm::central::{Glm, Iht, SelectRefine};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::release::Estimator;

const ROWS: usize = 300;
const COLUMNS: usize = 400;
/// The size of a coefficient that is not zero.
const SIZE: f64 = 3.0;

/// The figure.
pub fn figure() -> Figure {
    Figure {
        key: "attack-sparse-linear",
        title: "Tracing attack on sparse linear regression (Cai et al. 2021 (4.5))",
        claim: "The attack takes large values for records in the table and small ones otherwise, unless the estimate is private.",
        choices: &[
            "n = 300 records of 400 columns uniform on (-1, 1), coefficients +-3 on s = 10, 20, 40 of them, standard normal errors: the design of Cai et al. 2021 itself \
             hides its support even without privacy, and an attack on the support would find nothing",
            "epsilon = 0.5, delta = 10/n^1.1; every method is told s",
            "literal: Algorithm 4.2 with T = 10, step 1, the theoretical R for the responses' deviation, c_0 = 3 sqrt(s), c_x = sqrt(d)",
            "non-private: iterative hard thresholding, refitted on the support",
        ],
        data: "simulated",
        axes: axes("columns that matter, s (n = 300, d = 400)"),
        lines: &LINES,
        repetitions: Repetitions { quick: 20, full: 100 },
        points: || points(ROWS, c21::delta(ROWS)),
        headline: "s = 40",
        promises,
        run,
        verdict: super::verdict,
        memory: |_| 0.05,
    }
}

/// Points at three sparsities.
pub fn points(n: usize, delta: f64) -> Vec<Point> {
    let point = |s: usize| {
        let settings = [("n", n as f64), ("s", s as f64), ("epsilon", c21::EPSILON), ("delta", delta)];
        Point::new(format!("s = {s}"), s as f64, &settings)
    };
    [10, 20, 40].map(point).into()
}

/// `n` rows of features with their predictors, and the coefficients: of this size, with random signs, on the first s columns.
pub fn features(draw: &mut Draw, n: usize, s: usize, size: f64) -> (Vec<f32>, Vec<f64>, Vec<f64>) {
    let mut beta: Vec<f64> = (0..s).map(|_| if draw.uniform() < 0.5 { size } else { -size }).collect();
    let x = draw.features(n * COLUMNS);
    let predictor = |row: &[f32]| row.iter().zip(&beta).map(|(a, b)| f64::from(*a) * b).sum();
    let predictors = x.chunks_exact(COLUMNS).map(predictor).collect();
    beta.resize(COLUMNS, 0.0);
    (x, predictors, beta)
}

/// The records that were in the table: the first n.
pub fn members(n: usize, x: &[f32], y: &[f64]) -> Result<Dataset> {
    Ok(Dataset::new(Design::from_f32(n, COLUMNS, x[..n * COLUMNS].to_vec())?, y[..n].to_vec())?)
}

fn literal(point: &Point) -> Thresholding {
    let (s, d) = (point.get("s"), COLUMNS as f64);
    // Four deviations of the responses, times the root of log n.
    let level = 4.0 * ((SIZE * SIZE * s / 3.0 + 1.0) * (ROWS as f64).ln()).sqrt();
    Thresholding {
        n: ROWS,
        sparsity: point.whole("s"),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        scale: 4.0 * (level + SIZE * (s * d).sqrt()) * (d / s).sqrt(),
        // An entry of 1 times a residual: s coefficients in a ball of radius r give at most r sqrt(s).
        sensitivity: 2.0 * (level + SIZE * s),
        steps: 10,
        step: 1.0,
        truncation: level,
        radius: SIZE * s.sqrt(),
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let promise = literal(point).promise("rows with entries in [-1, 1]")?;
    let certified = Promise::certified(promise.epsilon, promise.delta);
    Ok(vec![(LITERAL, promise), (CERTIFIED, certified)])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let s = point.whole("s");
    let mut draw = task.rows();
    let (x, predictors, beta) = features(&mut draw, 2 * ROWS, s, SIZE);
    let y: Vec<f64> = predictors.iter().map(|u| u + draw.normal()).collect();
    let members = members(ROWS, &x, &y)?;
    let all = entries(&Design::from_f32(2 * ROWS, COLUMNS, x)?);
    let record = |i: usize| &all[i * COLUMNS..(i + 1) * COLUMNS];
    let traced = |estimate: &[f64]| area(ROWS, |i| tracing::sparse_linear(record(i), y[i], &beta, estimate));
    task.value(NON_PRIVATE, traced(&Iht::new(s)?.fit(&Family::gaussian(), &members, 0.0)?)?);
    let literal = literal(point);
    let iterates = literal.iterates(&Family::gaussian(), &members, &mut task.noise(LITERAL));
    if let Some(last) = iterates.last() {
        task.value(LITERAL, traced(last)?);
    }
    task.certified(CERTIFIED, |privacy, rng| {
        let model = Glm::new(Family::gaussian(), (-literal.truncation, literal.truncation))?;
        let fit = SelectRefine::new(model.radius(literal.radius)?, s)?.fit(&members, privacy, rng)?;
        Ok(traced(&fit.coefficients(COLUMNS)).unwrap_or(f64::NAN))
    })
}
