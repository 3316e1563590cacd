//! Cai et al. 2021 Figure 3(d): sparse linear regression with twice as many columns as rows, beside private Frank-Wolfe.

use super::linear::{self, Rows};
use super::{AXES, DATA, MIDDLE, SPARSITY, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, Repetitions, USUAL,
    comparator, usual_promises,
};
use crate::literal::Thresholding;
use crate::page::short;
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::comparators::FrankWolfe;
use dpglm::families::Family;
use dpglm::release::Estimator;

const OTHER: &str = "Frank-Wolfe (Talwar et al.)";
const LINES: [Line; 5] = [USUAL[0], USUAL[1], USUAL[2], comparator(OTHER), USUAL[3]];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-3d",
        title: "Cai et al. 2021 Figure 3(d): sparse linear regression, d = 2n, compared",
        claim: "There is a significant gap between the private sparse regression and private Frank-Wolfe, in favour of the former; it converges to the non-private one.",
        choices: &[
            linear::SPARSE_CHOICE,
            "literal truncation: the theoretical R",
            "sparse methods are told s = 20, Frank-Wolfe the l1 norm of the truth; Frank-Wolfe certified at the stated epsilon",
            linear::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &LINES,
        repetitions: Repetitions { quick: 5, full: 100 },
        points: || points(&MIDDLE, |n| 2 * n),
        headline: "n = 4000",
        promises,
        run,
        verdict,
        memory: linear::memory,
    }
}

fn literal(point: &Point) -> Thresholding {
    linear::sparse_literal(point, 4.0 * point.get("n").ln().sqrt(), SPARSITY)
}

fn promises(point: &Point) -> Result<Promises> {
    let literal = literal(point).promise("rows within the box, no longer than 1")?;
    let other = Promise::certified(literal.epsilon, literal.delta);
    let mut promises = usual_promises(literal);
    promises.push((OTHER, other));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let (n, d) = (point.whole("n"), point.whole("d"));
    let rows = Rows::draw(&mut task.rows(), n, d, SPARSITY)?;
    let iterates = literal(point).iterates(&Family::gaussian(), &rows.data, &mut task.noise(LITERAL));
    task.value(LITERAL, iterates.last().map_or(f64::NAN, |b| rows.error(b)));
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified_sparse(privacy, rng))?;
    }
    task.certified(OTHER, |privacy, rng| {
        let radius = rows.beta.iter().map(|b| b.abs()).sum::<f64>() / (d as f64).sqrt();
        let fit = FrankWolfe::linear(rows.target(), 1.0, radius)?.fit(&rows.data, privacy, rng)?;
        Ok(rows.error(&fit.coefficients))
    })?;
    task.value(NON_PRIVATE, rows.non_private_sparse()?);
    Ok(())
}

/// The error must lie below the comparator's, and below that of the zero vector to mean anything.
fn verdict(result: &FigureResult) -> Verdict {
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    let seen = |line: &str| last(line) < last(OTHER) && last(line) < 0.9;
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at n = 4000 the error is {} literally, {} certified, {} for Frank-Wolfe, {} without privacy.{}",
            short(last(LITERAL)),
            short(last(CERTIFIED)),
            short(last(OTHER)),
            short(last(NON_PRIVATE)),
            linear::HOPELESS
        ),
    )
}
