//! How an intercept moves as slopes grow: post-processing of what was released, it costs no privacy.
//!
//! Steep slopes move the intercept away from the link of the mean response: of predictors that spread with deviation r about `base + c`,
//! the mean response is that of `base` alone only if c is right, for a log link `-r^2 / 2`. A linear step knows the tangent of this curve.
//! Where the response is rare and slopes are steep, the rest is larger than the step: without it every step must be undone by the next.
//!
//! Predictors are taken to be normal. Where they are not, the step is off by less than without it, and the next pass shows by how much.

use crate::families::Family;
use crate::numeric::turning_point;
use nalgebra::DVector;

/// Beyond so large a deviation of predictors nothing more is moved.
const STEEPEST: f64 = 6.0;
/// Nodes of the normal distribution, this far apart in deviations, up to so many on a side.
const APART: f64 = 0.25;
const NODES: i32 = 24;
const HALVINGS: u32 = 50;

/// What a step of slopes from `before` to `after` moves the intercept by beyond its tangent at `before`. Both are given in coordinates
/// whose rows have these second moments.
pub(super) fn beyond_tangent(
    family: &Family,
    base: f64,
    before: &DVector<f64>,
    after: &DVector<f64>,
    moments: impl Fn(&DVector<f64>) -> DVector<f64>,
) -> f64 {
    let deviation = |b: &DVector<f64>| b.dot(&moments(b)).max(0.0).sqrt().min(STEEPEST);
    let (from, to) = (deviation(before), deviation(after));
    let along =
        if from > 1e-6 { (moments(before).dot(after) / from).clamp(-STEEPEST, STEEPEST) - from } else { 0.0 };
    let near = 1e-3;
    let tangent = (moved(family, base, from + near) - moved(family, base, (from - near).max(0.0)))
        / (near + near.min(from));
    let beyond = moved(family, base, to) - moved(family, base, from) - tangent * along;
    if beyond.is_finite() { beyond } else { 0.0 }
}

/// The c at which predictors of this deviation about `base + c` have the mean response of `base`.
fn moved(family: &Family, base: f64, deviation: f64) -> f64 {
    let wanted = family.mean(base);
    let mean = |c: f64| {
        let weighted = |k: i32| {
            let z = APART * f64::from(k);
            let weight = (-0.5 * z * z).exp();
            (weight, weight * family.mean(base + c + deviation * z))
        };
        let (weights, means) =
            (-NODES..=NODES).map(weighted).fold((0.0, 0.0), |(w, m), (weight, mean)| (w + weight, m + mean));
        means / weights
    };
    let widest = deviation * deviation + 1.0;
    turning_point((-widest, widest), HALVINGS, |c| mean(c) < wanted).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A logarithmic link is moved by half the variance, exactly; a probability of one half by nothing.
    #[test]
    fn known_moves() {
        for deviation in [0.3, 1.0, 2.5] {
            let c = moved(&Family::poisson(), -1.0, deviation);
            assert!((c + 0.5 * deviation * deviation).abs() < 1e-3, "{deviation}: {c}");
            assert!(moved(&Family::logistic(), 0.0, deviation).abs() < 1e-9);
            // Of a probit the predictor's variance adds to that of the latent error.
            let c = moved(&Family::probit(), -1.0, deviation) - 1.0;
            assert!((c + (1.0 + deviation * deviation).sqrt()).abs() < 1e-4, "{deviation}: {c}");
        }
    }

    /// A step and its halves come to the same intercept up to the tangents that are the linear step's.
    #[test]
    fn small_steps_move_nothing_beyond_their_tangent() {
        let family = Family::logistic();
        let at = |scale: f64| DVector::from_vec(vec![scale, -0.5 * scale]);
        let beyond = |from: f64, to: f64| beyond_tangent(&family, -3.0, &at(from), &at(to), |b| b.clone());
        assert!(beyond(1.0, 1.0).abs() < 1e-9 && beyond(1.0, 1.01).abs() < 1e-3);
        assert!(beyond(0.0, 2.0) < -1.0 && beyond(1.0, 2.0) < -0.2);
        // Extremes stay finite.
        for family in [Family::poisson(), Family::logistic(), Family::cloglog(), Family::gamma()] {
            assert!(beyond_tangent(&family, 5.0, &at(1e9), &at(-1e12), |b| b.clone()).is_finite());
        }
    }
}
