//! The attacks of Cai et al. 2020 and Cai et al. 2021: can it be told who was in the table?
//!
//! Each figure draws 2n records of one distribution, estimates from the first n, and scores all by the paper's attack, which knows the
//! truth. Measured: the probability that a random member scores above a random other (the area under the ROC curve). One half is
//! guessing; a promise of (epsilon, delta) bounds it from above.

pub mod linear;
pub mod logistic;
pub mod means;
pub mod sparse_linear;
pub mod sparse_logistic;
pub(crate) mod sparse_means;

use crate::Result;
use crate::figure::{Axes, CERTIFIED, LITERAL, Line, Measure, NON_PRIVATE, Scale, USUAL};
use crate::results::FigureResult;
use crate::verdict::Verdict;
use dpglm::audit::Roc;

/// Literal, certified, non-private.
pub const LINES: [Line; 3] = [USUAL[0], USUAL[1], USUAL[3]];

/// The axes, with what runs along x.
pub const fn axes(x: &'static str) -> Axes {
    Axes {
        x,
        y: "area under the attack's ROC curve (1/2: guessing)",
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Linear,
        measure: Measure::Area,
    }
}

/// The area under the curve where the first n of 2n records are members.
pub fn area(n: usize, score: impl Fn(usize) -> f64) -> Result<f64> {
    let scores: Vec<f64> = (0..2 * n).map(score).collect();
    Ok(Roc::of(&scores[..n], &scores[n..])?.area())
}

/// The largest area that a promise allows: under the curve of the best test against it.
pub(crate) fn largest_area(epsilon: f64, delta: f64) -> f64 {
    let most = |rate: f64| {
        (epsilon.exp() * rate + delta).min(1.0 - (1.0 - delta - rate).max(0.0) / epsilon.exp()).min(1.0)
    };
    let steps = 10_000;
    (0..steps).map(|i| most((f64::from(i) + 0.5) / f64::from(steps))).sum::<f64>() / f64::from(steps)
}

/// Without noise the attack must do better than guessing at the last point, by five standard errors; with it, nowhere better than
/// the promise allows.
pub fn verdict(result: &FigureResult) -> Verdict {
    let (plain, error) = result.along(NON_PRIVATE).last().copied().unwrap_or((f64::NAN, 0.0));
    let works = plain - 5.0 * error > 0.5;
    let within = |line: &str| {
        result.points.iter().filter_map(|p| p.line(line)).all(|l| {
            let limit = l.promise.as_ref().map_or(1.0, |p| largest_area(p.epsilon, p.delta));
            let (mean, error) = l.pair();
            mean - 3.0 * error <= limit
        })
    };
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    let limit = result
        .points
        .last()
        .and_then(|p| p.line(CERTIFIED))
        .and_then(|l| l.promise.as_ref())
        .map_or(1.0, |p| largest_area(p.epsilon, p.delta));
    Verdict::of(
        works && within(LITERAL),
        works && within(CERTIFIED),
        format!(
            "at the last point the area is {plain:.2} without noise, {:.2} for the literal and {:.2} for the certified estimate; \
             the promise allows {limit:.2}.",
            last(LITERAL),
            last(CERTIFIED)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        assert!((largest_area(1e-9, 0.0) - 0.5).abs() < 1e-6);
        // For pure epsilon the curve bends at 1/(1 + e^epsilon): the area is e^epsilon / (1 + e^epsilon).
        let half = 0.5_f64.exp();
        assert!((largest_area(0.5, 0.0) - half / (1.0 + half)).abs() < 1e-4);
        assert!(largest_area(0.5, 0.1) > largest_area(0.5, 0.01));
    }
}
