//! The sum of rows, each clipped to an l2 ball, with Gaussian noise.
//!
//! # Algorithm
//! 1. Clip each row to l2 norm C so that it holds after rounding ([`crate::data::clipping`]).
//! 2. Round each entry to the grid and add up whole numbers: no summation error, whatever the order.
//! 3. Add exact Gaussian noise, rounded to the same grid.
//!
//! # Guarantee
//! One Gaussian event under replacement of one row, with l2 sensitivity `2 C` enlarged by the rounding of the two
//! rows. It holds for every data set: nothing is assumed of the rows; a row with a NaN or infinite entry counts as zero.
//!
//! # Why private
//! Neighbouring sums differ by the difference of two rounded rows, each within `(g/2) sqrt(d)` of a vector of norm at
//! most C: at most `2C + g sqrt(d)`. The rest is `docs/proofs/noise.md`, section 1.
//!
//! # Differs from the papers
//! Cai et al. 2021 Algorithm 3.1 clips entries and prints a variance below half of what its own mechanism asks for.

use super::{Release, require_length};
use crate::data::clipping::clip_l2;
use crate::error::{Error, Parameter, Result, require_positive};
use crate::noise::{GaussianNoise, Grid, RandomSource};
use crate::privacy::{Event, Noise};

/// Releases sums of rows of one length.
#[derive(Debug, Clone)]
pub struct ClippedSum {
    clip: f64,
    dimension: usize,
    noise: GaussianNoise,
    event: Event,
}

impl ClippedSum {
    /// For rows of `dimension` entries, each clipped to l2 norm `clip`, with Gaussian noise of `sigma` on the sum.
    pub fn new(clip: f64, sigma: f64, dimension: usize) -> Result<Self> {
        require_positive(Parameter::Clip, clip, "the largest l2 norm a row may have; a public number")?;
        let grid = Grid::for_l2(2.0 * clip, dimension)?;
        let sensitivity = grid.enlarged_l2(2.0 * clip, dimension);
        let event = Event::new("sum of clipped rows", Noise::Gaussian { sensitivity, sigma }, 1)?;
        Ok(Self { clip, dimension, noise: GaussianNoise::new(grid, sigma)?, event })
    }

    /// What a release costs.
    pub fn events(&self) -> Vec<Event> {
        vec![self.event.clone()]
    }

    /// The noisy sum of the rows, stored one after the other.
    pub fn release(&self, rows: &[f64], rng: &mut RandomSource) -> Result<Release<Vec<f64>>> {
        require_length(0, rows.len() % self.dimension).map_err(|_| {
            Error::Conflict(format!(
                "{} numbers do not make whole rows of {}: check the table's shape",
                rows.len(),
                self.dimension
            ))
        })?;
        let grid = self.noise.grid();
        let mut sum = vec![0_i128; self.dimension];
        let mut row = vec![0.0; self.dimension];
        for source in rows.chunks_exact(self.dimension) {
            row.copy_from_slice(source);
            clip_l2(&mut row, self.clip); // Step 1
            for (total, &x) in sum.iter_mut().zip(&row) {
                *total += grid.round(x); // Step 2
            }
        }
        let value = sum.iter().map(|&total| grid.value(total + self.noise.sample(rng))).collect(); // Step 3
        Ok(Release { value, events: self.events() })
    }
}
