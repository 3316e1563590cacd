//! Wang and Gu 2020 Figure 2(c): sparse logistic model, setting (i).

use super::simulated;
use crate::figure::{Figure, Point, Repetitions};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wg-2c",
        title: "Wang and Gu 2020 Figure 2(c): sparse logistic model, setting (i)",
        claim: "The estimate is accurate at large epsilon and better than DP-IGHT at every epsilon (n = 800, d = 1,000, s = 10).",
        choices: simulated::LOGISTIC_CHOICES,
        data: simulated::DATA,
        axes: simulated::AXES,
        lines: &simulated::LOGISTIC,
        repetitions: Repetitions { quick: 10, full: 10 },
        points,
        headline: "epsilon = 10",
        promises: simulated::promises,
        run: simulated::run_logistic,
        verdict: simulated::logistic_verdict,
        memory: simulated::memory,
    }
}

fn points() -> Vec<Point> {
    [2.0, 4.0, 6.0, 8.0, 10.0].map(|epsilon| simulated::point(800.0, 1_000.0, 10.0, epsilon)).into()
}
