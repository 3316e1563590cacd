//! Step 5: what is given out, with an interval for every number, from what was released.
//!
//! # Algorithm
//! 1. Shares: noisy counts over noisy counts, projected on the simplex. Their error is that of sampling (of a share with two of either
//!    kind added, so that none is certain) and of noise.
//! 2. Standard deviations: the released second moment less the squared mean. Their interval is that of the variance, whose sampling error
//!    needs a fourth moment: [`PEAK`] of the largest that the clip allows, at least that of a normal column. What the
//!    clips may have taken away from squares is what they may have taken from the mean, times twice the distance of the clip.
//! 3. Correlations: products over the released deviations, made positive semidefinite.

use super::consistent::{correlations, simplex};
use super::plan::Plan;
use super::products::Products;
use super::quartiles::Quartiles;
use super::tallies::Tallies;
use super::{Block, Describe, Moments};
use crate::accounting::Certificate;
use crate::estimators::means::estimates::average;
use crate::estimators::means::sums::{BlockSums, Counted};
use crate::estimators::means::{ColumnMean, GroupMeans};
use crate::numeric::normal_quantile;
use nalgebra::DMatrix;

/// The fourth moment about the mean, as a part of the variance times the squared distance of the farther clip.
const PEAK: f64 = 0.4;
/// That of a normal column, over the squared variance.
const NORMAL_PEAK: f64 = 3.0;
/// What a clip takes from squares, over twice its distance times what it takes from the mean.
const SQUARES: f64 = 2.0;

/// A description of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeFit {
    /// One per group; one of all rows without groups.
    pub groups: Vec<Described>,
    /// The blocks, numbers with the bounds that were found for them.
    pub blocks: Vec<Block>,
    /// What left, and what it cost.
    pub certificate: Certificate,
}

/// A number with its interval, for sampling and privacy noise together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    fn within(value: f64, error: f64, (low, high): (f64, f64)) -> Self {
        let value = value.clamp(low, high);
        Self { value, low: (value - error).max(low), high: (value + error).min(high) }
    }
}

/// What is said of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Its share of all rows; `None` without groups.
    pub share: Option<Estimate>,
    /// One per block.
    pub blocks: Vec<BlockSummary>,
    /// The shares of the cross table's cells among rows that have both, row after row, references first.
    pub cross: Option<Vec<Estimate>>,
    /// The correlations of all numbers and 0/1 columns, row after row.
    pub correlations: Option<Vec<Estimate>>,
}

/// What is said of one column.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a handful per table")]
pub enum BlockSummary {
    /// Of a number.
    Number {
        /// The share of the group's rows in which it is missing; `None` unless cells are counted out.
        missing: Option<Estimate>,
        /// Its mean among the others.
        mean: Estimate,
        /// Its standard deviation.
        deviation: Estimate,
        /// The first quartile, the median and the third.
        quartiles: [Estimate; 3],
        /// The shares of the bins.
        histogram: Option<Vec<Estimate>>,
    },
    /// Of a category or a 0/1 column.
    Levels {
        /// The share of the group's rows in which it is missing; `None` unless cells are counted out.
        missing: Option<Estimate>,
        /// The shares of the levels among the others, the reference first.
        shares: Vec<Estimate>,
    },
}

/// Everything that was released.
pub(super) struct Released {
    pub moments: Moments,
    pub means: Vec<GroupMeans>,
    pub counts: Counts,
    pub quartiles: Quartiles,
    pub tallies: Tallies,
    pub products: Option<Vec<Products>>,
}

/// The share of all rows that are in a group and have a block's cell.
pub(super) struct Counts(Vec<Vec<Counted>>);

impl Counts {
    pub(super) fn observed(&self, group: usize, block: usize) -> Counted {
        self.0[group][block]
    }
}

/// From the sums: a block's own count where cells may be missing, that of all blocks together where rows alone decide.
pub(super) fn counts(plan: &Plan, moments: &Moments) -> Counts {
    let all = Counted { share: 1.0, noise: 0.0 };
    let least = 1.0 / plan.shape.units as f64;
    let of_group = |blocks: &Vec<BlockSums>| {
        let common = average(blocks).unwrap_or(all);
        let own = |block: &BlockSums| {
            let found = if plan.shape.missing { block.count.unwrap_or(all) } else { common };
            // Fewer than the noise can tell: as many as it can.
            Counted { share: found.share.max(found.noise).max(least).min(1.0), ..found }
        };
        blocks.iter().map(own).collect()
    };
    Counts(moments.sums.iter().map(of_group).collect())
}

pub(super) fn estimate(model: &Describe, plan: &Plan, released: &Released) -> Vec<Described> {
    let n = plan.shape.units as f64;
    let z = normal_quantile(0.5 + 0.5 * model.level);
    let sizes = sizes(plan, released);
    (0..released.means.len())
        .map(|group| {
            let one = One { model, released, group, n, z, size: sizes[group] };
            let share = plan.shape.groups.map(|_| one.share_of(sizes[group].share, sizes[group].noise, n));
            let blocks =
                model.first_columns().map(|(block, column)| one.block(plan, block, column)).collect();
            Described { share, blocks, cross: one.cross(), correlations: one.correlations() }
        })
        .collect()
}

