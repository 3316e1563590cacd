//! The minimum of a strongly convex sum of bounded scores, to a proven distance, for every data set.
//!
//! # Algorithm
//! `F(b) = scale * sum_i loss_i(x_i . b) + ridge/2 |b|^2 + tilt . b`. From zero: a Newton step, halved until it shortens the
//! gradient by a tenth of what it should; where it does not, a gradient step of length `1/L`, with L the largest curvature. Until the gradient's
//! norm, with all rounding errors, is proven to be at most the tolerance.
//!
//! # Guarantee
//! F is `ridge`-strongly convex, so a point with `|grad F| <= tolerance` lies within `tolerance / ridge` of the minimum. The
//! gradient step multiplies `|grad F|` by at most `1 - ridge/L` (`grad F(b - g/L) = (I - H/L) g` for an average curvature H
//! between `ridge` and L), so the solver ends for every data set; no fallback that depends on rows is needed.
//!
//! # Rounding
//! Linear predictors of s terms are compensated inner products: within one unit in their last place, and `(s u)^2` times the sum of
//! their terms' sizes (Ogita, Rump and Oishi 2005, Proposition 5.5). A score of slope at most 1 that is constant, or nearly, beyond its
//! cap therefore errs by at most `16 u (cap + reach)`, reach being the largest response, because the predictor is at most of
//! that size where the slope is not small; and by `(s u)^2` times `entry sqrt(s) |b|`, which matters where terms far larger than
//! the predictor cancel. The sums' error is [`plain_error`]. All, and the roundings of the last additions, are added.

use crate::data::Design;
use crate::error::{Error, Result};
use crate::kernels::{fused_pass, plain_error, weighted_gram};
use nalgebra::{DMatrix, DVector};

const U: f64 = f64::EPSILON / 2.0;

/// What is minimised. `score` is the derivative of a convex loss in the predictor, at most `cap` in size, of slope at most
/// `steepest`; `slope` is its derivative, used for speed only.
pub(crate) struct Problem<'a> {
    pub design: &'a Design,
    pub scale: f64,
    pub ridge: f64,
    pub tilt: &'a [f64],
    pub score: &'a (dyn Fn(usize, f64) -> f64 + Sync),
    pub slope: &'a (dyn Fn(usize, f64) -> f64 + Sync),
    pub cap: f64,
    pub steepest: f64,
    /// The largest size of an entry of the design.
    pub entry: f64,
    /// The largest size of a response.
    pub reach: f64,
}

