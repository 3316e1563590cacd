//! Step 4: the products of all pairs of numbers and 0/1 columns, in one Gaussian release.
//!
//! # Algorithm
//! An entry is measured from the released mean of its group in units of the farther end of its clip. The means over all rows of the products
//! of pairs are released; where cells may be missing, with [`HEIGHT`] times the share of rows that have both.
//!
//! # Guarantee
//! One Gaussian release; what a replaced row changes is [`Products::distance`](Question::distance).

use super::plan::{PRODUCTS, Plan};
use super::{Block, Describe};
use crate::error::Result;
use crate::estimators::means::clips::Clip;
use crate::passes::by_unit::{exact_mean, mean_sensitivity};
use crate::passes::cells::{Cell, CellPass, CellRows, HEIGHT, Products as Question};
use crate::release::ReleaseSession;

/// What was released of one group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Products {
    /// The unit of each column.
    pub units: Vec<f64>,
    /// For each pair i < j, row after row: the mean product over all rows, and the share of rows that have both, if released.
    pub pairs: Vec<(f64, Option<f64>)>,
    /// The deviation of the noise on each product, and on each share.
    pub noise: f64,
    pub share_noise: f64,
}

pub(super) fn release(
    model: &Describe,
    plan: &Plan,
    rows: &dyn CellRows,
    clips: &[Option<Clip>],
    centres: &[Vec<f64>],
    session: &mut ReleaseSession<'_>,
) -> Result<Option<Vec<Products>>> {
    if !model.correlations {
        return Ok(None);
    }
    let columns = model.correlated();
    let clip = |block: usize| match (clips[block], model.blocks[block]) {
        (Some(clip), _) => (clip.low, clip.high),
        (None, Block::Number { low, high } | Block::Binary { low, high }) => (low, high),
        (None, Block::Category { .. }) => (0.0, 1.0),
    };
    let unit = |group: &[f64], block: usize, column: usize| {
        let (low, high) = clip(block);
        (high - group[column]).abs().max((group[column] - low).abs()).max(1e-300)
    };
    let units: Vec<Vec<f64>> =
        centres.iter().map(|group| columns.iter().map(|&(b, c)| unit(group, b, c)).collect()).collect();
    let cell = |&(block, column): &(usize, usize)| {
        let (low, high) = clip(block);
        Cell { block, column, low, high }
    };
    let scale = |(group, units): (&Vec<f64>, &Vec<f64>)| {
        columns.iter().zip(units).map(|(&(_, column), &unit)| (group[column], unit)).collect()
    };
    let missing = plan.shape.missing;
    let question = Question {
        columns: columns.iter().map(cell).collect(),
        scales: centres.iter().zip(&units).map(scale).collect(),
        marks: missing,
    };
    let (pairs, width, n) = (question.pairs(), question.width(), plan.shape.units);
    let sensitivity = mean_sensitivity(question.distance(), 4 * width, n, n as f64);
    let sums = rows.whole(&CellPass::Products(question))?;
    let mut values: Vec<f64> = sums.into_iter().map(|sum| exact_mean(sum, n as f64)).collect();
    let noise = session.noise_per_sensitivity(PRODUCTS) * sensitivity;
    session.vector(PRODUCTS, &mut values, sensitivity)?;
    let of_group = |(group, units): (&[f64], Vec<f64>)| Products {
        units,
        pairs: (0..pairs).map(|k| (group[k], missing.then(|| group[pairs + k] / HEIGHT))).collect(),
        noise,
        share_noise: noise / HEIGHT,
    };
    Ok(Some(values.chunks_exact(width).zip(units).map(of_group).collect()))
}
