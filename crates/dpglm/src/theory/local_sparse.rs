//! Sparse regression in the local model: Wang and Xu 2021 Theorems 1 to 11 and Corollary 1. `d` is the paper's p.
//!
//! # Corrections
//! The lower bounds are for pure epsilon of at most 1/2. Theorems 6 and 11 print `ln(1/delta)` where their own Gaussian noise
//! gives its root; the displays (7), (9) and (13) print `sqrt(n epsilon)` where their proofs have `sqrt(n) epsilon`; Theorem 10 prints
//! `ln(2/s)` for `ln(p/s)`. The corrected forms stand here.

use super::Setting;

/// Wang and Xu 2021 Theorem 1: `min(1, p ln p / (n epsilon^2))`, one round, one coefficient other than zero.
pub fn one_shot_lower(at: &Setting) -> f64 {
    (per_user(at) * at.d * at.d.ln().max(1.0)).min(1.0)
}

/// Wang and Xu 2021 Theorem 2: `min(1, p / (n epsilon^2))`, rounds in sequence.
pub fn sequential_lower(at: &Setting) -> f64 {
    (per_user(at) * at.d).min(1.0)
}

/// Wang and Xu 2021 Corollary 1: the bound of Theorem 2 for fully interactive protocols of which each user's answers compose to at most `k`
/// times epsilon: they can be run in sequence on `k` times the users, so `min(1, p / (k n epsilon^2))`. At `k = p` the
/// dimension cancels, so the claim that it can never be avoided holds for `k` of smaller order than p.
pub fn interactive_lower(at: &Setting, k: f64) -> f64 {
    (per_user(at) * at.d / k.max(1.0)).min(1.0)
}

/// Wang and Xu 2021 Theorem 3: `min(1, sqrt(p / (n epsilon^2)))` for the error of the sum of the coefficients, not squared.
pub fn sum_lower(at: &Setting) -> f64 {
    sequential_lower(at).sqrt()
}

/// Wang and Xu 2021 Theorem 4, second part: `min(1, p / (n epsilon^2))` for Rényi privacy of order 2 at `ln(1 + epsilon^2)`.
pub fn renyi_lower(at: &Setting) -> f64 {
    sequential_lower(at)
}

/// Wang and Xu 2021 Theorem 4, first part: `min(1, p / (n (e^(kappa + 2 rho) - 1)))` for (kappa, rho)-zCDP.
pub fn concentrated_lower(at: &Setting, kappa: f64, rho: f64) -> f64 {
    (at.d / (at.n * (kappa + 2.0 * rho).exp_m1())).min(1.0)
}

/// Wang and Xu 2021 Theorem 5 at the number of rounds that balances it, `T = ln(n epsilon^2 / (p ln p))`: LDP-IHT errs by
/// `C^2 p ln p s T / (n epsilon^2)`, where C bounds responses.
pub fn sequential_upper(at: &Setting, response: f64) -> f64 {
    response.powi(2) * per_user(at) * at.d * at.d.ln().max(1.0) * at.s * at.log_n()
}

/// Wang and Xu 2021 Theorem 6: `C^2 ln(1/delta) s ln p / (n epsilon^2)` where only the labels are private.
pub fn label_upper(at: &Setting, response: f64) -> f64 {
    response.powi(2) * at.failure() * at.sparse_size() * per_user(at)
}

/// Wang and Xu 2021 Theorem 7: `min(1, C^2 s ln(p/s) / (n epsilon^2 (1 + Delta)))`; Delta is the design's restricted isometry constant.
pub fn label_lower(at: &Setting, response: f64, isometry: f64) -> f64 {
    (response.powi(2) * at.s * ratio(at) * per_user(at) / (1.0 + isometry)).min(1.0)
}

/// Wang and Xu 2021 Theorem 8: DP-IHT in the central model has excess empirical risk `ln n ln p s ln(1/delta) / (n epsilon)^2`.
pub fn excess_risk_upper(at: &Setting) -> f64 {
    at.log_n() * at.sparse_size() * at.failure() / (at.n * at.epsilon).powi(2)
}

/// Wang and Xu 2021 Theorem 9: Theorem 5 for a monotone link with slope at most `b`.
pub fn monotone_upper(at: &Setting, b: f64) -> f64 {
    sequential_upper(at, b)
}

/// Wang and Xu 2021 Theorem 10: `min(1, C^2 s ln(p/s) / (n b^2 epsilon^2 (1 + Delta)))`.
pub fn monotone_label_lower(at: &Setting, response: f64, b: f64, isometry: f64) -> f64 {
    (response.powi(2) * at.s * ratio(at) * per_user(at) / (b.powi(2) * (1.0 + isometry))).min(1.0)
}

/// Wang and Xu 2021 Theorem 11: Theorem 6 for a monotone link.
pub fn monotone_label_upper(at: &Setting, response: f64) -> f64 {
    label_upper(at, response)
}

/// `1 / (n epsilon^2)`.
fn per_user(at: &Setting) -> f64 {
    1.0 / (at.n * at.epsilon.powi(2))
}

/// `ln(p/s)`, and no less than a small number where s comes near p, for which the theorems are not meant.
fn ratio(at: &Setting) -> f64 {
    (at.d / at.s).ln().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (0, rho)-zCDP with `e^(2 rho) - 1 = epsilon^2` is the second part's Rényi bound.
    #[test]
    fn both_parts_of_theorem_4_meet() {
        let at = Setting::new(1e6, 100.0, 1.0, 0.3, 1e-8, 1.0).unwrap();
        let rho = 0.5 * at.epsilon.powi(2).ln_1p();
        assert!((concentrated_lower(&at, 0.0, rho) / renyi_lower(&at) - 1.0).abs() < 1e-12);
        assert!(concentrated_lower(&at, 1.0, rho) < renyi_lower(&at));
    }

    #[test]
    fn lower_bounds_do_not_exceed_the_trivial_error() {
        let at = Setting::new(10.0, 1e4, 1.0, 0.1, 1e-3, 1.0).unwrap();
        for bound in [one_shot_lower(&at), sequential_lower(&at), sum_lower(&at), label_lower(&at, 1.0, 0.0)]
        {
            assert_eq!(bound, 1.0);
        }
        assert!(sequential_upper(&at, 1.0) > 1.0);
    }
}
