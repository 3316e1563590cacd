//! Cai et al. 2021 (4.2): the tracing attack `<M - beta, (y - x'beta) x>` on linear regression.

use super::{LINES, area, axes};
use crate::Result;
use crate::c21::{self, linear};
use crate::data::entries;
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions};
use crate::literal::{LiteralLinear, Truncate};
use crate::task::Task;
use dpglm::audit::tracing;
use dpglm::central::{Glm, reference};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::release::Estimator;

const ROWS: usize = 500;

/// The figure.
pub fn figure() -> Figure {
    Figure {
        key: "attack-linear",
        title: "Tracing attack on linear regression (Cai et al. 2021 (4.2))",
        claim: "The attack takes large values for records in the table and small ones otherwise, unless the estimate is private.",
        choices: &[
            "n = 500 records of the linear model of Cai et al. 2021, d = 10, 50, 200",
            "epsilon = 0.5, delta = 10/n^1.1",
            "literal: Algorithm 4.1 with the theoretical R, T = 10, step d",
        ],
        data: "simulated",
        axes: axes("columns d (n = 500)"),
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "d = 200",
        promises,
        run,
        verdict: super::verdict,
        memory: |_| 0.05,
    }
}

fn points() -> Vec<Point> {
    let delta = c21::delta(ROWS);
    let point = |d: usize| {
        let settings = [("n", ROWS as f64), ("d", d as f64), ("epsilon", c21::EPSILON), ("delta", delta)];
        Point::new(format!("d = {d}"), d as f64, &settings)
    };
    [10, 50, 200].map(point).into()
}

fn literal(point: &Point) -> LiteralLinear {
    linear::literal(point, Truncate::Theory, 10, point.get("d"))
}

fn promises(point: &Point) -> Result<Promises> {
    let promise = literal(point).promise()?;
    let certified = Promise::certified(promise.epsilon, promise.delta);
    Ok(vec![(LITERAL, promise), (CERTIFIED, certified)])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let d = point.whole("d");
    let rows = linear::Rows::draw(&mut task.rows(), 2 * ROWS, d, d)?;
    let (x, y) = (entries(rows.data.design()), rows.data.response());
    let truth: Vec<f64> = rows.beta.iter().map(|b| b / (d as f64).sqrt()).collect();
    let members = Dataset::new(Design::from_f64(ROWS, d, x[..ROWS * d].to_vec())?, y[..ROWS].to_vec())?;
    let traced =
        |estimate: &[f64]| area(ROWS, |i| tracing::linear(&x[i * d..(i + 1) * d], y[i], &truth, estimate));
    let plain = reference::glm(&Family::gaussian(), &members, 0.0, false)?.coefficients;
    task.value(NON_PRIVATE, traced(&plain)?);
    let noisy = literal(point).fit(&members, &mut task.noise(LITERAL))?;
    task.value(LITERAL, traced(&noisy)?);
    task.certified(CERTIFIED, |privacy, rng| {
        let fit = Glm::new(Family::gaussian(), rows.target())?.fit(&members, privacy, rng)?;
        Ok(traced(&fit.coefficients).unwrap_or(f64::NAN))
    })
}
