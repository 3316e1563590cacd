//! Cai et al. 2021 Figure 1(b): linear regression on 20 columns, by how responses are truncated.

use super::figure_1a::{LINES as MEAN_LINES, NEVER, QUANTILES, WAYS};
use super::linear::{self, Rows};
use super::{AXES, DATA, LARGE, comparable, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promises, Repetitions, comparator,
    usual_promises,
};
use crate::literal::{LiteralLinear, Truncate};
use crate::task::Task;

const THEOREM: &str = "literal, Theorem 4.2's T";
const LINES: [Line; 7] = [
    MEAN_LINES[0],
    MEAN_LINES[1],
    MEAN_LINES[2],
    comparator(THEOREM),
    MEAN_LINES[3],
    MEAN_LINES[4],
    MEAN_LINES[5],
];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-1b",
        title: "Cai et al. 2021 Figure 1(b): linear regression by truncation",
        claim: "The data-driven truncation incurs errors comparable to no truncation and to the theoretical R.",
        choices: &[
            linear::STEP_CHOICE,
            "beside it Theorem 4.2's T = 72 log n and step d/6 (L = 3), with the same R",
            "R = 4 sigma sqrt(log n), c_x = c_0 = 1, B = 4 (R + 1)",
            "private quantiles of the responses by the exponential mechanism, epsilon 0.5 for each of two, not accounted for by the paper",
            linear::RANGE_CHOICE,
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
            let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
            let extra = format!(
                " With Theorem 4.2's T the error is {:.2}; the zero vector has 1. Without truncation ({:.2}) no epsilon holds.",
                last(THEOREM),
                last(NEVER)
            );
            comparable(result, (QUANTILES, LITERAL), (CERTIFIED, NON_PRIVATE), &extra)
        },
        memory: linear::memory,
    }
}

fn theorem(point: &Point) -> LiteralLinear {
    let steps = (72.0 * point.get("n").ln()).ceil() as u32;
    linear::literal(point, Truncate::Theory, steps, point.get("d") / 6.0)
}

fn usual(point: &Point, truncate: Truncate) -> LiteralLinear {
    linear::literal(point, truncate, 10, point.get("d"))
}

fn promises(point: &Point) -> Result<Promises> {
    let mut promises = usual_promises(usual(point, Truncate::Theory).promise()?);
    for (line, truncate) in WAYS.into_iter().skip(1) {
        promises.push((line, usual(point, truncate).promise()?));
    }
    promises.push((THEOREM, theorem(point).promise()?));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let rows = Rows::draw(&mut task.rows(), point.whole("n"), 20, 20)?;
    for (line, truncate) in WAYS {
        let error = rows.error(&usual(point, truncate).fit(&rows.data, &mut task.noise(line))?);
        task.value(line, error);
    }
    let error = rows.error(&theorem(point).fit(&rows.data, &mut task.noise(THEOREM))?);
    task.value(THEOREM, error);
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified(privacy, rng))?;
    }
    task.value(NON_PRIVATE, rows.non_private()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the scaled features the printed noise is the paper's, with coefficients divided by sqrt d.
    #[test]
    fn scaling_changes_nothing() {
        let point = &points(&[20_000], |_| 20)[0];
        let level = 4.0 * (20_000_f64).ln().sqrt();
        let delta = super::super::delta(20_000);
        let printed =
            20.0 * 4.0 * (level + 1.0) * (2.0 * (20.0 / delta).ln()).sqrt() * 10.0 / (20_000.0 * 0.5);
        let ours = usual(point, Truncate::Theory).sigma(level) * 20_f64.sqrt();
        assert!((ours / printed - 1.0).abs() < 1e-12, "{ours} {printed}");
        assert_eq!(LITERAL, WAYS[0].0);
    }
}
