//! Cai et al. 2021 Figure 2(b): sparse linear regression, told the sparsity or not.

use super::figure_2a::{GRID, LINES as MEAN_LINES, TUNED, VALIDATED, WHY_BROKEN};
use super::linear::{self, Rows};
use super::{AXES, DATA, SMALL, SPARSITY, points};
use crate::Result;
use crate::draw::Draw;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, NON_PRIVATE, Point, Promise, Promises, Repetitions, usual_promises,
};
use crate::page::short;
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::predict;
use dpglm::release::Estimator;
use dpglm::tuning::TunedSparsity;

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-2b",
        title: "Cai et al. 2021 Figure 2(b): sparse linear regression, sparsity told or chosen",
        claim: "Choosing s by cross-validation leads to errors comparable to those with the true s.",
        choices: &[
            linear::SPARSE_CHOICE,
            "literal truncation: the theoretical R",
            "cross-validation: five folds, s = 10, 15, ..., 40, fold fits without noise, noise for a sensitivity of B/n with B = 4 R^2, epsilon 0.5",
            "certified, s not told: at most 40 columns",
            linear::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &MEAN_LINES,
        repetitions: Repetitions { quick: 5, full: 50 },
        points: || {
            let mut points = points(&SMALL, |n| n);
            points.iter_mut().for_each(|p| p.quick = p.whole("n") != 200);
            points
        },
        headline: "n = 2000",
        promises,
        run,
        verdict,
        memory: linear::memory,
    }
}

fn level(point: &Point) -> f64 {
    4.0 * point.get("n").ln().sqrt()
}

fn promises(point: &Point) -> Result<Promises> {
    let model = linear::sparse_literal(point, level(point), SPARSITY);
    let literal = model.promise("rows within the box, no longer than 1")?;
    let (epsilon, delta) = (literal.epsilon, literal.delta);
    let mut promises = usual_promises(literal);
    promises.push((VALIDATED, Promise::broken(epsilon, delta, WHY_BROKEN)));
    promises.push((TUNED, Promise::certified(epsilon, delta)));
    Ok(promises)
}

/// The rows whose number modulo 5 is k, or all others.
fn fold(rows: &Rows, k: usize, inside: bool) -> Result<Dataset> {
    let d = rows.beta.len();
    let entries = crate::data::entries(rows.data.design());
    let mut x = Vec::new();
    let mut y = Vec::new();
    for (i, row) in entries.chunks_exact(d).enumerate().filter(|(i, _)| (i % 5 == k) == inside) {
        x.extend(row.iter().map(|&x| x as f32));
        y.push(rows.data.response()[i]);
    }
    Ok(Dataset::new(Design::from_f32(y.len(), d, x)?, y)?)
}

/// The paper's choice of s.
fn validated(point: &Point, rows: &Rows, draw: &mut Draw) -> Result<usize> {
    let mut scores = [0.0; GRID.len()];
    for k in 0..5 {
        let (held_out, training) = (fold(rows, k, true)?, fold(rows, k, false)?);
        for (score, s) in scores.iter_mut().zip(GRID) {
            let model = linear::sparse_literal(point, level(point), s);
            let plain = crate::literal::Thresholding { n: training.response().len(), scale: 0.0, ..model };
            let iterates = plain.iterates(&Family::gaussian(), &training, &mut Draw::new(0));
            let Some(beta) = iterates.last() else { continue };
            let mut u = vec![0.0; held_out.response().len()];
            predict(held_out.design(), beta, &mut u);
            let errors = u.iter().zip(held_out.response()).map(|(u, y)| (y - u).powi(2));
            *score += errors.sum::<f64>() / u.len() as f64 / 5.0;
        }
    }
    let scale = 2.0 * 4.0 * level(point).powi(2) / (point.get("n") * point.get("epsilon"));
    let values: Vec<f64> = scores.iter().map(|score| -score - scale * (-draw.uniform().ln()).ln()).collect();
    let best = (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
    Ok(GRID[best])
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let n = point.whole("n");
    let rows = Rows::draw(&mut task.rows(), n, n, SPARSITY)?;
    let fit = |s: usize, draw: &mut Draw| {
        let model = linear::sparse_literal(point, level(point), s);
        let iterates = model.iterates(&Family::gaussian(), &rows.data, draw);
        iterates.last().map_or(f64::NAN, |b| rows.error(b))
    };
    task.value(LITERAL, fit(SPARSITY, &mut task.noise(LITERAL)));
    let mut draw = task.noise(VALIDATED);
    let chosen = validated(point, &rows, &mut draw)?;
    task.value(VALIDATED, fit(chosen, &mut draw));
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified_sparse(privacy, rng))?;
    }
    task.certified(TUNED, |privacy, rng| {
        let model = TunedSparsity::new(rows.model()?, 2 * SPARSITY)?;
        Ok(rows.error(&model.fit(&rows.data, privacy, rng)?.coefficients(n)))
    })?;
    task.value(NON_PRIVATE, rows.non_private_sparse()?);
    Ok(())
}

/// An error above that of the zero vector shows nothing, whatever it is comparable to.
fn verdict(result: &FigureResult) -> Verdict {
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    Verdict::of(
        last(LITERAL) < 0.9 && last(VALIDATED) < 2.0 * last(LITERAL),
        last(CERTIFIED) < 0.9 && last(TUNED) < 2.0 * last(CERTIFIED),
        format!(
            "at n = 2000 the error is {} told s and {} not told, literally; {} and {} certified; {} without privacy.{}",
            short(last(LITERAL)),
            short(last(VALIDATED)),
            short(last(CERTIFIED)),
            short(last(TUNED)),
            short(last(NON_PRIVATE)),
            linear::HOPELESS
        ),
    )
}
