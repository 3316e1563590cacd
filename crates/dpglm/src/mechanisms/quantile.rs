//! A private quantile.
//!
//! # Algorithm
//! 1. The candidates are public: an even grid on a declared range, or, for data with no declared range, a geometric
//!    grid of both signs.
//! 2. Each row counts as the nearest candidate at or above it (the last one, if there is none). A candidate's score is
//!    minus the number of rows by which it misses the wanted rank r: `-max(0, below - r, r - at_most)`, with the rows at
//!    lower candidates and those at it or lower. So a column that is constant, between two candidates, has a clear winner.
//! 3. The exponential mechanism chooses. Candidates between two rows' ones share one score, so at most `2n + 1`
//!    groups race, each weighted by its size, and one of the winning group is drawn uniformly.
//!
//! # Guarantee
//! One selection event of sensitivity 1 under replacement of one row, whatever the data, and also if a row joins or leaves: the number
//! n of rows may be private, as where some do not count. A value outside the range counts as the first or the last
//! candidate; a NaN counts as lowest. Of no rows every candidate is as good as another.
//!
//! # Why private
//! The exponential mechanism's argument. Grouping is an exact way to draw from it; counts and the wanted rank are whole
//! numbers, so the scores are exact. Their sensitivity:
//! * If a row is replaced n stays, and both counts change by at most one.
//! * If a row joins, each count grows by 0 or 1. So does the rank `r(n) = round(q n)`: it does not fall, and
//!   `q (n + 1) <= q n + 1`. Hence `below - r` and `r - at_most` change by at most one. A row that leaves is the same backwards.
//!
//! The score is the largest of these two and 0, which changes by no more than they do. The rank is computed in whole
//! numbers, q being rounded to a multiple of `2^-53` first: a rounded product might jump by two.
//!
//! # Differs from the papers
//! Stands in for the quantile of Lei 2011 that Cai et al. 2021 §5.1 refers to without an accounted budget.

use super::{ExponentialMechanism, Release, Tally};
use crate::error::{Error, Parameter, Result, require_positive};
use crate::noise::RandomSource;
use crate::privacy::Event;
use serde::{Deserialize, Serialize};

/// The public values a quantile is chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    shape: Shape,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Shape {
    Even { low: f64, high: f64 },
    Geometric { smallest: f64, per_octave: f64 },
    PositiveGeometric { smallest: f64, per_octave: f64 },
}

/// Largest number of candidates.
const MAX_CANDIDATES: u64 = 1 << 40;

