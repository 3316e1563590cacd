//! A vector with Gaussian noise.
//!
//! # Algorithm
//! 1. Round each coordinate to the grid. 2. Add exact Gaussian noise, rounded to the same grid.
//!
//! # Guarantee
//! One Gaussian event whose sensitivity is the declared l2 sensitivity enlarged by the rounding. The caller owes the
//! declared sensitivity: by clipping ([`crate::data::clipping`]), not by assumption.
//!
//! # Why private
//! `docs/proofs/noise.md`, section 1: the output is a function of the continuous Gaussian mechanism's on the
//! rounded vector, whose sensitivity is at most the enlarged one.
//!
//! # Differs from the papers
//! The printed variances are wrong or loose (some by a square, some by a factor of 2); here the noise comes from the exact
//! curve, by [`crate::accounting::calibrate`].

use super::{Release, require_length};
use crate::accounting::calibrate;
use crate::error::Result;
use crate::noise::{GaussianNoise, Grid, RandomSource};
use crate::privacy::{Budget, Event, Noise};

/// Releases vectors of one length with Gaussian noise.
///
/// ```
/// use dpglm::mechanisms::GaussianVector;
/// use dpglm::noise::RandomSource;
/// use dpglm::privacy::Budget;
///
/// // The mean of 1,000 rows of l2 norm at most 1: replacing one row moves it by at most 2/1000.
/// let mechanism = GaussianVector::for_budget(0.002, 3, Budget::new(1.0, 1e-6)?)?;
/// let release = mechanism.release(&[0.1, -0.2, 0.05], &mut RandomSource::from_os()?)?;
/// assert_eq!(release.value.len(), 3);
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianVector {
    dimension: usize,
    noise: GaussianNoise,
    event: Event,
}

impl GaussianVector {
    /// For vectors of `dimension` coordinates that one row moves by at most `sensitivity` in l2 norm.
    pub fn new(sensitivity: f64, sigma: f64, dimension: usize) -> Result<Self> {
        let grid = Grid::for_l2(sensitivity, dimension)?;
        let enlarged = grid.enlarged_l2(sensitivity, dimension);
        let event = Event::new("vector", Noise::Gaussian { sensitivity: enlarged, sigma }, 1)?;
        Ok(Self { dimension, noise: GaussianNoise::new(grid, sigma)?, event })
    }

    /// With the smallest noise that meets the budget in one release.
    pub fn for_budget(sensitivity: f64, dimension: usize, budget: Budget) -> Result<Self> {
        let shape = Self::new(sensitivity, sensitivity, dimension)?;
        let calibrated = calibrate(&[shape.event], &[], budget)?;
        match calibrated.first().map(Event::noise) {
            Some(Noise::Gaussian { sigma, .. }) => Self::new(sensitivity, sigma, dimension),
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
