//! The s largest coordinates of a vector by one Gumbel draw each, with Gaussian values. The default selection.
//!
//! # Algorithm
//! 1. Add Gumbel(beta) noise to the size of every coordinate, once, and take the s largest.
//! 2. Add Gaussian(sigma) noise to the chosen coordinates' values.
//!
//! # Guarantee
//! s selection events of bounded range `2 lambda / beta`, and one Gaussian event with l2 sensitivity
//! `min(sqrt(s) lambda, Delta_2)`, enlarged by the rounding of the values. lambda bounds the change of each
//! coordinate, Delta_2 (optional) that of the whole vector in l2 norm.
//!
//! # Why private
//! The s largest Gumbel-perturbed scores have the distribution of s rounds of the exponential mechanism without
//! replacement (Durfee and Rogers 2019); the comparison is exact (`docs/proofs/noise.md`, section 4), and only the set leaves.
//! Given the set, the chosen values of two neighbours differ by at most the stated l2 distance.
//!
//! # Differs from the papers
//! Same rho as Laplace peeling at half the noise scale, and O(d) expected work (a partition, not a sort) in place of O(s d).

use super::{Release, SparseVector, require_length, require_support};
use crate::error::{Parameter, Result, require_positive};
use crate::noise::race::require_scale;
use crate::noise::{GaussianNoise, Grid, Race, RandomSource};
use crate::privacy::{Event, Noise};

/// Releases the largest coordinates of vectors of one length, by one-shot Gumbel noise. Keeps its working memory from
/// release to release.
pub struct GumbelTop {
    support: usize,
    dimension: usize,
    selection_scale: f64,
    values: GaussianNoise,
    events: Vec<Event>,
    race: Race,
    sizes: Vec<f64>,
}

impl GumbelTop {
    /// The `support` largest of `dimension` coordinates, of which one row moves each by at most `sensitivity`, chosen with Gumbel noise of
    /// `selection_scale` and released with Gaussian noise of `sigma`.
    pub fn new(
        support: usize,
        sensitivity: f64,
        selection_scale: f64,
        sigma: f64,
        dimension: usize,
    ) -> Result<Self> {
        require_positive(
            Parameter::Sensitivity,
            sensitivity,
            "bound what one row can change, by clipping if need be",
        )?;
        require_support(support, dimension)?;
        let l2 = (support as f64).sqrt() * sensitivity * (1.0 + f64::EPSILON);
        Self::build(support, sensitivity, l2, selection_scale, sigma, dimension)
    }

    /// The same, where one row moves the whole vector by at most `l2_sensitivity` in l2 norm.
    pub fn with_l2_sensitivity(
        support: usize,
        sensitivity: f64,
        l2_sensitivity: f64,
        selection_scale: f64,
        sigma: f64,
        dimension: usize,
    ) -> Result<Self> {
        require_positive(
            Parameter::L2Sensitivity,
            l2_sensitivity,
            "bound what one row can change, by clipping if need be",
        )?;
        let l2 = (support as f64).sqrt() * sensitivity * (1.0 + f64::EPSILON);
        Self::build(support, sensitivity, l2.min(l2_sensitivity), selection_scale, sigma, dimension)
    }

    fn build(
        support: usize,
        sensitivity: f64,
        l2: f64,
        selection_scale: f64,
        sigma: f64,
        dimension: usize,
    ) -> Result<Self> {
        require_support(support, dimension)?;
        let grid = Grid::for_l2(l2, support)?;
        let events = vec![
            Event::new(
                "chosen coordinates",
                Noise::Selection { sensitivity, scale: selection_scale },
                support as u64,
            )?,
            Event::new(
                "their values",
                Noise::Gaussian { sensitivity: grid.enlarged_l2(l2, support), sigma },
                1,
            )?,
        ];
        require_scale(selection_scale)?;
        Ok(Self {
            support,
            dimension,
            selection_scale,
            values: GaussianNoise::new(grid, sigma)?,
            events,
            race: Race::new(),
            sizes: Vec::new(),
        })
    }

    /// What a release costs.
    pub fn events(&self) -> Vec<Event> {
        self.events.clone()
    }

    /// The chosen coordinates and their noisy values.
    pub fn release(&mut self, values: &[f64], rng: &mut RandomSource) -> Result<Release<SparseVector>> {
        require_length(self.dimension, values.len())?;
        // Step 1. A NaN is a bad cell and counts as zero here as in the values.
        self.sizes.clear();
        self.sizes.extend(values.iter().map(|v| if v.is_nan() { 0.0 } else { v.abs() }));
        let support = self.race.select(&self.sizes, self.selection_scale, self.support, rng)?.to_vec();
        // Step 2
        let mut chosen: Vec<f64> = support.iter().map(|&j| values[j]).collect();
        self.values.add_to(&mut chosen, rng);
        Ok(Release { value: SparseVector { support, values: chosen }, events: self.events() })
    }
}
