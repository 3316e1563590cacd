//! Cai et al. 2020 (4.9): the score attack `<M - beta, (y - psi'(x'beta)) x>` on supp(beta), on sparse logistic regression.

use super::sparse_linear::{features, members, points};
use super::{LINES, area, axes};
use crate::Result;
use crate::data::entries;
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions};
use crate::literal::Thresholding;
use crate::task::Task;
use dpglm::audit::{Estimand, ScoreAttack};
use dpglm::central::{Glm, Iht, SelectRefine};
use dpglm::data::Design;
use dpglm::families::Family;
use dpglm::release::Estimator;

const ROWS: usize = 400;
/// The size of a coefficient that is not zero.
const SIZE: f64 = 1.0;

/// The figure.
pub fn figure() -> Figure {
    Figure {
        key: "attack-sparse-logistic",
        title: "Score attack on sparse logistic regression (Cai et al. 2020 (4.9))",
        claim: "The attack has mean zero for records outside the table and a large one inside, unless the estimate is private.",
        choices: &[
            "n = 400 records of 400 columns uniform on (-1, 1), coefficients +-1 on s = 10, 20, 40 of them: on the unit sphere they \
             would be too small to be found without privacy",
            "epsilon = 0.5, delta = 1/(2n); every method is told s",
            "literal: Algorithm 5 with T = 10, step 1, B = 8",
            "non-private: iterative hard thresholding with a ridge of 0.001, so that the optimum exists, refitted on the support",
        ],
        data: "simulated",
        axes: axes("columns that matter, s (n = 400, d = 400)"),
        lines: &LINES,
        repetitions: Repetitions { quick: 20, full: 100 },
        points: || points(ROWS, 0.5 / ROWS as f64),
        headline: "s = 40",
        promises,
        run,
        verdict: super::verdict,
        memory: |_| 0.05,
    }
}

fn literal(point: &Point) -> Thresholding {
    Thresholding {
        n: ROWS,
        sparsity: point.whole("s"),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        scale: 8.0,
        sensitivity: 2.0,
        steps: 10,
        step: 1.0,
        truncation: 1.0,
        radius: f64::INFINITY,
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let promise = literal(point).promise("rows with entries in [-1, 1], labels 0 or 1")?;
    let certified = Promise::certified(promise.epsilon, promise.delta);
    Ok(vec![(LITERAL, promise), (CERTIFIED, certified)])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let s = point.whole("s");
    let mut draw = task.rows();
    let (x, predictors, beta) = features(&mut draw, 2 * ROWS, s, SIZE);
    let d = beta.len();
    let y: Vec<f64> = predictors.iter().map(|u| draw.logistic(*u)).collect();
    let members = members(ROWS, &x, &y)?;
    let all = entries(&Design::from_f32(2 * ROWS, d, x)?);
    let attack = ScoreAttack::new(Estimand::Glm(Family::logistic()), beta).on_support();
    let traced = |estimate: &[f64]| area(ROWS, |i| attack.value(estimate, &all[i * d..(i + 1) * d], y[i]));
    task.value(NON_PRIVATE, traced(&Iht::new(s)?.fit(&Family::logistic(), &members, 0.001)?)?);
    let iterates = literal(point).iterates(&Family::logistic(), &members, &mut task.noise(LITERAL));
    if let Some(last) = iterates.last() {
        task.value(LITERAL, traced(last)?);
    }
    task.certified(CERTIFIED, |privacy, rng| {
        let fit =
            SelectRefine::new(Glm::new(Family::logistic(), (0.0, 1.0))?, s)?.fit(&members, privacy, rng)?;
        Ok(traced(&fit.coefficients(d)).unwrap_or(f64::NAN))
    })
}
