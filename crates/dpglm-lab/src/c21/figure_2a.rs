//! Cai et al. 2021 Figure 2(a): a sparse mean, told the sparsity or not.
//!
//! The paper's recipe for the sparsity: five-fold cross-validation over s*/2 to 2 s*, then the exponential mechanism on the averaged
//! errors, as if one row moved them by B/n. Fold fits are not private, and a row sits in four of the five training folds: it
//! moves the averaged error by about 4B/5, so no useful epsilon holds.

use super::means::{self, Rows};
use super::{AXES, DATA, SMALL, SPARSITY, comparable, points};
use crate::Result;
use crate::draw::Draw;
use crate::figure::{
    AT_TRUE, CERTIFIED, Figure, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, Repetitions, USUAL,
    comparator, usual_promises,
};
use crate::literal::{LiteralMean, Truncate};
use crate::task::Task;
use dpglm::tuning::TunedSparseMean;

/// The literal algorithm with the paper's cross-validation.
pub(crate) const VALIDATED: &str = "literal, cross-validated s";
/// The product that is not told s.
pub(crate) const TUNED: &str = "certified, s not told";
/// Why the paper's recipe has no epsilon.
pub(crate) const WHY_BROKEN: &str =
    "fold fits are not private: one row moves the averaged error by about 4B/5, not B/n";
/// All lines.
pub(crate) const LINES: [Line; 6] =
    [USUAL[0], comparator(VALIDATED), USUAL[1], comparator(TUNED), USUAL[2], USUAL[3]];
/// The sparsities that are tried.
pub(crate) const GRID: [usize; 7] = [10, 15, 20, 25, 30, 35, 40];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-2a",
        title: "Cai et al. 2021 Figure 2(a): sparse mean, sparsity told or chosen",
        claim: "Choosing s by cross-validation leads to errors comparable to those with the true s.",
        choices: &[
            "literal truncation: the theoretical R; private quantiles, which the paper takes here, cut the columns that matter (Figure 1(c))",
            "cross-validation: five folds, s = 10, 15, ..., 40, non-private fold fits, noise for a sensitivity of B/n with B the mean error, epsilon 0.5",
            "certified, s not told: at most 40 columns, those not clearly different from zero left out",
            means::RANGE_CHOICE,
        ],
        data: DATA,
        axes: AXES,
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 50 },
        points: || points(&SMALL, |n| n),
        headline: "n = 2000",
        promises,
        run,
        verdict: |result| {
            comparable(
                result,
                (VALIDATED, LITERAL),
                (TUNED, CERTIFIED),
                " The cross-validated literal run has no epsilon.",
            )
        },
        memory: means::memory,
    }
}

fn promises(point: &Point) -> Result<Promises> {
    let literal = means::literal(point, Truncate::Theory, true).promise()?;
    let (epsilon, delta) = (literal.epsilon, literal.delta);
    let mut promises = usual_promises(literal);
    promises.push((VALIDATED, Promise::broken(epsilon, delta, WHY_BROKEN)));
    promises.push((TUNED, Promise::certified(epsilon, delta)));
    Ok(promises)
}

/// The paper's choice of s: held-out squared error averaged over five folds, then Gumbel noise for a sensitivity of B/n.
fn validated(entries: &[f64], model: &LiteralMean, draw: &mut Draw) -> usize {
    let (d, n) = (model.d, model.n);
    let fold = |k: usize, inside: bool| -> Vec<f64> {
        let rows = entries.chunks_exact(d).enumerate().filter(|(i, _)| (i % 5 == k) == inside);
        means::average(&rows.flat_map(|(_, row)| row.iter().copied()).collect::<Vec<f64>>(), d)
    };
    let mut scores = [0.0; GRID.len()];
    for k in 0..5 {
        let (held_out, training) = (fold(k, true), fold(k, false));
        for (score, s) in scores.iter_mut().zip(GRID) {
            // The squared distance of held-out rows, less a part that is the same for every s.
            let kept = means::keep_largest(training.clone(), s);
            *score += kept.iter().zip(&held_out).map(|(m, x)| m * m - 2.0 * m * x).sum::<f64>() / 5.0;
        }
    }
    // The mean error of a row is about its number of columns.
    let scale = 2.0 * d as f64 / (n as f64 * model.epsilon);
    let noisy = |score: f64, draw: &mut Draw| -score - scale * (-draw.uniform().ln()).ln();
    let values: Vec<f64> = scores.iter().map(|&score| noisy(score, draw)).collect();
    let best = (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
    GRID[best]
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let n = point.whole("n");
    let rows = Rows::draw(&mut task.rows(), n, n, SPARSITY);
    let model = means::literal(point, Truncate::Theory, true);
    let error = means::literal_error(&rows, &model, &mut task.noise(LITERAL))?;
    task.value(LITERAL, error);
    let mut draw = task.noise(VALIDATED);
    let chosen = LiteralMean { sparsity: Some(validated(&rows.entries, &model, &mut draw)), ..model };
    task.value(VALIDATED, means::literal_error(&rows, &chosen, &mut draw)?);
    let table = rows.design()?;
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| rows.certified_sparse(&table, SPARSITY, privacy, rng))?;
    }
    task.certified(TUNED, |privacy, rng| {
        let fit = TunedSparseMean::new(vec![means::RANGE; n], 2 * SPARSITY)?.fit(&table, privacy, rng)?;
        Ok(rows.error(&means::spread(n, &fit.support, &fit.fit.means)))
    })?;
    task.value(NON_PRIVATE, rows.error(&rows.sparse_average(SPARSITY)));
    Ok(())
}
