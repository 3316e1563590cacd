//! Cai et al. 2021 section 2.3: the tracing attack `<x - mu, M>` on a mean.

use super::{LINES, area, axes};
use crate::Result;
use crate::c21;
use crate::c21::means::average;
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions};
use crate::literal::{LiteralMean, Truncate};
use crate::task::Task;
use dpglm::audit::tracing;
use dpglm::central::PrivateMean;
use dpglm::data::Design;
use dpglm::privacy::{Event, Noise};
use dpglm::release::Estimator;

const ROWS: usize = 500;

/// The figure.
pub fn figure() -> Figure {
    Figure {
        key: "attack-mean",
        title: "Tracing attack on a mean (Cai et al. 2021 section 2.3)",
        claim: "The attack takes large values for records in the table and small ones otherwise, unless the mean is private.",
        choices: &[
            "n = 500 records with entries -1 or 1, equally likely; d = 100, 500, 2,000",
            "epsilon = 0.5, delta = 10/n^1.1",
            "literal: Algorithm 3.1 with R = 1; certified: the mean with ranges [-1, 1]",
        ],
        data: "simulated",
        axes: axes("columns d (n = 500)"),
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "d = 2000",
        promises,
        run,
        verdict: super::verdict,
        memory: |_| 0.1,
    }
}

fn points() -> Vec<Point> {
    let delta = c21::delta(ROWS);
    let point = |d: usize| {
        let settings = [("n", ROWS as f64), ("d", d as f64), ("epsilon", c21::EPSILON), ("delta", delta)];
        Point::new(format!("d = {d}"), d as f64, &settings)
    };
    [100, 500, 2_000].map(point).into()
}

fn literal(point: &Point) -> LiteralMean {
    c21::means::literal(point, Truncate::Theory, false)
}

fn promises(point: &Point) -> Result<Promises> {
    let model = literal(point);
    let sensitivity = 2.0 * (model.d as f64).sqrt() / model.n as f64;
    let events = [Event::new("mean", Noise::Gaussian { sensitivity, sigma: model.sigma(1.0) }, 1)?];
    let (epsilon, delta) = (model.epsilon, model.delta);
    Ok(vec![
        (LITERAL, Promise::literal(epsilon, delta, &events, "entries in [-1, 1]")?),
        (CERTIFIED, Promise::certified(epsilon, delta)),
    ])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let d = point.whole("d");
    let mut draw = task.rows();
    let x: Vec<f64> = (0..2 * ROWS * d).map(|_| if draw.chance(0.5) { 1.0 } else { -1.0 }).collect();
    let members = &x[..ROWS * d];
    let truth = vec![0.0; d];
    let traced = |estimate: &[f64]| area(ROWS, |i| tracing::mean(&x[i * d..(i + 1) * d], &truth, estimate));
    let plain = average(members, d);
    task.value(NON_PRIVATE, traced(&plain)?);
    let mut noise = task.noise(LITERAL);
    let sigma = literal(point).sigma(1.0);
    let noisy: Vec<f64> = plain.iter().map(|m| m + sigma * noise.normal()).collect();
    task.value(LITERAL, traced(&noisy)?);
    let table = Design::from_f64(ROWS, d, members.to_vec())?;
    task.certified(CERTIFIED, |privacy, rng| {
        let fit = PrivateMean::new(vec![(-1.0, 1.0); d])?.fit(&table, privacy, rng)?;
        Ok(traced(&fit.means).unwrap_or(f64::NAN))
    })
}
