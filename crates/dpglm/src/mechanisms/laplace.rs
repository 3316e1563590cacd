//! A vector with Laplace noise.
//!
//! # Algorithm
//! 1. Round each coordinate to the grid. 2. Add exact Laplace noise, rounded to the same grid.
//!
//! # Guarantee
//! One Laplace event (pure epsilon = sensitivity / scale) with the declared l1 sensitivity enlarged by the rounding.
//!
//! # Why private
//! `docs/proofs/noise.md`, section 1, for the program; `docs/proofs/laplace.md` for why a vector costs what one number does.

use super::{Release, require_length};
use crate::accounting::calibrate;
use crate::error::Result;
use crate::noise::{Grid, LaplaceNoise, RandomSource};
use crate::privacy::{Budget, Event, Noise};

/// Releases vectors of one length with Laplace noise.
#[derive(Debug, Clone)]
pub struct LaplaceVector {
    dimension: usize,
    noise: LaplaceNoise,
    event: Event,
}

impl LaplaceVector {
    /// For vectors of `dimension` coordinates that one row moves by at most `sensitivity` in l1 norm.
    pub fn new(sensitivity: f64, scale: f64, dimension: usize) -> Result<Self> {
        let grid = Grid::for_l1(sensitivity, dimension)?;
        let enlarged = grid.enlarged_l1(sensitivity, dimension);
        let event = Event::new("vector", Noise::Laplace { sensitivity: enlarged, scale }, 1)?;
        Ok(Self { dimension, noise: LaplaceNoise::new(grid, scale)?, event })
    }

    /// With the smallest noise that meets the budget in one release.
    pub fn for_budget(sensitivity: f64, dimension: usize, budget: Budget) -> Result<Self> {
        let shape = Self::new(sensitivity, sensitivity, dimension)?;
        let calibrated = calibrate(&[shape.event], &[], budget)?;
        match calibrated.first().map(Event::noise) {
            Some(Noise::Laplace { scale, .. }) => Self::new(sensitivity, scale, dimension),
            _ => unreachable!("calibration keeps each event's kind"),
        }
    }

    /// What a release costs.
    pub fn events(&self) -> Vec<Event> {
        vec![self.event.clone()]
    }

    /// The vector with noise.
    pub fn release(&self, values: &[f64], rng: &mut RandomSource) -> Result<Release<Vec<f64>>> {
        require_length(self.dimension, values.len())?;
        let mut value = values.to_vec();
        self.noise.add_to(&mut value, rng);
        Ok(Release { value, events: self.events() })
    }
}