impl Candidates {
    /// `count` evenly spaced values from `low` to `high`.
    pub fn even(low: f64, high: f64, count: u64) -> Result<Self> {
        if !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite()) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Range,
                range: "two finite numbers, the lower first",
                value: format!("[{low}, {high}]"),
                remedy: "declare public bounds, or use geometric candidates",
            });
        }
        if !(2..=MAX_CANDIDATES).contains(&count) {
            return Err(Error::OutOfRange {
                parameter: Parameter::NumberOfCandidates,
                range: "from 2 to 2^40",
                value: count.to_string(),
                remedy: "a few thousand resolve the range finely; accuracy suffers little from more",
            });
        }
        Ok(Self { shape: Shape::Even { low, high }, count })
    }

    /// Zero and, for both signs, `smallest * 2^(k / per_octave)` up to at least `largest`: for data whose range nobody
    /// can declare. The cost grows only with the logarithm of `largest / smallest`.
    pub fn geometric(smallest: f64, largest: f64, per_octave: u32) -> Result<Self> {
        require_positive(Parameter::Smallest, smallest, "the finest magnitude worth telling from zero")?;
        require_positive(Parameter::Largest, largest, "the largest magnitude worth telling apart")?;
        if !(1..=1024).contains(&per_octave) {
            return Err(Error::OutOfRange {
                parameter: Parameter::CandidatesPerOctave,
                range: "from 1 to 1024",
                value: per_octave.to_string(),
                remedy: "4 resolve a value to about 20 percent, 64 to about 1 percent",
            });
        }
        let octaves = largest.log2() - smallest.log2();
        if octaves <= 0.0 || largest.log2() > 1022.0 {
            return Err(Error::OutOfRange {
                parameter: Parameter::Largest,
                range: "above smallest and below 2^1022",
                value: largest.to_string(),
                remedy: "give the smallest magnitude first, then the largest",
            });
        }
        let per_octave = f64::from(per_octave);
        let positive = (octaves * per_octave).ceil() as u64 + 1;
        Ok(Self { shape: Shape::Geometric { smallest, per_octave }, count: 2 * positive + 1 })
    }

    /// `smallest * 2^(k / per_octave)` up to at least `largest`: for sizes, which have no sign.
    pub fn positive_geometric(smallest: f64, largest: f64, per_octave: u32) -> Result<Self> {
        let Self { shape, count } = Self::geometric(smallest, largest, per_octave)?;
        match shape {
            Shape::Geometric { smallest, per_octave } => {
                Ok(Self { shape: Shape::PositiveGeometric { smallest, per_octave }, count: count / 2 })
            }
            other => Ok(Self { shape: other, count }),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The candidate at `index`, ascending.
    pub fn value(&self, index: u64) -> f64 {
        match self.shape {
            Shape::Even { low, high } => {
                let share = index as f64 / (self.count - 1) as f64;
                (low + (high - low) * share).clamp(low, high)
            }
            Shape::PositiveGeometric { smallest, per_octave } => {
                smallest * libm::exp2(index as f64 / per_octave)
            }
            Shape::Geometric { smallest, per_octave } => {
                let middle = self.count / 2;
                let magnitude = |k: u64| smallest * libm::exp2((k - 1) as f64 / per_octave);
                match index.cmp(&middle) {
                    std::cmp::Ordering::Equal => 0.0,
                    std::cmp::Ordering::Greater => magnitude(index - middle),
                    std::cmp::Ordering::Less => -magnitude(middle - index),
                }
            }
        }
    }

    /// The place of a candidate's value among all of them.
    pub(crate) fn place(&self, value: f64) -> u64 {
        self.partition(|c| c < value)
    }

    /// The candidate that a number counts as: the nearest at or above it, the last if there is none, the first if it is not a number.
    pub(super) fn place_of(&self, x: f64) -> u64 {
        if x.is_nan() { 0 } else { self.partition(|c| c < x).min(self.count - 1) }
    }

    /// How many candidates satisfy `before`, which holds for a first part of them and not for the rest.
    fn partition(&self, before: impl Fn(f64) -> bool) -> u64 {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.value(middle)) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Releases a quantile of a column.
///
/// ```
/// use dpglm::mechanisms::{Candidates, PrivateQuantile};
/// use dpglm::noise::RandomSource;
///
/// let incomes: Vec<f64> = (0..10_000).map(|i| f64::from(i)).collect();
/// let mut median = PrivateQuantile::new(Candidates::geometric(1.0, 1e9, 32)?, 0.5, 20.0)?;
/// let released = median.release(&incomes, &mut RandomSource::from_os()?)?.value;
/// assert!((4_000.0..6_000.0).contains(&released));
/// # Ok::<(), dpglm::Error>(())
/// ```
pub struct PrivateQuantile {
    candidates: Candidates,
    quantile: f64,
    choice: ExponentialMechanism,
}

impl PrivateQuantile {
    /// The `quantile` (0.5 is the median) among `candidates`; `scale` is the noise on ranks, in rows.
    pub fn new(candidates: Candidates, quantile: f64, scale: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&quantile) {
            return Err(Error::OutOfRange {
                parameter: Parameter::Quantile,
                range: "from 0 to 1",
                value: quantile.to_string(),
                remedy: "0.5 asks for the median",
            });
        }
        Ok(Self { candidates, quantile, choice: ExponentialMechanism::new(1.0, scale)? })
    }

    /// What a release costs.
    pub fn events(&self) -> Vec<Event> {
        self.choice.events()
    }

    /// A candidate whose rank is near the wanted one.
    pub fn release(&mut self, values: &[f64], rng: &mut RandomSource) -> Result<Release<f64>> {
        self.release_of(&Tally::of(self.candidates, values), rng)
    }

    /// The same of numbers that have been counted.
    ///
    /// # Panics
    /// If they were counted by other candidates.
    pub(crate) fn release_of(&mut self, tally: &Tally, rng: &mut RandomSource) -> Result<Release<f64>> {
        assert_eq!(tally.candidates(), self.candidates, "a tally by the candidates of the quantile");
        let Groups { starts, sizes, scores } = Self::groups(tally, self.quantile);
        let Release { value: group, events } = self.choice.choose_group(&scores, &sizes, rng)?;
        let index = starts[group] + rng.below(sizes[group]);
        Ok(Release { value: self.candidates.value(index), events })
    }

    /// The candidates in groups of equal score: what a release draws from.
    pub(crate) fn groups(tally: &Tally, quantile: f64) -> Groups {
        let last = tally.candidates().count() - 1;
        let rank = rank(quantile, tally.total());
        let mut counts = tally.counts().peekable();
        // Step 3: sweep the candidates from left to right, one group between two breaks.
        let (mut starts, mut sizes, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        let (mut below, mut start) = (0, 0);
        while start <= last {
            // A group is one candidate that rows count as, or all candidates up to the next such one.
            let here = counts.next_if(|(place, _)| *place == start).map(|(_, count)| count);
            let next = counts.peek().map_or(last + 1, |(place, _)| *place);
            let end = if here.is_some() { start + 1 } else { next };
            let at_most = below + here.unwrap_or(0) as i64;
            starts.push(start);
            sizes.push(end - start);
            scores.push(-(0.max(below - rank).max(rank - at_most)) as f64);
            (below, start) = (at_most, end);
        }
        Groups { starts, sizes, scores }
    }
}

/// Neighbouring candidates of one score, group after group.
pub(crate) struct Groups {
    starts: Vec<u64>,
    sizes: Vec<u64>,
    scores: Vec<f64>,
}

impl Groups {
    /// The candidates in groups in which neither of two lists of scores changes: first candidate, size, and both scores.
    pub(crate) fn beside<'g>(&'g self, other: &'g Self) -> impl Iterator<Item = (u64, u64, f64, f64)> + 'g {
        let (mut i, mut j, mut start) = (0, 0, 0);
        std::iter::from_fn(move || {
            let end = |of: &Self, k: usize| Some(of.starts.get(k)? + of.sizes.get(k)?);
            let (a, b) = (end(self, i)?, end(other, j)?);
            let next = a.min(b);
            let group = (start, next - start, self.scores[i], other.scores[j]);
            (i, j, start) = (i + usize::from(a == next), j + usize::from(b == next), next);
            Some(group)
        })
    }
}

/// `round(q n)`, exactly, for q a multiple of `2^-53`.
fn rank(quantile: f64, rows: u64) -> i64 {
    const ONE: u32 = 53;
    let quantile = (quantile * 2f64.powi(ONE as i32)).round() as u128;
    ((quantile * u128::from(rows) + (1 << (ONE - 1))) >> ONE) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scores of all candidates, one by one, as the module's docs define them.
    fn scores_by_definition(candidates: &Candidates, values: &[f64], rank: i64) -> Vec<f64> {
        let count = candidates.count();
        let place = |v: f64| (0..count).find(|&k| candidates.value(k) >= v).unwrap_or(count - 1);
        (0..count)
            .map(|k| {
                let below = values.iter().filter(|&&v| place(v) < k).count() as i64;
                let at_most = values.iter().filter(|&&v| place(v) <= k).count() as i64;
                -(0.max(below - rank).max(rank - at_most)) as f64
            })
            .collect()
    }

    /// A constant column between two candidates is released as the next one above.
    #[test]
    fn a_constant_column_has_a_clear_winner() {
        let mut median = PrivateQuantile::new(Candidates::even(0.0, 10.0, 101).unwrap(), 0.5, 3.0).unwrap();
        let mut rng = RandomSource::insecure_seeded(13);
        for _ in 0..100 {
            let value = median.release(&[4.123; 400], &mut rng).unwrap().value;
            assert!((value - 4.2).abs() < 1e-9, "{value}");
        }
    }

    /// With almost no noise the released value is a candidate of the best score, on continuous and on tied data.
    #[test]
    fn tiny_noise_gives_a_candidate_of_the_wanted_rank() {
        let mut rng = RandomSource::insecure_seeded(11);
        let data: [&[f64]; 4] =
            [&[0.1, 0.2, 0.31, 0.9], &[0.5; 7], &[-3.0, f64::NAN, 0.25, 0.25, 7.0], &[f64::INFINITY, 0.0]];
        for values in data {
            let clean: Vec<f64> =
                values.iter().map(|v| if v.is_nan() { f64::NEG_INFINITY } else { *v }).collect();
            for q in [0.0, 0.3, 0.5, 1.0] {
                for candidates in
                    [Candidates::even(0.0, 1.0, 101).unwrap(), Candidates::geometric(0.01, 10.0, 5).unwrap()]
                {
                    let rank = rank(q, values.len() as u64);
                    let scores = scores_by_definition(&candidates, &clean, rank);
                    let best = scores.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
                    let mut mechanism = PrivateQuantile::new(candidates, q, 1e-6).unwrap();
                    for _ in 0..20 {
                        let value = mechanism.release(values, &mut rng).unwrap().value;
                        let index = (0..candidates.count()).find(|&k| candidates.value(k) == value).unwrap();
                        assert_eq!(scores[index as usize], best, "{values:?} q {q} gave {value}");
                    }
                }
            }
        }
    }

    /// No row that is replaced, leaves or joins moves any score by more than 1, ties, NaN and infinities included; some
    /// move one by 1. Of the number of all rows in place of those that count, a quantile would hold its rank while rows leave: the
    /// same bound, but a median of zeros.
    #[test]
    fn scores_have_sensitivity_one() {
        let mut rng = RandomSource::insecure_seeded(12);
        let candidates = Candidates::even(0.0, 1.0, 12).unwrap();
        let pool = [0.0, 1.0 / 11.0, 0.5, 0.7, 1.0, -4.0, 9.0, f64::NEG_INFINITY, f64::INFINITY];
        let mut most: f64 = 0.0;
        for _ in 0..40_000 {
            let n = 1 + rng.below(6) as usize;
            let q = [0.0, 0.3, 0.5, 0.75, 0.9, 1.0 - 1e-9, 1.0][rng.below(7) as usize];
            let values: Vec<f64> = (0..n).map(|_| pool[rng.below(9) as usize]).collect();
            let mut neighbour = values.clone();
            let place = rng.below(n as u64) as usize;
            if rng.coin() {
                neighbour[place] = pool[rng.below(9) as usize];
            } else {
                neighbour.remove(place);
            }
            let scores =
                |values: &[f64]| scores_by_definition(&candidates, values, rank(q, values.len() as u64));
            for (x, y) in scores(&values).iter().zip(&scores(&neighbour)) {
                assert!((x - y).abs() <= 1.0, "{values:?} {neighbour:?} q {q}");
                most = most.max((x - y).abs());
            }
        }
        assert_eq!(most, 1.0);
    }

    /// Ranks grow by 0 or 1 with every row, up to the largest number of them.
    #[test]
    fn ranks_never_jump() {
        assert_eq!([rank(0.5, 5), rank(0.5, 4), rank(0.9, 10), rank(0.0, 9), rank(1.0, 9)], [3, 2, 9, 0, 9]);
        for q in [0.1, 0.5, 0.9, 1.0 - 1e-12, 1.0 - f64::EPSILON / 2.0, 1.0] {
            for start in [0, 1 << 20, (1 << 36) - 200, (1 << 52) - 200] {
                for n in start..start + 200 {
                    assert!([0, 1].contains(&(rank(q, n + 1) - rank(q, n))), "{q} {n}");
                }
            }
        }
    }

    /// Nobody counts: any candidate, and no failure, which would tell.
    #[test]
    fn a_quantile_of_no_rows_is_any_candidate() {
        let candidates = Candidates::even(0.0, 1.0, 5).unwrap();
        let mut median = PrivateQuantile::new(candidates, 0.5, 1.0).unwrap();
        let mut rng = RandomSource::insecure_seeded(14);
        let mut seen: Vec<f64> = (0..200).map(|_| median.release(&[], &mut rng).unwrap().value).collect();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }

    #[test]
    fn geometric_candidates_ascend_and_reach_their_ends() {
        let c = Candidates::geometric(0.5, 300.0, 3).unwrap();
        let values: Vec<f64> = (0..c.count()).map(|i| c.value(i)).collect();
        assert!(values.windows(2).all(|w| w[0] < w[1]));
        assert!(values[0] <= -300.0 && values[values.len() - 1] >= 300.0);
        assert!(values.contains(&0.5) && values.contains(&0.0));
        let positive = Candidates::positive_geometric(0.5, 300.0, 3).unwrap();
        let sizes: Vec<f64> = (0..positive.count()).map(|i| positive.value(i)).collect();
        assert_eq!(sizes, values[values.len() / 2 + 1..]);
    }
}
