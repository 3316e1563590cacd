//! Laplace peeling, as the papers print it: the s largest coordinates of a vector, one at a time.
//!
//! # Algorithm (Cai et al. 2021 Algorithm 3.2, Cai et al. 2020 Algorithm 3)
//! 1. Round all coordinates to the grid.
//! 2. s times: add fresh Laplace(b) noise to the size of every coordinate left, and take the largest.
//! 3. Add fresh Laplace(b) noise to each chosen coordinate's value.
//!
//! # Guarantee
//! s choices of pure loss `2 lambda / b` each (scores are not monotone, so the factor 2 stays) and s values of
//! `lambda / b` each, with lambda the l-infinity sensitivity enlarged by the rounding.
//!
//! # Why private
//! Report-noisy-max with Laplace noise rounded to the scores' own grid keeps the continuous mechanism's loss
//! (`docs/proofs/noise.md`, section 5); the values are Laplace releases. Each round may depend on the earlier ones:
//! accounting allows it.
//!
//! # Differs from the papers
//! The scale is the caller's: the printed `b = 2 lambda sqrt(3 s log(1/delta)) / eps` is certified only while
//! `eps <= 0.42 log(1/delta)` ([`LaplacePeeling::printed_scale`]); the events carry what it really costs. It is kept for reproduction:
//! [`GumbelTop`](super::GumbelTop) needs half the noise and one pass.

use super::{Release, SparseVector, require_length, require_support};
use crate::error::{Parameter, Result, require_positive};
use crate::noise::{Grid, LaplaceNoise, RandomSource};
use crate::privacy::budget::Budget;
use crate::privacy::{Event, Noise};

/// Releases the largest coordinates of vectors of one length, by peeling.
#[derive(Debug, Clone)]
pub struct LaplacePeeling {
    support: usize,
    dimension: usize,
    noise: LaplaceNoise,
    events: Vec<Event>,
}

impl LaplacePeeling {
    /// The `support` largest of `dimension` coordinates, of which one row moves each by at most `sensitivity`.
    pub fn new(support: usize, sensitivity: f64, scale: f64, dimension: usize) -> Result<Self> {
        require_support(support, dimension)?;
        let grid = Grid::for_l1(sensitivity, 1)?;
        let enlarged = grid.enlarged_linf(sensitivity);
        require_positive(Parameter::Scale, scale, "calibrate the scale from a budget")?;
        let events = vec![
            Event::new(
                "chosen coordinates",
                Noise::Pure { epsilon: 2.0 * (enlarged / scale) },
                support as u64,
            )?,
            Event::new("their values", Noise::Laplace { sensitivity: enlarged, scale }, support as u64)?,
        ];
        Ok(Self { support, dimension, noise: LaplaceNoise::new(grid, scale)?, events })
    }

    /// The scale the papers print for a budget. Account for it before you trust it.
    pub fn printed_scale(support: usize, sensitivity: f64, budget: Budget) -> f64 {
        2.0 * sensitivity * (3.0 * support as f64 * (1.0 / budget.delta()).ln()).sqrt() / budget.epsilon()
    }

    /// What a release costs.
    pub fn events(&self) -> Vec<Event> {
        self.events.clone()
    }

    /// The chosen coordinates alone, ascending, and what they cost.
    pub(crate) fn choose(&self, values: &[f64], rng: &mut RandomSource) -> Result<(Vec<usize>, Event)> {
        require_length(self.dimension, values.len())?;
        // Step 1
        let rounded: Vec<i128> = values.iter().map(|&v| self.noise.grid().round(v)).collect();
        Ok((self.peel(&rounded, rng), self.events[0].clone()))
    }

    /// The chosen coordinates and their noisy values.
    pub fn release(&self, values: &[f64], rng: &mut RandomSource) -> Result<Release<SparseVector>> {
        require_length(self.dimension, values.len())?;
        let grid = self.noise.grid();
        // Step 1
        let rounded: Vec<i128> = values.iter().map(|&v| grid.round(v)).collect();
        let support = self.peel(&rounded, rng);
        // Step 3
        let values = support.iter().map(|&j| grid.value(rounded[j] + self.noise.sample(rng))).collect();
        Ok(Release { value: SparseVector { support, values }, events: self.events() })
    }

    /// Step 2
    fn peel(&self, rounded: &[i128], rng: &mut RandomSource) -> Vec<usize> {
        let mut chosen = vec![false; self.dimension];
        for _ in 0..self.support {
            let mut best: Option<(i128, usize)> = None;
            for (j, &v) in rounded.iter().enumerate() {
                if chosen[j] {
                    continue;
                }
                let score = v.abs() + self.noise.sample(rng);
                if best.is_none_or(|(highest, _)| score > highest) {
                    best = Some((score, j));
                }
            }
            if let Some((_, j)) = best {
                chosen[j] = true;
            }
        }
        (0..self.dimension).filter(|&j| chosen[j]).collect()
    }
}
