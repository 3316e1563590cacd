//! Step 3: one joint Gaussian release of what all columns add up to.
//!
//! # Algorithm
//! A row's *point* in a block, multiplied by its weight in [0, 1], and zero where its cell is missing:
//! * a number: `(z, c (z^2 - 1/2), h)` with z in [-1, 1] the clipped entry, c = [`SQUARE`];
//! * a 0/1 column: `(z, h)`;
//! * a category: 1 at its level and 0 at the others, the reference included where the last coordinate is needed.
//!
//! Where means are taken by group, a row's point lies in its group's coordinates, and is zero in the others. A unit's point is the mean of
//! its rows'. The sum over units is released, each block scaled by its share of the precision.
//!
//! # Guarantee
//! Two points of a unit in one block are at most D apart: D = 2 for numbers and 0/1 columns, `sqrt 2` for categories of two
//! indicators or more (1 for one of one). Points are hulls of the extreme ones, so it is enough to look at rows of weight 1:
//! * Two numbers of one group: [`crate::passes::columns`] has the argument; the last coordinate does not differ.
//! * A number and a missing one: `1 + c^2/4 + h^2 <= 4`, as `|c (z^2 - 1/2)| <= c/2`.
//! * Numbers of two groups: `2 (1 + c^2/4 + h^2) <= 4`. So h is `sqrt(3 - c^2/4)`, or `sqrt(1 - c^2/4)` with groups; without
//!   the square it is `sqrt 3` and 1.
//! * Indicators: `sqrt 2` at most, of one group or of two, or 1 where one is missing.
//!
//! All blocks together: the root of the sum of `(scale D)^2`. Sums are exact: a row's coordinates are rounded to multiples of `2^-24`, and
//! so is a unit's mean of them, which moves each coordinate by at most `2^-24` on each side of a pair.

use super::clips::Clip;
use super::plan::{Plan, SUMS};
use super::rows::MeanRows;
use super::{Block, Means};
use crate::error::Result;
use crate::passes::by_unit::mean_sensitivity;
use crate::passes::columns::SQUARE;
use crate::release::ReleaseSession;

/// One, as a whole number.
const ONE: f64 = 16_777_216.0;

/// What of a block is released, in each group: sums over units divided by their number, with noise.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::estimators) struct BlockSums {
    /// Of z, or of each level's indicator.
    pub sums: Vec<f64>,
    /// Of z^2, for numbers.
    pub squares: Option<f64>,
    /// The share of the units that count; `None` where all do.
    pub count: Option<Counted>,
    /// The deviation of the noise on each of the sums, and on the squares.
    pub noise: f64,
    pub square_noise: f64,
}

/// A released share of the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::estimators) struct Counted {
    pub share: f64,
    pub noise: f64,
}

/// Where a block's coordinates lie.
struct Layout {
    block: Block,
    /// Its first column in the design.
    column: usize,
    /// Its first coordinate within a group.
    first: usize,
    scale: f64,
    /// The last coordinate of a row that counts; `None` where all rows do.
    height: Option<f64>,
}

impl Layout {
    fn dimension(&self) -> usize {
        let last = usize::from(self.height.is_some());
        match self.block {
            Block::Number { .. } => 2 + last,
            Block::Binary { .. } => 1 + last,
            Block::Category { indicators } => indicators + last,
        }
    }

    /// How far two points of a unit are apart.
    fn distance(&self) -> f64 {
        match self.block {
            // The reference is a coordinate too where the last one is needed.
            Block::Category { indicators: 1 } if self.height.is_none() => 1.0,
            Block::Category { .. } => 2f64.sqrt(),
            _ => 2.0,
        }
    }
}

fn layouts(model: &Means, plan: &Plan) -> (Vec<Layout>, usize) {
    let (mut column, mut first) = (0, 0);
    let reach: f64 = if plan.shape.groups.is_some() { 1.0 } else { 3.0 };
    let layouts = model.blocks.iter().zip(&plan.scales).map(|(&block, &scale)| {
        let height = match block {
            Block::Number { .. } => (reach - SQUARE * SQUARE / 4.0).sqrt(),
            Block::Binary { .. } => reach.sqrt(),
            Block::Category { .. } => 1.0,
        };
        let height = plan.shape.uncertain().then_some(height * (1.0 - 1e-9));
        let layout = Layout { block, column, first, scale, height };
        column += block.columns();
        first += layout.dimension();
        layout
    });
    let layouts: Vec<Layout> = layouts.collect();
    (layouts, first)
}

