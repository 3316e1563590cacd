//! Step 4: means and their errors, from what was released.
//!
//! # Algorithm
//! 1. Where rows and not cells decide who counts, every block tells the same number; they are averaged, the more precise the
//!    more.
//! 2. A mean is the clip's middle plus `half sum / count`. Its noise is that of the sum and, to first order, of the count.
//! 3. Sampling: the released variance over the number that count. Weights below 1 make that number too small, never too large.
//! 4. What the clips may have taken away: the allowance that was planned for, the larger the heavier the tails look, which is the
//!    smaller the second moment about the centre is beside the clip's width.

use super::clips::Clip;
use super::plan::Plan;
use super::sums::{BlockSums, Counted};
use super::{Block, Means};
use crate::accounting::Certificate;
use crate::central::interval::{Interval, intervals};

/// A second moment beside which the allowance is as planned, in units of the squared distance of the farther clip.
const USUAL: f64 = 0.05;
const HEAVIER: f64 = 0.7;
const ALLOWANCES: (f64, f64) = (0.5, 5.0);

/// The means of a table, group after group (one group of all rows unless groups were declared).
#[derive(Debug, Clone, PartialEq)]
pub struct MeansFit {
    /// One per group.
    pub groups: Vec<GroupMeans>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// The means of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMeans {
    /// The group's share of all rows (of their weight); `None` without groups and weights.
    pub share: Option<f64>,
    /// One per column of the design.
    pub columns: Vec<ColumnMean>,
    /// Their confidence intervals, within the columns' ranges, if asked for.
    pub intervals: Option<Vec<Interval>>,
}

/// A private mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnMean {
    /// The mean among the rows that count.
    pub mean: f64,
    /// The standard error of privacy: noise, and what the clips may have taken away.
    pub privacy_error: f64,
    /// The part of it for what the clips may have taken away.
    pub allowance: f64,
    /// The standard error of sampling.
    pub sampling_error: f64,
    /// The standard deviation of the column among the rows that count.
    pub deviation: f64,
    /// The share of the group's rows in which the cell is not missing; `None` unless cells may be.
    pub observed: Option<f64>,
    /// The public range.
    pub range: (f64, f64),
}

impl ColumnMean {
    /// The standard error of sampling and privacy together.
    pub fn standard_error(&self) -> f64 {
        self.privacy_error.hypot(self.sampling_error)
    }
}

/// Confidence intervals of this level, within the columns' ranges.
fn within_ranges(columns: &[ColumnMean], level: f64) -> Vec<Interval> {
    let means: Vec<f64> = columns.iter().map(|c| c.mean).collect();
    let mut all = intervals(&means, columns.iter().map(|c| c.standard_error().powi(2)), level);
    for (interval, column) in all.iter_mut().zip(columns) {
        interval.low = interval.low.clamp(column.range.0, column.range.1);
        interval.high = interval.high.clamp(column.range.0, column.range.1);
    }
    all
}

/// The means of all groups.
pub(in crate::estimators) fn estimate(
    model: &Means,
    plan: &Plan,
    clips: &[Option<Clip>],
    groups: &[Vec<BlockSums>],
) -> Vec<GroupMeans> {
    let factors: Vec<f64> =
        (0..clips.len()).map(|b| heaviness(clips[b], groups.iter().map(|g| &g[b]))).collect();
    groups
        .iter()
        .map(|blocks| {
            // Step 1
            let common = (!plan.shape.missing).then(|| average(blocks)).flatten();
            let largest = blocks.iter().filter_map(|b| b.count).map(|c| c.share).fold(0.0, f64::max);
            // Where every row counts, the share of all rows is no guess.
            let whole = !plan.shape.weighted && plan.shape.groups.is_none();
            let share = if whole { 1.0 } else { common.map_or(largest, |c| c.share).clamp(0.0, 1.0) };
            let one = One { plan, share };
            let columns = model.blocks.iter().zip(clips).zip(blocks).zip(&factors).flat_map(
                |(((block, clip), sums), factor)| {
                    let count = if plan.shape.missing { sums.count } else { common };
                    one.columns(block, *clip, sums, count, *factor)
                },
            );
            let columns: Vec<ColumnMean> = columns.collect();
            let intervals = model.level.map(|level| within_ranges(&columns, level));
            GroupMeans { share: plan.shape.uncertain().then_some(share), columns, intervals }
        })
        .collect()
}

