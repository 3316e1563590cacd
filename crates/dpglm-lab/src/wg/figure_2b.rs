//! Wang and Gu 2020 Figure 2(b): sparse linear model, setting (ii).

use super::simulated;
use crate::figure::{Figure, Point, Repetitions};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wg-2b",
        title: "Wang and Gu 2020 Figure 2(b): sparse linear model, setting (ii)",
        claim: "The error is close to the non-private one and well below Frank-Wolfe, two-stage and DP-IGHT, even at epsilon = 0.8 (n = 4,000, d = 5,000, s = 50).",
        choices: simulated::LINEAR_CHOICES,
        data: simulated::DATA,
        axes: simulated::AXES,
        lines: &simulated::LINEAR,
        repetitions: Repetitions { quick: 5, full: 10 },
        points,
        headline: "epsilon = 5",
        promises: simulated::promises,
        run: simulated::run_linear,
        verdict: simulated::linear_verdict,
        memory: simulated::memory,
    }
}

fn points() -> Vec<Point> {
    let points = [0.8, 1.5, 2.5, 3.5, 5.0].map(|epsilon| simulated::point(4_000.0, 5_000.0, 50.0, epsilon));
    points.into_iter().map(|p| if [1.5, 3.5].contains(&p.x) { p.full_only() } else { p }).collect()
}
