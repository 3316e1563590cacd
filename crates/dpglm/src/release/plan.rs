//! Lines of a plan, and the handles by which they are planned and spent.

use super::Privacy;
use crate::error::Result;
use crate::mechanisms::Candidates;
use crate::privacy::{Event, Noise};
use std::marker::PhantomData;

/// One release that an estimator makes, perhaps several times: a constant of its module. It is planned and made by this handle, whose
/// kind says by which mechanisms it may leave; its name is what certificates show.
pub(crate) struct Handle<K> {
    name: &'static str,
    kind: PhantomData<fn() -> K>,
}

/// A vector with Gaussian noise.
pub(crate) enum Vector {}
/// A choice by the exponential mechanism, a quantile among them.
pub(crate) enum Chosen {}
/// A choice by report-noisy-max with Laplace noise.
pub(crate) enum NoisyMax {}
/// Numbers with Laplace noise.
pub(crate) enum Numbers {}
/// A release that finds its noise by itself.
pub(crate) enum Fixed {}

impl<K> Clone for Handle<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Handle<K> {}

impl<K> Handle<K> {
    /// A release of this name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
    }

    /// What certificates call it.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }
}

impl<K> PartialEq for Handle<K> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<K> std::fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Handle<Vector> {
    /// `count` such releases that share `share` of the budget.
    pub(crate) fn planned(self, share: f64, count: u64) -> PlannedRelease {
        PlannedRelease::new(self.name, Kind::Gaussian, share, count)
    }
}

impl Handle<Chosen> {
    /// `count` such choices that share `share` of the budget.
    pub(crate) fn planned(self, share: f64, count: u64) -> PlannedRelease {
        PlannedRelease::new(self.name, Kind::Selection, share, count)
    }

    /// `count` quantiles among `candidates`, each with at least 1% of the budget, and up to 5% where there are so few
    /// units that noise in their ranks could carry it past all of them.
    pub(crate) fn planned_quantiles(
        self,
        candidates: Candidates,
        count: u64,
        units: usize,
        privacy: Privacy,
    ) -> PlannedRelease {
        // Noise of scale 1/(mu sqrt(share)) on ranks stays within a quarter of the units.
        let reach = 4.0 * ((candidates.count() as f64).ln() + 3.0) / (units as f64 * privacy.mu());
        self.planned(count as f64 * (reach * reach).clamp(0.01, 0.05), count)
    }
}

impl Handle<NoisyMax> {
    /// `count` such choices. A pure epsilon0 has rho `epsilon0^2 / 2`, as a Gaussian of the same mu.
    pub(crate) fn planned(self, share: f64, count: u64) -> PlannedRelease {
        PlannedRelease::new(self.name, Kind::NoisyMax, share, count)
    }
}

impl Handle<Numbers> {
    /// `count` such numbers.
    pub(crate) fn planned(self, share: f64, count: u64) -> PlannedRelease {
        PlannedRelease::new(self.name, Kind::Laplace, share, count)
    }
}

impl Handle<Fixed> {
    /// What it costs, known beforehand.
    pub(crate) fn event(self, epsilon: f64, delta: f64) -> Result<Event> {
        Event::new(self.name, Noise::Approximate { epsilon, delta }, 1)
    }
}

/// One line of a plan: `count` releases of one kind that share `share` of the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlannedRelease {
    pub(super) what: &'static str,
    pub(super) kind: Kind,
    pub share: f64,
    pub(super) count: u64,
    pub(super) stage: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Gaussian,
    Selection,
    /// Report-noisy-max with Laplace noise.
    NoisyMax,
    Laplace,
}

impl PlannedRelease {
    fn new(what: &'static str, kind: Kind, share: f64, count: u64) -> Self {
        Self { what, kind, share, count, stage: 0 }
    }

    /// Whether it is the line of this release.
    pub(crate) fn is<K>(&self, handle: Handle<K>) -> bool {
        self.what == handle.name
    }

    /// Whether the other line is of the same release.
    pub(crate) fn names(&self, other: &Self) -> bool {
        self.what == other.what
    }

    /// The same line with this factor on its share, to be spent in a later stage.
    pub(crate) fn at(self, stage: u8, factor: f64) -> Self {
        Self { stage, share: factor * self.share, ..self }
    }

    /// The same share for `times` as many releases.
    pub(crate) fn times(self, times: u64) -> Self {
        Self { count: self.count * times, ..self }
    }

    /// The noise of each release per unit of sensitivity.
    pub(super) fn noise(&self, multiplier: f64) -> f64 {
        multiplier / (self.share / self.count as f64).sqrt()
    }

    pub(super) fn event(&self, multiplier: f64) -> Result<Event> {
        let noise = self.noise(multiplier);
        let noise = match self.kind {
            Kind::Gaussian => Noise::Gaussian { sensitivity: 1.0, sigma: noise },
            Kind::Selection => Noise::Selection { sensitivity: 1.0, scale: noise },
            // Scores may rise and fall, so the scale is twice what a number of the same epsilon needs.
            Kind::NoisyMax => Noise::Pure { epsilon: 1.0 / noise },
            Kind::Laplace => Noise::Laplace { sensitivity: 1.0, scale: noise },
        };
        Event::new(self.what, noise, self.count)
    }
}
