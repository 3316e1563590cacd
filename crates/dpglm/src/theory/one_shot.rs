//! One-shot local models with public unlabeled rows: Wang et al. 2021 Theorems 2 and 3. `d` is the paper's p.
//!
//! Errors are in the largest coefficient, *not* squared. Norms of the truth, condition numbers, link constants and the
//! failure probability are set to 1, as the papers' own summary does; what is left is the dependence on n, m, p and the
//! budget.

use super::Setting;

/// Wang et al. 2021 Theorem 2 (bounded sub-Gaussian features): `p/sqrt(m) + p sqrt(ln(1/delta) ln p) / (epsilon sqrt(n)) + 1/sqrt(p)` with
/// `public` (m) unlabeled rows. The last term is the price of the linear start and does not vanish with n.
pub fn bounded_upper(at: &Setting, public: f64) -> f64 {
    at.d / public.sqrt() + private_part(at) + 1.0 / at.d.sqrt()
}

/// Wang et al. 2021 Theorem 3 (features of bounded norm): the public rows enter as `sqrt(p^2 ln m / m)`.
pub fn sub_gaussian_upper(at: &Setting, public: f64) -> f64 {
    at.d * (public.ln().max(1.0) / public).sqrt() + private_part(at) + 1.0 / at.d.sqrt()
}

/// Wang et al. 2021 Theorem 2's sample size for a wanted error alpha of at least the order of `1/sqrt(p)`: `p^2 / (epsilon alpha)^2`, users
/// and public rows alike, up to logarithms.
pub fn rows_needed(at: &Setting, error: f64) -> f64 {
    (at.d / (at.epsilon * error)).powi(2)
}

fn private_part(at: &Setting) -> f64 {
    at.d * (at.failure() * at.d.ln().max(1.0)).sqrt() / (at.epsilon * at.n.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_stays_and_the_rest_vanishes() {
        let at = Setting::new(1e18, 100.0, 100.0, 1.0, 1e-20, 1.0).unwrap();
        for upper in [bounded_upper, sub_gaussian_upper] {
            let error = upper(&at, 1e18);
            assert!(error > 0.1 && error < 0.1001, "{error}");
        }
        assert!((rows_needed(&at, 0.1) - 1e6).abs() < 1.0);
    }
}
