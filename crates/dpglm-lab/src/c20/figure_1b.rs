//! Cai et al. 2020 Figure 1(b): few dimensions, n = 20,000 to 80,000 at d = 20.

use super::dense;
use crate::figure::{CERTIFIED, Figure, LITERAL, Point, Repetitions};
use crate::results::FigureResult;
use crate::verdict::{Verdict, falling};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c20-1b",
        title: "Cai et al. 2020 Figure 1(b): logistic regression by sample size",
        claim: "The log error is linear in t when n = 80,000 but deteriorates as n decreases (d = 20, epsilon = 0.5).",
        choices: dense::CHOICES,
        data: dense::DATA,
        axes: dense::AXES,
        lines: &dense::LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "n = 80,000",
        promises: dense::promises,
        run: dense::run,
        verdict,
        memory: dense::memory,
    }
}

fn points() -> Vec<Point> {
    [20, 40, 80].map(|k| dense::point(format!("n = {k},000"), 1_000.0 * f64::from(k), 20.0, 0.5)).into()
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
