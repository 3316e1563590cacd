//! From coefficients of the stored columns to coefficients of the user's columns.
//!
//! A stored value is `(x - c_j) / h_j`, so the linear predictor
//! `b_0 + sum_j b_j (x_j - c_j) / h_j` has slopes `b_j / h_j` in the user's units and the intercept
//! `b_0 - sum_j b_j c_j / h_j`. The map is linear: a covariance matrix `C` becomes `J C J^T`.

use super::Scaling;

/// The linear map from stored coefficients to the user's.
#[derive(Debug, Clone, PartialEq)]
pub struct UserUnits {
    /// A slope in the user's units is `scale[j]` times the stored one: `1 / h_j`.
    pub scale: Vec<f64>,
    /// What one stored slope adds to the user's intercept: `-c_j / h_j`.
    pub shift: Vec<f64>,
}

impl UserUnits {
    /// The map for columns of these scalings.
    pub fn new(scalings: impl IntoIterator<Item = Scaling>) -> Self {
        // Subtracted from zero, so that a column that is not centred shifts by 0, not -0.
        let of = |s: Scaling| (1.0 / s.half_width, 0.0 - s.center / s.half_width);
        let (scale, shift) = scalings.into_iter().map(of).unzip();
        Self { scale, shift }
    }

    /// Slopes and intercept in the user's units. A model without an intercept has none in the user's units either:
    /// its columns are not centred.
    pub fn coefficients(&self, stored: &[f64], intercept: Option<f64>) -> (Vec<f64>, Option<f64>) {
        let slopes = stored.iter().zip(&self.scale).map(|(b, s)| b * s).collect();
        let shifted = stored.iter().zip(&self.shift).map(|(b, s)| b * s).sum::<f64>();
        (slopes, intercept.map(|b| b + shifted))
    }

    /// The way there: stored slopes and intercept from the user's.
    pub fn stored(&self, user: &[f64], intercept: Option<f64>) -> (Vec<f64>, Option<f64>) {
        let stored: Vec<f64> = user.iter().zip(&self.scale).map(|(b, s)| b / s).collect();
        let shifted = stored.iter().zip(&self.shift).map(|(b, s)| b * s).sum::<f64>();
        (stored, intercept.map(|b| b - shifted))
    }

    /// The matrix J, row after row: slopes in the order of the columns, then, if asked for, the intercept last.
    pub fn jacobian(&self, with_intercept: bool) -> Vec<f64> {
        let d = self.scale.len();
        let size = d + usize::from(with_intercept);
        let mut jacobian = vec![0.0; size * size];
        for j in 0..d {
            jacobian[j * size + j] = self.scale[j];
            if with_intercept {
                jacobian[d * size + j] = self.shift[j];
            }
        }
        if with_intercept {
            jacobian[d * size + d] = 1.0;
        }
        jacobian
    }

    /// `J C J^T` for a covariance matrix `C` of the stored slopes and, if `with_intercept`, the intercept last.
    /// `None` if `covariance` is not a square matrix of that size.
    pub fn covariance(&self, covariance: &[f64], with_intercept: bool) -> Option<Vec<f64>> {
        let d = self.scale.len();
        let size = d + usize::from(with_intercept);
        if covariance.len() != size * size {
            return None;
        }
        let mut user = covariance.to_vec();
        for row in user.chunks_exact_mut(size) {
            self.transform(row, 1, size);
        }
        for column in 0..size {
            self.transform(&mut user[column..], size, size);
        }
        Some(user)
    }

    /// Applies J in place to a vector of `size` entries that lie `stride` apart.
    fn transform(&self, vector: &mut [f64], stride: usize, size: usize) {
        let d = self.scale.len();
        let mut shifted = 0.0;
        for j in 0..d {
            shifted += self.shift[j] * vector[j * stride];
            vector[j * stride] *= self.scale[j];
        }
        if size > d {
            vector[d * stride] += shifted;
        }
    }
}
