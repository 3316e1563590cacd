//! Means in the central model: Cai et al. 2021 Theorems 3.1 to 3.4.

use super::Setting;

/// Cai et al. 2021 Theorem 3.1: no private mean of a sub-Gaussian distribution errs by less than
/// `sigma^2 (d/n + d^2 ln(1/delta) / (n epsilon)^2)`, for `epsilon < 1`, `delta < n^-(1+w)` and `d` of at least the order of
/// `ln(1/delta)`.
pub fn dense_lower(at: &Setting) -> f64 {
    at.central(at.d, at.failure())
}

/// Cai et al. 2021 Theorem 3.2, entries bounded: Algorithm 3.1 reaches the lower bound's rate.
pub fn dense_upper_bounded(at: &Setting) -> f64 {
    at.central(at.d, at.failure())
}

/// Cai et al. 2021 Theorem 3.2, sub-Gaussian entries truncated at `K sigma sqrt(ln n)`: a factor `ln n` more in the price of privacy.
pub fn dense_upper(at: &Setting) -> f64 {
    at.central(at.d, at.failure() * at.log_n())
}

/// Cai et al. 2021 Theorem 3.3: `sigma^2 (s ln d / n + (s ln d)^2 / (n epsilon)^2)` for means of which s differ from zero.
pub fn sparse_lower(at: &Setting) -> f64 {
    at.central(at.sparse_size(), 1.0)
}

/// Cai et al. 2021 Theorem 3.4: what Algorithm 3.3 (peeling) reaches.
pub fn sparse_upper(at: &Setting) -> f64 {
    at.central(at.sparse_size(), at.failure() * at.log_n())
}
