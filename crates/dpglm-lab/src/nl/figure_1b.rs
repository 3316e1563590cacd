//! Wang et al. 2021 Figure 1b: the relative error by n and dimension.

use super::simulated;
use crate::Result;
use crate::figure::{Axes, CERTIFIED, Figure, LITERAL, Measure, Point, Repetitions, Scale};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::{Verdict, falling, rising};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "nl-1b",
        title: "Wang et al. 2021 Figure 1b: one report a user, by users and dimension",
        claim: "The relative error increases with the dimension (epsilon = 10, p from 5 to 15), and falls with n.",
        choices: simulated::CHOICES,
        data: simulated::DATA,
        axes: Axes {
            x: "users, for each dimension",
            y: "relative error, largest coordinate",
            x_scale: Scale::Named,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &simulated::LINES,
        repetitions: Repetitions { quick: 10, full: 1_000 },
        points,
        headline: "p = 5, 480k",
        promises: simulated::promises,
        run,
        verdict,
        memory: simulated::memory,
    }
}

const DIMENSIONS: [u32; 4] = [5, 10, 12, 15];
const USERS: [u32; 3] = [100_000, 240_000, 480_000];

fn points() -> Vec<Point> {
    let at = |p: u32, n| simulated::point(&format!("p = {p}"), n, f64::from(p), 10.0);
    DIMENSIONS.into_iter().flat_map(|p| USERS.map(|n| at(p, n))).collect()
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    simulated::run(point, task, |error| error)
}

/// At n = 480,000 the error must rise with p; for each p it must fall with n; at p = 5 it must end below that of the zero vector.
fn verdict(result: &FigureResult) -> Verdict {
    let pair = |line: &str, p: u32, n: u32| {
        let point = result.point(&format!("p = {p}, {}k", n / 1000));
        point.and_then(|point| point.line(line)).map_or((f64::NAN, 0.0), |l| l.pair())
    };
    let seen = |line: &str| {
        rising(&DIMENSIONS.map(|p| pair(line, p, 480_000)))
            && DIMENSIONS.iter().all(|&p| falling(&USERS.map(|n| pair(line, p, n))))
            && pair(line, 5, 480_000).0 < 1.0
    };
    let at = |line: &str, p: u32| pair(line, p, 480_000).0;
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at n = 480,000 the relative error goes from {:.2} at p = 5 to {:.2} at p = 15 literally, and from {:.2} to {:.2} certified; the zero \
             vector has 1.",
            at(LITERAL, 5),
            at(LITERAL, 15),
            at(CERTIFIED, 5),
            at(CERTIFIED, 15)
        ),
    )
}