/// The share of all rows that each group has.
fn sizes(plan: &Plan, released: &Released) -> Vec<Counted> {
    let Some(tallied) = &released.tallies.sizes else { return vec![Counted { share: 1.0, noise: 0.0 }] };
    let noise = released.tallies.noise;
    let combined: Vec<Counted> = tallied
        .iter()
        .zip(&released.moments.sums)
        .map(|(&share, sums)| match average(sums).filter(|_| !plan.shape.missing) {
            Some(other) if noise > 0.0 => {
                let (a, b) = (noise.powi(-2), other.noise.powi(-2));
                Counted { share: (a * share + b * other.share) / (a + b), noise: (a + b).sqrt().recip() }
            }
            _ => Counted { share, noise },
        })
        .collect();
    // Every row is in one group, unless its group may be missing.
    let shares: Vec<f64> = combined.iter().map(|c| c.share).collect();
    let sum: f64 = shares.iter().map(|s| s.max(0.0)).sum();
    let total = if plan.shape.missing { sum.min(1.0) } else { 1.0 };
    let projected = simplex(&shares, total);
    combined.into_iter().zip(projected).map(|(c, share)| Counted { share, ..c }).collect()
}

/// One group.
struct One<'a> {
    model: &'a Describe,
    released: &'a Released,
    group: usize,
    n: f64,
    z: f64,
    size: Counted,
}

