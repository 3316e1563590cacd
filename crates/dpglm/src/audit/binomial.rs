//! Exact binomial confidence bounds (Clopper and Pearson 1934).
//!
//! Written by hand because continued fractions for the incomplete beta function, as libraries have them, stop converging
//! for the hundreds of thousands of trials of an audit. The tail is summed term by term from its largest.

use crate::numeric::turning_point;

/// `P(X >= successes)` for `X ~ Binomial(trials, p)`.
pub(crate) fn upper_tail(successes: u64, trials: u64, p: f64) -> f64 {
    if successes == 0 {
        return 1.0;
    }
    if successes > trials || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let (n, k) = (trials as f64, successes as f64);
    // Sum the smaller side, away from the mean, where the terms fall.
    if k <= n * p {
        return 1.0 - upper_tail(trials - successes + 1, trials, 1.0 - p);
    }
    let ln_choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    let mut term = (ln_choose + k * p.ln() + (n - k) * (-p).ln_1p()).exp();
    let mut sum = 0.0;
    let odds = p / (1.0 - p);
    let mut j = k;
    while term > 1e-18 * sum && j <= n {
        sum += term;
        term *= odds * (n - j) / (j + 1.0);
        j += 1.0;
    }
    sum.min(1.0)
}

/// A lower bound on the success probability that fails with probability at most `alpha`.
pub fn lower_bound(successes: u64, trials: u64, alpha: f64) -> f64 {
    // The largest p at which as many successes or more are still as unlikely as alpha.
    turning_point((0.0, 1.0), 60, |p| upper_tail(successes, trials, p) <= alpha).0
}

/// An upper bound on the success probability that fails with probability at most `alpha`.
pub(crate) fn upper_bound(successes: u64, trials: u64, alpha: f64) -> f64 {
    1.0 - lower_bound(trials - successes, trials, alpha)
}

/// The largest count that `X ~ Binomial(trials, p)` falls below with probability at most `alpha`.
pub(crate) fn low_count(trials: u64, p: f64, alpha: f64) -> u64 {
    // P(X < k) = P(trials - X >= trials - k + 1)
    let below = |k: u64| upper_tail(trials - k + 1, trials, 1.0 - p);
    let (mut low, mut high) = (0, trials + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if below(middle) <= alpha { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_match_closed_forms() {
        assert!((upper_tail(1, 10, 0.3) - (1.0 - 0.7_f64.powi(10))).abs() < 1e-14);
        assert!((upper_tail(10, 10, 0.3) - 0.3_f64.powi(10)).abs() < 1e-18);
        // Binomial(5, 1/2)
        assert!((upper_tail(3, 5, 0.5) - 0.5).abs() < 1e-14);
        assert!((upper_tail(4, 5, 0.5) - 6.0 / 32.0).abs() < 1e-14);
        // The median of a large symmetric binomial.
        let half = upper_tail(500_000, 1_000_000, 0.5);
        assert!((half - 0.5 - 0.5 * 7.978_845e-4).abs() < 1e-8, "{half}");
    }

    #[test]
    fn bounds_solve_their_equations() {
        for (k, n) in [(0, 50), (1, 50), (25, 50), (50, 50), (12_345, 400_000)] {
            for alpha in [0.05, 1e-9] {
                let low = lower_bound(k, n, alpha);
                let high = upper_bound(k, n, alpha);
                assert!(low <= k as f64 / n as f64 && high >= k as f64 / n as f64);
                if k > 0 {
                    assert!((upper_tail(k, n, low) / alpha - 1.0).abs() < 1e-6, "{k} {n} {alpha}");
                }
                if k < n {
                    let lower_tail = upper_tail(n - k, n, 1.0 - high);
                    assert!((lower_tail / alpha - 1.0).abs() < 1e-5, "{k} {n} {alpha} {lower_tail}");
                }
            }
        }
        // The rule of three, exactly: (1 - p)^n = alpha.
        assert!((upper_bound(0, 100, 0.05) - (1.0 - 0.05_f64.powf(0.01))).abs() < 1e-12);
    }

    #[test]
    fn low_counts_bracket_their_level() {
        for (n, p) in [(1_000, 0.5), (200_000, 0.01), (200_000, 0.93)] {
            let k = low_count(n, p, 5e-4);
            assert!(1.0 - upper_tail(k, n, p) <= 5e-4 && 1.0 - upper_tail(k + 1, n, p) > 5e-4);
        }
    }
}
