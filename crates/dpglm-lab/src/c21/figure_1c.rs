//! Cai et al. 2021 Figure 1(c): a sparse mean with as many columns as rows, by how entries are truncated.

use super::figure_1a::{LINES, NEVER, QUANTILES, WAYS};
use super::means::{self, Rows};
use super::{AXES, DATA, SMALL, SPARSITY, comparable, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promises, Repetitions, usual_promises,
};
use crate::literal::Truncate;
use crate::task::Task;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-1c",
        title: "Cai et al. 2021 Figure 1(c): sparse mean by truncation, d = n",
        claim: "The data-driven truncation incurs errors comparable to no truncation and to the theoretical R.",
        choices: &[
            "literal: the theoretical R = 4 sigma sqrt(log n) with sigma = 1; every method is told s = 20",
            "no truncation: the noise of the theoretical R, which bounds nothing then",
            means::QUANTILE_CHOICE,
            "the literal range of private quantiles covers the many columns about zero, so it cuts the few that matter",
            means::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points: || points(&SMALL, |n| n),
        headline: "n = 2000",
        promises,
        run,
        verdict: |result| {
            let extra = " Private quantiles of all entries cut the few columns that matter: most entries lie about zero.";
            let mut verdict = comparable(result, (QUANTILES, LITERAL), (CERTIFIED, NON_PRIVATE), extra);
            let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
            verdict.because += &format!(" Without truncation: {:.2}, for no epsilon.", last(NEVER));
            verdict
        },
        memory: means::memory,
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let mut promises = usual_promises(means::literal(point, Truncate::Theory, true).promise()?);
    for (line, truncate) in WAYS.into_iter().skip(1) {
        promises.push((line, means::literal(point, truncate, true).promise()?));
    }
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let n = point.whole("n");
    let rows = Rows::draw(&mut task.rows(), n, n, SPARSITY);
    for (line, truncate) in WAYS {
        let error =
            means::literal_error(&rows, &means::literal(point, truncate, true), &mut task.noise(line))?;
        task.value(line, error);
    }
    let table = rows.design()?;
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified_sparse(&table, SPARSITY, privacy, rng))?;
    }
    task.value(NON_PRIVATE, rows.error(&rows.sparse_average(SPARSITY)));
    Ok(())
}
