//! Linear regression in the central model: Cai et al. 2021 Theorems 4.1 to 4.4. Errors are in the norm of the features' covariance.

use super::Setting;

/// Cai et al. 2021 Theorem 4.1: `sigma^2 (d/n + d^2 / (n epsilon)^2)`.
pub fn dense_lower(at: &Setting) -> f64 {
    at.central(at.d, 1.0)
}

/// Cai et al. 2021 Theorem 4.2: noisy projected gradient descent (Algorithm 4.1).
pub fn dense_upper(at: &Setting) -> f64 {
    at.central(at.d, at.failure() * at.log_n().powi(3))
}

/// Cai et al. 2021 Theorem 4.3: `sigma^2 (s ln d / n + (s ln d)^2 / (n epsilon)^2)`.
pub fn sparse_lower(at: &Setting) -> f64 {
    at.central(at.sparse_size(), 1.0)
}

/// Cai et al. 2021 Theorem 4.4: iterative hard thresholding by peeling (Algorithm 4.2).
pub fn sparse_upper(at: &Setting) -> f64 {
    at.central(at.sparse_size(), at.failure() * at.log_n().powi(3))
}

/// The rows from which Theorem 4.2 speaks, up to its constant: `R d^1.5 sqrt(ln(1/delta)) ln n ln ln n / epsilon` with
/// `R = sigma sqrt(2 ln n)`.
pub fn dense_rows_needed(at: &Setting) -> f64 {
    let truncation = at.sigma * (2.0 * at.log_n()).sqrt();
    truncation * at.d.powf(1.5) * at.failure().sqrt() * at.log_n() * at.log_n().ln().max(1.0) / at.epsilon
}

/// The rows from which Theorem 4.4 speaks, up to its constant: `R s^1.5 ln d sqrt(ln(1/delta)) ln n / epsilon`.
pub fn sparse_rows_needed(at: &Setting) -> f64 {
    let truncation = at.sigma * (2.0 * at.log_n()).sqrt();
    truncation * at.s.sqrt() * at.sparse_size() * at.failure().sqrt() * at.log_n() / at.epsilon
}
