//! One row per unit: the mean of the unit's rows.
//!
//! Means protect the replacement of one row of their table. Where a person has several rows, the table of unit means has one
//! row per person, and a private mean of it protects all rows of a person together.
//!
//! # Algorithm
//! 1. Clamp every entry to its column's public range.
//! 2. For each unit, add up its rows, of which the first 16,384 count, and divide by their number.
//! 3. Clamp again: what rounding has moved out of the range is moved back.
//!
//! # Why private
//! Row `u` of the result is a function of the rows of unit `u` alone, whatever rounding does, and the number of units is public.
//! So replacing all rows of one unit, by more or fewer others, replaces one row of the result. By step 3 that row lies in the
//! public ranges for every data set. Units are numbered as the caller likes, often as they first appear: another number moves a row
//! to another place, which the means of [`crate::central`] do not look at (ranks and whole counts do not depend on the order of rows;
//! sums do by rounding alone, and their sensitivities count that for every order). A method that looks at places takes no
//! [`UnitMeans`].
//!
//! What is estimated is the mean over people of their own means: everybody counts once, however many rows there are.

use super::dataset::MOST_UNIT_ROWS;
use super::design::{Design, Storage};
use super::{MOST_ROWS, Shape, Values};
use crate::error::{Error, Parameter, Result};
use crate::privacy::Adjacency;

/// A table whose rows are people, of which means are taken.
pub trait MeanTable {
    /// The rows.
    fn design(&self) -> &Design;

    /// What is replaced in the data when one row of the design is replaced.
    fn adjacency(&self) -> Adjacency;

    /// What is public of it.
    fn shape(&self) -> Shape {
        Shape::new(self.design().columns(), self.design().rows())
    }
}

impl MeanTable for Design {
    fn design(&self) -> &Design {
        self
    }

    fn adjacency(&self) -> Adjacency {
        Adjacency::ReplaceRow
    }
}

/// A table with one row per unit, the mean of the unit's rows.
#[derive(Clone, PartialEq)]
pub struct UnitMeans {
    design: Design,
    name: String,
}

impl MeanTable for UnitMeans {
    fn design(&self) -> &Design {
        &self.design
    }

    fn adjacency(&self) -> Adjacency {
        Adjacency::ReplaceUnit(self.name.clone())
    }
}

impl UnitMeans {
    /// The means of the rows of `units` units, numbered from 0 in `of_row`; `name` says what a unit is ("patient"). Entries count as
    /// the nearest end of their column's range, and a unit without rows as a row of zeros. Of a unit's rows the first 16,384 count.
    pub fn new(
        rows: &Design,
        ranges: &[(f64, f64)],
        of_row: &[u32],
        units: usize,
        name: impl Into<String>,
    ) -> Result<Self> {
        let (n, d) = (rows.rows(), rows.columns());
        if ranges.len() != d || of_row.len() != n || n > MOST_ROWS {
            return Err(Error::Conflict(format!(
                "{} ranges and {} units' numbers for {n} rows of {d} columns: there must be one per column and one per row, and \
                 at most 2^36 rows",
                ranges.len(),
                of_row.len()
            )));
        }
        if let Some((low, high)) =
            ranges.iter().find(|(low, high)| low.is_nan() || high.is_nan() || low > high)
        {
            return Err(Error::OutOfRange {
                parameter: Parameter::Range,
                range: "two numbers, the lower first",
                value: format!("[{low}, {high}]"),
                remedy: "declare the public range of each column",
            });
        }
        let order = by_unit(of_row, units)?;
        let mut out = Rows::like(rows, units);
        let mut sums = vec![0.0; d];
        let mut start = 0;
        for unit in 0..units {
            let length = order[start..].iter().take_while(|&&row| of_row[row] as usize == unit).count();
            sums.fill(0.0);
            let counted = length.min(MOST_UNIT_ROWS as usize);
            for &row in &order[start..start + counted] {
                // Steps 1 and 2. Entries are at most 1e30 and rows at most 2^36: sums stay finite.
                for ((sum, x), (low, high)) in sums.iter_mut().zip(rows.row(row)).zip(ranges) {
                    *sum += x.clamp(*low, *high);
                }
            }
            // Step 3
            let count = counted.max(1) as f64;
            out.push(sums.iter().zip(ranges).map(|(sum, (low, high))| (sum / count).clamp(*low, *high)));
            start += length;
        }
        Ok(Self { design: out.finish(units, d)?, name: name.into() })
    }
}

