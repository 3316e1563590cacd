//! Cai et al. 2021 Figure 3(c): a sparse mean with twice as many columns as rows, beside private Frank-Wolfe.

use super::means::{self, Rows};
use super::{AXES, DATA, MIDDLE, SPARSITY, better_than, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promises, Repetitions, USUAL, comparator,
    usual_promises,
};
use crate::literal::Truncate;
use crate::literal::frank_wolfe::FrankWolfeMean;
use crate::task::Task;

const OTHER: &str = "Frank-Wolfe (Talwar et al.)";
const LINES: [Line; 5] = [USUAL[0], USUAL[1], USUAL[2], comparator(OTHER), USUAL[3]];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-3c",
        title: "Cai et al. 2021 Figure 3(c): sparse mean, d = 2n, compared",
        claim: "There is a significant gap between the private sparse mean and private Frank-Wolfe, in favour of the former.",
        choices: &[
            "literal truncation: the theoretical R; private quantiles, which the paper takes here, cut the columns that matter (Figure 1(c))",
            "every sparse method is told s = 20; Frank-Wolfe is told the l1 norm of the truth and truncates at the theoretical R",
            "Frank-Wolfe's constants: T = (n epsilon)^(2/3), noise by advanced composition",
            means::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points: || points(&MIDDLE, |n| 2 * n),
        headline: "n = 4000",
        promises,
        run,
        verdict: |result| better_than(result, OTHER, ""),
        memory: means::memory,
    }
}

fn other(point: &Point, radius: f64) -> FrankWolfeMean {
    let n = point.whole("n");
    let truncation = means::literal(point, Truncate::Theory, true).theory();
    FrankWolfeMean { n, truncation, radius, epsilon: point.get("epsilon"), delta: point.get("delta") }
}

fn promises(point: &Point) -> Result<Promises> {
    let mut promises = usual_promises(means::literal(point, Truncate::Theory, true).promise()?);
    // The radius cancels between sensitivity and noise.
    promises.push((OTHER, other(point, 1.0).promise()?));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let n = point.whole("n");
    let rows = Rows::draw(&mut task.rows(), n, 2 * n, SPARSITY);
    let model = means::literal(point, Truncate::Theory, true);
    let error = means::literal_error(&rows, &model, &mut task.noise(LITERAL))?;
    task.value(LITERAL, error);
    let radius = rows.mu.iter().map(|m| m.abs()).sum();
    let found = other(point, radius).fit(&rows.average(), &mut task.noise(OTHER));
    task.value(OTHER, rows.error(&found));
    let table = rows.design()?;
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified_sparse(&table, SPARSITY, privacy, rng))?;
    }
    task.value(NON_PRIVATE, rows.error(&rows.sparse_average(SPARSITY)));
    Ok(())
}
