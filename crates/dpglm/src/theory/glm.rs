//! Generalized linear models in the central model: Cai et al. 2020 Theorems 1, 2, 3, 5 and 6. `sigma^2` stands for the dispersion
//! `c(sigma)`, which is 1 for logistic and Poisson models.

use super::Setting;

/// Cai et al. 2020 Theorem 1, equation (3.5): noisy gradient descent (Algorithm 1).
pub fn dense_upper(at: &Setting) -> f64 {
    at.central(at.d, at.failure() * at.log_n().powi(3))
}

/// Cai et al. 2020 Theorem 1 for a bounded response, as in the logistic model, whose truncation costs no `ln n`.
pub fn dense_upper_bounded(at: &Setting) -> f64 {
    at.central(at.d, at.failure() * at.log_n().powi(2))
}

/// Cai et al. 2020 Theorem 3, equation (3.8): noisy iterative hard thresholding (Algorithm 5).
pub fn sparse_upper(at: &Setting) -> f64 {
    at.central(at.sparse_size(), at.failure() * at.log_n().powi(3))
}

/// Cai et al. 2020 Theorem 3 for a bounded response.
pub fn sparse_upper_bounded(at: &Setting) -> f64 {
    at.central(at.sparse_size(), at.failure() * at.log_n().powi(2))
}

/// Cai et al. 2020 Theorem 5 with the non-private bound: `c(sigma) (d/n + d^2 / (n epsilon)^2)`.
pub fn dense_lower(at: &Setting) -> f64 {
    at.central(at.d, 1.0)
}

/// Cai et al. 2020 Theorem 6 with the non-private bound: `c(sigma) (s ln d / n + (s ln d)^2 / (n epsilon)^2)`.
pub fn sparse_lower(at: &Setting) -> f64 {
    at.central(at.sparse_size(), 1.0)
}

/// The rows from which Theorem 1 speaks, up to its constant: `R d sqrt(ln(1/delta)) ln n ln ln n / epsilon`.
pub fn dense_rows_needed(at: &Setting, truncation: f64) -> f64 {
    truncation * at.d * at.failure().sqrt() * at.log_n() * at.log_n().ln().max(1.0) / at.epsilon
}

/// The rows from which Theorem 3 speaks, up to its constant: `R s ln d sqrt(ln(1/delta)) ln n / epsilon`.
pub fn sparse_rows_needed(at: &Setting, truncation: f64) -> f64 {
    truncation * at.sparse_size() * at.failure().sqrt() * at.log_n() / at.epsilon
}

/// Cai et al. 2020 Theorem 2: the excess loss of noisy iterative hard thresholding after one more step,
/// `(1 - rho alpha/gamma - 2 s* / (s + s*)) excess + noise`, where `noise` is the sum of the squared noise of selection and
/// values. `curvature` is the pair (alpha, gamma); `rho` is the theorem's unnamed constant in (0, 1).
///
/// A contraction below zero, which the printed bracket can become, counts as zero.
pub fn after_one_step(excess: f64, noise: f64, curvature: (f64, f64), rho: f64, sparsity: (f64, f64)) -> f64 {
    let (alpha, gamma) = curvature;
    let (s, truth) = sparsity;
    let contraction = 1.0 - rho * alpha / gamma - 2.0 * truth / (s + truth);
    contraction.max(0.0) * excess + noise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_contract_to_the_noise_floor() {
        let (mut excess, noise) = (10.0, 0.01);
        for _ in 0..200 {
            let next = after_one_step(excess, noise, (0.5, 1.0), 0.2, (80.0, 10.0));
            assert!(next < excess || (excess - next).abs() < 1e-9);
            excess = next;
        }
        // 1 - 0.1 - 2/9 = 0.6777...: the floor is noise / (1 - that).
        assert!((excess - noise / (0.1 + 2.0 / 9.0)).abs() < 1e-9, "{excess}");
    }

    #[test]
    fn a_bounded_response_saves_a_logarithm() {
        let at = Setting::new(1e5, 100.0, 10.0, 0.5, 1e-6, 1.0).unwrap();
        assert!(dense_upper_bounded(&at) < dense_upper(&at) && dense_upper_bounded(&at) > dense_lower(&at));
        assert!(sparse_upper_bounded(&at) < sparse_upper(&at));
        assert!(dense_rows_needed(&at, 1.0) > sparse_rows_needed(&at, 1.0));
    }
}
