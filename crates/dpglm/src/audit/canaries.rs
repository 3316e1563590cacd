//! Pairs of rows that an attacker should find hard to tell apart, and a careless method gives away.
//!
//! # Which rows
//! A canary lies in a corner of the public box, where a row weighs most. The corners of different canaries are orthogonal or nearly
//! so (rows of a Hadamard matrix with the signs of its columns drawn at random), so that one canary hides little of another. Its pair
//! is the same row with the response at the other end of its range, or the opposite corner with the same response: exactly one of
//! the two is in the table, so that to swap them is to *replace one row*.

use super::table::Table;
use crate::error::{Error, Result};
use crate::noise::RandomSource;

/// In what the two rows of a pair differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opposite {
    /// The response is at the other end of its range.
    Response,
    /// Every feature is at the other end of its range.
    Features,
}

/// What is publicly known of a table's cells.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicBox {
    /// The range of each column; (1, 1) for a constant one.
    pub features: Vec<(f64, f64)>,
    /// Columns that share a number are indicators of one category: at most one of them is at its upper end.
    pub categories: Vec<Option<usize>>,
    /// The range of the response.
    pub response: (f64, f64),
}

impl PublicBox {
    /// Columns of the same range, after a constant one if there is an intercept.
    pub fn even(columns: usize, range: (f64, f64), constant: bool, response: (f64, f64)) -> Self {
        let mut features = vec![range; columns];
        if constant {
            features.insert(0, (1.0, 1.0));
        }
        Self { categories: vec![None; features.len()], features, response }
    }
}

/// One row with its response.
pub type Row = (Vec<f64>, f64);

/// Pairs of canary rows. They are public: only the coins are not. Rows are made when they are asked for: many pairs of many columns
/// would not fit beside the table.
#[derive(Debug, Clone)]
pub struct Canaries {
    cells: PublicBox,
    opposite: Opposite,
    /// The signs of the columns, for each block of orthogonal corners.
    signs: Vec<Vec<bool>>,
    /// Whether the first row of each pair has the upper response.
    high: Vec<bool>,
}

impl Canaries {
    /// `count` pairs in the corners of a box.
    pub fn new(count: usize, cells: &PublicBox, opposite: Opposite, rng: &mut RandomSource) -> Result<Self> {
        let d = cells.features.len();
        if count == 0 || d == 0 || cells.categories.len() != d {
            return Err(Error::Conflict(format!(
                "{count} canaries of {d} columns: an audit needs at least one of each"
            )));
        }
        let blocks = count.div_ceil(d.next_power_of_two());
        let mut draw = |count: usize| -> Vec<bool> { (0..count).map(|_| rng.coin()).collect() };
        let signs = (0..blocks).map(|_| draw(d)).collect();
        Ok(Self { cells: cells.clone(), opposite, signs, high: draw(count) })
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.high.len()
    }

    /// Never: there is at least one.
    pub fn is_empty(&self) -> bool {
        self.high.is_empty()
    }

    /// The two rows of a pair, each with its response.
    pub fn pair(&self, i: usize) -> [Row; 2] {
        [self.row(i, false), self.row(i, true)]
    }

    /// The first or the second row of a pair.
    fn row(&self, i: usize, second: bool) -> Row {
        let d = self.cells.features.len();
        let block = d.next_power_of_two();
        let signs = &self.signs[i / block];
        let (turned, other) = match self.opposite {
            Opposite::Response => (false, second),
            Opposite::Features => (second, false),
        };
        // Entry (i, j) of a Hadamard matrix is the parity of the bits that i and j share.
        let parity = |j: usize| ((i % block) & j).count_ones() % 2 == 1;
        let upper: Vec<bool> = (0..d).map(|j| (parity(j) != signs[j]) != turned).collect();
        let (low, high) = self.cells.response;
        (corner(&self.cells, &upper), if self.high[i] != other { high } else { low })
    }

    /// The table with one row of each pair added: the second where the coin says so.
    pub fn plant(&self, base: &Table, coins: &[bool]) -> Table {
        let mut table = base.clone();
        for (i, &second) in coins.iter().enumerate().take(self.len()) {
            let (features, response) = self.row(i, second);
            table.push(&features, response);
        }
        table
    }

