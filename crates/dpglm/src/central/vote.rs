//! How much of an entry's size counts in the vote for its column.
//!
//! # Algorithm
//! 1. Of at most 3,072 rows, drawn at random, in every column: how many entries are at least 1/4, 1/8, 1/16 in absolute value. For
//!    each level the smallest count of any column.
//! 2. The largest level that six rows of ten reach in every column, or zero, by the exponential mechanism: the score of a
//!    level is minus the distance of six tenths from the interval between its own count and that of the level above.
//! 3. Votes are `clamp(x / level, -1, 1)`; at level zero, `sign(x)`.
//!
//! # Why
//! At the price of a selection a vote may be as large as 1. The sign carries the most signal for it, but gives entries near zero, which
//! say little, a full vote of noise. Where columns fill their bounds, a clamp at a quarter of them keeps 98% of the signal of uniform
//! entries and 91% of the sampling noise. Where some column keeps to a small part of its bounds, a clamp would silence it: signs are
//! scale-free.
//!
//! # Guarantee
//! One row moves each count by at most 1, so the smallest of a level's counts too, and each score: one selection. Where units have
//! several rows, and for designs that are not dense floating-point numbers (both are public), signs are taken and nothing is spent.
//!
//! Rows are drawn without a look at them, by coins that are not released, so it does not matter in which order they stand: if the rows
//! of two neighbouring tables are paired, all equal but one pair, both tables draw paired rows with the same probabilities, and
//! given the draw the counts differ in one row. Rows at even distances would not do: in a table that is sorted by a private
//! cell, one replaced row moves many others by one place. All rows would do, and cost as much as the votes themselves.

use crate::data::Dataset;
use crate::error::Result;
use crate::kernels::{Map, count_reaching};
use crate::release::{Chosen, Handle, PlannedRelease, ReleaseSession};

const LEVEL: Handle<Chosen> = Handle::new("level of votes");
const SHARE: f64 = 0.01;
/// Levels are `2^-k`.
const POWERS: [u8; 3] = [2, 3, 4];
const MOST_ROWS: usize = 3_072;

/// The choice of the level, as a line of a plan.
pub(super) fn planned() -> PlannedRelease {
    LEVEL.planned(SHARE, 1)
}

/// What a vote counts of an entry of any column from the `first` on. Units that are not `asked` have no part in it.
pub(super) fn choose(
    data: &Dataset,
    first: usize,
    asked: impl Fn(usize) -> bool,
    session: &mut ReleaseSession<'_>,
) -> Result<Map> {
    if data.unit_name().is_some() || !data.design().can_be_centred() {
        return Ok(Map::Sign);
    }
    // Step 1
    let rows = drawn((0..data.design().rows()).filter(|&row| asked(row)), session)?;
    let counts = smallest(&count_reaching(data.design(), &rows, POWERS)[first..]);
    // Steps 2 and 3
    let place = session.top(LEVEL, &scores(&counts, rows.len()), 1, 1.0)?;
    Ok(place.first().and_then(|&i| POWERS.get(i)).map_or(Map::Sign, |&power| Map::Clamped(power)))
}

/// As many of these rows as are looked at. Their number is public.
fn drawn(rows: impl Iterator<Item = usize> + Clone, session: &mut ReleaseSession<'_>) -> Result<Vec<usize>> {
    let total = rows.clone().count();
    if total <= MOST_ROWS {
        return Ok(rows.collect());
    }
    let mut places = session.sample(total, MOST_ROWS)?.into_iter().peekable();
    let chosen = rows.enumerate().filter(|(place, _)| places.next_if_eq(place).is_some());
    Ok(chosen.map(|(_, row)| row).collect())
}

/// For each level the smallest count of any column.
fn smallest(counts: &[[u32; POWERS.len()]]) -> [u32; POWERS.len()] {
    let least = |a: [u32; POWERS.len()], b: &[u32; POWERS.len()]| std::array::from_fn(|k| a[k].min(b[k]));
    counts.split_first().map_or([0; POWERS.len()], |(first, rest)| rest.iter().fold(*first, least))
}