impl One<'_> {
    /// A share among `n` rows, with noise of this deviation.
    fn share_of(&self, share: f64, noise: f64, n: f64) -> Estimate {
        let about = (share.clamp(0.0, 1.0) * n + 2.0) / (n + 4.0);
        let error = (about * (1.0 - about) / n).sqrt().hypot(noise);
        Estimate::within(share, self.z * error, (0.0, 1.0))
    }

    /// Shares of all rows as shares among those that count, adding up to one; `noise` is that of the first, and of each other.
    fn shares(&self, of_rows: &[f64], noise: (f64, f64), counted: f64) -> Vec<Estimate> {
        let shares: Vec<f64> = of_rows.iter().map(|s| s / counted).collect();
        let n = (self.n * counted).max(1.0);
        let estimate = |(k, share): (usize, f64)| {
            let noise = if k == 0 { noise.0 } else { noise.1 };
            self.share_of(share, noise / counted, n)
        };
        simplex(&shares, 1.0).into_iter().enumerate().map(estimate).collect()
    }

    fn block(&self, plan: &Plan, block: usize, column: usize) -> BlockSummary {
        let counted = self.released.counts.observed(self.group, block);
        let sums = &self.released.moments.sums[self.group][block];
        let found = &self.released.means[self.group].columns;
        let missing = plan.shape.missing.then(|| {
            let size = self.size.share.max(counted.share).max(1.0 / self.n);
            let noise = counted.noise.hypot(self.size.noise) / size;
            self.share_of(1.0 - counted.share / size, noise, self.n * size)
        });
        match self.model.blocks[block] {
            Block::Category { .. } => {
                let others: f64 = sums.sums.iter().sum();
                // The reference has a coordinate of its own where rows are counted; else it is what the others leave.
                let (reference, of_reference) = match sums.count {
                    Some(own) => (own.share - others, sums.noise),
                    None => (1.0 - others, sums.noise * (sums.sums.len() as f64).sqrt()),
                };
                let noise = (of_reference, sums.noise);
                let of_rows: Vec<f64> = std::iter::once(reference).chain(sums.sums.iter().copied()).collect();
                BlockSummary::Levels { missing, shares: self.shares(&of_rows, noise, counted.share) }
            }
            Block::Binary { low, high } => {
                let mean = &found[column];
                let share = (mean.mean - low) / (high - low);
                let noise = mean.privacy_error / (high - low);
                let n = (self.n * counted.share).max(1.0);
                let shares = [1.0 - share, share].map(|share| self.share_of(share, noise, n)).to_vec();
                BlockSummary::Levels { missing, shares }
            }
            Block::Number { low, high } => {
                let mean = &found[column];
                let bins = self.released.tallies.bins[self.group][block].as_ref();
                BlockSummary::Number {
                    missing,
                    mean: Estimate::within(mean.mean, self.z * mean.standard_error(), (low, high)),
                    deviation: self.deviation(block, mean, sums, counted),
                    quartiles: self.quartiles(block, (low, high)),
                    histogram: bins.map(|bins| {
                        // Bins tell how many there are as well.
                        let sum: f64 = bins.iter().sum();
                        let noise = self.released.tallies.noise;
                        let counted = if counted.noise > 0.0 { sum.max(counted.share / 2.0) } else { 1.0 };
                        self.shares(bins, (noise, noise), counted)
                    }),
                }
            }
        }
    }

    /// Step 2
    fn deviation(&self, block: usize, mean: &ColumnMean, sums: &BlockSums, counted: Counted) -> Estimate {
        let Some(clip) = self.released.moments.clips[block] else {
            return Estimate { value: mean.deviation, low: 0.0, high: mean.range.1 - mean.range.0 };
        };
        let half = clip.half();
        let z = (mean.mean - clip.middle()) / half;
        let variance = (mean.deviation / half).powi(2);
        let square = sums.squares.map_or(0.0, |s| s / counted.share);
        let noise = (sums.square_noise / counted.share)
            .hypot(2.0 * z * sums.noise / counted.share)
            .hypot((2.0 * z * z - square) * counted.noise / counted.share);
        let reach = 1.0 + z.abs();
        let fourth = (PEAK * variance * reach * reach).max(NORMAL_PEAK * variance * variance);
        let sampling = ((fourth - variance * variance).max(0.0) / (self.n * counted.share).max(1.0)).sqrt();
        let clipped = 2.0 * SQUARES * reach * mean.allowance / half;
        let error = self.z * noise.hypot(sampling).hypot(clipped);
        let largest = (mean.range.1 - mean.range.0) / 2.0;
        let end = |v: f64| (half * v.max(0.0).sqrt()).min(largest);
        Estimate {
            value: mean.deviation.min(largest),
            low: end(variance - error),
            high: end(variance + error),
        }
    }

    /// Ordered, each within its interval.
    fn quartiles(&self, block: usize, (low, high): (f64, f64)) -> [Estimate; 3] {
        let Some(released) = self.released.quartiles[self.group][block] else {
            return [Estimate { value: low, low, high }; 3];
        };
        let sorted = |of: fn(&super::quartiles::Quartile) -> f64| {
            let mut values = released.each_ref().map(of);
            values.sort_by(f64::total_cmp);
            values
        };
        let (values, lows, highs) = (sorted(|q| q.value), sorted(|q| q.low), sorted(|q| q.high));
        std::array::from_fn(|k| Estimate {
            value: values[k],
            low: lows[k].min(values[k]),
            high: highs[k].max(values[k]),
        })
    }

    fn cross(&self) -> Option<Vec<Estimate>> {
        let cells = &self.released.tallies.cross.as_ref()?[self.group];
        let certain = self.released.tallies.sizes.is_none()
            && self.model.cross.is_some_and(|blocks| {
                blocks.iter().all(|&b| self.released.counts.observed(self.group, b).noise == 0.0)
            });
        let sum: f64 = cells.iter().sum();
        let noise = self.released.tallies.noise;
        let counted = if certain { 1.0 } else { sum.max(noise).max(1.0 / self.n) };
        Some(self.shares(cells, (noise, noise), counted))
    }

    /// Step 3
    fn correlations(&self) -> Option<Vec<Estimate>> {
        let products = &self.released.products.as_ref()?[self.group];
        let columns = self.model.correlated();
        let p = columns.len();
        let found = &self.released.means[self.group].columns;
        // The deviation of each column in the products' unit, and the relative error of its square.
        let spread: Vec<(f64, f64)> = columns
            .iter()
            .zip(&products.units)
            .map(|(&(block, column), unit)| {
                let deviation = found[column].deviation;
                let sums = &self.released.moments.sums[self.group][block];
                let clip = self.released.moments.clips[block].map_or(1.0, |c| c.half());
                let counted = self.released.counts.observed(self.group, block).share;
                let error = sums.square_noise * clip * clip / (counted * deviation * deviation);
                (deviation / unit, 0.5 * error)
            })
            .collect();
        let mut matrix = DMatrix::identity(p, p);
        let mut errors = DMatrix::zeros(p, p);
        let mut pairs = products.pairs.iter();
        for i in 0..p {
            for j in i + 1..p {
                let Some(&(product, both)) = pairs.next() else { continue };
                let alone = |k: usize| self.released.counts.observed(self.group, columns[k].0).share;
                let known = alone(i).min(alone(j));
                let counted =
                    both.map_or(known, |both| both.max(products.share_noise).max(1.0 / self.n).min(known));
                let scale = (spread[i].0 * spread[j].0 * counted).max(1e-300);
                let r = (product / scale).clamp(-1.0, 1.0);
                let noise = (products.noise / scale)
                    .hypot(r * spread[i].1.hypot(spread[j].1))
                    .hypot(r * both.map_or(0.0, |_| products.share_noise / counted));
                let sampling = (1.0 - r * r) / (self.n * counted).max(1.0).sqrt();
                let error = noise.hypot(sampling.max(1.0 / (self.n * counted).max(1.0)));
                for (a, b) in [(i, j), (j, i)] {
                    matrix[(a, b)] = r;
                    errors[(a, b)] = error;
                }
            }
        }
        let made = correlations(matrix);
        let estimate = |i: usize, j: usize| match i == j {
            true => Estimate { value: 1.0, low: 1.0, high: 1.0 },
            false => Estimate::within(made[(i, j)], self.z * errors[(i, j)], (-1.0, 1.0)),
        };
        Some((0..p * p).map(|k| estimate(k / p, k % p)).collect())
    }
}
