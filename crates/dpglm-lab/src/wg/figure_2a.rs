//! Wang and Gu 2020 Figure 2(a): sparse linear model, setting (i).

use super::simulated;
use crate::figure::{Figure, Point, Repetitions};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wg-2a",
        title: "Wang and Gu 2020 Figure 2(a): sparse linear model, setting (i)",
        claim: "The error is close to the non-private one and well below Frank-Wolfe, two-stage and DP-IGHT, even at epsilon = 0.8 (n = 800, d = 1,000, s = 10).",
        choices: simulated::LINEAR_CHOICES,
        data: simulated::DATA,
        axes: simulated::AXES,
        lines: &simulated::LINEAR,
        repetitions: Repetitions { quick: 10, full: 10 },
        points,
        headline: "epsilon = 5",
        promises: simulated::promises,
        run: simulated::run_linear,
        verdict: simulated::linear_verdict,
        memory: simulated::memory,
    }
}

fn points() -> Vec<Point> {
    [0.8, 1.5, 2.5, 3.5, 5.0].map(|epsilon| simulated::point(800.0, 1_000.0, 10.0, epsilon)).into()
}
