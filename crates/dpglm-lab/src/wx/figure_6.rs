//! Wang and Xu 2021 Figure 6: nonlinear measurements, labels private.

use super::simulated::{BEST, DATA, GRIDS, Panels, ROUNDS, SCALED, memory};
use super::{labels, simulated};
use crate::figure::{Axes, Figure, Measure, Point, Repetitions, Scale};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wx-6",
        title: "Wang and Xu 2021 Figure 6: nonlinear measurements, labels private",
        claim: "As Figure 2: the relative error hardly changes with p, and falls with epsilon and n (f(u) = 8u + cos u).",
        choices: &[
            GRIDS,
            SCALED,
            ROUNDS,
            BEST,
            "the loss of section VII-B2 leaves f out: the squared error of f is minimised",
            "the printed step 0.2 diverges for slopes near 8 and is held by the projection alone; beside it 0.015, which theory asks for",
            super::labels::CERTIFIED_CHOICE,
        ],
        data: DATA,
        axes: Axes {
            x: "the setting that varies; the others are fixed",
            y: "relative l2 error",
            x_scale: Scale::Named,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &labels::NONLINEAR,
        repetitions: Repetitions { quick: 5, full: 10 },
        points,
        headline: "by n, 24k",
        promises: labels::nonlinear_promises,
        run: labels::run_nonlinear,
        verdict: labels::verdict,
        memory,
    }
}

const PANELS: Panels = [
    ("n", [6_000.0, 12_000.0, 24_000.0], 12_000.0),
    ("p", [250.0, 500.0, 1_000.0], 500.0),
    ("s", [5.0, 10.0, 20.0], 10.0),
    ("epsilon", [0.5, 1.0, 2.0], 1.0),
];

fn points() -> Vec<Point> {
    simulated::points(&PANELS)
}
