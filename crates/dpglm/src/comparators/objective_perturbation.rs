//! The privacy of objective perturbation with Gaussian noise, for generalized linear losses.
//!
//! # The release
//! `theta = argmin sum_i loss_i(x_i . theta) + ridge/2 |theta|^2 + b . theta`, `b ~ N(0, sigma^2 I)`. Each loss is convex and
//! twice continuously differentiable with `|loss'| |x| <= G` and `loss'' |x|^2 <= curvature`, for every row.
//!
//! # Guarantee
//! Let one row be replaced, `mu = 2 G / sigma` and `j = ln(1 + curvature / ridge)`. Then for every `epsilon >= j + mu^2/2`,
//! with `e = epsilon - j`, the release is (epsilon, delta) private with
//! `delta = mu sqrt(2 pi) e^e Phi(-(e/mu + mu/2))`.
//!
//! # Why private
//! The objective is strongly convex and smooth, so `theta` and `b` determine each other:
//! `b = -(sum_i loss_i' x_i + ridge theta)`. The density of `theta` on data D is `nu_sigma(b(theta; D)) |det grad b(theta; D)|`.
//! Write `loss` for the logarithm of the ratio of the densities on D and on D', at a `theta` drawn on D.
//!
//! 1. *Determinants.* Let A be the matrix of the common rows plus the ridge. The determinants are those of `A + c x x^T` and
//!    `A + c' y y^T`, of ratio `(1 + c x^T A^-1 x) / (1 + c' y^T A^-1 y)`. Both terms lie in `[1, 1 + curvature / ridge]`, so this
//!    part is at most j.
//! 2. *Noise.* `b(theta; D') = b + g` with `g = l'(x . theta) x - m'(y . theta) y`, of norm at most 2 G. It depends on
//!    `theta`, hence on b, so the Gaussian mechanism's curve does not apply as it is. But g lies in the fixed plane of
//!    x and y, so `(|b + g|^2 - |b|^2) / (2 sigma^2) <= mu T + mu^2 / 2`, where `sigma T` is the length of b's projection on
//!    that plane: T has the chi distribution with two degrees of freedom, `P(T > t) = e^{-t^2/2}`.
//! 3. `delta(epsilon) = E (1 - e^{epsilon - loss})^+ <= E (1 - e^{-mu (T - t)})^+` with `t = (epsilon - j)/mu - mu/2`. Integrating
//!    by parts, this is `mu e^{mu t} int_t^inf e^{-mu s - s^2/2} ds`, the stated value for `t >= 0`.
//!
//! All three hold for both orders of D and D', whatever the rows are.
//!
//! # References
//! Kifer, Smith and Thakurta 2012 (who prove it with a larger constant); Redberg, Koskela and Wang 2023 (the one-direction
//! case of step 2, for addition or removal of a row).

use crate::error::{Error, Result};

/// The delta of the noise part at `epsilon`, given `mu = 2 G / sigma`; 1 where the bound does not apply.
pub(crate) fn noise_delta(mu: f64, epsilon: f64) -> f64 {
    if !(mu > 0.0 && epsilon >= 0.5 * mu * mu) {
        return 1.0;
    }
    // sqrt(2 pi) e^epsilon Phi(-z), z = epsilon/mu + mu/2: the scaled complementary error function keeps it in range.
    let z = epsilon / mu + 0.5 * mu;
    let tail = 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
    let delta = if tail > 1e-290 {
        mu * (2.0 * std::f64::consts::PI).sqrt() * (epsilon + tail.ln()).exp()
    } else {
        // Mills: Phi(-z) < e^{-z^2/2} / (z sqrt(2 pi)).
        mu / z * (epsilon - 0.5 * z * z).exp()
    };
    (delta * (1.0 + 1e-9)).min(1.0)
}

/// The ridge, relative to the curvature of a row, and the `mu` of the noise that together are (epsilon, delta) private.
///
/// `weight` says how much a ridge of one curvature hurts, relative to noise of twice the bound on a row's gradient in each
/// coordinate; the split of epsilon between the two is the one that hurts least.
pub fn calibrate(epsilon: f64, delta: f64, weight: f64) -> Result<Perturbation> {
    let split = |share: f64| -> Perturbation {
        let jacobian = share * epsilon;
        // Rounded to the private side by more than the error of the exponential.
        Perturbation {
            ridge: (1.0 + 1e-12) / jacobian.exp_m1(),
            mu: largest_mu(epsilon * (1.0 - share) * (1.0 - 1e-12), delta),
        }
    };
    let harm = |p: &Perturbation| (weight * p.ridge).powi(2) + (2.0 / p.mu).powi(2);
    let best = (1..40).map(|i| split(f64::from(i) / 40.0)).min_by(|a, b| harm(a).total_cmp(&harm(b)));
    best.filter(|p| p.mu > 0.0 && p.ridge.is_finite()).ok_or_else(|| Error::BudgetUnreachable {
        epsilon: epsilon.to_string(),
        delta: delta.to_string(),
        reason: "objective perturbation needs a larger budget".into(),
    })
}

/// A calibrated objective perturbation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    /// The ridge divided by the largest curvature of a row.
    pub ridge: f64,
    /// Twice the largest gradient of a row, divided by sigma.
    pub mu: f64,
}

