//! Cai et al. 2020 Figure 1(c): few dimensions, epsilon = 0.2 to 0.8 and none, at n = 40,000, d = 20.

use super::dense;
use crate::figure::{CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Repetitions};
use crate::results::FigureResult;
use crate::verdict::{Verdict, falling};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c20-1c",
        title: "Cai et al. 2020 Figure 1(c): logistic regression by epsilon",
        claim: "The log error decreases as epsilon increases from 0.2 to 0.8 and to infinity (n = 40,000, d = 20).",
        choices: dense::CHOICES,
        data: dense::DATA,
        axes: dense::AXES,
        lines: &dense::LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "epsilon = 0.5",
        promises: dense::promises,
        run: dense::run,
        verdict,
        memory: dense::memory,
    }
}

fn points() -> Vec<Point> {
    [0.2, 0.5, 0.8]
        .map(|epsilon| dense::point(format!("epsilon = {epsilon}"), 40_000.0, 20.0, epsilon))
        .into()
}

/// Errors must fall with epsilon, those without privacy must be the smallest, and at the largest epsilon the estimate must be nearer than the
/// zero vector.
fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let mut errors = result.along(line);
        let useful = errors.last().is_some_and(|error| error.0 < 0.0);
        errors.extend(result.along(NON_PRIVATE).last());
        useful && falling(&errors)
    };
    let at = |line: &str, point: &str| result.point(point).map_or(f64::NAN, |p| p.mean(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "from epsilon 0.2 to 0.8 the log error goes from {:.2} to {:.2} literally and from {:.2} to {:.2} certified; the zero vector has 0.",
            at(LITERAL, "epsilon = 0.2"),
            at(LITERAL, "epsilon = 0.8"),
            at(CERTIFIED, "epsilon = 0.2"),
            at(CERTIFIED, "epsilon = 0.8")
        ),
    )
}
