//! The rows that means are taken of: entries, and optionally who they belong to, what they weigh, which cells are missing, and
//! which group each row is in.

use crate::data::Design;
use crate::data::dataset::{MOST_ROWS, MOST_UNIT_ROWS};
use crate::error::{Error, Parameter, Result};

/// What is public of the rows beside their columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanShape {
    /// People, or rows where each row is a person.
    pub units: usize,
    /// Whether a person may have several rows.
    pub grouped: bool,
    /// Whether rows have weights.
    pub weighted: bool,
    /// Whether cells may be missing, and are counted out.
    pub missing: bool,
    /// The number of groups whose means are taken apart.
    pub groups: Option<usize>,
}

impl MeanShape {
    /// One row a person, all of them counted.
    pub fn new(units: usize) -> Self {
        Self { units, ..Self::default() }
    }

    /// Whether the number of rows that count has to be released.
    pub(crate) fn uncertain(&self) -> bool {
        self.weighted || self.missing || self.groups.is_some()
    }
}

/// Private rows with their public frame.
#[derive(Clone)]
pub struct MeanRows<'a> {
    design: &'a Design,
    units: Option<Units<'a>>,
    /// One per row, in [0, 1].
    weights: Option<Vec<f64>>,
    /// Row after row, one per block: whether the cell is missing.
    missing: Option<&'a [bool]>,
    blocks: usize,
    groups: Option<(&'a [u32], usize)>,
}

#[derive(Clone)]
struct Units<'a> {
    name: &'a str,
    of_row: &'a [u32],
    count: usize,
    /// The rows, those of a unit side by side.
    order: Vec<usize>,
}

impl<'a> MeanRows<'a> {
    /// Rows of a design, each a person of its own.
    pub fn new(design: &'a Design) -> Result<Self> {
        if design.rows() > MOST_ROWS {
            return Err(Error::Conflict("more than 2^36 rows: take a sample of them".into()));
        }
        Ok(Self { design, units: None, weights: None, missing: None, blocks: 0, groups: None })
    }

    fn require(&self, what: &str, given: usize, rows: usize) -> Result<()> {
        if given == rows {
            return Ok(());
        }
        Err(Error::Conflict(format!("{given} {what} for {rows} rows: give one per row")))
    }

    /// With the unit of each row, numbered from 0 below `count`; `name` says what a unit is ("patient"). The rows of a unit share one
    /// vote: each counts as one over their number. Of a unit's rows the first 16,384 count, as in a fit: one unit's may be no more than a public
    /// number, which a table that is read in blocks rests on.
    pub fn with_units(mut self, of_row: &'a [u32], count: usize, name: &'a str) -> Result<Self> {
        self.require("units' numbers", of_row.len(), self.design.rows())?;
        if of_row.iter().any(|&unit| unit as usize >= count) {
            return Err(Error::Conflict(format!(
                "units are numbered from 0 below {count}: number them again"
            )));
        }
        let mut order: Vec<usize> = (0..of_row.len()).collect();
        order.sort_by_key(|&row| of_row[row]);
        self.units = Some(Units { name, of_row, count, order });
        Ok(self)
    }

    /// With a weight per row, at most `largest`, which is public; what lies outside counts as the nearest end, what is not a number
    /// as 0.
    pub fn with_weights(mut self, weights: &[f64], largest: f64) -> Result<Self> {
        self.require("weights", weights.len(), self.design.rows())?;
        if !(largest > 0.0 && largest.is_finite()) {
            return Err(Error::OutOfRange {
                parameter: Parameter::LargestWeight,
                range: "above 0",
                value: largest.to_string(),
                remedy: "declare the largest weight a row may have",
            });
        }
        let share = |w: &f64| if w.is_nan() { 0.0 } else { (w / largest).clamp(0.0, 1.0) };
        self.weights = Some(weights.iter().map(share).collect());
        Ok(self)
    }

