//! Cai et al. 2021 Figure 1(d): sparse linear regression with as many columns as rows, by how responses are truncated.

use super::figure_1a::{LINES as MEAN_LINES, NEVER, QUANTILES};
use super::linear::{self, Rows};
use super::{AXES, DATA, SMALL, SPARSITY, points};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, Repetitions,
    comparator, usual_promises,
};
use crate::page::short;
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::families::Family;
use dpglm::mechanisms::{Candidates, PrivateQuantile};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Event, Noise};

/// The zero vector.
pub(crate) const ZERO: &str = "zero vector";
const LINES: [Line; 7] = [
    MEAN_LINES[0],
    MEAN_LINES[1],
    MEAN_LINES[2],
    MEAN_LINES[3],
    MEAN_LINES[4],
    MEAN_LINES[5],
    comparator(ZERO),
];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-1d",
        title: "Cai et al. 2021 Figure 1(d): sparse linear regression by truncation, d = n",
        claim: "The data-driven truncation incurs errors comparable to no truncation and to the theoretical R.",
        choices: &[
            linear::SPARSE_CHOICE,
            "every method is told s = 20",
            "private quantiles of the responses by the exponential mechanism, epsilon 0.5 for each of two, not accounted for by the paper",
            linear::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points: || points(&SMALL, |n| n),
        headline: "n = 2000",
        promises,
        run,
        verdict,
        memory: linear::memory,
    }
}

fn theory(point: &Point) -> f64 {
    4.0 * point.get("n").ln().sqrt()
}

fn promises(point: &Point) -> Result<Promises> {
    let model = linear::sparse_literal(point, theory(point), SPARSITY);
    let because = "rows within the box, no longer than 1";
    let literal = model.promise(because)?;
    let (epsilon, delta) = (literal.epsilon, literal.delta);
    let mut events = crate::literal::peeling::events(
        SPARSITY,
        model.steps,
        model.step * model.sensitivity / model.n as f64,
        model.laplace_scale(),
    )?;
    events.push(Event::new("quantiles", Noise::Pure { epsilon }, 2)?);
    let mut promises = usual_promises(literal);
    promises.push((NEVER, Promise::broken(epsilon, delta, "one response moves the gradient by anything")));
    promises.push((QUANTILES, Promise::literal(epsilon, delta, &events, because)?));
    Ok(promises)
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let n = point.whole("n");
    let rows = Rows::draw(&mut task.rows(), n, n, SPARSITY)?;
    for line in [LITERAL, NEVER, QUANTILES] {
        let mut draw = task.noise(line);
        let mut level = theory(point);
        if line == QUANTILES {
            let rng = &mut RandomSource::insecure_seeded(draw.bits());
            let candidates = Candidates::geometric(0.01, 1e4, 16)?;
            let sizes: Vec<f64> = rows.data.response().iter().map(|y| y.abs()).collect();
            let mut quantile = PrivateQuantile::new(candidates, 0.95, 2.0 / point.get("epsilon"))?;
            level = quantile.release(&sizes, rng)?.value.abs().max(0.01);
        }
        let mut model = linear::sparse_literal(point, level, SPARSITY);
        if line == NEVER {
            model.truncation = f64::INFINITY;
        }
        let iterates = model.iterates(&Family::gaussian(), &rows.data, &mut draw);
        task.value(line, iterates.last().map_or(f64::NAN, |b| rows.error(b)));
    }
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified_sparse(privacy, rng))?;
    }
    task.value(NON_PRIVATE, rows.non_private_sparse()?);
    task.value(ZERO, 1.0);
    Ok(())
}

/// An error above that of the zero vector shows nothing, whatever it is comparable to.
fn verdict(result: &FigureResult) -> Verdict {
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    Verdict::of(
        last(LITERAL) < 0.9,
        last(CERTIFIED) < 0.9,
        format!(
            "at n = 2000 the error is {} literally, {} certified and {} without privacy.{}",
            short(last(LITERAL)),
            short(last(CERTIFIED)),
            short(last(NON_PRIVATE)),
            linear::HOPELESS
        ),
    )
}
