//! Private bounds of numbers of which a magnitude alone is known: "at most 1e9 in size, to a precision of 1".
//!
//! # Algorithm
//! 1. A centre: a private median among zero and, for both signs, geometric steps from the precision to the magnitude.
//! 2. On each side of it a distance among geometric ones that T units lie beyond, by the exponential mechanism: its score is minus the number of
//!    units by which it misses T, so that a distance which nobody lies beyond has lost T, however large the magnitude. T is what the
//!    noise of the scores takes to tell all candidates apart, at most a quarter of the units. Each doubling costs a little beside.
//! 3. Bounds lie `WIDER` times as far from the centre, more where T is a large part of the units, within the magnitude. A bound that is
//!    too wide costs little, because the clips of [`super::means`] look within it; one that is too narrow costs the mean itself.
//!
//! # Guarantee
//! A unit has one number in each selection, as for centres and clips of `super::means::clips`. Replacing, adding or taking away one changes
//! the count beyond each distance by at most 1, so by at most 1 the score in either direction: all changes lie within an interval of length 2.
//! T is public. The cost does not depend on the magnitude; the accuracy on its logarithm.

#[cfg(test)]
mod attacks;
pub(super) mod regression;
#[cfg(test)]
mod tests;

pub use regression::{FoundBounds, Sought};

use super::means::Block;
use super::means::clips::Side;
use crate::error::{Error, Parameter, Result};
use crate::mechanisms::{Candidates, Tally};
use crate::passes::cells::{Cell, CellRows};
use crate::release::{Chosen, Handle, PlannedRelease, ReleaseSession};

const CENTRES: Handle<Chosen> = Handle::new("medians for bounds");
const ENDS: Handle<Chosen> = Handle::new("bounds");
/// The part of the share for centres.
const OF_CENTRES: f64 = 0.2;
/// Candidates for a centre in a factor of two, and distances.
const CENTRES_PER_OCTAVE: u32 = 16;
const PER_OCTAVE: f64 = 2.0;
/// T, in units of the noise of scores, beside the logarithm of the number of candidates: one that is too large wins with probability
/// `exp(-SLACK)`.
const SLACK: f64 = 6.0;
/// T is no larger a part of the units.
const MOST_BEYOND: f64 = 0.25;
/// A distance twice as large is `2^PULL` times less likely, beside; all of it no more than this part of the units outweighs.
const PULL: f64 = 0.5;
const SEEN: f64 = 0.02;
/// So wide because T units may lie far beyond: the top half of a hundred of a column's rows can be half of its mean.
const WIDER: f64 = 8.0;
/// What a part of the units beyond adds to it: a normal column is held where a quarter is.
const WIDER_PER_PART: f64 = 6.0;
/// The public part of a score is a multiple of this, so that its sum with up to `2^36` units is exact.
const GRAIN: f64 = 1.0 / 65_536.0;
/// The part of a budget that is spent on bounds, where none is given.
pub const SHARE: f64 = 0.1;

/// What is known of a number in place of bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Magnitude {
    /// No value is larger in size that matters.
    pub largest: f64,
    /// Values closer than this need not be told apart.
    pub resolution: f64,
}

impl Magnitude {
    /// Refuses a precision that is none.
    pub fn new(largest: f64, resolution: f64) -> Result<Self> {
        let fits =
            largest.is_finite() && resolution > 0.0 && resolution < largest && largest / resolution <= 1e15;
        match fits {
            true => Ok(Self { largest, resolution }),
            false => Err(Error::OutOfRange {
                parameter: Parameter::Magnitude,
                range: "a resolution above 0 and a magnitude above it, at most 1e15 times",
                value: format!("magnitude {largest}, resolution {resolution}"),
                remedy: "give the largest size that values can have, and the smallest difference that matters",
            }),
        }
    }
}

/// Refuses a part of the budget that is none, or leaves too little.
pub(super) fn require_share(share: f64) -> Result<()> {
    if (0.01..=0.5).contains(&share) {
        return Ok(());
    }
    Err(Error::OutOfRange {
        parameter: Parameter::ShareOfTheBudgetForBounds,
        range: "from 0.01 to 0.5",
        value: share.to_string(),
        remedy: "0.1 is usual",
    })
}

/// Which numbers have bounds that are to be found, and with which part of the budget.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    /// One per block.
    pub magnitudes: Vec<Option<Magnitude>>,
    pub share: f64,
}

