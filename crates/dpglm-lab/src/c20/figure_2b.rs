//! Cai et al. 2020 Figure 2(b): 10,000 dimensions, n = 20,000 to 80,000 at s = 10.

use super::{dense, sparse};
use crate::figure::{CERTIFIED, Figure, LITERAL, Point, USUAL};
use crate::results::FigureResult;
use crate::verdict::{Verdict, falling};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c20-2b",
        title: "Cai et al. 2020 Figure 2(b): sparse logistic regression by sample size",
        claim: "The log error is linear in t when n = 80,000 or 40,000, but deteriorates as n decreases (d = 10,000, s = 10, epsilon = 0.5).",
        choices: sparse::CHOICES,
        data: dense::DATA,
        axes: sparse::AXES,
        lines: &USUAL,
        repetitions: sparse::REPETITIONS,
        points,
        headline: "n = 80,000",
        promises: sparse::promises,
        run: sparse::run,
        verdict,
        memory: sparse::memory,
    }
}

fn points() -> Vec<Point> {
    [20, 40, 80].map(|k| sparse::point(format!("n = {k},000"), 1_000.0 * f64::from(k), 10.0, 0.5)).into()
}

/// The error at n = 80,000 must fall below that of the zero vector (log error 0), and errors must fall with n.
fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let errors = result.along(line);
        errors.last().is_some_and(|e| e.0 + 2.0 * e.1 < 0.0) && falling(&errors)
    };
    let at = |line: &str| result.point("n = 80,000").map_or(f64::NAN, |p| p.mean(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at n = 80,000 the literal run ends at a log error of {:.2} and the certified one at {:.2}; the zero vector has 0.",
            at(LITERAL),
            at(CERTIFIED)
        ),
    )
}
