//! Wang et al. 2021 Figure 1a: the squared relative error by n and epsilon.

use super::simulated;
use crate::Result;
use crate::figure::{Axes, CERTIFIED, Figure, LITERAL, Measure, Point, Repetitions, Scale};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "nl-1a",
        title: "Wang et al. 2021 Figure 1a: one report a user, by users and epsilon",
        claim: "The squared relative error is inversely proportional to n and to epsilon squared (p = 10, epsilon from 2 to 10).",
        choices: simulated::CHOICES,
        data: simulated::DATA,
        axes: Axes {
            x: "users, for each epsilon",
            y: "squared relative error, largest coordinate",
            x_scale: Scale::Named,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &simulated::LINES,
        repetitions: Repetitions { quick: 10, full: 1_000 },
        points,
        headline: "epsilon 10, 290k",
        promises: simulated::promises,
        run,
        verdict,
        memory: simulated::memory,
    }
}

fn points() -> Vec<Point> {
    let mut points = Vec::new();
    for epsilon in [10.0, 5.0, 3.0, 2.0] {
        for n in [10_000, 90_000, 170_000, 290_000] {
            let point = simulated::point(&format!("epsilon {epsilon}"), n, 10.0, epsilon);
            points.push(if n == 170_000 { point.full_only() } else { point });
        }
    }
    points
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    simulated::run(point, task, |error| error * error)
}

/// At epsilon 10 the slope of log error in log n must lie between -1.25 and -0.75, and at n = 290,000 epsilon = 2 must have
/// between 12 and 50 times the error of epsilon = 10.
fn verdict(result: &FigureResult) -> Verdict {
    let at = |line: &str, point: &str| result.point(point).map_or(f64::NAN, |p| p.mean(line));
    let slope =
        |line: &str| (at(line, "epsilon 10, 290k") / at(line, "epsilon 10, 10k")).ln() / 29.0_f64.ln();
    let ratio = |line: &str| at(line, "epsilon 2, 290k") / at(line, "epsilon 10, 290k");
    let seen = |line: &str| (-1.25..=-0.75).contains(&slope(line)) && (12.0..=50.0).contains(&ratio(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "the slope of the log error in log n at epsilon 10 is {:.2} literally and {:.2} certified (the claim: -1); from epsilon 10 to 2 \
             the error at n = 290,000 is multiplied by {:.2} and {:.2} (the claim: 25). The zero vector has the error 1: the literal run has {:.3}, \
             the certified one {:.3} at its best point.",
            slope(LITERAL),
            slope(CERTIFIED),
            ratio(LITERAL),
            ratio(CERTIFIED),
            at(LITERAL, "epsilon 10, 290k"),
            at(CERTIFIED, "epsilon 10, 290k")
        ),
    )
}