/// The largest mu whose noise meets (epsilon, delta), from below.
fn largest_mu(epsilon: f64, delta: f64) -> f64 {
    let (mut low, mut high) = (0.0, (2.0 * epsilon).sqrt());
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if noise_delta(middle, epsilon) <= delta { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed form equals the integral it came from.
    #[test]
    fn the_closed_form_is_the_integral() {
        for (mu, epsilon) in [(0.3, 1.0), (1.0, 2.0), (1.5, 1.2), (0.2, 0.9)] {
            let t = epsilon / mu - 0.5 * mu;
            let step = 1e-4;
            let integral: f64 = (0..200_000)
                .map(|i| {
                    let s = t + step * (f64::from(i) + 0.5);
                    // E (1 - e^{-mu (T - t)})^+ with the density s e^{-s^2/2} of T.
                    -(-mu * (s - t)).exp_m1() * s * (-0.5 * s * s).exp() * step
                })
                .sum();
            let closed = noise_delta(mu, epsilon);
            assert!((closed - integral).abs() < 1e-6 * integral, "{closed} {integral}");
        }
    }

    #[test]
    fn it_costs_more_than_the_gaussian_mechanism_and_not_much() {
        for (epsilon, delta) in [(0.5, 1e-5), (1.0, 1e-6), (5.0, 0.01)] {
            let gaussian = crate::accounting::gaussian::largest_mu(epsilon, delta);
            let mu = largest_mu(epsilon, delta);
            assert!(mu < gaussian && mu > 0.6 * gaussian, "{mu} {gaussian}");
            assert!(noise_delta(mu, epsilon) <= delta);
        }
    }

    #[test]
    fn a_calibrated_release_meets_its_budget() {
        for weight in [0.1, 1.0, 10.0] {
            let p = calibrate(1.0, 1e-6, weight).unwrap();
            let jacobian = (1.0 / p.ridge).ln_1p();
            assert!(noise_delta(p.mu, 1.0 - jacobian) <= 1e-6);
        }
    }

    /// In one dimension the densities are explicit: delta by integration stays below the claim on random and adversarial pairs.
    #[test]
    fn no_pair_of_densities_exceeds_the_claim() {
        use crate::central::attacks::uniform;
        use crate::noise::RandomSource;
        let mut rng = RandomSource::insecure_seeded(12);
        let mut nearest = 0.0_f64;
        for case in 0..108 {
            let rows = 1 + case % 4;
            let (ridge, sigma) = ([0.5, 2.0, 8.0][case % 3], [1.0, 2.0, 5.0][case / 3 % 3]);
            // Rows (x, y) of the loss ln cosh(x theta - y): slope at most 1, curvature at most 1, for |x| <= 1.
            let mut row = |extreme: bool| match extreme {
                true => (if rng.coin() { 1.0 } else { -1.0 }, if rng.coin() { 9.0 } else { -9.0 }),
                false => (uniform(&mut rng), 3.0 * uniform(&mut rng)),
            };
            let common: Vec<(f64, f64)> = (1..rows).map(|_| row(false)).collect();
            let (left, right) = (row(case % 2 == 0), row(case % 2 == 0));
            let density = |last: (f64, f64), theta: f64| {
                let (mut slope, mut curvature) = (ridge * theta, ridge);
                for &(x, y) in common.iter().chain([&last]) {
                    let t = (x * theta - y).tanh();
                    slope += t * x;
                    curvature += (1.0 - t * t) * x * x;
                }
                let z = slope / sigma;
                curvature * (-0.5 * z * z).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
            };
            let mu = 2.0 / sigma;
            for epsilon in [1.0, 2.0, 4.0] {
                let claim = noise_delta(mu, epsilon - (1.0 / ridge).ln_1p());
                let width = (12.0 * sigma + rows as f64 + 1.0) / ridge;
                let step = width / 20_000.0;
                let exact: f64 = (-20_000..20_000)
                    .map(|i| step * (f64::from(i) + 0.5))
                    .map(|t| (density(left, t) - epsilon.exp() * density(right, t)).max(0.0) * step)
                    .sum();
                assert!(exact <= claim * (1.0 + 1e-6) + 1e-12, "{exact} > {claim} at {epsilon}");
                if claim < 1.0 {
                    nearest = nearest.max(exact / claim);
                }
            }
        }
        assert!(nearest > 0.05, "{nearest}");
    }

    /// The determinants' ratio stays within its bound on random matrices.
    #[test]
    fn the_determinants_stay_within_their_bound() {
        use crate::noise::RandomSource;
        use nalgebra::{DMatrix, DVector};
        let mut rng = RandomSource::insecure_seeded(5);
        let mut uniform = || crate::central::attacks::uniform(&mut rng);
        let mut nearest = 0.0_f64;
        for _ in 0..2_000 {
            let (s, ridge) = (3, 0.5);
            let common = DMatrix::from_fn(5, s, |_, _| uniform() * 0.3);
            let a = common.transpose() * &common + DMatrix::identity(s, s) * ridge;
            let mut row = || {
                let v = DVector::from_fn(s, |_, _| uniform());
                v.clone() * (uniform().abs().sqrt() / v.norm())
            };
            let (x, y) = (row(), row());
            let ratio = (&a + &x * x.transpose()).determinant() / (&a + &y * y.transpose()).determinant();
            nearest = nearest.max(ratio.ln().abs());
            assert!(ratio.ln().abs() <= (1.0_f64 / ridge).ln_1p());
        }
        assert!(nearest > 0.5);
    }
}
