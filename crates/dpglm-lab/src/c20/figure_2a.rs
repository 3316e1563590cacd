//! Cai et al. 2020 Figure 2(a): 10,000 dimensions, s = 10, 20, 40 at n = 40,000.

use super::{dense, sparse};
use crate::figure::{CERTIFIED, Figure, LITERAL, Point, USUAL};
use crate::results::FigureResult;
use crate::verdict::{Verdict, rising};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c20-2a",
        title: "Cai et al. 2020 Figure 2(a): sparse logistic regression by sparsity",
        claim: "The log error is linear in t when s = 10 but deteriorates as s increases (d = 10,000, n = 40,000, epsilon = 0.5).",
        choices: sparse::CHOICES,
        data: dense::DATA,
        axes: sparse::AXES,
        lines: &USUAL,
        repetitions: sparse::REPETITIONS,
        points,
        headline: "s = 10",
        promises: sparse::promises,
        run: sparse::run,
        verdict,
        memory: sparse::memory,
    }
}

fn points() -> Vec<Point> {
    [10, 20, 40].map(|s| sparse::point(format!("s = {s}"), 40_000.0, f64::from(s), 0.5)).into()
}

/// The error at s = 10 must fall below that of the zero vector (log error 0), and rise with s.
fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let errors = result.along(line);
        errors.first().is_some_and(|e| e.0 + 2.0 * e.1 < 0.0) && rising(&errors)
    };
    let at = |line: &str| result.point("s = 10").map_or(f64::NAN, |p| p.mean(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at s = 10 the literal run ends at a log error of {:.2} and the certified one at {:.2}; the zero vector has 0.",
            at(LITERAL),
            at(CERTIFIED)
        ),
    )
}
