//! Step 0: every release and its share of the budget, from public facts alone.
//!
//! With n units and the budget as the `mu` of one Gaussian release, a column of the joint release has noise `sqrt(D) / (n mu)` of
//! its range, D being the number of columns (a category counts as two): `n mu / sqrt(D)` is the *ratio*. Below
//! [`LEAST_RATIO`] the budget does not reach to find clips.

use super::{Block, MeanShape, Means};
use crate::central::Privacy;
use crate::release::{Chosen, Handle, PlannedRelease, Vector};

pub(in crate::estimators) const CENTRES: Handle<Chosen> = Handle::new("column medians");
pub(in crate::estimators) const WIDER: Handle<Chosen> = Handle::new("clips of the wider sides");
pub(in crate::estimators) const NARROWER: Handle<Chosen> = Handle::new("clips of the narrower sides");
pub(in crate::estimators) const SUMS: Handle<Vector> = Handle::new("clipped sums");

/// Shares of the budget; the sums have the rest.
const CENTRE: f64 = 0.02;
const CLIP: f64 = 0.15;
/// The part of the clips' share for the side with the larger room.
const WIDER_PART: f64 = 0.75;
const LEAST_RATIO: f64 = 100.0;
/// The squared weight of a number in the joint release against that of a 0/1 column, whose clip is exact.
const NUMBER: f64 = 1.15;
/// What is planned with, without privacy.
const MU_WITHOUT_PRIVACY: f64 = 50.0;

/// The plan of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(in crate::estimators) shape: MeanShape,
    /// The part of the budget as the `mu` of one Gaussian release.
    pub(in crate::estimators) mu: f64,
    /// The part of the budget.
    pub(in crate::estimators) share: f64,
    /// Whether noise is added.
    pub(in crate::estimators) private: bool,
    /// How many numbers there are whose clips are looked for: all, or none.
    pub(in crate::estimators) clipped: usize,
    /// What the coordinates of each block are multiplied by in the joint release; at most 1.
    pub(in crate::estimators) scales: Vec<f64>,
}

impl Plan {
    /// `share` is the part of the budget that these releases have; the rest is for others beside them.
    pub(in crate::estimators) fn new(model: &Means, shape: MeanShape, privacy: Privacy, share: f64) -> Self {
        let private = privacy != Privacy::None;
        let mu = share.sqrt() * if private { privacy.mu() } else { MU_WITHOUT_PRIVACY };
        let weight =
            |block: &Block| if matches!(block, Block::Category { indicators: 2.. }) { 2.0 } else { 1.0 };
        let dimension: f64 = model.blocks.iter().map(weight).sum();
        let numbers = model.blocks.iter().filter(|b| matches!(b, Block::Number { .. })).count();
        let told = shape.units as f64 * mu / dimension.sqrt() >= LEAST_RATIO;
        let clipped = if told { numbers } else { 0 };
        // A number runs over an interval of length 2, an indicator over one of length 1.
        let scale = |(block, precision): (&Block, &f64)| {
            precision
                * match block {
                    Block::Category { .. } => 1.0,
                    Block::Binary { .. } => 0.5,
                    Block::Number { .. } if told => 0.5 * NUMBER.sqrt(),
                    Block::Number { .. } => 0.5,
                }
        };
        let mut scales: Vec<f64> = model.blocks.iter().zip(&model.precision).map(scale).collect();
        let largest = scales.iter().fold(0.0_f64, |m, s| m.max(*s));
        scales.iter_mut().for_each(|s| *s /= largest);
        Self { shape, mu, share, private, clipped, scales }
    }

    /// The lines of the plan.
    pub(in crate::estimators) fn lines(&self) -> Vec<PlannedRelease> {
        let count = self.clipped as u64;
        if count == 0 {
            return vec![SUMS.planned(self.share, 1)];
        }
        let lines = [
            CENTRES.planned(CENTRE, count),
            WIDER.planned(CLIP * WIDER_PART, count),
            NARROWER.planned(CLIP * (1.0 - WIDER_PART), count),
            SUMS.planned(1.0 - CENTRE - CLIP, 1),
        ];
        lines.map(|line| line.at(0, self.share)).to_vec()
    }

    /// The noise of a planned selection in units of its sensitivity; what was planned with, where none is added.
    pub(in crate::estimators) fn rank_noise(&self, what: Handle<Chosen>, calibrated: f64) -> f64 {
        if self.private {
            return calibrated;
        }
        let share = if what == CENTRES {
            CENTRE
        } else if what == WIDER {
            CLIP * WIDER_PART
        } else {
            CLIP * (1.0 - WIDER_PART)
        };
        1.0 / (self.mu * (share / self.clipped.max(1) as f64).sqrt())
    }
}
