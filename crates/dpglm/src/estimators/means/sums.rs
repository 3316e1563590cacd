//! Step 3: one joint Gaussian release of what all columns add up to.
//!
//! # Algorithm
//! The sums over units of the points of all blocks ([`crate::passes::cells`], `points`), each block scaled by its share of the precision, are
//! released over the number of units.
//!
//! # Guarantee
//! One Gaussian release; what a replaced unit changes is [`Points::sensitivity`].

use super::clips::Clip;
use super::plan::{Plan, SUMS};
use super::{Block, Means};
use crate::error::Result;
use crate::passes::by_unit::exact_mean;
use crate::passes::cells::{Cell, CellPass, CellRows, Point, Points};
use crate::passes::columns::SQUARE;
use crate::release::ReleaseSession;

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

/// The question: where each block's entries lie in its clip.
fn points(model: &Means, plan: &Plan, clips: &[Option<Clip>]) -> Points {
    let mut column = 0;
    let mut blocks = Vec::with_capacity(model.blocks.len());
    for (block, (kind, clip)) in model.blocks.iter().zip(clips).enumerate() {
        blocks.push(match *kind {
            Block::Category { indicators } => Point::Category { block, column, indicators },
            Block::Number { low, high } | Block::Binary { low, high } => {
                let clip = clip.unwrap_or(Clip::declared(low, high));
                let (cell, middle, half) = (Cell { block, column, low, high }, clip.middle(), clip.half());
                match kind {
                    Block::Number { .. } => Point::Number { cell, middle, half },
                    _ => Point::Binary { cell, middle, half },
                }
            }
        });
        column += kind.columns();
    }
    Points { blocks, groups: plan.shape.groups, heights: plan.shape.uncertain() }
}

/// Releases the sums: for each group, one [`BlockSums`] per block.
pub(in crate::estimators) fn release(
    model: &Means,
    plan: &Plan,
    rows: &dyn CellRows,
    clips: &[Option<Clip>],
    session: &mut ReleaseSession<'_>,
) -> Result<Vec<Vec<BlockSums>>> {
    let points = points(model, plan, clips);
    let units = plan.shape.units;
    let sensitivity = points.sensitivity(&plan.scales, units);
    let pass = CellPass::Points(points.clone());
    let scaled: Vec<(&Point, f64)> = points.blocks.iter().zip(plan.scales.iter().copied()).collect();
    let scales = scaled.iter().flat_map(|(point, scale)| vec![*scale; points.dimension(point)]);
    let mut values: Vec<f64> = rows
        .whole(&pass)?
        .into_iter()
        .zip(scales.collect::<Vec<f64>>().iter().cycle())
        .map(|(sum, scale)| scale * exact_mean(sum, units as f64))
        .collect();
    let deviation = session.noise_per_sensitivity(SUMS) * sensitivity;
    session.vector(SUMS, &mut values, sensitivity)?;

    let of_block = |parts: &[f64], point: &Point, scale: f64| {
        let parts: Vec<f64> = parts.iter().map(|v| v / scale).collect();
        let noise = deviation / scale;
        let height = points.height(point);
        let last = |height: f64| Counted { share: parts[parts.len() - 1] / height, noise: noise / height };
        match *point {
            Point::Category { indicators, .. } => BlockSums {
                sums: parts[..indicators].to_vec(),
                squares: None,
                count: height.map(|height| Counted {
                    share: parts[..indicators].iter().sum::<f64>() + parts[indicators] / height,
                    noise: noise * (parts.len() as f64).sqrt(),
                }),
                noise,
                square_noise: 0.0,
            },
            Point::Binary { .. } => BlockSums {
                sums: vec![parts[0]],
                squares: None,
                count: height.map(last),
                noise,
                square_noise: 0.0,
            },
            Point::Number { .. } => {
                let count = height.map(last);
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
    let of_group = |mut group: &[f64]| {
        let blocks = scaled.iter().map(|(point, scale)| {
            let (here, rest) = group.split_at(points.dimension(point));
            group = rest;
            of_block(here, point, *scale)
        });
        blocks.collect()
    };
    Ok(values.chunks_exact(points.width()).map(of_group).collect())
}
