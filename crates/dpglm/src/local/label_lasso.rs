//! The Lasso on noisy labels and public features, to compare with.
//!
//! # Algorithm (Wang and Xu 2021 section VI)
//! 1. Users release their labels once, by any randomizer whose reports have the label as mean.
//! 2. The server minimises `1/(2n) sum_i (label_i - <x_i, b>)^2 + penalty * sum_j s_j |b_j|`, with `s_j` the root mean
//!    square of column j, by accelerated proximal gradient steps with restarts.
//!
//! # Guarantee
//! That of the reports, under replacement of one user's label; features are public, and the server's work is a function of
//! what was released.
//!
//! # Differs from the paper
//! The paper leaves the penalty's constant open. [`LabelLasso::for_noise`] takes `deviation * sqrt(2 ln(p) / n)`, about the
//! largest correlation that the known noise alone makes with any of p columns.
//!
//! # References
//! Wang and Xu 2021 section VI; A. Beck and M. Teboulle, "A fast iterative shrinkage-thresholding algorithm", 2009.

use super::label_iht::require_labels;
use crate::central::iht::largest_curvature;
use crate::data::Design;
use crate::error::{Parameter, Result, require_nonzero, require_positive};
use crate::kernels::fused_pass;

const STEPS: usize = 3_000;
/// No step moves a coefficient by more than this share of the largest: the end.
const SETTLED: f64 = 1e-7;

/// The Lasso on labels that carry their own privacy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelLasso {
    penalty: f64,
}

impl LabelLasso {
    /// With this penalty, in units of the label times a column's root mean square.
    pub fn new(penalty: f64) -> Result<Self> {
        Ok(Self {
            penalty: require_positive(
                Parameter::Penalty,
                penalty,
                "about the noise's deviation times sqrt(2 ln(p) / n)",
            )?,
        })
    }

    /// With the penalty for `rows` labels whose noise has this standard deviation, and `columns` columns.
    pub fn for_noise(deviation: f64, rows: usize, columns: usize) -> Result<Self> {
        require_nonzero(Parameter::Rows, rows as u64, "give the number of labels")?;
        require_nonzero(Parameter::Columns, columns as u64, "give the number of features")?;
        // At least that of two columns, so that one column has a penalty too.
        Self::new(deviation * (2.0 * (columns.max(2) as f64).ln() / rows as f64).sqrt())
    }

    /// Step 2, on the server: `labels` are released labels, one a row, each with the true label as mean.
    pub fn fit(&self, design: &Design, labels: &[f64]) -> Result<Vec<f64>> {
        require_labels(design, labels)?;
        let (n, p) = (design.rows() as f64, design.columns());
        let sizes: Vec<f64> = root_mean_squares(design);
        let step = 1.0 / largest_curvature(design).max(f64::MIN_POSITIVE);
        let (mut b, mut ahead, mut momentum) = (vec![0.0; p], vec![0.0; p], 1.0_f64);
        let mut gradient = vec![0.0; p];
        for _ in 0..STEPS {
            fused_pass(design, &ahead, |row, u| u - labels[row], &mut gradient);
            let next: Vec<f64> = (0..p)
                .map(|j| {
                    let v = ahead[j] - step * gradient[j] / n;
                    let shrunk = (v.abs() - step * self.penalty * sizes[j]).max(0.0);
                    if v < 0.0 { -shrunk } else { shrunk }
                })
                .collect();
            // Momentum that points uphill starts again from rest: otherwise it overshoots for hundreds of steps.
            let uphill: f64 = (0..p).map(|j| (ahead[j] - next[j]) * (next[j] - b[j])).sum();
            if uphill > 0.0 {
                momentum = 1.0;
            }
            let larger = 0.5 + 0.5 * (1.0 + 4.0 * momentum * momentum).sqrt();
            let carry = (momentum - 1.0) / larger;
            ahead = next.iter().zip(&b).map(|(new, old)| new + carry * (new - old)).collect();
            let moved = next.iter().zip(&b).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
            let largest = next.iter().map(|b| b.abs()).fold(0.0, f64::max);
            (b, momentum) = (next, larger);
            if moved <= SETTLED * largest {
                break;
            }
        }
        Ok(b)
    }
}

/// Each column's root mean square.
pub(super) fn root_mean_squares(design: &Design) -> Vec<f64> {
    let mut squares = vec![0.0; design.columns()];
    for row in 0..design.rows() {
        design.stored(row).for_each(|(j, x)| squares[j] += x * x);
    }
    squares.into_iter().map(|s| (s / design.rows() as f64).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::attacks::uniform;
    use crate::local::seed;
    use crate::noise::RandomSource;

    #[test]
    fn the_solution_meets_the_optimality_conditions() {
        let (n, p) = (200, 50);
        let rng = &mut RandomSource::insecure_seeded(seed("the_solution_meets_the_optimality_conditions"));
        let x: Vec<f64> = (0..n * p).map(|k| uniform(rng) * (1.0 + (k % p) as f64 / 10.0)).collect();
        let y: Vec<f64> = x.chunks_exact(p).map(|r| 2.0 * r[3] - r[40] + uniform(rng)).collect();
        let design = Design::from_f64(n, p, x).unwrap();
        let lasso = LabelLasso::new(0.1).unwrap();
        let b = lasso.fit(&design, &y).unwrap();
        let mut gradient = vec![0.0; p];
        fused_pass(&design, &b, |row, u| u - y[row], &mut gradient);
        let sizes = root_mean_squares(&design);
        let (mut free, mut held) = (0, 0);
        for j in 0..p {
            let slope = gradient[j] / n as f64;
            if b[j] == 0.0 {
                held += 1;
                assert!(slope.abs() <= 0.1 * sizes[j] + 1e-5, "{j}: {slope}");
            } else {
                free += 1;
                assert!((slope + 0.1 * sizes[j] * b[j].signum()).abs() < 1e-5, "{j}: {slope}");
            }
        }
        assert!(free >= 2 && held > 20, "{free} free, {held} held");
    }

    #[test]
    fn wrong_input_is_refused() {
        let design = Design::from_f64(2, 1, vec![1.0, -1.0]).unwrap();
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(LabelLasso::new(bad).is_err());
            assert!(LabelLasso::for_noise(bad, 10, 10).is_err());
        }
        assert!(LabelLasso::for_noise(1.0, 0, 10).is_err() && LabelLasso::for_noise(1.0, 10, 0).is_err());
        assert!(LabelLasso::for_noise(1.0, 10, 1).is_ok());
        assert!(LabelLasso::new(0.1).unwrap().fit(&design, &[1.0]).is_err());
    }
}
