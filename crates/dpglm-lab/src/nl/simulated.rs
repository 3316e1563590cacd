//! What Figures 1a and 1b share: a logistic model with features of random sign.
//!
//! Features are plus or minus 1/p, all coefficients `1/sqrt(p)`, as many public rows as users.

use crate::Result;
use crate::draw::Draw;
use crate::figure::{
    AT_TRUE, CERTIFIED, LITERAL, NON_PRIVATE, Point, Promise, Promises, comparator, usual_promises,
};
use crate::figure::{Line, USUAL};
use crate::literal::{OneShotNoise, Sums, one_shot};
use crate::task::Task;
use dpglm::central::Privacy;
use dpglm::data::design::Storage;
use dpglm::data::{Dataset, Design};
use dpglm::families::Family;
use dpglm::local::one_shot::OneShotOutcome;
use dpglm::local::{Imitation, OneShotGlm};

/// The printed noise for the features' true l2 norm.
pub(crate) const NORM: &str = "literal, r = the features' l2 norm";
/// All lines.
pub const LINES: [Line; 5] = [USUAL[0], comparator(NORM), USUAL[1], USUAL[2], USUAL[3]];
/// Where the rows come from.
pub const DATA: &str = "simulated as in the paper; public rows are other people";
/// What is open in both.
pub(crate) const CHOICES: &[&str] = &[
    "delta is not printed: 1e-5",
    "r = 1, the bound on the l1 norm; beside it r = 1/sqrt(p), the l2 norm, which is all that the sensitivity needs",
    "Newton's method starts at c = 1; a run without a root or without convergence counts as failed",
    "the users' Gaussian noises are drawn as one sum, which has the same law",
    "certified: pure epsilon (delta is not used), the Gram matrix of the public rows; estimates are drawn from the law of real reports",
    "non-private: the paper's algorithm without noise",
    "the paper's grid of n is thinned",
];
const DELTA: f64 = 1e-5;

/// A point of either figure; `group` comes first in its name.
pub fn point(group: &str, n: u32, p: f64, epsilon: f64) -> Point {
    let name = format!("{group}, {}k", n / 1000);
    Point::new(name, f64::from(n), &[("n", f64::from(n)), ("p", p), ("epsilon", epsilon), ("delta", DELTA)])
}

fn noise(point: &Point, radius: f64) -> OneShotNoise {
    OneShotNoise { epsilon: point.get("epsilon"), delta: point.get("delta"), radius }
}

/// What the lines promise.
pub fn promises(point: &Point) -> Result<Promises> {
    let mut promises = usual_promises(noise(point, 1.0).promise()?);
    promises
        .push((NORM, Promise { because: "features of l2 norm 1/sqrt(p)".into(), ..promises[0].1.clone() }));
    Ok(promises)
}

/// Features of random sign and size 1/p.
pub fn features(draw: &mut Draw, n: usize, p: usize) -> Result<Design> {
    Ok(Design::from_i8(n, p, draw.signs(n * p), 1.0 / p as f64)?)
}

/// Users and their labels.
pub fn users(draw: &mut Draw, n: usize, p: usize) -> Result<Dataset> {
    let signs = draw.signs(n * p);
    let size = (p as f64).powf(-1.5);
    let y = signs
        .chunks_exact(p)
        .map(|row| draw.logistic(size * row.iter().map(|&x| f64::from(x)).sum::<f64>()))
        .collect();
    Ok(Dataset::new(Design::from_i8(n, p, signs, 1.0 / p as f64)?, y)?)
}

/// The relative error in the largest coordinate.
pub fn error(estimate: &[f64]) -> f64 {
    let truth = (estimate.len() as f64).sqrt().recip();
    estimate.iter().fold(0.0_f64, |m, b| m.max((b - truth).abs())) / truth
}

