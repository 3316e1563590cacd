//! Private rows with their public frame: design, response, and who counts as one person.

use super::clipping::clip_l2;
use super::unit_sums::{self, UnitSum};
use super::{Design, Shape};
use crate::error::{Error, Parameter, Result};
use crate::privacy::Adjacency;

/// Largest number of rows. Error bounds of sums are taken for this many, because the true number of rows is private
/// where a unit may have several.
pub(crate) const MOST_ROWS: usize = 1 << 36;

/// Rows of one unit that count; further ones count nothing. Each row of a unit is rounded by itself in a sum, so their number is limited;
/// the limit is far beyond what a person has in a table.
pub const MOST_UNIT_ROWS: u32 = 1 << 14;

/// Exposures beyond these count as the nearer of them.
const EXPOSURES: (f64, f64) = (1e-15, 1e15);

/// A design with its response, and optionally weights, offsets and units.
#[derive(Clone)]
pub struct Dataset {
    design: Design,
    response: Vec<f64>,
    weights: Option<Vec<f64>>,
    offsets: Option<Vec<f64>>,
    sample_weights: Option<Vec<f64>>,
    units: Option<Units>,
}

/// Which rows belong to one unit of privacy.
#[derive(Clone)]
struct Units {
    /// The unit of each row.
    of_row: Vec<u32>,
    count: usize,
    /// What a unit is, for the certificate; `None` if it is a row of another table, of which these rows were made.
    name: Option<String>,
    /// The rows beyond [`MOST_UNIT_ROWS`] of a unit, ascending.
    beyond: Vec<usize>,
}

impl Dataset {
    /// Rows with their responses; each row is a person of its own.
    pub fn new(design: Design, response: Vec<f64>) -> Result<Self> {
        require_rows("response", design.rows(), response.len())?;
        if design.rows() > MOST_ROWS {
            return Err(Error::Conflict("more than 2^36 rows: fit a sample of them".into()));
        }
        Ok(Self { design, response, weights: None, offsets: None, sample_weights: None, units: None })
    }