    /// With cells that are missing, row after row, one per block (a category is one): they are counted out.
    pub fn with_missing(mut self, missing: &'a [bool], blocks: usize) -> Result<Self> {
        if Some(missing.len()) != self.design.rows().checked_mul(blocks) {
            return Err(Error::Conflict(format!(
                "{} marks of missing cells for {} rows of {blocks} columns: give one per cell",
                missing.len(),
                self.design.rows()
            )));
        }
        (self.missing, self.blocks) = (Some(missing), blocks);
        Ok(self)
    }

    /// With the group of each row, numbered from 0 below `count`: means are taken of each group. A row of another number is in none.
    pub fn with_groups(mut self, of_row: &'a [u32], count: usize) -> Result<Self> {
        self.require("groups' numbers", of_row.len(), self.design.rows())?;
        self.groups = Some((of_row, count));
        Ok(self)
    }

    /// How many columns the design has.
    pub(crate) fn columns(&self) -> usize {
        self.design.columns()
    }

    pub(super) fn design(&self) -> &'a Design {
        self.design
    }

    /// What is public of the rows.
    pub fn shape(&self) -> MeanShape {
        MeanShape {
            units: self.units.as_ref().map_or(self.design.rows(), |u| u.count),
            grouped: self.units.is_some(),
            weighted: self.weights.is_some(),
            missing: self.missing.is_some(),
            groups: self.groups.map(|(_, count)| count),
        }
    }

    /// Whether missing cells are marked by so many blocks, if at all.
    pub(super) fn marks(&self, blocks: usize) -> bool {
        self.missing.is_none() || self.blocks == blocks
    }

    pub(super) fn name_of_units(&self) -> Option<&str> {
        self.units.as_ref().map(|u| u.name)
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    pub(super) fn is_missing(&self, row: usize, block: usize) -> bool {
        self.missing.is_some_and(|m| m[row * self.blocks + block])
    }

    /// The group of a row; `None` for a row in no group.
    pub(super) fn group(&self, row: usize) -> Option<usize> {
        match self.groups {
            None => Some(0),
            Some((of_row, count)) => Some(of_row[row] as usize).filter(|&g| g < count),
        }
    }

    /// The level of a row in a category whose indicators begin at a column, the reference being 0.
    pub(super) fn level(&self, row: usize, column: usize, indicators: usize) -> usize {
        (0..indicators).find(|k| self.design.entry(row, column + k) > 0.5).map_or(0, |k| k + 1)
    }

    /// Whether a row's cell counts.
    pub(super) fn counts(&self, row: usize, block: usize) -> bool {
        self.weight(row) > 0.0 && !self.is_missing(row, block) && self.group(row).is_some()
    }

    /// Calls `each` with the rows of one unit after the other.
    pub(super) fn by_unit(&self, mut each: impl FnMut(&[usize])) {
        match &self.units {
            None => (0..self.design.rows()).for_each(|row| each(&[row])),
            Some(units) => {
                for rows in units.order.chunk_by(|&a, &b| units.of_row[a] == units.of_row[b]) {
                    each(&rows[..rows.len().min(MOST_UNIT_ROWS as usize)]);
                }
            }
        }
    }
}

impl std::fmt::Debug for MeanRows<'_> {
    /// Shapes only: the cells are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MeanRows({} rows, {} columns)", self.design.rows(), self.design.columns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one unit has in memory is bounded by a public number, whatever others have.
    #[test]
    fn of_a_unit_the_first_so_many_rows_count() {
        let most = MOST_UNIT_ROWS as usize;
        let count = most + 100;
        let mut of_row = vec![1_u32; count];
        (of_row[0], of_row[count - 1]) = (0, 0);
        let design = Design::from_i8(count, 1, vec![0; count], 1.0).unwrap();
        let rows = MeanRows::new(&design).and_then(|rows| rows.with_units(&of_row, 2, "person")).unwrap();
        let mut seen = Vec::new();
        rows.by_unit(|rows| seen.push(rows.to_vec()));
        assert_eq!(seen[0], [0, count - 1]);
        assert_eq!(seen[1], (1..=most).collect::<Vec<_>>());
    }
}
