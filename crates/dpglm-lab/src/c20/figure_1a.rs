//! Cai et al. 2020 Figure 1(a): few dimensions, d = 10, 20, 40 at n = 40,000.

use super::dense;
use crate::figure::{CERTIFIED, Figure, LITERAL, Point, Repetitions};
use crate::results::FigureResult;
use crate::verdict::{Verdict, rising};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c20-1a",
        title: "Cai et al. 2020 Figure 1(a): logistic regression by dimension",
        claim: "The log error is linear in t when d = 10 but deteriorates as d increases (n = 40,000, epsilon = 0.5).",
        choices: dense::CHOICES,
        data: dense::DATA,
        axes: dense::AXES,
        lines: &dense::LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "d = 10",
        promises: dense::promises,
        run: dense::run,
        verdict,
        memory: dense::memory,
    }
}

fn points() -> Vec<Point> {
    [10, 20, 40].map(|d| dense::point(format!("d = {d}"), 40_000.0, f64::from(d), 0.5)).into()
}

/// The error at d = 10 must fall below that of the zero vector (log error 0), and rise with d.
fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let errors = result.along(line);
        errors.first().is_some_and(|e| e.0 + 2.0 * e.1 < 0.0) && rising(&errors)
    };
    let at = |line: &str| result.point("d = 10").map_or(f64::NAN, |p| p.mean(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at d = 10 the literal run ends at a log error of {:.2} and the certified one at {:.2}; the zero vector has 0.",
            at(LITERAL),
            at(CERTIFIED)
        ),
    )
}
