//! Cai et al. 2021 Figure 3(a): the mean of 20 normal columns beside Karwa and Vadhan's.

use super::means::{self, Rows};
use super::{AXES, DATA, LARGE, better_than, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, Repetitions, USUAL,
    comparator, usual_promises,
};
use crate::literal::Truncate;
use crate::task::Task;
use dpglm::comparators::KarwaVadhan;
use dpglm::release::Estimator;

const OTHER: &str = "Karwa-Vadhan";
const LINES: [Line; 5] = [USUAL[0], USUAL[1], USUAL[2], comparator(OTHER), USUAL[3]];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-3a",
        title: "Cai et al. 2021 Figure 3(a): mean of 20 columns, compared",
        claim: "The private mean is close to the non-private one and compares well with Karwa and Vadhan's.",
        choices: &[
            "literal truncation at private quantiles, as section 5.2 says",
            means::QUANTILE_CHOICE,
            means::RANGE_CHOICE,
            "Karwa-Vadhan: ranges [-1000, 1000], deviations declared in [0.01, 100], certified at the stated epsilon",
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
        memory: means::memory,
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let literal = means::literal(point, Truncate::Quantiles, false).promise()?;
    let other = Promise::certified(literal.epsilon, literal.delta);
    let mut promises = usual_promises(literal);
    promises.push((OTHER, other));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let rows = Rows::draw(&mut task.rows(), point.whole("n"), 20, 20);
    let model = means::literal(point, Truncate::Quantiles, false);
    let error = means::literal_error(&rows, &model, &mut task.noise(LITERAL))?;
    task.value(LITERAL, error);
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified(privacy, rng))?;
    }
    task.certified(OTHER, |privacy, rng| {
        let model = KarwaVadhan::new(vec![(-1_000.0, 1_000.0); 20], (0.01, 100.0))?;
        Ok(rows.error(&model.fit(&rows.design()?, privacy, rng)?.means))
    })?;
    task.value(NON_PRIVATE, rows.error(&rows.average()));
    Ok(())
}