    /// With a weight of 0 or 1 per row: rows of weight zero stay counted and contribute nothing.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        require_rows("weights", self.design.rows(), weights.len())?;
        self.weights = Some(weights.into_iter().map(|w| f64::from(u8::from(w > 0.0))).collect());
        Ok(self)
    }

    /// With an exposure per row, whose logarithm is added to the linear predictor. Measure exposures in units of their
    /// public maximum: the planner expects them in (0, 1]. A non-positive exposure is a bad cell: its row counts as one
    /// of exposure `fill`.
    pub fn with_exposures(mut self, exposures: &[f64], fill: f64) -> Result<Self> {
        require_rows("exposures", self.design.rows(), exposures.len())?;
        let (least, largest) = EXPOSURES;
        if !(least..=largest).contains(&fill) {
            return Err(Error::OutOfRange {
                parameter: Parameter::ExposureFill,
                range: "within [1e-15, 1e15]",
                value: fill.to_string(),
                remedy: "give a public value for rows of bad exposure",
            });
        }
        let admit = |e: f64| if e.is_finite() && e > 0.0 { e.clamp(least, largest) } else { fill };
        self.offsets = Some(exposures.iter().map(|&e| admit(e).ln()).collect());
        Ok(self)
    }

    /// With a sampling weight per row, as of a survey: how many people the row stands for. Measure weights in units of their public
    /// maximum: they are clamped to [0, 1], and what is not a number counts as `fill`.
    pub fn with_sample_weights(mut self, weights: &[f64], fill: f64) -> Result<Self> {
        require_rows("sample weights", self.design.rows(), weights.len())?;
        if !(0.0..=1.0).contains(&fill) {
            return Err(Error::OutOfRange {
                parameter: Parameter::SampleWeight,
                range: "within [0, 1] for rows of bad weight",
                value: fill.to_string(),
                remedy: "give a public value in units of the largest weight",
            });
        }
        let admit = |w: f64| if w.is_nan() { fill } else { w.clamp(0.0, 1.0) };
        self.sample_weights = Some(weights.iter().map(|&w| admit(w)).collect());
        Ok(self)
    }

    /// With the unit of each row, numbered from 0 below `count`; `name` says what a unit is ("patient"). Of a unit's rows the first
    /// 16,384 count.
    pub fn with_units(mut self, of_row: Vec<u32>, count: usize, name: impl Into<String>) -> Result<Self> {
        require_rows("units", self.design.rows(), of_row.len())?;
        if of_row.iter().any(|&u| u as usize >= count) {
            return Err(Error::Conflict(format!(
                "units are numbered from 0 below {count}: number them anew"
            )));
        }
        let mut seen = vec![0_u32; count];
        let mut beyond = Vec::new();
        for (row, &unit) in of_row.iter().enumerate() {
            let seen = &mut seen[unit as usize];
            *seen = seen.saturating_add(1);
            if *seen > MOST_UNIT_ROWS {
                beyond.push(row);
            }
        }
        self.units = Some(Units { of_row, count, name: Some(name.into()), beyond });
        Ok(self)
    }

    /// With the row of another table, numbered from 0 below `count`, of which each row was made: the rows of one are protected together, as a
    /// unit's are, and nobody else's. Of these the first 16,384 count.
    pub fn with_rows_made_of(self, of_row: Vec<u32>, count: usize) -> Result<Self> {
        let mut data = self.with_units(of_row, count, "row")?;
        if let Some(units) = &mut data.units {
            units.name = None;
        }
        Ok(data)
    }

    /// The features.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The responses.
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// The number of units: people, or rows where each row is a person. Public.
    pub fn units(&self) -> usize {
        self.units.as_ref().map_or(self.design.rows(), |u| u.count)
    }

    /// What a unit is called, if rows are not units.
    pub(crate) fn unit_name(&self) -> Option<&str> {
        self.units.as_ref().map(|u| u.name.as_deref().unwrap_or("row"))
    }

    /// Who is protected.
    pub(crate) fn adjacency(&self) -> Adjacency {
        let name = self.units.as_ref().and_then(|units| units.name.clone());
        name.map_or(Adjacency::ReplaceRow, Adjacency::ReplaceUnit)
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        let beyond = |u: &Units| !u.beyond.is_empty() && u.beyond.binary_search(&row).is_ok();
        if self.units.as_ref().is_some_and(beyond) {
            return 0.0;
        }
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    pub(crate) fn offset(&self, row: usize) -> f64 {
        self.offsets.as_ref().map_or(0.0, |o| o[row])
    }

    /// The row's sampling weight in units of the largest; 1 where there are none.
    pub(crate) fn sample_weight(&self, row: usize) -> f64 {
        self.sample_weights.as_ref().map_or(1.0, |w| w[row])
    }

    /// Whether rows may have weight zero: public, whichever have it.
    pub(crate) fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// What is public of it.
    pub fn shape(&self) -> Shape {
        Shape {
            columns: self.design.columns(),
            units: self.units(),
            grouped: self.units.is_some(),
            dropped: self.weights.is_some(),
            exposures: self.offsets.is_some(),
            weighted: self.sample_weights.is_some(),
        }
    }

    pub(crate) fn has_offsets(&self) -> bool {
        self.offsets.is_some()
    }

    pub(crate) fn unit_of(&self, row: usize) -> usize {
        self.units.as_ref().map_or(row, |u| u.of_row[row] as usize)
    }

    /// The same people with other entries, of as many rows.
    pub(crate) fn with_design(&self, design: Design) -> Self {
        Self { design, ..self.clone() }
    }

    /// The sum over each unit's rows of `value(row)`, within `2^-52` of the sum of their sizes, however many rows a unit has and in
    /// whatever order ([`unit_sums`](super::unit_sums)). Whole numbers are added exactly.
    pub(crate) fn sum_by_unit(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let values: Vec<f64> = (0..self.design.rows()).map(value).collect();
        let Some(units) = &self.units else { return values };
        let mut sums = vec![UnitSum::new(); units.count];
        let each = || units.of_row.iter().zip(&values);
        each().for_each(|(&unit, &x)| sums[unit as usize].see(x));
        each().for_each(|(&unit, &x)| sums[unit as usize].add(x));
        sums.iter().map(UnitSum::value).collect()
    }

    /// Those of one number per unit that belong to units which count: that have a row of weight above zero. A unit's replacement
    /// replaces its number, takes it away or adds it.
    pub(crate) fn counted(&self, values: Vec<f64>) -> Vec<f64> {
        if self.weights.is_none() && self.units.is_none() {
            return values;
        }
        let weights = self.sum_by_unit(|row| self.weight(row));
        values.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).map(|(value, _)| value).collect()
    }

    /// The sum over each unit's rows of `value(row) * entry(column, x)`, in whatever order they are, as a design with one row per unit. Sums of
    /// many rows round: each is clipped to l2 norm `bound` as computed.
    pub(crate) fn score_sums(
        &self,
        value: impl Fn(usize) -> f64,
        entry: impl Fn(usize, f64) -> f64,
        bound: f64,
    ) -> Result<Design> {
        let d = self.design.columns();
        let mut sums = vec![0.0; self.units() * d];
        let (mut products, mut column) = (Vec::new(), Vec::new());
        self.for_each_unit(|unit, rows| {
            products.clear();
            for &row in rows {
                let weight = value(row);
                products.extend(self.design.row(row).enumerate().map(|(j, x)| weight * entry(j, x)));
            }
            for (j, out) in sums[unit * d..][..d].iter_mut().enumerate() {
                column.clear();
                column.extend(products.iter().skip(j).step_by(d));
                *out = unit_sums::sum(&column);
            }
        });
        sums.chunks_exact_mut(d).for_each(|sum| clip_l2(sum, bound));
        Design::from_f64(self.units(), d, sums)
    }

    /// Calls `each` with every unit that has rows, and these.
    fn for_each_unit(&self, mut each: impl FnMut(usize, &[usize])) {
        let Some(units) = &self.units else {
            return (0..self.design.rows()).for_each(|row| each(row, &[row]));
        };
        let mut order: Vec<usize> = (0..units.of_row.len()).collect();
        order.sort_by_key(|&row| units.of_row[row]);
        for rows in order.chunk_by(|&a, &b| units.of_row[a] == units.of_row[b]) {
            each(units.of_row[rows[0]] as usize, rows);
        }
    }

    /// The same people with the given columns of the design only.
    pub(crate) fn with_columns(&self, columns: &[usize]) -> Result<Self> {
        Ok(self.with_design(self.design.select_columns(columns)?))
    }

    /// The same rows, of whatever storage, in double precision: so that they can be measured from a centre.
    pub(crate) fn in_doubles(self) -> Result<Self> {
        if self.design.can_be_centred() {
            return Ok(self);
        }
        let (rows, columns) = (self.design.rows(), self.design.columns());
        let entries = (0..rows).flat_map(|row| self.design.row(row)).collect();
        Ok(Self { design: Design::from_f64(rows, columns, entries)?, ..self })
    }

    /// The rows for which `keep` holds, in order, stored densely in double precision. Each row is its own unit.
    pub(crate) fn with_rows_where(&self, keep: impl Fn(usize) -> bool) -> Result<Self> {
        let columns = self.design.columns();
        let rows: Vec<usize> = (0..self.design.rows()).filter(|&row| keep(row)).collect();
        let mut entries = Vec::with_capacity(columns * rows.len());
        rows.iter().for_each(|&row| entries.extend(self.design.row(row)));
        let pick = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
        Ok(Self {
            response: pick(&self.response),
            weights: self.weights.as_deref().map(pick),
            offsets: self.offsets.as_deref().map(pick),
            sample_weights: self.sample_weights.as_deref().map(pick),
            units: None,
            design: Design::from_f64(rows.len(), columns, entries)?,
        })
    }
}

