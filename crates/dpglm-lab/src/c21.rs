//! Cai et al. 2021: *The cost of privacy: optimal rates of convergence for parameter estimation with differential privacy*.
//!
//! Everywhere (epsilon, delta) = (0.5, 10/n^1.1), and l2 errors. That delta exceeds 1/n for every n below 10^10.

pub(crate) mod figure_1a;
pub(crate) mod figure_1b;
pub(crate) mod figure_1c;
pub(crate) mod figure_1d;
pub(crate) mod figure_2a;
pub(crate) mod figure_2b;
pub(crate) mod figure_3a;
pub(crate) mod figure_3b;
pub(crate) mod figure_3c;
pub(crate) mod figure_3d;
pub(crate) mod figure_4a;
pub(crate) mod figure_4b;
pub mod linear;
pub mod means;

use crate::figure::{Axes, CERTIFIED, LITERAL, Measure, NON_PRIVATE, Point, Scale};
use crate::page::short;
use crate::results::FigureResult;
use crate::verdict::{Verdict, falling};

/// The stated epsilon.
pub const EPSILON: f64 = 0.5;
/// The true sparsity.
pub const SPARSITY: usize = 20;
/// Where the rows come from.
pub const DATA: &str = "simulated as in the paper";

/// The stated delta.
pub fn delta(n: usize) -> f64 {
    10.0 / (n as f64).powf(1.1)
}

/// The axes of the simulated figures.
pub(crate) const AXES: Axes = Axes {
    x: "sample size n",
    y: "l2 error",
    x_scale: Scale::Logarithmic,
    y_scale: Scale::Logarithmic,
    measure: Measure::Error,
};

/// Points at sample sizes, with the columns that each has.
pub fn points(sizes: &[usize], columns: impl Fn(usize) -> usize) -> Vec<Point> {
    let point = |&n: &usize| {
        let settings = [("n", n as f64), ("d", columns(n) as f64), ("epsilon", EPSILON), ("delta", delta(n))];
        Point::new(format!("n = {n}"), n as f64, &settings)
    };
    sizes.iter().map(point).collect()
}

/// The sample sizes of the low-dimensional figures.
pub(crate) const LARGE: [usize; 5] = [5_000, 10_000, 20_000, 50_000, 100_000];
/// The sample sizes of the high-dimensional figures of sections 5.1 and 5.2.
pub const SMALL: [usize; 5] = [100, 200, 500, 1_000, 2_000];
/// The sample sizes of the high-dimensional figures of section 5.3.
pub const MIDDLE: [usize; 3] = [2_000, 3_000, 4_000];

/// The claim "lines A and B have comparable errors": within a factor of two at the last point, and falling with n; a line that
/// promises an epsilon must have a finite one. `literal` and `certified` are the pairs (A, B).
pub fn comparable(
    result: &FigureResult,
    literal: (&str, &str),
    certified: (&str, &str),
    extra: &str,
) -> Verdict {
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    let seen = |(a, b): (&str, &str)| {
        let ratio = last(a) / last(b);
        let broken = |line: &str| {
            let promise = result.points.last().and_then(|p| p.line(line)?.promise.as_ref());
            promise.is_some_and(|p| p.truly.is_none())
        };
        (0.5..=2.0).contains(&ratio)
            && [a, b].iter().all(|line| falling(&result.along(line)) && !broken(line))
    };
    Verdict::of(
        seen(literal),
        seen(certified),
        format!(
            "at the largest n the errors are {} ({}) and {} ({}), certified {}, non-private {}.{extra}",
            short(last(literal.0)),
            literal.0,
            short(last(literal.1)),
            literal.1,
            short(last(CERTIFIED)),
            short(last(NON_PRIVATE))
        ),
    )
}

/// The claim "our error is well below the comparator's and falls with n".
pub(crate) fn better_than(result: &FigureResult, comparator: &str, extra: &str) -> Verdict {
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    let seen = |line: &str| last(line) < last(comparator) && falling(&result.along(line));
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at the largest n the error is {} literally, {} certified, {} for {comparator}, {} without privacy.{extra}",
            short(last(LITERAL)),
            short(last(CERTIFIED)),
            short(last(comparator)),
            short(last(NON_PRIVATE))
        ),
    )
}
