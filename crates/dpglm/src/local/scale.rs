//! The factor between least squares and a generalized linear model (Wang et al. 2021 Algorithm 1).
//!
//! For roughly normal features the model's coefficients are a multiple c of the least-squares coefficients, where
//! `c mean(slope(c u_i)) = 1`, `u_i` the least-squares predictor of row i and `slope` the derivative of the family's mean.
//!
//! # Algorithm
//! 1. Scan `c mean(slope(c u)) - 1` on a geometric grid of c, from well below `1 / slope(0)` to 10,000 times that, and note
//!    the changes of sign.
//! 2. Bisect the first one. It is the root that continues `1 / slope(0)`, the exact one for predictors near zero.
//!
//! No derivative is used and nothing is iterated without a bracket. When there is no change of sign, there is no root on
//! the grid's range (or two within one step of it, a factor of 1.12, where the model is about to have none), which is said, and no
//! number is returned.
//!
//! # Differs from the paper
//! Wang et al. 2021 runs Newton's method, which diverges in a quarter of the paper's own runs, and does not say what happens without a root.

use crate::families::Family;

/// The grid's points per factor of ten.
const PER_DECADE: f64 = 20.0;

/// What the search for the factor ended with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// One root.
    Unique(f64),
    /// Several roots; the smallest is the one that continues the root for predictors near zero.
    Several {
        /// The smallest root.
        smallest: f64,
        /// How many changes of sign the grid shows.
        roots: usize,
    },
    /// No root: the predictors are too large for the family's slope, which noise can bring about.
    None,
}

impl Scale {
    /// Solves for the factor, given the least-squares predictors of public rows.
    pub fn solve(family: &Family, predictors: &[f64]) -> Self {
        let slope_at_zero = family.mean_slope(0.0);
        if predictors.is_empty() || predictors.iter().any(|u| !u.is_finite()) || slope_at_zero.is_nan() {
            return Scale::None;
        }
        let excess = |c: f64| {
            let total: f64 = predictors.iter().map(|u| family.mean_slope(c * u)).sum();
            let value = c * (total / predictors.len() as f64) - 1.0;
            // Beyond the range of numbers the slope has exploded: the product is above one.
            if value.is_nan() { f64::INFINITY } else { value }
        };
        // Step 1
        let centre = 1.0 / slope_at_zero.max(1e-100);
        let points = (5.0 * PER_DECADE) as i32;
        let at = |i: i32| centre * 10f64.powf(f64::from(i) / PER_DECADE - 1.0 + 1e-3);
        let mut brackets = Vec::new();
        let mut before = (at(0), excess(at(0)));
        for i in 1..=points {
            let here = (at(i), excess(at(i)));
            if (before.1 < 0.0) != (here.1 < 0.0) {
                brackets.push((before.0, here.0));
            }
            before = here;
        }
        // Step 2
        let Some(&(mut low, mut high)) = brackets.first() else { return Scale::None };
        let rising = excess(low) < 0.0;
        for _ in 0..45 {
            let middle = 0.5 * (low + high);
            if (excess(middle) < 0.0) == rising { low = middle } else { high = middle }
        }
        let root = 0.5 * (low + high);
        match brackets.len() {
            1 => Scale::Unique(root),
            roots => Scale::Several { smallest: root, roots },
        }
    }

    /// The factor to use: the only or the smallest root.
    pub fn value(&self) -> Option<f64> {
        match *self {
            Scale::Unique(root) | Scale::Several { smallest: root, .. } => Some(root),
            Scale::None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_predictors_give_the_inverse_slope() {
        for (family, expected) in
            [(Family::gaussian(), 1.0), (Family::logistic(), 4.0), (Family::poisson(), 1.0)]
        {
            let c = Scale::solve(&family, &[1e-6, -1e-6]).value().unwrap();
            assert!((c - expected).abs() < 1e-4, "{family:?} {c}");
        }
        assert_eq!(
            Scale::solve(&Family::gaussian(), &[5.0, -3.0]).value().map(|c| (c * 1e9).round()),
            Some(1e9)
        );
    }

    #[test]
    fn roots_solve_the_equation() {
        for u in [0.02, 0.08, 0.1] {
            let predictors = [u, -u, 2.0 * u, 0.0];
            let c = Scale::solve(&Family::logistic(), &predictors).value().unwrap();
            let mean: f64 =
                predictors.iter().map(|u| Family::logistic().mean_slope(c * u)).sum::<f64>() / 4.0;
            assert!((c * mean - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn none_and_several_are_said() {
        // c / 4 sech^2(c u / 2) = 1 has no root beyond u = 0.33, and two just below.
        assert_eq!(Scale::solve(&Family::logistic(), &[1.0, -1.0]), Scale::None);
        let several = Scale::solve(&Family::logistic(), &[0.1, -0.1]);
        assert!(matches!(several, Scale::Several { roots: 2, smallest } if (4.0..5.0).contains(&smallest)));
        for bad in [vec![], vec![f64::NAN], vec![f64::INFINITY, 0.0]] {
            assert_eq!(Scale::solve(&Family::logistic(), &bad), Scale::None);
        }
        for huge in [[1e300, -1e300], [1e-300, 1e300], [700.0, -700.0]] {
            for family in [Family::poisson(), Family::logistic(), Family::gaussian()] {
                assert!(Scale::solve(&family, &huge).value().is_none_or(f64::is_finite), "{family:?}");
            }
        }
    }
}