/// Adds the coordinates of one row, as whole numbers.
fn add_row(
    row: &[f64],
    number: usize,
    rows: &MeanRows<'_>,
    layouts: &[Layout],
    clips: &[Option<Clip>],
    out: &mut [i64],
) {
    let weight = rows.weight(number);
    for (place, (layout, clip)) in layouts.iter().zip(clips).enumerate() {
        if rows.is_missing(number, place) {
            continue;
        }
        let mut add = |at: usize, value: f64| out[layout.first + at] += (weight * value * ONE).round() as i64;
        match (layout.block, clip) {
            (Block::Category { indicators }, _) => {
                let level = (0..indicators).find(|k| row[layout.column + k] > 0.5);
                match (level, layout.height) {
                    (Some(level), _) => add(level, 1.0),
                    (None, Some(height)) => add(indicators, height),
                    (None, None) => {}
                }
            }
            (Block::Number { low, high } | Block::Binary { low, high }, Some(clip)) => {
                let x = row[layout.column].clamp(low, high).clamp(clip.low, clip.high);
                let z = clip.scaled(x);
                add(0, z);
                let mut next = 1;
                if matches!(layout.block, Block::Number { .. }) {
                    add(1, SQUARE * (z * z - 0.5));
                    next = 2;
                }
                if let Some(height) = layout.height {
                    add(next, height);
                }
            }
            _ => {}
        }
    }
}

/// The exact sums of all coordinates, group after group.
fn add_up(rows: &MeanRows<'_>, layouts: &[Layout], width: usize, clips: &[Option<Clip>]) -> Vec<i64> {
    let groups = rows.shape().groups.unwrap_or(1);
    let mut totals = vec![0_i64; groups * width];
    let mut entries = vec![0.0; rows.design().columns()];
    let mut unit = vec![0_i64; groups * width];
    let mut touched: Vec<usize> = Vec::new();
    rows.by_unit(|members| {
        for &member in members {
            let Some(group) = rows.group(member) else { continue };
            entries.iter_mut().zip(rows.design().row(member)).for_each(|(e, x)| *e = x);
            let out = if members.len() == 1 { &mut totals } else { &mut unit };
            add_row(&entries, member, rows, layouts, clips, &mut out[group * width..][..width]);
            if members.len() > 1 && !touched.contains(&group) {
                touched.push(group);
            }
        }
        for group in touched.drain(..) {
            let range = group * width..(group + 1) * width;
            for (total, sum) in totals[range.clone()].iter_mut().zip(&mut unit[range]) {
                *total += rounded_quotient(std::mem::take(sum), members.len() as i64);
            }
        }
    });
    totals
}

/// The nearest whole number to a quotient of whole numbers, exactly.
fn rounded_quotient(sum: i64, count: i64) -> i64 {
    (2 * sum + count).div_euclid(2 * count)
}

/// Releases the sums: for each group, one [`BlockSums`] per block.
pub(in crate::estimators) fn release(
    model: &Means,
    plan: &Plan,
    rows: &MeanRows<'_>,
    clips: &[Option<Clip>],
    session: &mut ReleaseSession<'_>,
) -> Result<Vec<Vec<BlockSums>>> {
    let (layouts, width) = layouts(model, plan);
    let groups = plan.shape.groups.unwrap_or(1);
    let units = plan.shape.units;
    let scales: Vec<f64> = layouts.iter().flat_map(|layout| vec![layout.scale; layout.dimension()]).collect();
    let mut values: Vec<f64> = add_up(rows, &layouts, width, clips)
        .into_iter()
        .zip(scales.iter().cycle())
        .map(|(sum, scale)| scale * (sum as f64 / (ONE * units as f64)))
        .collect();
    let distance = layouts.iter().map(|l| (l.scale * l.distance()).powi(2)).sum::<f64>().sqrt();
    // Rounded twice, so each coordinate counts four times.
    let sensitivity = mean_sensitivity(distance, 4 * groups * width, units, units as f64);
    let deviation = session.noise_per_sensitivity(SUMS) * sensitivity;
    session.vector(SUMS, &mut values, sensitivity)?;

    let of_block = |group: &[f64], layout: &Layout| {
        let parts: Vec<f64> =
            group[layout.first..][..layout.dimension()].iter().map(|v| v / layout.scale).collect();
        let noise = deviation / layout.scale;
        let last = |height: f64| Counted { share: parts[parts.len() - 1] / height, noise: noise / height };
        match layout.block {
            Block::Category { indicators } => BlockSums {
                sums: parts[..indicators].to_vec(),
                squares: None,
                count: layout.height.map(|height| Counted {
                    share: parts[..indicators].iter().sum::<f64>() + parts[indicators] / height,
                    noise: noise * (parts.len() as f64).sqrt(),
                }),
                noise,
                square_noise: 0.0,
            },
            Block::Binary { .. } => BlockSums {
                sums: vec![parts[0]],
                squares: None,
                count: layout.height.map(last),
                noise,
                square_noise: 0.0,
            },
            Block::Number { .. } => {
                let count = layout.height.map(last);
                let counted = count.map_or(1.0, |c| c.share);
                BlockSums {
                    sums: vec![parts[0]],
                    squares: Some(parts[1] / SQUARE + 0.5 * counted),
                    count,
                    noise,
                    square_noise: noise / SQUARE,
                }
            }
        }
    };
    Ok(values.chunks_exact(width).map(|group| layouts.iter().map(|l| of_block(group, l)).collect()).collect())
}
