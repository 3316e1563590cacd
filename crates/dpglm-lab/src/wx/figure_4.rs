//! Wang and Xu 2021 Figure 4: sparse logistic regression on RCV1.

use super::figure_3::AXES;
use super::simulated::Panels;
use super::{risk, simulated};
use crate::Result;
use crate::data::text;
use crate::figure::{Figure, Point, Repetitions};
use crate::task::Task;
use dpglm::data::Dataset;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "wx-4",
        title: "Wang and Xu 2021 Figure 4: sparse logistic regression on RCV1",
        claim: "The optimality gap hardly changes with p, rises with s, and falls with epsilon.",
        choices: &[
            risk::CHOICES[0],
            risk::CHOICES[1],
            risk::CHOICES[2],
            "the p terms that occur most often in 3,749 documents that are set aside as public; n of the others are drawn at random in each repetition",
            risk::CHOICES[3],
            risk::CHOICES[4],
            risk::CHOICES[5],
        ],
        data: "RCV1, 23,749 documents, a stand-in: the same construction as LIBSVM's rcv1 (binary), other documents",
        axes: AXES,
        lines: &risk::LINES,
        repetitions: Repetitions { quick: 5, full: 20 },
        points,
        headline: "by epsilon, 2",
        promises: risk::promises,
        run,
        verdict: risk::verdict,
        memory: |_| 0.3,
    }
}

const PANELS: Panels = [
    ("n", [5_000.0, 10_000.0, 20_000.0], 20_000.0),
    ("p", [100.0, 200.0, 400.0], 200.0),
    ("s", [5.0, 10.0, 20.0], 10.0),
    ("epsilon", [0.5, 1.0, 2.0], 2.0),
];
/// Documents whose terms decide which columns are taken.
const PUBLIC: usize = 3_749;

fn points() -> Vec<Point> {
    simulated::points(&PANELS)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let all = text::rcv1()?;
    let order = task.rows().shuffled(all.response.len());
    let counts = all.occurrences(&order[..PUBLIC]);
    let mut columns: Vec<usize> = (0..counts.len()).collect();
    columns.sort_by_key(|&j| (std::cmp::Reverse(counts[j]), j));
    columns.truncate(point.whole("p"));
    let rows = &order[PUBLIC..PUBLIC + point.whole("n")];
    let design = all.part(rows, &columns, text::unit)?;
    risk::run(point, task, &Dataset::new(design, all.response_of(rows))?, None)
}