impl Problem<'_> {
    /// The sum over all rows of the largest gradient norm a row may have.
    fn total(&self) -> f64 {
        self.scale * self.design.rows() as f64 * self.entry * (self.design.columns() as f64).sqrt()
    }

    /// The least tolerance that rounding leaves attainable, for every data set and a tilt of at most this norm.
    pub(crate) fn floor(&self, tilt: f64) -> f64 {
        // Coefficients are at most the largest gradient over the ridge.
        let largest = (self.total() * self.cap + tilt) / self.ridge;
        let sums = 2.0 * plain_error(self.design.rows(), !self.design.is_dense()) + 400.0 * U;
        sums * (self.total() * (self.cap + self.reach) + tilt)
            + 4.0 * self.total() * self.cancellation(largest)
    }

    /// What cancelling terms add to the error of a predictor, for coefficients of this l2 norm.
    fn cancellation(&self, size: f64) -> f64 {
        let s = self.design.columns() as f64;
        ((s + 1.0) * U).powi(2) * self.entry * s.sqrt() * size * (1.0 + 1e-9)
    }

    fn predictors(&self, b: &[f64]) -> Vec<f64> {
        (0..self.design.rows()).map(|row| compensated_dot(self.design.row(row), b)).collect()
    }

    /// The gradient, and a bound on its error in l2 norm.
    pub(crate) fn gradient(&self, b: &[f64]) -> (Vec<f64>, f64) {
        let rows = self.design.rows();
        let scores: Vec<f64> =
            self.predictors(b).iter().enumerate().map(|(row, &u)| (self.score)(row, u)).collect();
        let mut gradient = vec![0.0; b.len()];
        fused_pass(self.design, &vec![0.0; b.len()], |row, _| scores[row], &mut gradient);
        for ((g, b), t) in gradient.iter_mut().zip(b).zip(self.tilt) {
            *g = self.scale * *g + self.ridge * b + t;
        }
        let predictors = 16.0 * U * (self.cap + self.reach) + self.cancellation(norm(b));
        let sums = (plain_error(rows, !self.design.is_dense()) + 8.0 * U) * self.cap + predictors;
        let error = self.total() * sums + 8.0 * U * (self.ridge * norm(b) + norm(self.tilt));
        (gradient, error)
    }

    /// A point where the true gradient's norm is at most `tolerance`.
    pub(crate) fn solve(&self, tolerance: f64) -> Result<Vec<f64>> {
        let s = self.design.columns();
        // Curvature of one row is at most steepest * |x|^2.
        let largest = self.total() * self.entry * (s as f64).sqrt() * self.steepest + self.ridge;
        let mut b = vec![0.0; s];
        let (mut gradient, mut error) = self.gradient(&b);
        let condition = largest / self.ridge;
        let most = 100.0 + 4.0 * condition * ((norm(&gradient) / tolerance).max(1.0).ln() + 1.0);
        for _ in 0..most.min(1e9) as u64 {
            let size = norm(&gradient);
            if size * (1.0 + 1e-12) + error <= tolerance {
                return Ok(b);
            }
            let newton = self.newton_direction(&b, &gradient);
            let mut length = 1.0;
            let next = loop {
                if length < 1e-9 {
                    break moved(&b, &gradient, 1.0 / largest);
                }
                let trial = moved(&b, &newton, length);
                if norm(&self.gradient(&trial).0) <= (1.0 - 0.1 * length) * size {
                    break trial;
                }
                length *= 0.5;
            };
            b = next;
            (gradient, error) = self.gradient(&b);
        }
        Err(Error::Conflict(
            "the tolerance is below what double precision attains: choose a larger ridge".into(),
        ))
    }

    fn newton_direction(&self, b: &[f64], gradient: &[f64]) -> Vec<f64> {
        let u = self.predictors(b);
        let gram = weighted_gram(self.design, |row| (self.slope)(row, u[row]));
        let mut hessian = DMatrix::from_row_slice(b.len(), b.len(), &gram) * self.scale;
        for j in 0..b.len() {
            hessian[(j, j)] += self.ridge;
        }
        hessian.cholesky().map_or_else(
            || gradient.to_vec(),
            |f| f.solve(&DVector::from_column_slice(gradient)).as_slice().to_vec(),
        )
    }
}

fn moved(b: &[f64], direction: &[f64], length: f64) -> Vec<f64> {
    b.iter().zip(direction).map(|(b, p)| b - length * p).collect()
}

pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// An inner product as if computed in twice the precision and rounded once (Ogita, Rump and Oishi 2005, Dot2).
fn compensated_dot(row: impl Iterator<Item = f64>, b: &[f64]) -> f64 {
    let (mut high, mut low) = (0.0, 0.0);
    for (x, &b) in row.zip(b) {
        let product = x * b;
        let lost = product_error(x, b, product);
        let sum = high + product;
        let part = sum - high;
        low += (high - (sum - part)) + (product - part) + lost;
        high = sum;
    }
    high + low
}

/// Exactly what rounding lost of a product, by Veltkamp's splitting.
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    let split = |x: f64| {
        let t = 134_217_729.0 * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    ((ah * bh - product) + ah * bl + al * bh) + al * bl
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_survive_cancellation() {
        let (x, b) = ([1e10, 1.0, -1e10], [1e10, 1.0, 1e10]);
        assert_eq!(compensated_dot(x.into_iter(), &b), 1.0);
    }

    /// A least-squares problem with a known solution, and one whose rows are all at the edge of their box.
    #[test]
    fn the_gradient_at_the_solution_is_within_the_tolerance() {
        let design = Design::from_f64(4, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0]).unwrap();
        for (y, cap) in [([1.0, 2.0, 3.0, -1.0], 50.0), ([50.0, -50.0, 50.0, -50.0], 0.5)] {
            let score = |row: usize, u: f64| (u - y[row]).clamp(-cap, cap);
            let slope = |row: usize, u: f64| f64::from(u8::from((u - y[row]).abs() < cap));
            let problem = Problem {
                design: &design,
                scale: 0.25,
                ridge: 1e-6,
                tilt: &[0.0, 0.0],
                score: &score,
                slope: &slope,
                cap,
                steepest: 1.0,
                entry: 1.0,
                reach: 50.0,
            };
            let tolerance = problem.floor(0.0);
            assert!(tolerance < 1e-10);
            let b = problem.solve(tolerance).unwrap();
            assert!(norm(&problem.gradient(&b).0) <= tolerance);
            if cap == 50.0 {
                assert!((b[0] - 1.0).abs() < 1e-5 && (b[1] - 2.0).abs() < 1e-5, "{b:?}");
            }
        }
    }
}
