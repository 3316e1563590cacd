//! Private bounds of numbers of which a magnitude alone is known: "at most 1e9 in size, to a precision of 1".
//!
//! # Algorithm
//! 1. A centre: a private median among zero and, for both signs, geometric steps from the precision to the magnitude.
//! 2. On each side of it a distance among geometric ones, by the exponential mechanism with weight `exp(-eta beyond(d)) / d^pull`: few units
//!    lie beyond, and a distance ten times too large is `10^pull` times less likely than the right one. The pull is as large as leaves a
//!    column seen that differs from its centre in `SEEN` of the units: a bound that is too wide costs little, because the clips of
//!    [`super::means`] look within it, and one that is too narrow costs the mean itself.
//! 3. Bounds lie `WIDER` times as far from the centre, within the magnitude.
//!
//! # Guarantee
//! As for centres and clips of `super::means::clips`: selections of one number per unit, of sensitivity 1, and of scores that all move in one
//! direction. The cost does not depend on the magnitude; the accuracy on its logarithm.

use super::means::clips::Side;
use super::means::{Block, MeanRows};
use crate::central::purse::{Planned, Purse};
use crate::error::{Error, Result};
use crate::mechanisms::Candidates;

const CENTRES: &str = "medians for bounds";
const ENDS: &str = "bounds";
/// The part of the share for centres.
const OF_CENTRES: f64 = 0.2;
/// Candidates for a centre in a factor of two, and distances.
const CENTRES_PER_OCTAVE: u32 = 16;
const PER_OCTAVE: f64 = 4.0;
const PULL: f64 = 2.0;
const SEEN: f64 = 0.02;
const WIDER: f64 = 2.0;
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
                parameter: "magnitude",
                range: "a resolution above 0 and a magnitude above it, at most 1e15 times",
                value: format!("magnitude {largest}, resolution {resolution}"),
                remedy: "give the largest size that values can have, and the smallest difference that matters",
            }),
        }
    }
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
    pub(super) fn lines(&self) -> Vec<Planned> {
        let count = self.magnitudes.iter().flatten().count() as u64;
        vec![
            Planned::selection(CENTRES, OF_CENTRES * self.share, count),
            Planned::selection(ENDS, (1.0 - OF_CENTRES) * self.share, 2 * count),
        ]
    }

    /// The blocks with the bounds that were found.
    pub(super) fn release(
        &self,
        blocks: &[Block],
        rows: &MeanRows<'_>,
        purse: &mut Purse<'_>,
    ) -> Result<Vec<Block>> {
        let mut column = 0;
        let mut found = blocks.to_vec();
        for (place, (block, magnitude)) in found.iter_mut().zip(&self.magnitudes).enumerate() {
            let width = block.columns();
            if let (Block::Number { low, high }, Some(magnitude)) = (&mut *block, magnitude) {
                let side = Side { rows, block: place, column, low: *low, high: *high };
                let (from, to) = bounds(&side, *magnitude, purse)?;
                *block = Block::Number { low: from, high: to };
            }
            column += width;
        }
        Ok(found)
    }
}

fn bounds(side: &Side<'_, '_>, magnitude: Magnitude, purse: &mut Purse<'_>) -> Result<(f64, f64)> {
    let Magnitude { largest, resolution } = magnitude;
    // Step 1
    let candidates = Candidates::geometric(resolution, largest, CENTRES_PER_OCTAVE)?;
    let centre = purse.quantile(CENTRES, &side.means(), candidates, 0.5)?.clamp(side.low, side.high);
    // Step 2
    let n = side.rows.shape().units as f64;
    let noise = purse.noise_per_sensitivity(ENDS);
    let octaves = (2.0 * largest / resolution).log2();
    let distances: Vec<f64> = (0..=(octaves * PER_OCTAVE) as i32)
        .map(|k| 2.0 * largest * (-f64::from(k) / PER_OCTAVE).exp2())
        .collect();
    let most = SEEN * n / (octaves * std::f64::consts::LN_2);
    // Without noise the pull only decides between distances that nobody lies beyond.
    let reward = if noise > 0.0 { (PULL * noise / 2.0).min(most) } else { most.min(1e-3) };
    let mut ends = [0.0; 2];
    for (upper, end) in [false, true].into_iter().zip(&mut ends) {
        let mut total = 0;
        let scores: Vec<f64> = side
            .beyond(upper, centre, &distances)
            .into_iter()
            .zip(&distances)
            .map(|(count, distance)| {
                total += count;
                -(total as f64) - (reward * (distance / largest).ln() / GRAIN).round() * GRAIN
            })
            .collect();
        *end = distances.get(purse.choice(ENDS, &scores, 1.0)?).copied().unwrap_or(largest);
    }
    // Step 3
    let low = (centre - WIDER * ends[0].max(resolution)).max(side.low);
    let high = (centre + WIDER * ends[1].max(resolution)).min(side.high);
    // At an end of the range there is room on one side.
    Ok(if low < high { (low, high) } else { (side.low, side.high) })
}

