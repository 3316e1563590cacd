//! Gaussian releases compose exactly.
//!
//! # Algorithm
//! Releases with `mu_i = sensitivity_i / sigma_i` are together one Gaussian release with `mu = sqrt(sum mu_i^2)`, and
//! `delta(epsilon) = Phi(-x) - e^epsilon Phi(-x - mu)` with `x = epsilon/mu - mu/2`. The difference cancels
//! catastrophically for small `mu`, so it is computed as the integral it stands for,
//! `delta = int_0^inf (1 - e^{-mu z}) phi(x + z) dz`, all of whose terms are positive.
//!
//! # Guarantee
//! Every returned epsilon, delta and noise level errs on the private side: `ROUNDING` exceeds the quadrature's and the
//! root finder's error (tests compare with 50-digit arithmetic).
//!
//! # References
//! Balle and Wang, *Improving the Gaussian mechanism for differential privacy*, ICML 2018, Theorem 8;
//! Dong, Roth and Su, *Gaussian differential privacy*, JRSS B 2022, Corollary 3.3.

use super::quadrature::integrate;

/// Relative error granted to the numerical evaluation, always charged against the user.
const ROUNDING: f64 = 1e-12;

/// Exponents below the peak by more than this are dropped from the integral: e^-60 is far below `ROUNDING`.
const CUTOFF: f64 = 60.0;

/// `ln delta(epsilon)` of a Gaussian release of total `mu`, rounded up.
pub(crate) fn ln_delta(mu: f64, epsilon: f64) -> f64 {
    let x = epsilon / mu - mu / 2.0;
    // The exponent -(x + z)^2 / 2 peaks on z >= 0 at max(0, -x); measure from the peak.
    let peak = (-x).max(0.0);
    let reach = (2.0 * CUTOFF + (x + peak) * (x + peak)).sqrt();
    let low = (-x - reach).max(0.0);
    let high = -x + reach;
    let floor = 0.5 * (x + peak) * (x + peak);
    let integral = integrate(low, high, 24, |z| {
        let t = x + z;
        // -(t^2/2 - floor), factored so that a large x loses no digits.
        let exponent = -0.5 * (t - (x + peak)) * (t + (x + peak));
        -(-mu * z).exp_m1() * exponent.exp()
    });
    integral.ln() - floor - 0.5 * (2.0 * std::f64::consts::PI).ln() + ROUNDING * (1.0 + floor)
}

/// The smallest epsilon with `delta(epsilon) <= delta`, rounded up; zero when delta is large enough for it.
pub(crate) fn epsilon(mu: f64, delta: f64) -> f64 {
    let target = delta.ln();
    if ln_delta(mu, 0.0) <= target {
        return 0.0;
    }
    // zCDP's bound is an upper end: delta(mu^2/2 + mu sqrt(2 ln 1/delta)) <= delta.
    let mut high = mu * mu / 2.0 + mu * (-2.0 * target).sqrt();
    let mut low = 0.0;
    while high - low > ROUNDING * high {
        let middle = 0.5 * (low + high);
        if ln_delta(mu, middle) <= target {
            high = middle
        } else {
            low = middle
        }
        if middle == low && middle == high {
            break;
        }
    }
    high
}

/// The largest `mu` with `delta(epsilon) <= delta`, rounded down.
pub(crate) fn largest_mu(epsilon: f64, delta: f64) -> f64 {
    let target = delta.ln();
    let fits = |mu: f64| ln_delta(mu, epsilon) <= target;
    // zCDP: mu^2/2 + mu t <= epsilon with t = sqrt(2 ln 1/delta) is enough, so start there and double.
    let t = (-2.0 * target).sqrt();
    let mut low = 2.0 * epsilon / (t + (t * t + 2.0 * epsilon).sqrt());
    while !fits(low) {
        low *= 0.5;
    }
    let mut high = 2.0 * low;
    while fits(high) {
        low = high;
        high *= 2.0;
    }
    while high - low > ROUNDING * high {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_and_mu_invert_each_other_on_the_private_side() {
        for delta in [0.3, 1e-5, 1e-30, 1e-90] {
            for epsilon_wanted in [1e-6, 0.01, 0.5, 3.0, 100.0, 600.0] {
                let mu = largest_mu(epsilon_wanted, delta);
                let back = epsilon(mu, delta);
                assert!(back <= epsilon_wanted * (1.0 + 1e-11), "{delta} {epsilon_wanted} {back}");
                assert!(back >= epsilon_wanted * (1.0 - 1e-9) - 1e-10, "{delta} {epsilon_wanted} {back}");
            }
        }
    }

    #[test]
    fn delta_falls_in_epsilon_and_rises_in_mu() {
        for mu in [1e-8, 1e-3, 0.3, 2.0, 12.0] {
            let mut last = f64::INFINITY;
            for step in 0..200 {
                let ln = ln_delta(mu, mu * step as f64 * 0.1);
                assert!(ln.is_finite() && ln < last && ln <= 1e-9);
                assert!(ln < ln_delta(mu * 1.01, mu * step as f64 * 0.1));
                last = ln;
            }
        }
    }
}
