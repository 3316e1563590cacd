//! What Tables 2 and 3 share: sparse models of text, half of the training documents public.

use super::simulated::{DP_IGHT, TRANSFER, TWO_STAGE};
use crate::Result;
use crate::draw::Draw;
use crate::figure::{CERTIFIED, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, USUAL, comparator};
use crate::literal::transfer::BROKEN;
use crate::literal::{TransferNoise, transfer};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::central::{DpIht, Glm, Iht, SelectRefine, Transfer};
use dpglm::comparators::{FrankWolfe, TwoStage};
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::kernels::{fused_pass, predict};
use dpglm::release::Estimator;

/// Private Frank-Wolfe, certified.
pub(crate) const FRANK_WOLFE: &str = "Frank-Wolfe, certified";
/// All lines.
pub const LINES: [Line; 7] = [
    USUAL[0],
    USUAL[1],
    comparator(TRANSFER),
    comparator(FRANK_WOLFE),
    comparator(TWO_STAGE),
    comparator(DP_IGHT),
    USUAL[3],
];

/// A divided table and what is public of it.
pub struct Divided<'a> {
    /// The private training rows, of length at most 1.
    pub private: &'a Dataset,
    /// The public features.
    pub public: &'a Design,
    /// The test rows.
    pub test: &'a Dataset,
    /// Logistic, or linear with responses in this interval.
    pub target: Option<(f64, f64)>,
    /// The literal method's sparsity.
    pub sparsity: usize,
    /// The certified methods' sparsity.
    pub ours: usize,
    /// The l1 norm that Frank-Wolfe is allowed.
    pub radius: f64,
}

/// What the lines promise.
pub fn promises(point: &Point) -> Result<Promises> {
    let (epsilon, delta) = (point.get("epsilon"), point.get("delta"));
    let mut promises = vec![(LITERAL, Promise::broken(epsilon, delta, BROKEN))];
    let certified = [CERTIFIED, TRANSFER, FRANK_WOLFE, TWO_STAGE, DP_IGHT];
    promises.extend(certified.map(|line| (line, Promise::certified(epsilon, delta))));
    Ok(promises)
}

/// A point of either table.
pub fn point(epsilon: f64) -> Point {
    Point::new(format!("epsilon = {epsilon}"), epsilon, &[("epsilon", epsilon), ("delta", 1e-5)])
}

/// One repetition.
pub fn run(point: &Point, task: &mut Task, table: &Divided) -> Result<()> {
    let Divided { private, public, test, target, sparsity, ours, radius } = *table;
    let d = public.columns();
    let family = if target.is_some() { Family::gaussian() } else { Family::logistic() };
    let bounds = target.unwrap_or((0.0, 1.0));
    let error = |coefficients: &[f64]| test_error(test, coefficients, target.is_some());
    let mut best = f64::INFINITY;
    let eigenvalue = largest_eigenvalue(public);
    for factor in [0.1, 1.0, 10.0] {
        let noise = TransferNoise {
            n: private.units(),
            d,
            sparsity,
            epsilon: point.get("epsilon"),
            delta: point.get("delta"),
            gamma: if target.is_some() { (sparsity as f64).sqrt() } else { 1.0 },
            eigenvalue,
            factor,
        };
        let estimate = transfer(&family, private, public, &noise, 100, &mut task.noise(LITERAL))?;
        best = best.min(error(&estimate));
    }
    task.value(LITERAL, best);
    let model = Glm::new(family.clone(), bounds)?;
    // A linear model of rows of length 1 needs no larger coefficients for responses like these; a public number.
    let model = if target.is_some() { model.radius(2.0)? } else { model };
    task.certified(CERTIFIED, |privacy, rng| {
        Ok(error(&SelectRefine::new(model.clone(), ours)?.fit(private, privacy, rng)?.coefficients(d)))
    })?;
    task.certified(TRANSFER, |privacy, rng| {
        let model = match target {
            Some(bounds) => Transfer::linear(bounds, 1.0, ours)?,
            None => Transfer::logistic(1.0, ours)?,
        };
        Ok(error(&model.public_features(public.clone()).fit(private, privacy, rng)?.coefficients))
    })?;
    task.certified(FRANK_WOLFE, |privacy, rng| {
        let model = match target {
            Some(bounds) => FrankWolfe::linear(bounds, 1.0, radius)?,
            None => FrankWolfe::logistic(1.0, radius)?,
        };
        Ok(error(&model.fit(private, privacy, rng)?.coefficients))
    })?;
    task.certified(TWO_STAGE, |privacy, rng| {
        let model = match target {
            Some(bounds) => TwoStage::linear(bounds, 1.0, ours)?,
            None => TwoStage::logistic(1.0, ours)?,
        };
        Ok(error(&model.fit(private, privacy, rng)?.coefficients))
    })?;
    task.certified(DP_IGHT, |privacy, rng| {
        let model = DpIht::new(model.clone(), sparsity)?.row_norm(1.0)?;
        Ok(error(&model.fit(private, privacy, rng)?.coefficients(d)))
    })?;
    let fit = Iht::new(sparsity)?.fit(&family, private, 1e-4)?;
    task.value(NON_PRIVATE, error(&fit));
    Ok(())
}

/// The mean squared error of a linear model, the share of wrong predictions of a logistic one.
fn test_error(test: &Dataset, coefficients: &[f64], linear: bool) -> f64 {
    let mut predictors = vec![0.0; test.design().rows()];
    predict(test.design(), coefficients, &mut predictors);
    let each = predictors
        .iter()
        .zip(test.response())
        .map(|(u, y)| if linear { (u - y).powi(2) } else { f64::from(u8::from((*u > 0.0) != (*y > 0.5))) });
    each.sum::<f64>() / predictors.len() as f64
}

/// The largest eigenvalue of the rows' second moments, by power iteration.
fn largest_eigenvalue(design: &Design) -> f64 {
    let d = design.columns();
    let mut vector = Draw::new(1).sphere(d);
    let mut value = 0.0;
    for _ in 0..60 {
        let mut next = vec![0.0; d];
        fused_pass(design, &vector, |_, u| u, &mut next);
        value = crate::draw::norm(&next) / design.rows() as f64;
        let length = crate::draw::norm(&next).max(f64::MIN_POSITIVE);
        vector = next.into_iter().map(|x| x / length).collect();
    }
    value
}

/// The claim: at every epsilon below the comparators of the paper, and at the largest at most `near` times the non-private error.
pub fn verdict(result: &FigureResult, near: f64) -> Verdict {
    let others = [FRANK_WOLFE, TWO_STAGE, DP_IGHT];
    let seen = |line: &str| {
        result.points.iter().all(|p| others.iter().all(|other| p.mean(line) < p.mean(other)))
            && result.points.last().is_some_and(|p| p.mean(line) <= near * p.mean(NON_PRIVATE))
    };
    let (first, last) = (result.points.first(), result.points.last());
    let at =
        |point: Option<&crate::results::PointResult>, line: &str| point.map_or(f64::NAN, |p| p.mean(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "from the smallest to the largest epsilon the error goes from {:.3} to {:.3} literally and from {:.3} to {:.3} certified; without privacy it is \
             {:.3}.",
            at(first, LITERAL),
            at(last, LITERAL),
            at(first, CERTIFIED),
            at(last, CERTIFIED),
            at(last, NON_PRIVATE)
        ),
    )
}