/// What all blocks of a group say of the share that counts, together.
pub(in crate::estimators) fn average(blocks: &[BlockSums]) -> Option<Counted> {
    let counts: Vec<Counted> = blocks.iter().filter_map(|b| b.count).collect();
    let first = counts.first()?;
    if first.noise == 0.0 {
        return Some(*first);
    }
    let precision: f64 = counts.iter().map(|c| c.noise.powi(-2)).sum();
    let weighted: f64 = counts.iter().map(|c| c.share * c.noise.powi(-2)).sum();
    Some(Counted { share: weighted / precision, noise: precision.sqrt().recip() })
}

/// How much more than planned a clip may have taken away, for the shape of its column over all groups.
fn heaviness<'s>(clip: Option<Clip>, sums: impl Iterator<Item = &'s BlockSums>) -> f64 {
    let Some(clip) = clip else { return 0.0 };
    let (mut count, mut sum, mut square) = (0.0, 0.0, 0.0);
    for group in sums {
        count += group.count.map_or(1.0, |c| c.share);
        sum += group.sums[0];
        square += group.squares.unwrap_or(0.0);
    }
    let count = count.max(1e-9);
    let centre = (clip.centre - clip.middle()) / clip.half();
    let moment = square / count - 2.0 * centre * sum / count + centre * centre;
    let farther = (1.0 + centre.abs()).powi(2);
    (USUAL * farther / moment.max(1e-9)).powf(HEAVIER).clamp(ALLOWANCES.0, ALLOWANCES.1)
}

/// One group.
struct One<'p> {
    plan: &'p Plan,
    share: f64,
}

impl One<'_> {
    /// Steps 2 to 4.
    fn columns(
        &self,
        block: &Block,
        clip: Option<Clip>,
        sums: &BlockSums,
        count: Option<Counted>,
        factor: f64,
    ) -> Vec<ColumnMean> {
        let n = self.plan.shape.units as f64;
        let noise = count.map_or(0.0, |c| c.noise);
        // Fewer than the noise can tell: as many as it can.
        let counted = count.map_or(1.0, |c| c.share.max(noise).max(1.0 / n).min(1.0));
        let observed = self.plan.shape.missing.then(|| (counted / self.share.max(counted)).clamp(0.0, 1.0));
        let (middle, half, range) = match (*block, clip) {
            (Block::Number { low, high } | Block::Binary { low, high }, Some(clip)) => {
                (clip.middle(), clip.half(), (low, high))
            }
            _ => (0.0, 1.0, (0.0, 1.0)),
        };
        let least = if matches!(block, Block::Category { .. }) { 0.0 } else { -1.0 };
        let allowance = clip.map_or(0.0, |c| c.allowance) * factor / counted;
        sums.sums
            .iter()
            .map(|sum| {
                let mean = (sum / counted).clamp(least, 1.0);
                let noisy = sums.noise.hypot(mean * noise) / counted;
                let variance = match (block, sums.squares) {
                    (_, Some(square)) => square / counted - mean * mean,
                    (Block::Category { .. }, _) => mean * (1.0 - mean),
                    _ => 1.0 - mean * mean,
                };
                // At least what one unit makes.
                let variance = variance.clamp((n * counted).powi(-2), 1.0);
                ColumnMean {
                    mean: (middle + half * mean).clamp(range.0, range.1),
                    privacy_error: (half * noisy).hypot(allowance),
                    allowance,
                    sampling_error: half * (variance / (n * counted)).sqrt(),
                    deviation: half * variance.sqrt(),
                    observed,
                    range,
                }
            })
            .collect()
    }
}