#[cfg(test)]
mod tests {
    use super::super::means::{Means, MeansFit};
    use super::*;
    use crate::central::Privacy;
    use crate::central::dense_attacks::Tables;
    use crate::data::Design;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    const ROWS: usize = 20_000;

    /// Columns of one rank order: ages, years of a calendar, payments that are zero for nine in ten, sizes over twelve orders of magnitude,
    /// and a constant.
    fn columns() -> Vec<[f64; 5]> {
        let mut tables = Tables::new(41);
        (0..ROWS)
            .map(|_| {
                let age = 20.0 + 30.0 * (tables.uniform() + tables.uniform());
                let year = 2000.0 + (20.0 * tables.uniform()).floor();
                let paid = if tables.uniform() < 0.9 { 0.0 } else { -5e4 * tables.uniform().max(1e-9).ln() };
                let size = 10f64.powf(12.0 * tables.uniform() - 3.0);
                [age, year, paid, size, -7.0]
            })
            .collect()
    }

    fn means(table: &[[f64; 5]], bounds: &[(f64, f64)], search: bool, seed: u64) -> MeansFit {
        let design = Design::from_f64(ROWS, 5, table.concat()).expect("shape");
        let blocks = bounds.iter().map(|&(low, high)| Block::Number { low, high }).collect();
        let mut model = Means::new(blocks).and_then(|m| m.intervals(0.95)).expect("valid");
        if search {
            let magnitude = Magnitude::new(1e12, 1e-3).expect("valid");
            model = model.searching(vec![Some(magnitude); 5], SHARE).expect("valid");
        }
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).expect("valid"));
        let rows = MeanRows::new(&design).expect("shape");
        model.fit(&rows, privacy, &mut RandomSource::insecure_seeded(seed)).expect("fits")
    }

    /// From a magnitude of 1e12 alone, means are nearly as near as with good bounds; no column fails.
    #[test]
    fn bounds_of_any_size_are_found() {
        let table = columns();
        let good = [(0.0, 120.0), (1990.0, 2030.0), (0.0, 1e6), (0.0, 1e9), (-10.0, 0.0)];
        let wide = [(-1e12, 1e12); 5];
        let exact: Vec<f64> =
            (0..5).map(|j| table.iter().map(|row| row[j]).sum::<f64>() / ROWS as f64).collect();
        let error = |bounds: &[(f64, f64)], search: bool| -> Vec<f64> {
            let runs: Vec<MeansFit> = (0..12).map(|seed| means(&table, bounds, search, seed)).collect();
            (0..5)
                .map(|j| {
                    let square = |fit: &MeansFit| (fit.groups[0].columns[j].mean - exact[j]).powi(2);
                    (runs.iter().map(square).sum::<f64>() / 12.0).sqrt()
                })
                .collect()
        };
        let (found, known) = (error(&wide, true), error(&good, false));
        for (j, near) in [1.0, 0.5, 400.0, 1e7, 0.1].into_iter().enumerate() {
            assert!(found[j] < near, "{j}: {found:?} beside {known:?}");
        }
        // Without a search the widest column drowns the rest.
        let lost = means(&table, &wide, false, 1).groups[0].columns[0].mean;
        assert!((lost - exact[0]).abs() > 1e3, "{lost}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (largest, resolution) in
            [(1.0, 0.0), (1.0, 2.0), (f64::INFINITY, 1.0), (1.0, f64::NAN), (1e9, 1e-9)]
        {
            assert!(Magnitude::new(largest, resolution).is_err(), "{largest} {resolution}");
        }
        let model =
            || Means::new(vec![Block::Number { low: -1.0, high: 1.0 }, Block::Category { indicators: 1 }]);
        let magnitude = Some(Magnitude::new(1.0, 0.1).expect("valid"));
        assert!(model().expect("valid").searching(vec![magnitude], 0.1).is_err());
        assert!(model().expect("valid").searching(vec![None, magnitude], 0.1).is_err());
        assert!(model().expect("valid").searching(vec![magnitude, None], 0.9).is_err());
        assert!(model().expect("valid").searching(vec![magnitude, None], 0.1).is_ok());
    }
}