    /// The table before any coin is tossed: every row of the base twice, and both rows of each pair once.
    pub(crate) fn undecided(&self, base: &Table) -> Table {
        let mut table = base.clone();
        for row in 0..base.rows() {
            table.push(base.row(row), base.response()[row]);
        }
        for (features, response) in (0..self.len()).flat_map(|i| self.pair(i)) {
            table.push(&features, response);
        }
        table
    }

    /// The mean of the rows before any coin is tossed.
    pub(crate) fn undecided_mean(&self, base: &Table) -> Vec<f64> {
        let mut sum = vec![0.0; base.columns()];
        let mut add = |row: &[f64], times: f64| sum.iter_mut().zip(row).for_each(|(s, x)| *s += times * x);
        (0..base.rows()).for_each(|row| add(base.row(row), 1.0));
        (0..self.len()).flat_map(|i| self.pair(i)).for_each(|(row, _)| add(&row, 0.5));
        let n = (base.rows() + self.len()) as f64;
        sum.into_iter().map(|s| s / n).collect()
    }
}

/// The corner with these features at their upper ends, but for indicators of which an earlier one is already on.
fn corner(cells: &PublicBox, upper: &[bool]) -> Vec<f64> {
    let mut on: Vec<usize> = Vec::new();
    (0..upper.len())
        .map(|j| {
            let (low, high) = cells.features[j];
            if !upper[j] {
                return low;
            }
            if let Some(category) = cells.categories[j] {
                if on.contains(&category) {
                    return low;
                }
                on.push(category);
            }
            high
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_nearly_orthogonal_and_pairs_opposite() {
        let mut rng = RandomSource::insecure_seeded(5);
        let cells = PublicBox::even(1_000, (-1.0, 1.0), false, (0.0, 1.0));
        let canaries = Canaries::new(600, &cells, Opposite::Response, &mut rng).unwrap();
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let rows: Vec<Vec<f64>> = (0..600).map(|i| canaries.pair(i)[0].0.clone()).collect();
        for i in 0..600 {
            let [(x, y), (same, other)] = canaries.pair(i);
            assert!(x == same && y + other == 1.0 && inner(&x, &x) == 1_000.0);
            // 24 columns of the matrix are missing.
            assert!((0..i).all(|j| inner(&x, &rows[j]).abs() <= 24.0));
        }
        let canaries = Canaries::new(9, &cells, Opposite::Features, &mut rng).unwrap();
        for i in 0..9 {
            let [(x, y), (opposite, same)] = canaries.pair(i);
            assert!(y == same && inner(&x, &opposite) == -1_000.0);
        }
    }

    #[test]
    fn constants_stay_and_a_category_has_one_level_at_most() {
        let mut rng = RandomSource::insecure_seeded(6);
        let cells = PublicBox {
            features: vec![(1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-1.0, 1.0)],
            categories: vec![None, Some(0), Some(0), Some(0), None],
            response: (-1.0, 1.0),
        };
        let canaries = Canaries::new(40, &cells, Opposite::Features, &mut rng).unwrap();
        for (x, _) in (0..40).flat_map(|i| canaries.pair(i)) {
            assert!(x[0] == 1.0 && x[1] + x[2] + x[3] <= 1.0 && x[4].abs() == 1.0);
        }
        assert!(Canaries::new(0, &cells, Opposite::Features, &mut rng).is_err());
    }

    #[test]
    fn another_coin_replaces_one_row() {
        let mut rng = RandomSource::insecure_seeded(7);
        let base = Table::new(2, vec![0.25; 6], vec![1.0; 3]).unwrap();
        let cells = PublicBox::even(2, (-1.0, 1.0), false, (0.0, 1.0));
        let canaries = Canaries::new(4, &cells, Opposite::Response, &mut rng).unwrap();
        let one = canaries.plant(&base, &[false; 4]);
        let other = canaries.plant(&base, &[false, false, true, false]);
        assert_eq!((one.rows(), one.rows_that_differ(&other)), (7, Some(1)));
        let undecided = canaries.undecided(&base);
        assert_eq!(undecided.rows(), 14);
        for (j, mean) in canaries.undecided_mean(&base).into_iter().enumerate() {
            let sum: f64 = (0..14).map(|i| undecided.row(i)[j]).sum();
            assert!((mean - sum / 14.0).abs() < 1e-15, "{mean} {sum}");
        }
    }
}
