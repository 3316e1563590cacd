//! A user's vector with Gaussian noise, every coordinate sent.
//!
//! # Algorithm
//! 1. Clip the vector to the l2 ball of public radius r. 2. Add Gaussian noise to each coordinate, on the grid.
//!
//! # Guarantee
//! One Gaussian event of l2 sensitivity `2 r` (enlarged for the grid), calibrated to (epsilon, delta), under replacement of the
//! user's record, for every vector; a NaN or infinite entry makes it the zero vector.
//!
//! # Why private
//! Clipped vectors lie in the ball exactly ([`crate::data::clipping`]), so two of them are at most `2 r` apart; the rest is
//! [`crate::mechanisms::GaussianVector`].
//!
//! # When to use it
//! Seldom: the report has 8 bytes a coordinate in place of 22 in all, and its error is larger than PrivUnit's at the same
//! epsilon. It serves where reports must be added without being decoded.

use crate::accounting::Certificate;
use crate::data::clipping::clip_l2;
use crate::error::{Parameter, Result, require_positive};
use crate::mechanisms::{GaussianVector, Release};
use crate::noise::RandomSource;
use crate::privacy::{Adjacency, Budget, Event, Randomness};

/// Releases users' vectors with Gaussian noise.
#[derive(Debug, Clone)]
pub struct LocalGaussian {
    radius: f64,
    delta: f64,
    mechanism: GaussianVector,
}

impl LocalGaussian {
    /// For vectors of `dimension` coordinates clipped to l2 norm `radius`, with the least noise that meets the budget.
    pub fn new(dimension: usize, radius: f64, budget: Budget) -> Result<Self> {
        require_positive(Parameter::Radius, radius, "the largest l2 norm of a vector; a public number")?;
        let mechanism = GaussianVector::for_budget(2.0 * radius, dimension, budget)?;
        Ok(Self { radius, delta: budget.delta(), mechanism })
    }

    /// What one report costs the user.
    pub fn events(&self) -> Vec<Event> {
        self.mechanism.events()
    }

    /// The promise to a user who sends one report.
    pub fn certificate<'a>(&self, randomness: impl Into<Randomness<'a>>) -> Result<Certificate> {
        Ok(Certificate::certified(Adjacency::ReplaceUserRecord, self.events(), self.delta, randomness)?
            .enforcing(format!("the vector is clipped to l2 norm {}", self.radius)))
    }

    /// Device: the vector with noise, an unbiased estimate of the clipped vector.
    pub fn randomize(&self, vector: &[f64], rng: &mut RandomSource) -> Result<Release<Vec<f64>>> {
        let mut clipped = vector.to_vec();
        clip_l2(&mut clipped, self.radius);
        self.mechanism.release(&clipped, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Noise;

    #[test]
    fn the_event_covers_opposite_vectors_and_the_budget_is_met() {
        let local = LocalGaussian::new(4, 3.0, Budget::new(2.0, 1e-5).unwrap()).unwrap();
        let Noise::Gaussian { sensitivity, .. } = local.events()[0].noise() else { panic!("not Gaussian") };
        assert!((6.0..6.001).contains(&sensitivity));
        assert!(local.certificate(Randomness::Devices).unwrap().guarantee().unwrap().epsilon <= 2.0);
        for bad in [[f64::NAN; 4], [f64::INFINITY; 4], [1e300; 4]] {
            let value = local.randomize(&bad, &mut RandomSource::insecure_seeded(1)).unwrap().value;
            assert!(value.iter().all(|x| x.abs() < 1e3));
        }
        assert!(local.randomize(&[0.0; 3], &mut RandomSource::insecure_seeded(1)).is_err());
        assert!(LocalGaussian::new(4, 0.0, Budget::new(2.0, 1e-5).unwrap()).is_err());
    }
}
