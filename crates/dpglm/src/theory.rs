//! Rates of convergence and lower bounds, as the five papers prove them.
//!
//! Every function cites its theorem and gives the right-hand side with all constants set to 1: a rate says how an error
//! grows and shrinks, not how large it is. A planner fits the constant by simulation and says so.
//!
//! | module | paper |
//! | --- | --- |
//! | [`means`], [`linear`] | Cai, Wang and Zhang, *The cost of privacy*, Annals of Statistics 2021 (Cai et al. 2021) |
//! | [`glm`] | Cai, Wang and Zhang, *The cost of privacy in generalized linear models*, 2020 (Cai et al. 2020) |
//! | [`local_sparse`] | Wang and Xu, *On sparse linear regression in the local differential privacy model*, 2021 |
//! | [`one_shot`] | Wang, Zhang, Gaboardi and Xu, *Estimating smooth GLM in non-interactive local differential privacy model with public unlabeled data*, 2021 (Wang et al. 2021) |
//! | [`transfer`] | Wang and Gu, *A knowledge transfer framework for private sparse learning*, 2020 |
//!
//! Errors are squared l2 norms unless a function says otherwise.

pub mod glm;
pub mod inverse;
pub mod linear;
pub mod local_sparse;
pub mod means;
pub mod one_shot;
pub mod transfer;

pub use inverse::{epsilon_for, rows_for};

use crate::error::{Error, Parameter, Result, require_positive};

/// What a rate depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Rows.
    pub n: f64,
    /// Columns.
    pub d: f64,
    /// Coefficients or means that differ from zero; `d` in a dense problem.
    pub s: f64,
    /// The privacy loss.
    pub epsilon: f64,
    /// The probability of failure.
    pub delta: f64,
    /// The standard deviation of the noise (Cai et al. 2021), or the root of the dispersion `c(sigma)` (Cai et al. 2020).
    pub sigma: f64,
}

impl Setting {
    /// A setting in which the rates make sense: `n >= 3`, `1 <= s <= d`, `0 < delta < 1/e`.
    pub fn new(n: f64, d: f64, s: f64, epsilon: f64, delta: f64, sigma: f64) -> Result<Self> {
        require_positive(Parameter::Epsilon, epsilon, "state the privacy loss")?;
        require_positive(Parameter::Sigma, sigma, "state the standard deviation of the noise")?;
        if !(n.is_finite() && n >= 3.0) {
            return Err(refused(Parameter::Rows, "a finite number of at least 3", n, "plan for more rows"));
        }
        if !(d.is_finite() && d >= 1.0) {
            return Err(refused(Parameter::Columns, "a finite number of at least 1", d, "count the columns"));
        }
        if !(1.0..=d).contains(&s) {
            let remedy = "give the number of coefficients that may differ from zero";
            return Err(refused(Parameter::Sparsity, "from 1 to the number of columns", s, remedy));
        }
        if !(delta > 0.0 && delta < (-1f64).exp()) {
            let remedy = "a delta above 1/e promises nothing; take one well below 1/n";
            return Err(refused(Parameter::Delta, "above 0 and below 1/e", delta, remedy));
        }
        Ok(Self { n, d, s, epsilon, delta, sigma })
    }

    /// `ln(1/delta)`.
    fn failure(&self) -> f64 {
        -self.delta.ln()
    }

    /// `ln n`.
    fn log_n(&self) -> f64 {
        self.n.ln()
    }

    /// `s ln d`, with `ln d` no less than 1: what a sparse problem has in place of `d`.
    fn sparse_size(&self) -> f64 {
        self.s * self.d.ln().max(1.0)
    }

    /// `sigma^2 (size / n + size^2 factor / (n epsilon)^2)`: the shape of every central rate of Cai et al. 2020 and Cai et al. 2021.
    fn central(&self, size: f64, factor: f64) -> f64 {
        self.sigma.powi(2) * (size / self.n + (size / (self.n * self.epsilon)).powi(2) * factor)
    }

    /// Whether a lower bound's price of privacy alone, `(size / (n epsilon))^2`, reaches `signal`, the squared norm of what is
    /// to be found: then, up to a constant, no private method does better than an answer of zero.
    pub fn is_hopeless(&self, size: f64, signal: f64) -> bool {
        self.sigma.powi(2) * (size / (self.n * self.epsilon)).powi(2) >= signal
    }

    /// `d` for dense problems, `s ln d` for sparse ones: the size that the central lower bounds speak of.
    pub fn size(&self) -> f64 {
        if self.s < self.d { self.sparse_size().min(self.d) } else { self.d }
    }
}

