//! Knowledge transfer: Wang and Gu 2020 Theorem 4.5 and Corollaries 4.7, 4.9, 4.11, 4.13, 4.15, A.1 and A.3.
//!
//! `sigma` is the standard deviation nu of the response's noise, K bounds the entries, gamma the entries of a row's gradient. The
//! constants of the public features' distribution are set to 1.
//!
//! # Caution
//! These are rates of the paper's literal algorithm, whose privacy proof has a gap (a row can move the support): they hold
//! for its error, not for its promise. The certified variant selects the support privately and pays for it.

use super::Setting;

/// The statistical error `sqrt(ln d / n)` of the gradient at the truth, squared and times s in the corollaries.
pub fn statistical_error(at: &Setting) -> f64 {
    at.sigma * (at.d.ln().max(1.0) / at.n).sqrt()
}

/// Wang and Gu 2020 Theorem 4.5: `s error^2 + gamma sqrt(s^3 ln d ln(1/delta)) / (n epsilon)`, where `error` bounds the gradient at the
/// truth (Condition 4.1).
pub fn general(at: &Setting, gamma: f64, error: f64) -> f64 {
    at.s * error.powi(2) + gamma * (at.s.powi(2) * privacy(at)).sqrt() / (at.n * at.epsilon)
}

/// Wang and Gu 2020 Corollary 4.7, under sparse eigenvalues of at least `mu`:
/// `s error^2 + gamma^2 s^2 ln d ln(1/delta) / (mu n epsilon)^2`.
pub fn strongly_convex(at: &Setting, gamma: f64, mu: f64) -> f64 {
    at.s * statistical_error(at).powi(2)
        + gamma.powi(2) * at.s * privacy(at) / (mu * at.n * at.epsilon).powi(2)
}

/// Wang and Gu 2020 Corollary 4.9, linear: `nu^2 K^2 s ln d / n + K^2 s^2 sqrt(ln d ln(1/delta)) / (n epsilon)`.
pub fn linear(at: &Setting, entry: f64) -> f64 {
    let price = at.s.powi(2) * (privacy(at) / at.s).sqrt() / (at.n * at.epsilon);
    entry.powi(2) * (at.s * statistical_error(at).powi(2) + price)
}

/// Wang and Gu 2020 Corollaries 4.11 and A.1, linear under sparse eigenvalues: the price of privacy is
/// `K^2 s^3 ln d ln(1/delta) / (n epsilon)^2`.
pub fn linear_strongly_convex(at: &Setting, entry: f64) -> f64 {
    let price = at.s.powi(2) * privacy(at) / (at.n * at.epsilon).powi(2);
    entry.powi(2) * (at.s * statistical_error(at).powi(2) + price)
}

/// Wang and Gu 2020 Corollary 4.13, logistic: `K^2 s ln d / n + K sqrt(s^3 ln d ln(1/delta)) / (n epsilon)`.
pub fn logistic(at: &Setting, entry: f64) -> f64 {
    let price = (at.s.powi(2) * privacy(at)).sqrt() / (at.n * at.epsilon);
    entry.powi(2) * at.s * statistical_error(at).powi(2) + entry * price
}

/// Wang and Gu 2020 Corollaries 4.15 and A.3, logistic under sparse eigenvalues: the price of privacy is
/// `K^2 s^2 ln d ln(1/delta) / (n epsilon)^2`.
pub fn logistic_strongly_convex(at: &Setting, entry: f64) -> f64 {
    let price = at.s * privacy(at) / (at.n * at.epsilon).powi(2);
    entry.powi(2) * (at.s * statistical_error(at).powi(2) + price)
}

/// `s ln d ln(1/delta)`.
fn privacy(at: &Setting) -> f64 {
    at.sparse_size() * at.failure()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strong convexity helps as soon as there are rows enough for any accuracy.
    #[test]
    fn sparse_eigenvalues_help_with_enough_rows() {
        let at = Setting::new(1e6, 1e4, 10.0, 0.5, 1e-8, 1.0).unwrap();
        assert!(linear_strongly_convex(&at, 1.0) < linear(&at, 1.0));
        assert!(logistic_strongly_convex(&at, 1.0) < logistic(&at, 1.0));
        assert!(strongly_convex(&at, 1.0, 1.0) < general(&at, 1.0, statistical_error(&at)));
        // A gradient bound of sqrt(s) K^2 turns 4.7 into 4.11.
        let (a, b) = (strongly_convex(&at, at.s.sqrt(), 1.0), linear_strongly_convex(&at, 1.0));
        assert!((a / b - 1.0).abs() < 1e-12);
    }
}
