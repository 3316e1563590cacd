//! Wang and Xu 2021 Figure 3: sparse logistic regression on Covertype.

use super::simulated::Panels;
use super::{risk, simulated};
use crate::Result;
use crate::data::covertype::{self, Covertype};
use crate::figure::{Axes, Figure, Measure, Point, Repetitions, Scale};
use crate::task::Task;
use dpglm::data::Dataset;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wx-3",
        title: "Wang and Xu 2021 Figure 3: sparse logistic regression on Covertype",
        claim: "The optimality gap hardly changes with p, rises with s, and falls with epsilon.",
        choices: &[
            risk::CHOICES[0],
            risk::CHOICES[1],
            risk::CHOICES[2],
            "n rows are drawn at random in each repetition; the first p columns; columns to [-1, 1] by declared bounds, \
             or standardised by the private rows' means and deviations as the paper may have done",
            "lodgepole pine against the rest, as in LIBSVM's binary version",
            risk::CHOICES[3],
            risk::CHOICES[4],
            risk::CHOICES[5],
        ],
        data: "Covertype, 581,012 rows (UCI), the paper's own data",
        axes: AXES,
        lines: &risk::LINES,
        repetitions: Repetitions { quick: 5, full: 20 },
        points,
        headline: "by epsilon, 2",
        promises: risk::promises,
        run,
        verdict: risk::verdict,
        memory,
    }
}

/// The axes of Figures 3 and 4.
pub(crate) const AXES: Axes = Axes {
    x: "the setting that varies; the others are fixed",
    y: "optimality gap of the mean loss",
    x_scale: Scale::Named,
    y_scale: Scale::Linear,
    measure: Measure::Error,
};

const PANELS: Panels = [
    ("n", [20_000.0, 60_000.0, 180_000.0], 60_000.0),
    ("p", [20.0, 35.0, 54.0], 54.0),
    ("s", [5.0, 10.0, 20.0], 10.0),
    ("epsilon", [0.5, 1.0, 2.0], 2.0),
];

fn points() -> Vec<Point> {
    simulated::points(&PANELS)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let all = covertype::rows()?;
    let mut order = task.rows().shuffled(all.labels.len());
    order.truncate(point.whole("n"));
    let columns: Vec<usize> = (0..point.whole("p")).collect();
    let public = unit_rows(all, &order, &columns, |_, x| x)?;
    let moments = all.moments(&order);
    let private = unit_rows(all, &order, &columns, |j, x| (x - moments[j].0) / moments[j].1)?;
    risk::run(point, task, &public, Some(&private))
}

/// Rows scaled to length 1.
fn unit_rows(
    all: &Covertype,
    rows: &[usize],
    columns: &[usize],
    map: impl Fn(usize, f32) -> f32,
) -> Result<Dataset> {
    let entries = |row: usize| columns.iter().map(move |&j| all.entries[row * covertype::COLUMNS + j]);
    let mut scaled = Vec::with_capacity(rows.len() * columns.len());
    for &row in rows {
        let mapped: Vec<f32> = columns.iter().zip(entries(row)).map(|(&j, x)| map(j, x)).collect();
        let length = mapped.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        // A little below 1, so that rounding does not lengthen a row.
        scaled.extend(mapped.into_iter().map(|x| x / (1.000_001 * length)));
    }
    let design = dpglm::data::Design::from_f32(rows.len(), columns.len(), scaled)?;
    Ok(Dataset::new(design, all.labels_of(rows))?)
}

fn memory(point: &Point) -> f64 {
    0.15 + point.get("n") * point.get("p") * 16e-9
}
