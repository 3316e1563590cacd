//! Wang and Gu 2020 Figure 2(d): sparse logistic model, setting (ii).

use super::simulated;
use crate::figure::{Figure, Point, Repetitions};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wg-2d",
        title: "Wang and Gu 2020 Figure 2(d): sparse logistic model, setting (ii)",
        claim: "The estimate is accurate at large epsilon and better than DP-IGHT at every epsilon (n = 4,000, d = 5,000, s = 50).",
        choices: simulated::LOGISTIC_CHOICES,
        data: simulated::DATA,
        axes: simulated::AXES,
        lines: &simulated::LOGISTIC,
        repetitions: Repetitions { quick: 5, full: 10 },
        points,
        headline: "epsilon = 10",
        promises: simulated::promises,
        run: simulated::run_logistic,
        verdict: simulated::logistic_verdict,
        memory: simulated::memory,
    }
}

fn points() -> Vec<Point> {
    let points = [2.0, 4.0, 6.0, 8.0, 10.0].map(|epsilon| simulated::point(4_000.0, 5_000.0, 50.0, epsilon));
    points.into_iter().map(|p| if [4.0, 8.0].contains(&p.x) { p.full_only() } else { p }).collect()
}