/// The rows, those of a unit side by side.
fn by_unit(of_row: &[u32], units: usize) -> Result<Vec<usize>> {
    if of_row.iter().any(|&unit| unit as usize >= units) {
        return Err(Error::Conflict(format!("units are numbered from 0 below {units}: number them again")));
    }
    let mut order: Vec<usize> = (0..of_row.len()).collect();
    order.sort_by_key(|&row| of_row[row]);
    Ok(order)
}

/// Rows under construction: dense, or, for sparse rows, without their zeros.
enum Rows {
    Dense(Vec<f64>),
    Sparse { offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f64> },
}

impl Rows {
    fn like(design: &Design, units: usize) -> Self {
        match design.storage() {
            Storage::Csr(_) => Self::Sparse { offsets: vec![0], indices: Vec::new(), values: Vec::new() },
            _ => Self::Dense(Vec::with_capacity(units * design.columns())),
        }
    }

    fn push(&mut self, row: impl Iterator<Item = f64>) {
        match self {
            Self::Dense(entries) => entries.extend(row),
            Self::Sparse { offsets, indices, values } => {
                for (column, x) in (0_u32..).zip(row).filter(|(_, x)| *x != 0.0) {
                    indices.push(column);
                    values.push(x);
                }
                offsets.push(indices.len());
            }
        }
    }

    fn finish(self, units: usize, columns: usize) -> Result<Design> {
        match self {
            Self::Dense(entries) => Design::from_f64(units, columns, entries),
            Self::Sparse { offsets, indices, values } => {
                Design::from_csr(columns, offsets, indices, Values::F64(values))
            }
        }
    }
}

impl std::fmt::Debug for UnitMeans {
    /// Shape only: rows are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UnitMeans({:?})", self.design)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::central::{Privacy, PrivateMean, SparseMean};
    use crate::noise::RandomSource;
    use crate::privacy::Budget;
    use crate::release::Estimator;

    fn rows(design: &Design) -> Vec<Vec<f64>> {
        (0..design.rows()).map(|row| design.row(row).collect()).collect()
    }

    #[test]
    fn a_unit_counts_as_the_mean_of_its_clamped_rows() {
        let entries = vec![1.0, 2.0, 5.0, 0.0, -9.0, 1.0, 0.0, 4.0];
        let units = [2, 0, 2, 0];
        let table = Design::from_f64(4, 2, entries).unwrap();
        let ranges = [(-1.0, 3.0), (0.0, 2.0)];
        let means = UnitMeans::new(&table, &ranges, &units, 3, "person").unwrap();
        assert_eq!(rows(means.design()), [[1.5, 1.0], [0.0, 0.0], [0.0, 1.5]]);
        assert_eq!(means.adjacency(), Adjacency::ReplaceUnit("person".into()));
        assert_eq!(format!("{means:?}"), "UnitMeans(Design(3 rows, 2 columns))");
        // Sparse rows stay sparse, with the same numbers.
        let (offsets, indices) = (vec![0, 2, 3, 5, 6], vec![0, 1, 0, 0, 1, 1]);
        let values = Values::F64(vec![1.0, 2.0, 5.0, -9.0, 1.0, 4.0]);
        let sparse = Design::from_csr(2, offsets, indices, values).unwrap();
        let sparse = UnitMeans::new(&sparse, &ranges, &units, 3, "person").unwrap();
        assert!(matches!(sparse.design().storage(), Storage::Csr(_)));
        assert_eq!(rows(sparse.design()), rows(means.design()));
    }

