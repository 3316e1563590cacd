//! What Figures 3 and 4 share: sparse logistic regression on real rows in the central model (Algorithm 3).
//!
//! Measured: the optimality gap, the penalised mean loss minus the smallest that is found without privacy.

use super::simulated::{along, ends};
use crate::Result;
use crate::figure::{
    AT_TRUE, CERTIFIED, LITERAL, Line, NON_PRIVATE, Point, Promise, Promises, USUAL, comparator,
    usual_promises,
};
use crate::literal::{RiskNoise, dp_iht};
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::{Verdict, falling, rising};
use dpglm::central::{DpIht, Glm, Iht, SelectRefine, reference};
use dpglm::data::Dataset;
use dpglm::families::Family;
use dpglm::kernels::{fused_pass, predict};
use dpglm::release::Estimator;

/// The literal algorithm on rows normalised with what the private rows say.
pub(crate) const PRIVATE_SCALES: &str = "literal, scales from the private rows";
/// The product's form of the paper's own algorithm.
pub(crate) const DP_IHT: &str = "certified DP-IHT";
/// All lines.
pub const LINES: [Line; 6] =
    [USUAL[0], comparator(PRIVATE_SCALES), USUAL[1], USUAL[2], comparator(DP_IHT), USUAL[3]];
/// Steps of the literal algorithm.
const STEPS: u32 = 100;
const RIDGE: f64 = 1e-3;
/// What is open in both.
pub(crate) const CHOICES: [&str; 6] = [
    "T is not printed: 100 steps of length 0.1, as printed; the noise by zCDP at the sensitivity 2/n, as section VIII says",
    "one of n, p, s, epsilon varies; the others are fixed as in the paper (s = 10, epsilon = 2, delta = 1e-3); the paper's values are not printed",
    "\"normalised\" is read as rows of length 1, so that G = 1",
    "the optimum is the better of iterative hard thresholding to its end and of adding the column of the steepest gradient s times, both refitted on \
     their support; another support can have a smaller loss",
    "certified: select, then refine, with lambda = 1e-3; DP-IHT of the product with rows of length at most 1 beside it",
    "non-private: the literal algorithm without noise, after as many steps",
];

fn noise(point: &Point) -> RiskNoise {
    RiskNoise {
        n: point.whole("n"),
        epsilon: point.get("epsilon"),
        delta: point.get("delta"),
        steps: STEPS,
        step: 0.1,
        ridge: RIDGE,
        sparsity: point.whole("s"),
    }
}

/// What the lines promise.
pub fn promises(point: &Point) -> Result<Promises> {
    let literal = noise(point).promise()?;
    let mut promises = usual_promises(literal.clone());
    let broken = "scales read off the private rows are not paid for";
    promises.push((PRIVATE_SCALES, Promise::broken(literal.epsilon, literal.delta, broken)));
    promises.push((DP_IHT, Promise::certified(literal.epsilon, literal.delta)));
    Ok(promises)
}

/// The penalised mean loss.
fn loss(data: &Dataset, point: &[f64]) -> f64 {
    let mut predictors = vec![0.0; data.design().rows()];
    predict(data.design(), point, &mut predictors);
    let losses = predictors.iter().zip(data.response()).map(|(u, y)| {
        let margin = if *y > 0.5 { *u } else { -u };
        (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
    });
    losses.sum::<f64>() / predictors.len() as f64 + 0.5 * RIDGE * point.iter().map(|b| b * b).sum::<f64>()
}

/// Adds the column of the steepest gradient, s times, with a refit each time.
fn greedy(data: &Dataset, s: usize) -> Result<Vec<f64>> {
    let d = data.design().columns();
    let (mut point, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    let mut support = Vec::new();
    while support.len() < s.min(d) {
        let score = |row: usize, u: f64| Family::logistic().mean(u) - data.response()[row];
        fused_pass(data.design(), &point, score, &mut gradient);
        let free = (0..d).filter(|j| !support.contains(j));
        support.extend(free.max_by(|&a, &b| gradient[a].abs().total_cmp(&gradient[b].abs())));
        let chosen = Dataset::new(data.design().select_columns(&support)?, data.response().to_vec())?;
        let refit = reference::glm(&Family::logistic(), &chosen, RIDGE, false)?.coefficients;
        support.iter().zip(refit).for_each(|(&j, b)| point[j] = b);
    }
    Ok(point)
}

/// One repetition: `public` is normalised by public facts, `private` by what the private rows say.
pub fn run(point: &Point, task: &mut Task, public: &Dataset, private: Option<&Dataset>) -> Result<()> {
    let noise = noise(point);
    let (s, d) = (noise.sparsity, public.design().columns());
    let optimum = |data: &Dataset| -> Result<f64> {
        let thresholded = loss(data, &Iht::new(s)?.iterations(300)?.fit(&Family::logistic(), data, RIDGE)?);
        Ok(thresholded.min(loss(data, &greedy(data, s)?)))
    };
    let best = optimum(public)?;
    task.value(LITERAL, loss(public, &dp_iht(public, &noise, Some(&mut task.noise(LITERAL)))) - best);
    if let Some(private) = private {
        let estimate = dp_iht(private, &noise, Some(&mut task.noise(PRIVATE_SCALES)));
        task.value(PRIVATE_SCALES, loss(private, &estimate) - optimum(private)?);
    }
    task.value(NON_PRIVATE, loss(public, &dp_iht(public, &noise, None)) - best);
    let model = Glm::new(Family::logistic(), (0.0, 1.0))?.ridge(RIDGE)?;
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            let fit = SelectRefine::new(model.clone(), s)?.fit(public, privacy, rng)?;
            Ok(loss(public, &fit.coefficients(d)) - best)
        })?;
    }
    task.certified(DP_IHT, |privacy, rng| {
        let fit = DpIht::new(model.clone(), s)?.row_norm(1.0)?.fit(public, privacy, rng)?;
        Ok(loss(public, &fit.coefficients(d)) - best)
    })?;
    Ok(())
}

/// The gap must rise with s, fall with epsilon, and change by less than half over the values of p.
pub fn verdict(result: &FigureResult) -> Verdict {
    let seen = |line: &str| {
        let by_p = along(result, line, "p");
        let ratio = by_p.last().zip(by_p.first()).map_or(f64::NAN, |(a, b)| a.0 / b.0);
        rising(&along(result, line, "s"))
            && falling(&along(result, line, "epsilon"))
            && (1.0 / 1.5..1.5).contains(&ratio)
    };
    let because = format!(
        "{}; {}; {}; without noise the literal algorithm is {:.4} from the optimum after as many steps.",
        ends(result, "p"),
        ends(result, "s"),
        ends(result, "epsilon"),
        result.headline().map_or(f64::NAN, |p| p.mean(NON_PRIVATE))
    );
    Verdict::of(seen(LITERAL), seen(CERTIFIED), because)
}
