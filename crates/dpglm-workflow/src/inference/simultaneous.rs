//! Intervals that hold for all coefficients together.
//!
//! * **Bonferroni** shares the error evenly: it holds whatever the covariance is.
//! * **max-z** takes the quantile of the largest of all standardised errors, which are normal with the covariance of the estimates. It is
//!   found by simulation with a fixed seed; the upper end of its own 99.9% interval is taken. It is never wider than Bonferroni's.

use super::{Block, reach};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};

/// Draws of a simulation.
const DRAWS: usize = 20_000;

/// How intervals are made to hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Together {
    /// Whatever the covariance is
    Bonferroni,
    /// By the distribution of the largest error, from the covariance
    MaxZ,
}

/// The way, and how many standard errors such intervals reach to either side.
#[derive(Debug, Clone, Serialize)]
pub struct Simultaneous {
    /// The way.
    pub method: Together,
    /// Of how many coefficients.
    pub of: usize,
    /// Standard errors to either side.
    pub reach: f64,
}

/// For the coefficients that are determined, the intercept left out.
pub(super) fn together(method: Together, blocks: &[Block], level: f64) -> Result<Simultaneous, Failure> {
    let counts = |block: &Block| -> Vec<usize> {
        (0..block.names.len()).filter(|&j| block.features[j].is_some() && block.determined[j]).collect()
    };
    let of = blocks.iter().map(|block| counts(block).len()).sum::<usize>().max(1);
    let bonferroni = reach(1.0 - (1.0 - level) / of as f64);
    if method == Together::Bonferroni {
        return Ok(Simultaneous { method, of, reach: bonferroni });
    }
    let mut numbers = Numbers { state: 0x9e37_79b9_7f4a_7c15 };
    let mut largest = vec![0.0_f64; DRAWS];
    // Of several predictors the covariances between them are not kept: their errors are drawn apart, which is no narrower (Sidak).
    for block in blocks {
        let kept = counts(block);
        if kept.is_empty() {
            continue;
        }
        let covariance = block.covariance()?.select_rows(&kept).select_columns(&kept);
        let errors = covariance.diagonal().map(|v| v.max(f64::MIN_POSITIVE).sqrt());
        let mut correlation = covariance.clone();
        for i in 0..kept.len() {
            for j in 0..kept.len() {
                correlation[(i, j)] /= errors[i] * errors[j];
            }
        }
        if !correlation.iter().all(|r| r.is_finite()) {
            return Err(Failure::Failed("not a valid artefact: its covariance is none".into()));
        }
        let eigen = correlation.symmetric_eigen();
        let root = &eigen.eigenvectors
            * nalgebra::DMatrix::from_diagonal(&eigen.eigenvalues.map(|e| e.max(0.0).sqrt()));
        for seen in &mut largest {
            let draw = nalgebra::DVector::from_fn(kept.len(), |_, _| numbers.normal());
            *seen = seen.max((&root * draw).amax());
        }
    }
    largest.sort_by(f64::total_cmp);
    // The order statistic that is above the quantile but for one time in a thousand.
    let place = DRAWS as f64 * level + 3.09 * (DRAWS as f64 * level * (1.0 - level)).sqrt();
    let found = largest.get(place.ceil() as usize).copied().unwrap_or(bonferroni);
    Ok(Simultaneous { method, of, reach: found.min(bonferroni).max(reach(level)) })
}

/// Normal numbers for a simulation, the same each time (splitmix64 and Box-Muller). They hide nothing.
struct Numbers {
    state: u64,
}

impl Numbers {
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    fn block(correlation: f64, d: usize) -> Block {
        Block {
            class: None,
            names: (0..d).map(|j| format!("x{j}")).collect(),
            features: (0..d).map(Some).collect(),
            estimates: DVector::zeros(d),
            errors: vec![2.0; d],
            determined: vec![true; d],
            covariance: Some(DMatrix::from_fn(d, d, |i, j| if i == j { 4.0 } else { 4.0 * correlation })),
        }
    }

    #[test]
    fn independent_errors_reach_as_sidak_says_and_equal_ones_as_one() {
        let found = together(Together::MaxZ, &[block(0.0, 10)], 0.95).unwrap().reach;
        let sidak = reach(0.95_f64.powf(0.1));
        assert!((found - sidak).abs() < 0.06 && found >= sidak - 0.02, "{found} {sidak}");
        let one = together(Together::MaxZ, &[block(1.0, 10)], 0.95).unwrap().reach;
        assert!((one - reach(0.95)).abs() < 0.06, "{one}");
        let bonferroni = together(Together::Bonferroni, &[block(0.0, 10)], 0.95).unwrap();
        assert!((bonferroni.reach - reach(0.995)).abs() < 1e-12 && bonferroni.of == 10);
    }
}