fn refused(parameter: Parameter, range: &'static str, value: f64, remedy: &'static str) -> Error {
    Error::OutOfRange { parameter, range, value: value.to_string(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings over four orders of magnitude.
    fn settings() -> Vec<Setting> {
        let mut all = Vec::new();
        for n in [1e3, 3e4, 1e6] {
            for d in [2.0_f64, 50.0, 1e4] {
                for share in [0.01, 0.3, 1.0] {
                    for epsilon in [0.05, 0.5, 5.0] {
                        let s = (d * share).max(1.0);
                        all.push(Setting::new(n, d, s, epsilon, 1.0 / (n * n), 1.5).unwrap());
                    }
                }
            }
        }
        all
    }

    type Rate = (&'static str, fn(&Setting) -> f64);

    fn rates() -> Vec<Rate> {
        vec![
            ("Cai et al. 2021 3.1", means::dense_lower),
            ("Cai et al. 2021 3.2", means::dense_upper),
            ("Cai et al. 2021 3.2 bounded", means::dense_upper_bounded),
            ("Cai et al. 2021 3.3", means::sparse_lower),
            ("Cai et al. 2021 3.4", means::sparse_upper),
            ("Cai et al. 2021 4.1", linear::dense_lower),
            ("Cai et al. 2021 4.2", linear::dense_upper),
            ("Cai et al. 2021 4.3", linear::sparse_lower),
            ("Cai et al. 2021 4.4", linear::sparse_upper),
            ("Cai et al. 2020 1", glm::dense_upper),
            ("Cai et al. 2020 3", glm::sparse_upper),
            ("Cai et al. 2020 5", glm::dense_lower),
            ("Cai et al. 2020 6", glm::sparse_lower),
            ("Wang and Xu 2021 1", local_sparse::one_shot_lower),
            ("Wang and Xu 2021 2", local_sparse::sequential_lower),
            ("Wang and Xu 2021 3", local_sparse::sum_lower),
            ("Wang and Xu 2021 4", local_sparse::renyi_lower),
            ("Wang and Xu 2021 5", |s| local_sparse::sequential_upper(s, 1.0)),
            ("Wang and Xu 2021 6", |s| local_sparse::label_upper(s, 1.0)),
            ("Wang and Xu 2021 7", |s| local_sparse::label_lower(s, 1.0, 0.2)),
            ("Wang and Xu 2021 8", local_sparse::excess_risk_upper),
            ("Wang and Xu 2021 9", |s| local_sparse::monotone_upper(s, 1.2)),
            ("Wang and Xu 2021 10", |s| local_sparse::monotone_label_lower(s, 1.0, 1.2, 0.2)),
            ("Wang and Xu 2021 11", |s| local_sparse::monotone_label_upper(s, 1.0)),
            ("Wang and Xu 2021 corollary 1", |s| local_sparse::interactive_lower(s, 3.0)),
            ("Wang et al. 2021 2", |s| one_shot::bounded_upper(s, s.n)),
            ("Wang et al. 2021 3", |s| one_shot::sub_gaussian_upper(s, s.n)),
            ("Wang and Gu 2020 4.7", |s| transfer::strongly_convex(s, 1.0, 1.0)),
            ("Wang and Gu 2020 4.9", |s| transfer::linear(s, 1.0)),
            ("Wang and Gu 2020 4.11", |s| transfer::linear_strongly_convex(s, 1.0)),
            ("Wang and Gu 2020 4.13", |s| transfer::logistic(s, 1.0)),
            ("Wang and Gu 2020 4.15", |s| transfer::logistic_strongly_convex(s, 1.0)),
            ("Wang and Gu 2020 4.5", |s| transfer::general(s, 1.0, transfer::statistical_error(s))),
        ]
    }

    /// More rows and more epsilon never hurt; more columns and more coefficients never help.
    #[test]
    fn rates_are_monotone() {
        for at in settings() {
            for (name, rate) in rates() {
                let here = rate(&at);
                assert!(here.is_finite() && here > 0.0, "{name} {at:?} {here}");
                let grown = |n: f64, d: f64, s: f64, e: f64| Setting {
                    n: at.n * n,
                    d: at.d * d,
                    s: at.s * s,
                    epsilon: at.epsilon * e,
                    ..at
                };
                let slack = 1.0 + 1e-12;
                // The public features of the one-shot model grow with the rows; its last term falls with d.
                assert!(rate(&grown(4.0, 1.0, 1.0, 1.0)) <= here * slack, "{name} rows {at:?}");
                assert!(rate(&grown(1.0, 1.0, 1.0, 2.0)) <= here * slack, "{name} epsilon {at:?}");
                if !name.starts_with("Wang et al. 2021") {
                    assert!(rate(&grown(1.0, 3.0, 1.0, 1.0)) >= here / slack, "{name} columns {at:?}");
                }
                // Theorems 7 and 10 hold for s well below p: s ln(p/s) turns at p/e.
                if at.s * 2.0 <= at.d / 3.0 {
                    assert!(rate(&grown(1.0, 1.0, 2.0, 1.0)) >= here / slack, "{name} sparsity {at:?}");
                }
            }
        }
    }

    /// No algorithm beats the bound of its own problem.
    #[test]
    fn upper_rates_lie_above_lower_ones() {
        for at in settings() {
            let pairs: Vec<(&str, f64, f64)> = vec![
                ("mean", means::dense_upper(&at), means::dense_lower(&at)),
                ("bounded mean", means::dense_upper_bounded(&at), means::dense_lower(&at)),
                ("sparse mean", means::sparse_upper(&at), means::sparse_lower(&at)),
                ("linear", linear::dense_upper(&at), linear::dense_lower(&at)),
                ("sparse linear", linear::sparse_upper(&at), linear::sparse_lower(&at)),
                ("glm", glm::dense_upper(&at), glm::dense_lower(&at)),
                ("sparse glm", glm::sparse_upper(&at), glm::sparse_lower(&at)),
                ("local", local_sparse::sequential_upper(&at, 1.0), local_sparse::sequential_lower(&at)),
                ("labels", local_sparse::label_upper(&at, 1.0), local_sparse::label_lower(&at, 1.0, 0.0)),
                (
                    "labels under a link",
                    local_sparse::monotone_label_upper(&at, 1.0),
                    local_sparse::monotone_label_lower(&at, 1.0, 1.0, 0.0),
                ),
            ];
            for (name, upper, lower) in pairs {
                assert!(upper >= lower * (1.0 - 1e-12), "{name} {at:?}: {upper} < {lower}");
            }
            // One round is no easier than many.
            assert!(local_sparse::one_shot_lower(&at) >= local_sparse::sequential_lower(&at));
            assert!(local_sparse::sequential_lower(&at) >= local_sparse::interactive_lower(&at, 2.0));
        }
    }

    /// The formulas at a point worked out by hand.
    #[test]
    fn values_by_hand() {
        let at = Setting::new(1e4, 100.0, 10.0, 0.5, 1e-6, 2.0).unwrap();
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
        // 4 (100/1e4 + 1e4 * 13.8155 / (1e8 * 0.25))
        close(means::dense_lower(&at), 0.062_105);
        // 4 (46.0517/1e4 + 2120.76 / 2.5e7)
        close(means::sparse_lower(&at), 0.018_760);
        // 4 (46.0517/1e4 + 2120.76 * 13.8155 * 9.21034^3 / 2.5e7)
        close(linear::sparse_upper(&at), 3.681_3);
        // 100 / (1e4 * 0.25)
        close(local_sparse::sequential_lower(&at), 0.04);
        assert!(!at.is_hopeless(at.size(), 1.0));
        assert!(Setting { n: 150.0, ..at }.is_hopeless(at.size(), 1.0));
    }

    #[test]
    fn senseless_settings_are_refused() {
        let new = |n, d, s, e, delta, sigma| Setting::new(n, d, s, e, delta, sigma);
        assert!(new(1e3, 5.0, 5.0, 1.0, 1e-6, 1.0).is_ok());
        for wrong in [
            new(2.0, 5.0, 5.0, 1.0, 1e-6, 1.0),
            new(f64::NAN, 5.0, 5.0, 1.0, 1e-6, 1.0),
            new(1e3, 0.0, 5.0, 1.0, 1e-6, 1.0),
            new(1e3, 5.0, 6.0, 1.0, 1e-6, 1.0),
            new(1e3, 5.0, 5.0, 0.0, 1e-6, 1.0),
            new(1e3, 5.0, 5.0, 1.0, 0.5, 1.0),
            new(1e3, 5.0, 5.0, 1.0, 0.0, 1.0),
            new(1e3, 5.0, 5.0, 1.0, 1e-6, f64::INFINITY),
        ] {
            assert!(wrong.unwrap_err().to_string().contains("must be"));
        }
    }
}