impl Search {
    /// The releases that find them.
    pub(super) fn lines(&self) -> Vec<PlannedRelease> {
        let count = self.magnitudes.iter().flatten().count() as u64;
        vec![
            CENTRES.planned(OF_CENTRES * self.share, count),
            ENDS.planned((1.0 - OF_CENTRES) * self.share, 2 * count),
        ]
    }

    /// The blocks with the bounds that were found.
    pub(super) fn release(
        &self,
        blocks: &[Block],
        rows: &dyn CellRows,
        session: &mut ReleaseSession<'_>,
    ) -> Result<Vec<Block>> {
        let mut column = 0;
        let mut found = blocks.to_vec();
        for (place, (block, magnitude)) in found.iter_mut().zip(&self.magnitudes).enumerate() {
            let width = block.columns();
            if let (Block::Number { low, high }, Some(magnitude)) = (&mut *block, magnitude) {
                let side = Side { rows, cell: Cell { block: place, column, low: *low, high: *high } };
                let (from, to) = bounds(&side, *magnitude, session)?;
                *block = Block::Number { low: from, high: to };
            }
            column += width;
        }
        Ok(found)
    }
}

/// One number per unit that has one, within a range.
trait OneSide {
    /// The range.
    fn range(&self) -> (f64, f64);
    /// The number of units.
    fn units(&self) -> usize;
    /// The means of units, counted by these candidates.
    fn means(&self, candidates: Candidates) -> Result<Tally>;
    /// For distances that fall, how many units lie beyond each and not beyond the one before; none lies beyond the first.
    fn beyond(&self, upper: bool, centre: f64, distances: &[f64]) -> Result<Vec<i64>>;
}

impl OneSide for Side<'_> {
    fn range(&self) -> (f64, f64) {
        (self.cell.low, self.cell.high)
    }

    fn units(&self) -> usize {
        self.rows.shape().units
    }

    fn means(&self, candidates: Candidates) -> Result<Tally> {
        self.means(candidates)
    }

    fn beyond(&self, upper: bool, centre: f64, distances: &[f64]) -> Result<Vec<i64>> {
        self.beyond(upper, centre, distances)
    }
}

fn bounds(side: &dyn OneSide, magnitude: Magnitude, session: &mut ReleaseSession<'_>) -> Result<(f64, f64)> {
    let (lowest, highest) = side.range();
    let Magnitude { largest, resolution } = magnitude;
    // Step 1
    let candidates = Candidates::geometric(resolution, largest, CENTRES_PER_OCTAVE)?;
    let centre = session.quantile_of(CENTRES, &side.means(candidates)?, 0.5)?.clamp(lowest, highest);
    // Step 2
    let n = side.units() as f64;
    let noise = session.noise_per_sensitivity(ENDS);
    let octaves = (2.0 * largest / resolution).log2();
    let distances: Vec<f64> = (0..=(octaves * PER_OCTAVE) as i32)
        .map(|k| 2.0 * largest * (-f64::from(k) / PER_OCTAVE).exp2())
        .collect();
    let count = distances.len() as f64;
    let beyond = (noise * (count.ln() + SLACK)).min(MOST_BEYOND * n).round();
    let most = SEEN * n / (octaves * std::f64::consts::LN_2);
    // Without noise the pull only decides between distances that nobody lies beyond.
    let reward = if noise > 0.0 { (PULL * noise).min(most) } else { most.min(1e-3) };
    let mut ends = [0.0; 2];
    for (upper, end) in [false, true].into_iter().zip(&mut ends) {
        let counts = side.beyond(upper, centre, &distances)?;
        let mut total = 0.0;
        let scores: Vec<f64> = distances
            .iter()
            .enumerate()
            .map(|(k, distance)| {
                total += counts[k] as f64;
                // Units at this distance, or between it and the next, lie at it: it misses T only if they do not reach so far.
                let too_few = counts.get(k + 1).map_or(0.0, |next| beyond - (total + *next as f64));
                let missed = (total - beyond).max(too_few).max(0.0);
                -missed - (reward * (distance / largest).ln() / GRAIN).round() * GRAIN
            })
            .collect();
        *end = distances.get(session.choice(ENDS, &scores, 2.0)?).copied().unwrap_or(largest);
    }
    // Step 3
    let wider = WIDER * (1.0 + WIDER_PER_PART * beyond / n.max(1.0));
    let low = (centre - wider * ends[0].max(resolution)).max(lowest);
    let high = (centre + wider * ends[1].max(resolution)).min(highest);
    // At an end of the range there is room on one side.
    Ok(if low < high { (low, high) } else { (lowest, highest) })
}
