//! Step 2: the quartiles of each number, and their intervals.
//!
//! # Algorithm
//! 0. Candidates are round numbers in the user's unit within the released clip, a few in what noise and sampling leave open (by the released
//!    deviation): more of them would only be more that may win by chance, between the whole years of an age for instance.
//! 1. Each quartile is a private quantile ([`crate::mechanisms::quantile`]) among the rows of its group whose cell is not missing.
//! 2. An interval's ends are private quantiles too, of the ranks `q -+ z sqrt(q (1 - q) / n + 2 (s / n)^2)`: sampling, and the noise
//!    of scale s that the end itself has. So an end needs no guess of the density, and holds for columns with ties and atoms. An
//!    end whose rank is none is that of the declared range, and is not released. Their candidates are farther apart, and cells count as
//!    the next one outward: between two values of a column that takes few, many candidates together would win over the value itself,
//!    and the interval would end before it.
//!
//! # Guarantee
//! Selections of sensitivity 1, each charged. Whether an end is released depends on public facts and on released counts.
//!
//! # Why not a noisy cumulative histogram
//! One Gaussian release of cumulative counts on N cells (its square-root factorisation) has rank noise of about
//! `1.4 (1 + ln(N) / pi) / mu`, 4.6 / mu for a thousand cells, and knows values to a cell. Nine selections have `3.3 / mu` for the
//! quartiles, `4.9 / mu` for their ends, on a grid as fine as wanted: a column of payments in [0, 1e6] whose quartiles lie below 5,000 is
//! no special case.

use super::estimates::Counts;
use super::plan::{ENDS, Plan, QUARTILES};
use super::{Block, Describe, Scale};
use crate::error::Result;
use crate::estimators::means::GroupMeans;
use crate::estimators::means::clips::Clip;
use crate::mechanisms::Candidates;
use crate::numeric::normal_quantile;
use crate::passes::cells::{Cell, CellPass, CellRows};
use crate::release::ReleaseSession;

/// The density at a quartile, times the standard deviation: that of a normal column, about.
const DENSITY: f64 = 0.3;
/// Candidates in half an interval. With more of them one between two whole years would win over the years themselves.
const FINER: f64 = 5.0;
/// The same for its ends, of numbers that are not whole.
const FINER_ENDS: f64 = 1.25;
/// Candidates within a clip, at most.
const MOST: f64 = 1e6;
pub(super) const LEVELS: [f64; 3] = [0.25, 0.5, 0.75];
/// Cells are lowered by this part of their range before they are compared with the grid, so that one which lies on it counts as the place
/// it lies on, whatever way it was rounded.
const BELOW: f64 = 1e-9;

/// A quartile with the ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quartile {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// For each group and block: the quartiles of a number.
pub(super) type Quartiles = Vec<Vec<Option<[Quartile; 3]>>>;

pub(super) fn release(
    model: &Describe,
    plan: &Plan,
    rows: &dyn CellRows,
    clips: &[Option<Clip>],
    means: &[GroupMeans],
    counts: &Counts,
    session: &mut ReleaseSession<'_>,
) -> Result<Quartiles> {
    let groups = plan.shape.groups.unwrap_or(1);
    let n = plan.shape.units as f64;
    let z = normal_quantile(0.5 + 0.5 * model.level);
    let mut all = vec![vec![None; model.blocks.len()]; groups];
    for (block, column) in model.first_columns() {
        let (Block::Number { low, high }, Some(clip)) = (model.blocks[block], clips[block]) else { continue };
        let lowered = BELOW * (clip.high - clip.low);
        let cell = Cell { block, column, low, high };
        for group in 0..groups {
            let counted = (n * counts.observed(group, block).share).max(1.0);
            let noise = session.noise_per_sensitivity(ENDS);
            // Step 0
            let told = 2.0 * (0.2 / counted + 2.0 * (noise / counted).powi(2)).sqrt() / DENSITY;
            let deviation = means[group].columns[column].deviation;
            let step = if plan.means.private { told * deviation / FINER } else { 0.0 };
            let scale = model.scales[block];
            let places = grid(scale, clip, step).candidates()?;
            let ends = grid(scale, clip, if scale.whole { step } else { step * FINER / FINER_ENDS });
            // Cells lie just below the place that they lie on, seen from either side.
            let order = |mirrored, candidates| {
                rows.tally(&CellPass::Order { cell, group, lowered, mirrored, candidates })
            };
            let cells = order(false, places)?;
            let (below, above) = (order(true, ends.mirrored()?)?, order(false, ends.candidates()?)?);
            let mut of_group = [Quartile { value: low, low, high }; 3];
            for (q, quartile) in LEVELS.into_iter().zip(&mut of_group) {
                quartile.value = session.quantile_of(QUARTILES, &cells, q)?.clamp(low, high);
                let away = z * (q * (1.0 - q) / counted + 2.0 * (noise / counted).powi(2)).sqrt();
                if q - away >= 0.0 {
                    let end = -session.quantile_of(ENDS, &below, 1.0 - (q - away))?;
                    quartile.low = end.clamp(low, high);
                }
                if q + away <= 1.0 {
                    quartile.high = session.quantile_of(ENDS, &above, q + away)?.clamp(low, high);
                }
            }
            all[group][block] = Some(of_group);
        }
    }
    Ok(all)
}

/// Round steps in the user's unit over a clip: the largest of 1, 2, 5, 10, ... that is no more than this.
fn grid(scale: Scale, clip: Clip, step: f64) -> Grid {
    let user = |x: f64| scale.center + scale.unit * x;
    let (low, high) = (user(clip.low), user(clip.high));
    let most = (scale.unit * step).clamp((high - low) / MOST, (high - low) / 20.0).max(1e-300);
    let power = 10f64.powf(most.log10().floor());
    let step = power * [1.0, 2.0, 5.0].into_iter().rfind(|m| m * power <= most).unwrap_or(1.0);
    let step = if scale.whole { step.max(1.0) } else { step };
    let first = (low / step).floor();
    let count = ((high / step).ceil() - first).max(1.0);
    let stored = |x: f64| (x - scale.center) / scale.unit;
    Grid { low: stored(first * step), high: stored((first + count) * step), count: count as u64 + 1 }
}

/// Even places.
struct Grid {
    low: f64,
    high: f64,
    count: u64,
}

impl Grid {
    fn candidates(&self) -> Result<Candidates> {
        Candidates::even(self.low, self.high, self.count)
    }

    /// The same with all signs turned.
    fn mirrored(&self) -> Result<Candidates> {
        Candidates::even(-self.high, -self.low, self.count)
    }
}