    /// Whatever a unit's rows are replaced by, and however many they are, one row of the means changes and stays in its ranges.
    #[test]
    fn replacing_a_unit_replaces_one_row_within_the_ranges() {
        let rng = &mut RandomSource::insecure_seeded(0x756e_6974);
        let wild = [f64::NAN, f64::INFINITY, -1e300, 0.1, 0.3, -0.7, 1e-300, 0.0];
        let ranges = [(-0.7, 0.1), (0.1, 0.3), (-1e30, 1e30)];
        for _ in 0..2_000 {
            let mut draw = |count: usize, unit: Option<u32>| {
                let units: Vec<u32> = (0..count).map(|_| unit.unwrap_or(1 + rng.below(4) as u32)).collect();
                let cells: Vec<f64> =
                    (0..3 * count).map(|_| wild[rng.below(wild.len() as u64) as usize]).collect();
                (cells, units)
            };
            let (others, of_others) = draw(9, None);
            let of = |(cells, units): (Vec<f64>, Vec<u32>)| {
                let units = [&units[..], &of_others].concat();
                let design = Design::from_f64(units.len(), 3, [&cells[..], &others].concat()).unwrap();
                rows(UnitMeans::new(&design, &ranges, &units, 5, "person").unwrap().design())
            };
            let (left, right) = (of(draw(1, Some(0))), of(draw(5, Some(0))));
            assert_eq!(left[1..], right[1..]);
            for row in left.iter().chain(&right) {
                for (x, (low, high)) in row.iter().zip(ranges) {
                    // A unit without rows has zeros, clamped.
                    assert!(low <= *x && *x <= high, "{x} is outside [{low}, {high}]");
                }
            }
        }
    }

    #[test]
    fn of_a_unit_so_many_rows_count() {
        let most = MOST_UNIT_ROWS as usize;
        let mut cells = vec![0.25; most];
        cells.extend([1.0; 100]);
        let units = vec![0; cells.len()];
        let table = Design::from_f64(cells.len(), 1, cells).unwrap();
        let means = UnitMeans::new(&table, &[(0.0, 1.0)], &units, 1, "person").unwrap();
        assert_eq!(rows(means.design()), [[0.25]]);
    }

    #[test]
    fn means_of_units_promise_units() {
        let table = Design::from_f64(60, 2, (0..120).map(|i| f64::from(i % 7) / 7.0).collect()).unwrap();
        let units: Vec<u32> = (0..60).map(|i| i / 3).collect();
        let ranges = vec![(0.0, 1.0); 2];
        let means = UnitMeans::new(&table, &ranges, &units, 20, "person").unwrap();
        let privacy = Privacy::Budget(Budget::new(1.0, 1e-6).unwrap());
        let rng = &mut RandomSource::from_os().unwrap();
        let dense = PrivateMean::new(ranges.clone()).unwrap().fit(&means, privacy, rng).unwrap();
        let sparse = SparseMean::new(ranges, 1).unwrap().fit(&means, privacy, rng).unwrap().fit;
        for fit in [dense, sparse] {
            assert_eq!(*fit.certificate.adjacency(), Adjacency::ReplaceUnit("person".into()));
            let enforced = fit.certificate.enforced().join("; ");
            assert!(enforced.contains("all rows of one person count as one row, their mean"), "{enforced}");
        }
    }

    #[test]
    fn wrong_numbers_are_refused() {
        let table = Design::from_f64(2, 1, vec![0.0, 1.0]).unwrap();
        let says = |ranges: &[(f64, f64)], units: &[u32], count: usize, what: &str| {
            let message = UnitMeans::new(&table, ranges, units, count, "person").unwrap_err().to_string();
            assert!(message.contains(what), "no {what:?} in: {message}");
        };
        says(&[(0.0, 1.0)], &[0], 1, "one per row");
        says(&[], &[0, 0], 1, "one per column");
        says(&[(0.0, 1.0)], &[0, 1], 1, "below 1");
        says(&[(1.0, 0.0)], &[0, 0], 1, "the lower first");
        says(&[(f64::NAN, 0.0)], &[0, 0], 1, "the lower first");
        says(&[(0.0, 1.0)], &[], 0, "one per row");
    }
}
