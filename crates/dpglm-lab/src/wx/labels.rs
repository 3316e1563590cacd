//! What Figures 2 and 6 share: labels are private, features public (Algorithms 2 and 5).

use super::simulated::{ERROR, Study, along, clearly_falling, ends, family, label_range, random_start};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, LITERAL, Line, Point, Promise, Promises, USUAL, comparator, usual_promises,
};
use crate::literal::label_iht::noisy_labels;
use crate::literal::{PrintedLabelNoise, label_iht};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::Verdict;
use dpglm::central::Privacy;
use dpglm::families::Family;
use dpglm::local::{LabelIht, LabelLasso, LabelNoise, ThresholdBit, ThresholdIht};
use dpglm::noise::RandomSource;

/// The literal algorithm from the start that section VIII takes.
pub(crate) const RANDOM: &str = "literal, random start";
/// The literal algorithm with a step that does not diverge.
pub const SHORT: &str = "literal, step 0.015";
/// The paper's iteration on labels whose noise is that of their true range.
pub(crate) const VALID: &str = "paper's iteration, certified noise";
/// Lasso on noisy labels (section VI).
pub const LASSO: &str = "Lasso, certified noise";
/// The lines of Figure 2.
pub const LINEAR: [Line; 7] =
    [USUAL[0], comparator(RANDOM), comparator(VALID), comparator(LASSO), USUAL[1], USUAL[2], USUAL[3]];
/// The lines of Figure 6.
pub(crate) const NONLINEAR: [Line; 6] =
    [USUAL[0], comparator(SHORT), comparator(VALID), USUAL[1], USUAL[2], USUAL[3]];
/// Above this epsilon a label with noise says more than a threshold bit.
const LARGE: f64 = 8.0;
/// What is open in both.
pub(crate) const CERTIFIED_CHOICE: &str = "certified: one threshold bit a user up to epsilon 8, above it a label with the better of Laplace and Gaussian noise; \
     labels declared in the range that the model's class allows";

fn noise(point: &Point) -> PrintedLabelNoise {
    PrintedLabelNoise { epsilon: point.get("epsilon"), delta: point.get("delta"), error: ERROR }
}

/// What the lines of Figure 2 promise.
pub(crate) fn linear_promises(point: &Point) -> Result<Promises> {
    promises(point, true)
}

/// What the lines of Figure 6 promise.
pub(crate) fn nonlinear_promises(point: &Point) -> Result<Promises> {
    promises(point, false)
}

fn promises(point: &Point, linear: bool) -> Result<Promises> {
    let (low, high) = label_range(&family(linear)?, point.get("s"));
    let literal = noise(point).promise(high - low)?;
    let certified = Promise::certified(literal.epsilon, literal.delta);
    let mut promises = usual_promises(literal.clone());
    promises.extend([(RANDOM, literal.clone()), (SHORT, literal)]);
    promises.extend([(VALID, certified.clone()), (LASSO, certified)]);
    Ok(promises)
}

/// One repetition of Figure 2.
pub(crate) fn run_linear(point: &Point, task: &mut Task) -> Result<()> {
    run(point, task, true)
}

/// One repetition of Figure 6.
pub(crate) fn run_nonlinear(point: &Point, task: &mut Task) -> Result<()> {
    run(point, task, false)
}

fn run(point: &Point, task: &mut Task, linear: bool) -> Result<()> {
    let family = family(linear)?;
    let (p, s) = (point.whole("p"), point.whole("s"));
    let study = Study::new(point, &family, &mut task.rows())?;
    let (design, labels) = (study.data.design(), study.data.response());
    let range = label_range(&family, s as f64);
    let other = if linear { (RANDOM, 0.2) } else { (SHORT, 0.015) };
    for (line, step) in [(LITERAL, 0.2), other] {
        let mut draw = task.noise(line);
        let reports = noisy_labels(labels, &noise(point), &mut draw);
        let start = if line == RANDOM { random_start(&mut draw, p) } else { vec![0.0; p] };
        task.value(line, study.error(&label_iht(&family, design, &reports, s, step, start)));
    }
    task.certified(VALID, |privacy, rng| {
        let Privacy::Budget(budget) = privacy else { return Ok(f64::NAN) };
        let reports = noisy(labels, &LabelNoise::gaussian(range, budget)?, rng)?;
        let step = if linear { 0.2 } else { 0.015 };
        Ok(study.error(&label_iht(&family, design, &reports, s, step, vec![0.0; p])))
    })?;
    if linear {
        task.certified(LASSO, |privacy, rng| {
            let Privacy::Budget(budget) = privacy else { return Ok(f64::NAN) };
            let noise = LabelNoise::laplace(range, budget.epsilon())?;
            let lasso = LabelLasso::for_noise(noise.deviation(), labels.len(), p)?;
            Ok(study.error(&lasso.fit(design, &noisy(labels, &noise, rng)?)?))
        })?;
    }
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            Ok(study.error(&certified(&study, &family, s, range, privacy, rng)?))
        })?;
    }
    study.reference(&family, s, task)
}

fn noisy(labels: &[f64], noise: &LabelNoise, rng: &mut RandomSource) -> dpglm::Result<Vec<f64>> {
    labels.iter().map(|&y| noise.randomize(y, rng)).collect()
}

/// The product's estimate at a budget.
fn certified(
    study: &Study,
    family: &Family,
    sparsity: usize,
    range: (f64, f64),
    privacy: Privacy,
    rng: &mut RandomSource,
) -> dpglm::Result<Vec<f64>> {
    let (design, labels) = (study.data.design(), study.data.response());
    let Privacy::Budget(budget) = privacy else { return Ok(vec![0.0; design.columns()]) };
    if budget.epsilon() <= LARGE {
        let bit = ThresholdBit::new(range, budget.epsilon())?;
        let reports: Vec<_> = labels.iter().map(|&y| bit.randomize(y, rng)).collect();
        return ThresholdIht::new(family.clone(), sparsity)?.fit(design, &bit, &reports);
    }
    let laplace = LabelNoise::laplace(range, budget.epsilon())?;
    let gaussian = LabelNoise::gaussian(range, budget)?;
    let better = if gaussian.deviation() < laplace.deviation() { gaussian } else { laplace };
    LabelIht::new(family.clone(), sparsity)?.fit(design, &noisy(labels, &better, rng)?)
}

/// The error must fall with epsilon and n by more than its own uncertainty, change by less than half as p grows fourfold, and end below a half at the largest n.
pub fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let by_p = along(result, line, "p");
        let ratio = by_p.last().zip(by_p.first()).map_or(f64::NAN, |(a, b)| a.0 / b.0);
        clearly_falling(&along(result, line, "epsilon"))
            && clearly_falling(&along(result, line, "n"))
            && (1.0 / 1.5..1.5).contains(&ratio)
            && along(result, line, "n").last().is_some_and(|e| e.0 < 0.5)
    };
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "{}; {}; {}; the zero vector has 1.",
            ends(result, "n"),
            ends(result, "p"),
            ends(result, "epsilon")
        ),
    )
}