/// The scores of the levels and, last, of none.
fn scores(counts: &[u32], rows: usize) -> Vec<f64> {
    let wanted = (0.6 * rows as f64).ceil();
    let short = |place: usize| counts.get(place).map_or(0.0, |&count| wanted - f64::from(count));
    let above = |place: usize| if place == 0 { 0.0 } else { -short(place - 1) };
    (0..=counts.len()).map(|place| -short(place).max(above(place)).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Design;
    use crate::noise::RandomSource;
    use crate::release::{CalibratedPlan, Privacy};

    /// Whichever row is replaced, no score moves by more than 1; some do move by 1.
    #[test]
    fn scores_withstand_neighbours() {
        let rng = &mut RandomSource::insecure_seeded(0x006c_6576_656c_7330);
        let cells = [0.0, 0.03, -0.07, 0.13, -0.26, 0.9, -1.0, 1e300, f64::NAN, f64::NEG_INFINITY];
        let mut largest: f64 = 0.0;
        for _ in 0..100_000 {
            let rows = 4 + rng.below(8) as usize;
            let mut x: Vec<f64> = (0..3 * rows).map(|_| cells[rng.below(10) as usize]).collect();
            let of = |x: &[f64]| {
                let design = Design::from_f64(rows, 3, x.to_vec()).unwrap();
                let all: Vec<usize> = (0..rows).collect();
                scores(&smallest(&count_reaching(&design, &all, POWERS)), rows)
            };
            let before = of(&x);
            x[..3].fill_with(|| cells[rng.below(10) as usize]);
            for (a, b) in before.iter().zip(of(&x)) {
                assert!((a - b).abs() <= 1.0, "{a} {b}");
                largest = largest.max((a - b).abs());
            }
        }
        assert_eq!(largest, 1.0);
    }

    /// A table that is sorted by a private cell, and the one where the smallest cell has become the largest: all rows but that one
    /// have moved by a place. Every other row is large, so that even and odd places tell them apart.
    #[test]
    fn the_order_of_rows_does_not_matter() {
        const N: usize = 2 * MOST_ROWS;
        let cell = |k: usize| if k.is_multiple_of(2) && k < N { 0.9 } else { 0.01 };
        let table = |first: usize| {
            let x: Vec<f64> = (first..first + N).map(cell).collect();
            Design::from_f64(N, 1, x).unwrap()
        };
        let [left, right] = [table(0), table(1)];
        // The row at place k of the left table stands at k - 1 in the right one; the first was replaced, by the last.
        let partner = |k: usize| (k + N - 1) % N;
        let calibration = CalibratedPlan::new(vec![planned()], Privacy::None).unwrap();
        let score = |design: &Design, rows: &[usize]| {
            scores(&smallest(&count_reaching(design, rows, POWERS)), rows.len())
        };
        let moved = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let rng = &mut RandomSource::insecure_seeded(0x6f72_6465_7230);
        for _ in 0..20 {
            let rows = drawn(0..N, &mut calibration.open(rng)).unwrap();
            assert!(rows.len() == MOST_ROWS && rows.windows(2).all(|pair| pair[0] < pair[1]));
            // The coupled draw is as likely, and moves no score by more than 1.
            let coupled: Vec<usize> = rows.iter().map(|&k| partner(k)).collect();
            assert!(moved(&score(&left, &rows), &score(&right, &coupled)) <= 1.0);
        }
        // Rows at even distances, for comparison.
        let even: Vec<usize> = (0..N).step_by(2).collect();
        assert!(moved(&score(&left, &even), &score(&right, &even)) > 1_000.0);
    }

    /// Every set of places is drawn with the same probability: each of 15 pairs of six, and each place. Level 1e-6: a pair's count of
    /// 30,000 draws is within 4.9 standard deviations of 2,000, a draw that leaves out the last place is not.
    #[test]
    fn places_are_drawn_evenly() {
        let calibration = CalibratedPlan::new(vec![planned()], Privacy::None).unwrap();
        let rng = &mut RandomSource::insecure_seeded(0x6576_656e_6c79);
        let even = |from: usize, session: &mut ReleaseSession<'_>| {
            let mut counts = [[0_i32; 6]; 6];
            for _ in 0..30_000 {
                let [a, b] = session.sample(from, 2).unwrap()[..] else { panic!("two places") };
                counts[a][b] += 1;
            }
            (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).all(|(a, b)| {
                f64::from((counts[a][b] - 2_000).abs()) < 4.9 * (2_000.0 * 14.0 / 15.0_f64).sqrt()
            })
        };
        let mut session = calibration.open(rng);
        assert!(even(6, &mut session) && !even(5, &mut session));
    }

    /// Columns that fill their bounds are clamped at a quarter; one narrow column is enough to take signs.
    #[test]
    fn one_narrow_column_is_not_silenced() {
        let map = |narrow: f64| {
            let x: Vec<f64> = (0..2_000)
                .map(|k| {
                    f64::from(k * 7919 % 2_003 - 1_001) / 1_001.0 * if k % 4 == 1 { narrow } else { 1.0 }
                })
                .collect();
            let data = Dataset::new(Design::from_f64(500, 4, x).unwrap(), vec![0.0; 500]).unwrap();
            let calibration = CalibratedPlan::new(vec![planned()], Privacy::None).unwrap();
            let mut rng = RandomSource::from_os().unwrap();
            choose(&data, 0, |_| true, &mut calibration.open(&mut rng)).unwrap()
        };
        assert_eq!(map(1.0), Map::Clamped(2));
        assert_eq!(map(0.3), Map::Clamped(4));
        assert_eq!(map(1e-3), Map::Sign);
    }
}
