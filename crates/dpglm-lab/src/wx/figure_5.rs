//! Wang and Xu 2021 Figure 5: nonlinear measurements, whole records private.

use super::simulated::{BEST, DATA, GRIDS, Panels, ROUNDS, SCALED, memory};
use super::{records, simulated};
use crate::figure::{Axes, Figure, Measure, Point, Repetitions, Scale};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wx-5",
        title: "Wang and Xu 2021 Figure 5: nonlinear measurements, whole records private",
        claim: "As Figure 1: the relative error rises with p and s, falls with epsilon, and falls with n (f(u) = 8u + cos u).",
        choices: &[
            GRIDS,
            SCALED,
            ROUNDS,
            BEST,
            "r = b C sqrt(p) with b = 9 and the constant 1; beside it the radius that gradients in the paper's class keep, with step 0.015",
            "the printed step 0.2 diverges for slopes near 8 and is held by the projection alone; beside it 0.015, which theory asks for",
            "gradients longer than r are clipped: the randomizer is not defined for them; its factor is the unbiased one",
        ],
        data: DATA,
        axes: Axes {
            x: "the setting that varies; the others are fixed",
            y: "relative l2 error",
            x_scale: Scale::Named,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &records::NONLINEAR,
        repetitions: Repetitions { quick: 10, full: 10 },
        points,
        headline: "by n, 160k",
        promises: records::promises,
        run: records::run_nonlinear,
        verdict: records::verdict,
        memory,
    }
}

const PANELS: Panels = [
    ("n", [10_000.0, 40_000.0, 160_000.0], 40_000.0),
    ("p", [25.0, 50.0, 100.0], 50.0),
    ("s", [3.0, 5.0, 10.0], 5.0),
    ("epsilon", [1.0, 2.0, 4.0], 2.0),
];

fn points() -> Vec<Point> {
    simulated::points(&PANELS)
}
