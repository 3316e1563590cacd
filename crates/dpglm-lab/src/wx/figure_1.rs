//! Wang and Xu 2021 Figure 1: sparse linear model, whole records private.

use super::simulated::{BEST, DATA, GRIDS, Panels, ROUNDS, SCALED, memory};
use super::{records, simulated};
use crate::figure::{Axes, Figure, Measure, Point, Repetitions, Scale};

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wx-1",
        title: "Wang and Xu 2021 Figure 1: sparse linear model, whole records private",
        claim: "The relative error rises with p and s, falls with epsilon, and falls with n.",
        choices: &[
            GRIDS,
            SCALED,
            ROUNDS,
            BEST,
            "r = C sqrt(p) with the constant 1; beside it the radius that gradients in the paper's class keep",
            "gradients longer than r are clipped: the randomizer is not defined for them; its factor is the unbiased one",
            "labels declared in the range that the model's class allows; certified reports are drawn from the law of real ones",
        ],
        data: DATA,
        axes: Axes {
            x: "the setting that varies; the others are fixed",
            y: "relative l2 error",
            x_scale: Scale::Named,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &records::LINEAR,
        repetitions: Repetitions { quick: 10, full: 10 },
        points,
        headline: "by n, 160k",
        promises: records::promises,
        run: records::run_linear,
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
