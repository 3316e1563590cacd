//! Step 4: the products of all pairs of numbers and 0/1 columns, in one Gaussian release.
//!
//! # Algorithm
//! An entry counts as `z`, its distance from the released mean of its group in units of the farther end of its clip, in [-1, 1]; a missing
//! one as 0. The means over all rows of `z_i z_j`, i < j, are released; where cells may be missing, with `h = HEIGHT` times the share
//! of rows that have both.
//!
//! # Guarantee
//! With p columns, the products of two rows z and w of one group differ by A = z z' - w w' above the diagonal, whose squares add up to at
//! most `|A|^2 / 2 = (|z|^4 + |w|^4 - 2 (z w)^2) / 2 <= p^2`. Rows of two groups: `p (p - 1)`, as each has at most `p (p - 1) / 2`. Marks of
//! pairs differ by at most `h` each in one group, and lie in other coordinates in two: at most `h^2 p (p - 1) / 2`, or twice that.
//! So the squared distance is the larger of `p^2 + h^2 p (p - 1) / 2` and `(1 + h^2) p (p - 1)`. Sums are exact: products are rounded to
//! multiples of `2^-24`.

use super::plan::{PRODUCTS, Plan};
use super::{Block, Describe, MeanRows};
use crate::error::Result;
use crate::estimators::means::clips::Clip;
use crate::passes::by_unit::mean_sensitivity;
use crate::release::ReleaseSession;

const HEIGHT: f64 = 0.5;
/// One, as a whole number.
const ONE: f64 = 16_777_216.0;

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
    rows: &MeanRows<'_>,
    clips: &[Option<Clip>],
    centres: &[Vec<f64>],
    session: &mut ReleaseSession<'_>,
) -> Result<Option<Vec<Products>>> {
    if !model.correlations {
        return Ok(None);
    }
    let columns = model.correlated();
    let p = columns.len();
    let pairs = p * (p - 1) / 2;
    let missing = plan.shape.missing;
    let width = if missing { 2 * pairs } else { pairs };
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
    let mut sums = vec![0_i64; centres.len() * width];
    let mut z = vec![0.0; p];
    let mut here = vec![false; p];
    for row in 0..rows.design().rows() {
        let Some(group) = rows.group(row) else { continue };
        for (k, &(block, column)) in columns.iter().enumerate() {
            let (low, high) = clip(block);
            here[k] = rows.counts(row, block);
            let x = rows.design().entry(row, column).clamp(low, high);
            let scaled = ((x - centres[group][column]) / units[group][k]).clamp(-1.0, 1.0);
            z[k] = if here[k] { scaled } else { 0.0 };
        }
        let sums = &mut sums[group * width..][..width];
        let mut at = 0;
        for i in 0..p {
            for j in i + 1..p {
                sums[at] += (z[i] * z[j] * ONE).round() as i64;
                if missing && here[i] && here[j] {
                    sums[pairs + at] += (HEIGHT * ONE) as i64;
                }
                at += 1;
            }
        }
    }
    let n = plan.shape.units;
    let mut values: Vec<f64> = sums.into_iter().map(|sum| sum as f64 / (ONE * n as f64)).collect();
    let (p2, off) = ((p * p) as f64, (p * (p - 1)) as f64);
    let marks = if missing { HEIGHT * HEIGHT } else { 0.0 };
    let distance = (p2 + marks * off / 2.0).max((1.0 + marks) * off).sqrt();
    let sensitivity = mean_sensitivity(distance, 4 * width, n, n as f64);
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
