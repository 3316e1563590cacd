//! Rates read backwards: the rows, or the epsilon, for a wanted error.

use super::Setting;
use crate::numeric::first_on_log_scale;

/// The fewest rows at which `constant * rate` falls to `error`, up to a part in a thousand; `None` beyond 10^15 rows.
pub fn rows_for(rate: impl Fn(&Setting) -> f64, constant: f64, error: f64, at: &Setting) -> Option<f64> {
    first_on_log_scale((8.0, 1e15), 1e-3, |n| constant * rate(&Setting { n, ..*at }) <= error)
}

/// The smallest epsilon at which `constant * rate` falls to `error`, up to a part in a thousand; `None` beyond 1000: what is
/// left then is not the price of privacy.
pub fn epsilon_for(rate: impl Fn(&Setting) -> f64, constant: f64, error: f64, at: &Setting) -> Option<f64> {
    first_on_log_scale((1e-6, 1e3), 1e-3, |epsilon| constant * rate(&Setting { epsilon, ..*at }) <= error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::glm::dense_lower;

    #[test]
    fn inverses_undo_the_rate() {
        let at = Setting::new(1e5, 50.0, 50.0, 0.5, 1e-6, 1.0).unwrap();
        let error = 3.0 * dense_lower(&at);
        let n = rows_for(dense_lower, 3.0, error, &at).unwrap();
        assert!((n / at.n - 1.0).abs() < 2e-3, "{n}");
        let epsilon = epsilon_for(dense_lower, 3.0, error, &at).unwrap();
        assert!((epsilon / at.epsilon - 1.0).abs() < 0.05, "{epsilon}");
        // No epsilon removes the error of sampling.
        assert_eq!(epsilon_for(dense_lower, 3.0, 1e-4, &at), None);
    }
}
