//! Cai et al. 2021 Figure 1(a): the mean of 20 normal columns, by how entries are truncated.

use super::means::{self, Rows};
use super::{AXES, DATA, LARGE, comparable, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promises, Repetitions, USUAL, comparator,
    usual_promises,
};
use crate::literal::Truncate;
use crate::task::Task;

/// Without truncation.
pub(crate) const NEVER: &str = "literal, no truncation";
/// At private quantiles.
pub(crate) const QUANTILES: &str = "literal, private quantiles";
/// The three ways and their names.
pub(crate) const WAYS: [(&str, Truncate); 3] =
    [(LITERAL, Truncate::Theory), (NEVER, Truncate::Never), (QUANTILES, Truncate::Quantiles)];
/// All lines.
pub(crate) const LINES: [Line; 6] =
    [USUAL[0], comparator(NEVER), comparator(QUANTILES), USUAL[1], USUAL[2], USUAL[3]];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-1a",
        title: "Cai et al. 2021 Figure 1(a): mean of 20 columns by truncation",
        claim: "The data-driven truncation incurs errors comparable to no truncation and to the theoretical R.",
        choices: &[
            "literal: the theoretical R = 4 sigma sqrt(log n) with sigma = 1",
            "no truncation: the noise of the theoretical R, which bounds nothing then",
            means::QUANTILE_CHOICE,
            means::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points: || points(&LARGE, |_| 20),
        headline: "n = 20000",
        promises,
        run,
        verdict: |result| {
            comparable(
                result,
                (QUANTILES, LITERAL),
                (CERTIFIED, NON_PRIVATE),
                " Without truncation no epsilon holds, and the quantiles are not paid for.",
            )
        },
        memory: means::memory,
    }
}

/// What the lines promise.
fn promises(point: &Point) -> Result<Promises> {
    let mut promises = usual_promises(means::literal(point, Truncate::Theory, false).promise()?);
    for (line, truncate) in WAYS.into_iter().skip(1) {
        promises.push((line, means::literal(point, truncate, false).promise()?));
    }
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let rows = Rows::draw(&mut task.rows(), point.whole("n"), 20, 20);
    for (line, truncate) in WAYS {
        let error =
            means::literal_error(&rows, &means::literal(point, truncate, false), &mut task.noise(line))?;
        task.value(line, error);
    }
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified(privacy, rng))?;
    }
    task.value(NON_PRIVATE, rows.error(&rows.average()));
    Ok(())
}
