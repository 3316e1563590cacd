//! The private choice of columns by their votes.
//!
//! # Algorithm
//! 1. A column's vote is the sum over the rows of `score_i * v_ij`: scores of the response at a released start, so that the response is
//!    measured from its own rate or middle, and v_ij within 1 of zero: the sign of an entry or nearly ([`super::vote`]); of sparse
//!    rows whose entries are declared not to be negative, 1 if the entry is positive and -1 if not.
//! 2. The columns with the largest votes in absolute value, by one-shot Gumbel noise; where signs are asked for, the largest of all
//!    votes and their negatives, so that a column is chosen with the sign of its coefficient: a score falls as the response rises, so it
//!    is the opposite of the vote's. A column that is chosen with both has none.
//!
//! # Guarantee
//! Replacement of one unit, for every data set. Scores are bounded by `cap`, v by 1, and the rows of a unit share one vote, so one
//! unit moves each sum by at most `2 cap`, whatever the released start is, plus the bounded error of summation. A sum's negative and
//! its absolute value move by no more. So many selections as columns are chosen pay for it.
//!
//! For declared entries the sums are `2 p_j - t`, p_j the scores of the rows whose entry is positive and t those of all rows: a row
//! adds `score` or `-score`. Both are exact sums of rounded scores, so a row's parts err by three roundings.
//!
//! # Why from a released rate
//! Measured from 1/2, rows of the larger class vote for what is common in all rows: columns rank by their means. From the
//! rate, votes are `n` times the covariance with the response. An error e of the rate moves votes by `e n` times the
//! column's mean only.

use super::glm::Glm;
use super::start::Start;
use super::vote;
use crate::data::Dataset;
use crate::error::Result;
use crate::kernels::{Grid, Map, column_scores, rounding};
use crate::release::{Chosen, Handle, PlannedRelease, ReleaseSession};

const COLUMNS: Handle<Chosen> = Handle::new("chosen columns");
/// Scores of all rows are added as whole multiples of this share of their cap.
const UNIT: f64 = 1.0 / 1_073_741_824.0;

/// What to choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub columns: usize,
    /// Whether with signs.
    pub signed: bool,
    /// Whether entries of sparse rows are declared not to be negative.
    pub nonnegative: bool,
}

/// The chosen columns of the design, ascending, the constant one included; of each its sign, where it is known.
pub(crate) struct ChosenColumns {
    pub support: Vec<usize>,
    pub signs: Vec<Option<f64>>,
}

/// The choice of so many columns, as lines of a plan.
pub(crate) fn planned(share: f64, columns: usize) -> [PlannedRelease; 2] {
    let level = vote::planned();
    let rest = share - level.share;
    [level, COLUMNS.planned(rest, columns as u64)]
}

/// Chooses. Units that are not `asked` have no vote.
pub(crate) fn choose(
    model: &Glm,
    data: &Dataset,
    response: &[f64],
    start: Start,
    choice: Choice,
    asked: impl Fn(usize) -> bool + Sync,
    session: &mut ReleaseSession<'_>,
) -> Result<ChosenColumns> {
    let constant = usize::from(model.intercept);
    let score = model.family.bounded(start.cap)?;
    let rows = data.sum_by_unit(|_| 1.0);
    let weighted = |row: usize| {
        let unit = data.unit_of(row);
        if !asked(unit) {
            return 0.0;
        }
        let share = data.weight(row) / rows[unit];
        share * score.value(start.base + data.offset(row), response[row])
    };
    // Step 1
    let grid = Grid::uniform(data.design().columns(), score.cap());
    let mut roundings = data.shape().rows_per_unit() * rounding(data.design());
    let mut sums: Vec<f64>;
    if choice.nonnegative && data.design().is_sparse() {
        let present = column_scores(data.design(), weighted, Map::Present, &grid).values();
        let whole = |row: usize| (weighted(row) / score.cap() / UNIT).round() as i128;
        let total: i128 = (0..data.design().rows()).map(whole).sum();
        let total = total as f64 * (UNIT * score.cap());
        sums = present.into_iter().map(|p| 2.0 * p - total).collect();
        roundings = 2.0 * roundings + data.shape().rows_per_unit() * UNIT;
    } else {
        let map = vote::choose(data, constant, &asked, session)?;
        sums = column_scores(data.design(), weighted, map, &grid).values();
    }
    sums.drain(..constant);
    // Step 2
    let free = sums.len();
    if choice.signed {
        sums.extend_from_within(..);
        sums[free..].iter_mut().for_each(|sum| *sum = -*sum);
    } else {
        sums.iter_mut().for_each(|sum| *sum = sum.abs());
    }
    // A unit's shares sum to 1, up to rounding; its rows and the sum are rounded on both sides of a pair.
    let error = roundings + 4.0 * f64::EPSILON * data.units() as f64;
    let sensitivity = 2.0 * score.cap() * (1.0 + error) * (1.0 + 1e-9);
    let chosen = session.top(COLUMNS, &sums, choice.columns, sensitivity)?;
    Ok(ChosenColumns::new(constant, free, &chosen, choice.signed))
}

impl ChosenColumns {
    fn new(constant: usize, free: usize, places: &[usize], signed: bool) -> Self {
        let mut found: Vec<(usize, Option<f64>)> = (0..constant).map(|j| (j, None)).collect();
        found.extend(places.iter().map(|&place| {
            let sign = signed.then_some(if place < free { -1.0 } else { 1.0 });
            (constant + place % free, sign)
        }));
        found.sort_by_key(|(column, _)| *column);
        found.dedup_by(|again, first| {
            let same = again.0 == first.0;
            if same {
                first.1 = None;
            }
            same
        });
        let (support, signs) = found.into_iter().unzip();
        Self { support, signs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_columns_with_their_signs() {
        let found = ChosenColumns::new(1, 5, &[0, 4, 6, 9], true);
        assert_eq!(found.support, [0, 1, 2, 5]);
        assert_eq!(found.signs, [None, Some(-1.0), Some(1.0), None]);
        let found = ChosenColumns::new(0, 5, &[1, 3], false);
        assert_eq!((found.support, found.signs), (vec![1, 3], vec![None, None]));
    }
}
