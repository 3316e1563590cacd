//! Cai et al. 2020 Figure 2(c): 10,000 dimensions, epsilon = 0.2 to 0.8 at n = 40,000, s = 10.

use super::{dense, sparse};
use crate::figure::{CERTIFIED, Figure, LITERAL, Point, USUAL};
use crate::results::FigureResult;
use crate::verdict::{Verdict, falling};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c20-2c",
        title: "Cai et al. 2020 Figure 2(c): sparse logistic regression by epsilon",
        claim: "The log error decreases as epsilon increases from 0.2 to 0.8 and to infinity (d = 10,000, n = 40,000, s = 10).",
        choices: sparse::CHOICES,
        data: dense::DATA,
        axes: sparse::AXES,
        lines: &USUAL,
        repetitions: sparse::REPETITIONS,
        points,
        headline: "epsilon = 0.5",
        promises: sparse::promises,
        run: sparse::run,
        verdict,
        memory: sparse::memory,
    }
}

fn points() -> Vec<Point> {
    [0.2, 0.5, 0.8]
        .map(|epsilon| sparse::point(format!("epsilon = {epsilon}"), 40_000.0, 10.0, epsilon))
        .into()
}

/// The error at epsilon = 0.8 must fall below that of the zero vector (log error 0), and errors must fall with epsilon.
fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let errors = result.along(line);
        errors.last().is_some_and(|e| e.0 + 2.0 * e.1 < 0.0) && falling(&errors)
    };
    let at = |line: &str| result.point("epsilon = 0.8").map_or(f64::NAN, |p| p.mean(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at epsilon = 0.8 the literal run ends at a log error of {:.2} and the certified one at {:.2}; the zero vector has 0.",
            at(LITERAL),
            at(CERTIFIED)
        ),
    )
}
