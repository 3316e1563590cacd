//! A private choice among public candidates.
//!
//! # Algorithm
//! 1. Add Gumbel(scale) noise to each candidate's score. 2. The largest wins. Candidate j wins with probability
//!    proportional to `exp(score_j / scale)`.
//!
//! # Guarantee
//! One selection event: bounded range `2 * sensitivity / scale` (hence as much pure epsilon, and an eighth of its
//! square in zCDP), for scores of which one row changes each by at most `sensitivity`.
//!
//! # Why private
//! McSherry and Talwar 2007; bounded range: Durfee and Rogers 2019. The winner is compared exactly, so the
//! program's distribution is the mathematical one (`docs/proofs/noise.md`, section 4).

use super::Release;
use crate::error::Result;
use crate::noise::race::require_scale;
use crate::noise::{Race, RandomSource};
use crate::privacy::{Event, Noise};

/// Chooses one of several candidates by their scores.
pub struct ExponentialMechanism {
    scale: f64,
    event: Event,
    race: Race,
}

impl ExponentialMechanism {
    /// For scores of which one row changes each by at most `sensitivity`; `scale` is the Gumbel noise's.
    pub fn new(sensitivity: f64, scale: f64) -> Result<Self> {
        let event = Event::new("choice", Noise::Selection { sensitivity, scale }, 1)?;
        require_scale(scale)?;
        Ok(Self { scale, event, race: Race::new() })
    }

    /// What a choice costs.
    pub fn events(&self) -> Vec<Event> {
        vec![self.event.clone()]
    }

    /// The index of the chosen candidate. The number of candidates is public; a NaN score counts as the lowest.
    pub fn choose(&mut self, scores: &[f64], rng: &mut RandomSource) -> Result<Release<usize>> {
        let value = self.race.select(scores, self.scale, 1, rng)?[0];
        Ok(Release { value, events: self.events() })
    }

    /// Like [`choose`](Self::choose) for candidates that come in groups of equal score: the group chosen, with
    /// probability proportional to `size * exp(score / scale)`.
    pub(crate) fn choose_group(
        &mut self,
        scores: &[f64],
        sizes: &[u64],
        rng: &mut RandomSource,
    ) -> Result<Release<usize>> {
        let value = self.race.select_weighted(scores, sizes, self.scale, rng)?;
        Ok(Release { value, events: self.events() })
    }
}
