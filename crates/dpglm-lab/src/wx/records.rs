//! What Figures 1 and 5 share: whole records are private (Algorithms 1 and 4).

use super::simulated::{ERROR, Study, along, ends, family, label_range, random_start};
use crate::Result;
use crate::figure::{CERTIFIED, LITERAL, Line, Point, Promise, Promises, USUAL, comparator};
use crate::literal::{LocalConstants, local_iht};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::{Verdict, falling, rising};
use dpglm::central::Privacy;
use dpglm::local::LocalIht;

/// The literal algorithm from the start that section VIII takes.
pub(crate) const RANDOM: &str = "literal, random start";
/// The literal algorithm with a radius that gradients in the paper's class keep.
pub const WIDE: &str = "literal, radius that gradients need";
/// The literal algorithm with a step that does not diverge.
pub const SHORT: &str = "literal, step 0.015";
/// The lines of Figure 1.
pub const LINEAR: [Line; 5] = [USUAL[0], comparator(RANDOM), comparator(WIDE), USUAL[1], USUAL[3]];
/// The lines of Figure 5.
pub(crate) const NONLINEAR: [Line; 5] = [USUAL[0], comparator(SHORT), comparator(WIDE), USUAL[1], USUAL[3]];

/// What the lines promise. Reports of clipped gradients are epsilon-private exactly, so that the true epsilon is the stated one.
pub fn promises(point: &Point) -> Result<Promises> {
    let (epsilon, delta) = (point.get("epsilon"), point.get("delta"));
    let because = "gradients clipped to the randomizer's radius, which the paper leaves out; pure epsilon";
    let literal = Promise { because: because.into(), ..Promise::certified(epsilon, delta) };
    let mut promises = vec![(LITERAL, literal.clone()), (CERTIFIED, Promise::certified(epsilon, delta))];
    promises.extend([RANDOM, WIDE, SHORT].map(|line| (line, literal.clone())));
    Ok(promises)
}

/// One repetition of Figure 1.
pub(crate) fn run_linear(point: &Point, task: &mut Task) -> Result<()> {
    run(point, task, true)
}

/// One repetition of Figure 5.
pub(crate) fn run_nonlinear(point: &Point, task: &mut Task) -> Result<()> {
    run(point, task, false)
}

fn run(point: &Point, task: &mut Task, linear: bool) -> Result<()> {
    let family = family(linear)?;
    let (p, s, epsilon) = (point.whole("p"), point.whole("s"), point.get("epsilon"));
    let study = Study::new(point, &family, &mut task.rows())?;
    let (slope, (low, high)) = (if linear { 1.0 } else { 9.0 }, label_range(&family, s as f64));
    let root = (p as f64).sqrt();
    let printed = slope * ERROR * root;
    let variants = if linear {
        [
            (LITERAL, 0.2, printed, false),
            (RANDOM, 0.2, printed, true),
            (WIDE, 0.2, slope * (high - low) * root, false),
        ]
    } else {
        [
            (LITERAL, 0.2, printed, false),
            (SHORT, 0.015, printed, false),
            (WIDE, 0.015, slope * (high - low) * root, false),
        ]
    };
    for (line, step, radius, random) in variants {
        let mut draw = task.noise(line);
        let start = if random { random_start(&mut draw, p) } else { vec![0.0; p] };
        let constants = LocalConstants { sparsity: s, epsilon, step, radius };
        let row = |i: usize| study.row(i);
        let estimate = local_iht(&family, &study.data, row, &constants, start, draw.bits())?;
        task.value(line, study.error(&estimate));
    }
    task.certified(CERTIFIED, |privacy, rng| {
        let Privacy::Budget(budget) = privacy else { return Ok(f64::NAN) };
        let model = LocalIht::new(family.clone(), (low, high), 1.0, s)?;
        let state = model.imitate(&study.data, budget.epsilon(), rng.next_u64())?;
        Ok(study.error(&state.coefficients))
    })?;
    study.reference(&family, s, task)
}

/// The error must rise with p and s, fall with epsilon and n, and end below a half at the largest n.
pub fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        rising(&along(result, line, "p"))
            && rising(&along(result, line, "s"))
            && falling(&along(result, line, "epsilon"))
            && falling(&along(result, line, "n"))
            && along(result, line, "n").last().is_some_and(|e| e.0 < 0.5)
    };
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!("{}; {}; the zero vector has 1.", ends(result, "n"), ends(result, "p")),
    )
}