impl std::fmt::Debug for Dataset {
    /// Shape only: rows are private.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dataset({:?}, {} units)", self.design, self.units())
    }
}

fn require_rows(what: &str, rows: usize, got: usize) -> Result<()> {
    if rows == got {
        return Ok(());
    }
    Err(Error::Conflict(format!("{got} {what} for {rows} rows: there must be one per row")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that were made of one row are protected together, and no column says so.
    #[test]
    fn rows_made_of_one_are_grouped_and_promise_no_more_than_that_row() {
        let rows = || Dataset::new(Design::from_i8(3, 1, vec![0; 3], 1.0).unwrap(), vec![0.0; 3]).unwrap();
        let made = rows().with_rows_made_of(vec![0, 0, 1], 2).unwrap();
        assert!(made.shape().grouped && made.units() == 2 && made.unit_name() == Some("row"));
        assert_eq!(made.adjacency(), Adjacency::ReplaceRow);
        let named = rows().with_units(vec![0, 0, 1], 2, "row").unwrap();
        assert_eq!(named.adjacency(), Adjacency::ReplaceUnit("row".into()));
    }

    /// One row of size 1, then rows that a plain sum would lose one by one: 1.9e-9 of the whole.
    #[test]
    fn a_unit_of_many_rows_is_added_up_to_a_ten_billionth() {
        let rows = 1 << 24;
        let data = Dataset::new(Design::from_i8(rows, 1, vec![0; rows], 1.0).unwrap(), vec![0.0; rows]);
        let data = data.and_then(|d| d.with_units(vec![0; rows], 1, "person")).unwrap();
        let small = 0.99 * 2f64.powi(-53);
        let sum = data.sum_by_unit(|row| if row == 0 { 1.0 } else { small })[0];
        let exact = 1.0 + (rows - 1) as f64 * small;
        assert!((sum / exact - 1.0).abs() < 1e-10, "{}", sum / exact - 1.0);
        assert_eq!(data.sum_by_unit(|_| 1.0), [rows as f64]);
    }

    /// Whatever a unit's further rows are, nothing sees them, and others' rows stay.
    #[test]
    fn a_unit_has_so_many_rows_that_count() {
        let most = MOST_UNIT_ROWS as usize;
        let rows = most + 4;
        let mut of_row = vec![0; rows];
        (of_row[1], of_row[rows - 1]) = (1, 1);
        let data = Dataset::new(Design::from_i8(rows, 1, vec![0; rows], 1.0).unwrap(), vec![0.0; rows]);
        let data = data.and_then(|d| d.with_units(of_row, 2, "person")).unwrap();
        let counted = data.sum_by_unit(|row| data.weight(row));
        assert_eq!(counted, [most as f64, 2.0]);
        assert_eq!((data.weight(most), data.weight(most + 1), data.weight(rows - 1)), (1.0, 0.0, 1.0));
        // Whether rows may be dropped is public, and does not follow from private rows.
        assert!(!data.has_weights() && !data.shape().dropped);
    }

    #[test]
    fn sums_of_scores_are_clipped_as_computed() {
        let design = Design::from_f64(3, 2, vec![3.0, 4.0, 3.0, 4.0, 0.1, 0.0]).unwrap();
        let data = Dataset::new(design, vec![0.0; 3]).and_then(|d| d.with_units(vec![0, 0, 1], 2, "person"));
        let sums = data.unwrap().score_sums(|_| 1.0, |_, x| x, 5.0).unwrap();
        let rows: Vec<Vec<f64>> = (0..2).map(|unit| sums.row(unit).collect()).collect();
        let norm = rows[0][0].hypot(rows[0][1]);
        assert!(norm <= 5.0 && norm > 5.0 - 1e-12 && (rows[0][0] - 3.0).abs() < 1e-12, "{rows:?}");
        assert_eq!(rows[1], [0.1, 0.0]);
    }

    /// Units count that have a row of weight above zero.
    #[test]
    fn units_without_weight_do_not_count() {
        let design = Design::from_f64(4, 1, vec![1.0; 4]).unwrap();
        let data = Dataset::new(design, vec![0.0; 4]).unwrap();
        assert_eq!(data.counted(vec![1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0]);
        let weighted = data.clone().with_weights(vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(weighted.counted(vec![1.0, 2.0, 3.0, 4.0]), [1.0, 4.0]);
        let units = weighted.with_units(vec![0, 0, 1, 3], 4, "person").unwrap();
        assert_eq!(units.counted(vec![1.0, 2.0, 3.0, 4.0]), [1.0, 4.0]);
    }

    #[test]
    fn exposures_are_bounded() {
        let data = Dataset::new(Design::from_f64(2, 1, vec![1.0; 2]).unwrap(), vec![0.0; 2]).unwrap();
        for fill in [0.0, f64::NAN, 1e-16, 1e16] {
            let message = data.clone().with_exposures(&[1.0, 1.0], fill).unwrap_err().to_string();
            assert!(message.contains("within [1e-15, 1e15]"), "{message}");
        }
        let data = data.with_exposures(&[1e300, f64::NAN], 0.5).unwrap();
        assert_eq!([data.offset(0), data.offset(1)], [1e15_f64.ln(), 0.5_f64.ln()]);
    }
}