/// One repetition; a value is `measure` of the relative error.
pub fn run(point: &Point, task: &mut Task, measure: fn(f64) -> f64) -> Result<()> {
    let (n, p) = (point.whole("n"), point.whole("p"));
    let mut rows = task.rows();
    let data = users(&mut rows, n, p)?;
    let public = features(&mut rows, n, p)?;
    let sums = Sums::new(&data);
    let radius = (p as f64).sqrt().recip();
    let value = |estimate: Option<Vec<f64>>| estimate.map_or(f64::NAN, |b| measure(error(&b)));
    for (line, radius) in [(LITERAL, 1.0), (NORM, radius)] {
        let estimate = one_shot(&sums, Some(&noise(point, radius)), &public, &mut task.noise(line));
        task.value(line, value(estimate));
    }
    task.value(NON_PRIVATE, value(one_shot(&sums, None, &public, &mut rows)));
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| {
            let users = (0..n).map(|i| (row(data.design(), i), data.response()[i]));
            Ok(value(certified(users, radius, privacy, &public, rng.next_u64())?))
        })?;
    }
    Ok(())
}

/// A row of a dense design.
pub fn row(design: &Design, i: usize) -> Vec<f64> {
    let p = design.columns();
    match design.storage() {
        Storage::I8 { entries, scale } => {
            entries[i * p..(i + 1) * p].iter().map(|&x| f64::from(x) * scale).collect()
        }
        Storage::F32(entries) => entries[i * p..(i + 1) * p].iter().map(|&x| f64::from(x)).collect(),
        Storage::F64(entries) => entries[i * p..(i + 1) * p].to_vec(),
        Storage::Csr(_) => Vec::new(),
    }
}

/// The product's fit from one report a user; none if it ends without coefficients.
pub fn certified(
    users: impl Iterator<Item = (Vec<f64>, f64)>,
    radius: f64,
    privacy: Privacy,
    public: &Design,
    seed: u64,
) -> dpglm::Result<Option<Vec<f64>>> {
    let Privacy::Budget(budget) = privacy else { return Ok(None) };
    let p = public.columns();
    let model = OneShotGlm::new(Family::logistic(), (0.0, 1.0), radius)?;
    let randomizer = model.randomizer(p, budget.epsilon())?;
    let mut imitation = Imitation::new(&randomizer, seed);
    let (mut sum, mut count) = (vec![0.0; p], 0);
    for (x, y) in users {
        imitation.add(&model.product(&x, y), &mut sum)?;
        count += 1;
    }
    Ok(match model.fit_public(&randomizer, &sum, count, public)? {
        OneShotOutcome::Fitted { coefficients, .. } => Some(coefficients),
        _ => None,
    })
}

/// Gigabytes.
pub fn memory(point: &Point) -> f64 {
    point.get("n") * (2.0 * point.get("p") + 40.0) * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An independent implementation finds 1.05 at p = 5, n = 480,000, epsilon 10.
    #[test]
    fn literal_agrees_with_an_independent_implementation() {
        let point = point("p = 5", 480_000, 5.0, 10.0);
        let errors: Vec<f64> = (0..40_u64)
            .map(|i| {
                let mut draw = Draw::new(crate::task::seed(&["nl literal", &i.to_string()]));
                let sums = Sums::new(&users(&mut draw, 480_000, 5).unwrap());
                let public = features(&mut draw, 4_000, 5).unwrap();
                error(&one_shot(&sums, Some(&noise(&point, 1.0)), &public, &mut draw).unwrap())
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / 40.0;
        let deviation = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / 39.0).sqrt();
        // Five standard errors of ours and as many of theirs (thirty runs).
        let allowed = 5.0 * deviation * (1.0 / 40.0_f64 + 1.0 / 30.0).sqrt();
        assert!((mean - 1.05).abs() < allowed, "{mean} {allowed}");
        // Noise half as large would be seen.
        assert!((0.5 * mean - 1.05).abs() > allowed, "no power: {allowed}");
    }
}
