//! Cai et al. 2020 (4.7): the score attack `<M - beta, (y - psi'(x'beta)) x>` on logistic regression.

use super::{LINES, area, axes};
use crate::Result;
use crate::c20::dense;
use crate::data::entries;
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions};
use crate::literal::{GradientNoise, noisy_gradient};
use crate::task::Task;
use dpglm::audit::{Estimand, ScoreAttack};
use dpglm::central::{Glm, reference};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::release::Estimator;

const ROWS: usize = 500;

/// The figure.
pub fn figure() -> Figure {
    Figure {
        key: "attack-logistic",
        title: "Score attack on logistic regression (Cai et al. 2020 (4.7))",
        claim: "The attack has mean zero for records outside the table and a large one inside, unless the estimate is private.",
        choices: &[
            "n = 500 records of the logistic model of Cai et al. 2020, d = 10, 30, 100",
            "epsilon = 0.5, delta = 1/(2n)",
            "literal: Algorithm 1 with T = 20, B = 8; non-private: the optimum with a ridge of 0.001, so that it exists",
        ],
        data: "simulated",
        axes: axes("columns d (n = 500)"),
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "d = 100",
        promises,
        run,
        verdict: super::verdict,
        memory: |_| 0.05,
    }
}

fn points() -> Vec<Point> {
    [10, 30, 100].map(|d| dense::point(format!("d = {d}"), ROWS as f64, f64::from(d), 0.5)).into()
}

fn noise(point: &Point) -> GradientNoise {
    GradientNoise {
        n: ROWS,
        d: point.whole("d"),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        scale: dense::SCALE,
        steps: dense::STEPS,
        step: 1.0,
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let promise = noise(point).logistic_promise()?;
    let certified = Promise::certified(promise.epsilon, promise.delta);
    Ok(vec![(LITERAL, promise), (CERTIFIED, certified)])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let d = point.whole("d");
    let (data, beta) = dense::simulated(&mut task.rows(), 2 * ROWS, d)?;
    let (x, y) = (entries(data.design()), data.response());
    let members = Dataset::new(Design::from_f64(ROWS, d, x[..ROWS * d].to_vec())?, y[..ROWS].to_vec())?;
    let attack = ScoreAttack::new(Estimand::Glm(Family::logistic()), beta);
    let traced = |estimate: &[f64]| area(ROWS, |i| attack.value(estimate, &x[i * d..(i + 1) * d], y[i]));
    let plain = reference::glm(&Family::logistic(), &members, 0.001, false)?.coefficients;
    task.value(NON_PRIVATE, traced(&plain)?);
    let iterates = noisy_gradient(&Family::logistic(), &members, &noise(point), &mut task.noise(LITERAL));
    if let Some(last) = iterates.last() {
        task.value(LITERAL, traced(last)?);
    }
    task.certified(CERTIFIED, |privacy, rng| {
        let fit = Glm::new(Family::logistic(), (0.0, 1.0))?.fit(&members, privacy, rng)?;
        Ok(traced(&fit.coefficients).unwrap_or(f64::NAN))
    })
}
