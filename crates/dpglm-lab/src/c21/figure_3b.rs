//! Cai et al. 2021 Figure 3(b): linear regression on 20 columns beside Sheffet's random projection.

use super::linear::{self, Rows};
use super::{AXES, DATA, LARGE, better_than, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, Repetitions, USUAL,
    comparator, usual_promises,
};
use crate::literal::{LiteralLinear, Truncate};
use crate::task::Task;
use dpglm::comparators::JohnsonLindenstrauss;
use dpglm::release::Estimator;

const OTHER: &str = "random projection (Sheffet)";
const LINES: [Line; 5] = [USUAL[0], USUAL[1], USUAL[2], comparator(OTHER), USUAL[3]];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-3b",
        title: "Cai et al. 2021 Figure 3(b): linear regression, compared",
        claim: "There is a significant gap between the private regression and Sheffet's random projection, in favour of the former.",
        choices: &[
            linear::STEP_CHOICE,
            "literal truncation at private quantiles of the responses, as section 5.2 says, not accounted for by the paper",
            linear::RANGE_CHOICE,
            "random projection: 84 rows, certified at the stated epsilon",
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
            better_than(result, OTHER, " The literal run pays for its quantiles beyond the stated epsilon.")
        },
        memory: linear::memory,
    }
}

fn literal(point: &Point) -> LiteralLinear {
    linear::literal(point, Truncate::Quantiles, 10, point.get("d"))
}

fn promises(point: &Point) -> Result<Promises> {
    let literal = literal(point).promise()?;
    let other = Promise::certified(literal.epsilon, literal.delta);
    let mut promises = usual_promises(literal);
    promises.push((OTHER, other));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let rows = Rows::draw(&mut task.rows(), point.whole("n"), 20, 20)?;
    let error = rows.error(&literal(point).fit(&rows.data, &mut task.noise(LITERAL))?);
    task.value(LITERAL, error);
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified(privacy, rng))?;
    }
    task.certified(OTHER, |privacy, rng| {
        let fit = JohnsonLindenstrauss::linear(rows.target(), 1.0)?.fit(&rows.data, privacy, rng)?;
        Ok(rows.error(&fit.coefficients))
    })?;
    task.value(NON_PRIVATE, rows.non_private()?);
    Ok(())
}
