//! The posterior mean of standard coefficients under a prior whose scales are fitted to what was released. Post-processing: it
//! costs no privacy.
//!
//! # Algorithm
//! What was released says `A b = h + noise`, with A its precision. Each coefficient has a normal prior of
//! variance `v_j`, `1/v_j` a Gamma(1, c) variable (together a t distribution of two degrees of freedom), and c a Gamma variable
//! about its public guess; of the intercept c is what it is expected to have. Where slopes are steep it lies far from the response's own
//! location: a normal prior of that variance would hold it back, and the slopes with it. The scales are found by mean-field steps: given the scales, b is normal with covariance
//! `S = (A + diag(1/v))^-1` and mean `S h`; given the second moments `m_j^2 + S_jj`, each `1/v_j` has mean
//! `(1 + 1/2) / (c + (m_j^2 + S_jj)/2)`; given those, c has its own. Coefficients that noise hides are shrunk to zero, clear ones
//! hardly at all.
//!
//! Where the columns are many (above [`super::plan::MOST_SCALES`]) one scale serves all coefficients, so that everything stays in
//! one eigenbasis; where nothing was whitened A is diagonal, and each coefficient has its scale again.

use nalgebra::{Cholesky, DMatrix, DVector};

/// The guess of a standard coefficient's size.
pub(super) const GUESS: f64 = 0.2;
const STEPS: usize = 30;
/// Scales that change by less are found.
const CLOSE: f64 = 0.003;

/// The scales found so far: the next pass starts from them.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    /// `1/v_j`.
    precisions: DVector<f64>,
    rate: f64,
    /// The variance that the intercept, if there is one, is expected to have.
    intercept: Option<f64>,
}

impl Prior {
    /// For so many coefficients; the first of them is an intercept of this variance, if one is given.
    pub(super) fn new(columns: usize, intercept: Option<f64>) -> Self {
        let mut precisions = DVector::from_element(columns, 1.0 / (GUESS * GUESS));
        if let Some(variance) = intercept {
            precisions[0] = 1.0 / variance;
        }
        Self { precisions, rate: GUESS * GUESS, intercept }
    }

    /// Given the second moments, the scales. Says whether they hardly changed.
    fn fit_scales(&mut self, second: impl Fn(usize) -> f64) -> bool {
        let mut change = 0.0_f64;
        for j in 0..self.precisions.len() {
            let rate = self.intercept.filter(|_| j == 0).unwrap_or(self.rate);
            let precision = 1.5 / (rate + 0.5 * second(j));
            change = change.max((precision / self.precisions[j]).ln().abs());
            self.precisions[j] = precision;
        }
        let others = usize::from(self.intercept.is_some());
        let free = self.precisions.len() - others;
        let total: f64 = self.precisions.iter().skip(others).sum();
        self.rate = (1.0 + free as f64) / (1.0 / (GUESS * GUESS) + total);
        change < CLOSE
    }

    /// The posterior mean, given precision and linear term.
    pub(super) fn mean(&mut self, precision: &DMatrix<f64>, linear: &DVector<f64>) -> DVector<f64> {
        let mut mean = linear.clone();
        for _ in 0..STEPS {
            let factor = factor(precision, &self.precisions);
            mean = factor.solve(linear);
            let inverse = factor.inverse();
            if self.fit_scales(|j| mean[j] * mean[j] + inverse[(j, j)]) {
                break;
            }
        }
        mean
    }

    /// What a precision and the prior, its scales as found, know together.
    pub(super) fn total(&self, mut precision: DMatrix<f64>) -> DMatrix<f64> {
        for (j, own) in self.precisions.iter().enumerate() {
            precision[(j, j)] += own;
        }
        precision
    }

    /// The same for a diagonal precision.
    pub(super) fn mean_of_diagonal(
        &mut self,
        precision: &DVector<f64>,
        linear: &DVector<f64>,
    ) -> DVector<f64> {
        let mut mean = linear.clone();
        for _ in 0..STEPS {
            let total = precision + &self.precisions;
            mean = linear.component_div(&total);
            if self.fit_scales(|j| mean[j] * mean[j] + 1.0 / total[j]) {
                break;
            }
        }
        mean
    }

    /// The same with one scale for all coefficients, precision and linear term given in the eigenbasis.
    pub(super) fn mean_of_one_scale(
        &mut self,
        precision: &DVector<f64>,
        linear: &DVector<f64>,
    ) -> DVector<f64> {
        let mut mean = linear.clone();
        for _ in 0..STEPS {
            let total = precision.add_scalar(self.precisions[precision.len() - 1]);
            mean = linear.component_div(&total);
            let second: f64 = (0..mean.len()).map(|j| mean[j] * mean[j] + 1.0 / total[j]).sum();
            // A prior of a few coefficients' worth keeps the scale from collapsing.
            let scale = (second + 3.0 * GUESS * GUESS) / (mean.len() as f64 + 3.0);
            let change = (scale * self.precisions[0]).ln().abs();
            self.precisions.fill(1.0 / scale);
            if change < CLOSE {
                break;
            }
        }
        mean
    }
}

/// The factor of `matrix + diag(precisions)`, lifted should rounding have taken its positive definiteness.
fn factor(matrix: &DMatrix<f64>, precisions: &DVector<f64>) -> Cholesky<f64, nalgebra::Dyn> {
    let mut lift = 0.0;
    loop {
        let mut total = matrix.clone();
        for j in 0..total.nrows() {
            total[(j, j)] += precisions[j] + lift;
        }
        if let Some(factor) = total.cholesky() {
            return factor;
        }
        // A finite matrix becomes diagonally dominant.
        lift = (2.0 * lift).max(1e-12 * matrix.trace().abs()).max(f64::MIN_POSITIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_coefficients_stay_and_hidden_ones_shrink() {
        let (clear, hidden) = (1e4, 4.0);
        let precision = DVector::from_vec(vec![1e4, clear, clear, hidden, hidden]);
        let wanted = [2.0, 1.0, -0.5, 0.3, -0.4];
        let linear = precision.component_mul(&DVector::from_row_slice(&wanted));
        let mean = Prior::new(5, Some(0.1)).mean_of_diagonal(&precision, &linear);
        for j in 0..3 {
            assert!((mean[j] / wanted[j] - 1.0).abs() < 0.01, "{mean}");
        }
        for j in 3..5 {
            assert!((mean[j] / wanted[j]).abs() < 0.6, "{mean}");
        }
        let full = Prior::new(5, Some(0.1)).mean(&DMatrix::from_diagonal(&precision), &linear);
        assert!((full - mean).norm() < 1e-9);
    }

    #[test]
    fn one_scale_shrinks_by_what_is_known() {
        let precision = DVector::from_vec(vec![1e6, 1e6, 1e6, 1e-3]);
        let linear = DVector::from_vec(vec![1e6, -1e6, 1e6, 1e-3]);
        let mean = Prior::new(4, None).mean_of_one_scale(&precision, &linear);
        assert!((mean[0] - 1.0).abs() < 1e-3 && mean[3].abs() < 0.01, "{mean}");
    }
}
