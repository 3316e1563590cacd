//! Cells in, encoded table out: every reader writes straight into the buffers the table is made of.
//!
//! A table that is not to be held whole leaves in blocks: whenever a reader asks for room beyond a block, the rows so far are complete and are
//! given away. Rows are numbered within their file all the same.

use std::path::{Path, PathBuf};

use super::entries::{Entries, Layout, grow};
use super::numbering::Numbering;
use super::plan::{Plan, Purpose, Slot};
use super::{CuratorNotes, Encoded, EncodedColumn, Present, Target, Touched, Units};
use crate::bounds::Scaling;
use crate::cell::{Cell, Fault, Marks};
use crate::error::{Error, Place, Result};
use crate::formula::{Compiled, SourceKind};
use crate::schema::{Missing, Schema, Undeclared};

/// What the caller chose, apart from the schema.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub layout: Layout,
    pub strict: bool,
    pub constant_column: bool,
}

/// Where a table goes that is not held whole.
pub(crate) struct Flow<'g> {
    /// The rows of a block. A reader that puts several rows at a time may exceed it by those.
    pub rows: usize,
    /// Bytes that a reader may hold beside.
    pub spare: usize,
    /// Takes a block.
    pub give: &'g mut dyn FnMut(Encoded) -> Result<()>,
}

/// The table under construction.
pub(crate) struct Builder<'g> {
    path: PathBuf,
    flow: Option<Flow<'g>>,
    layout: Layout,
    /// The number of the first row that is held, among all rows of this file.
    first: isize,
    pub(super) strict: bool,
    intercept: bool,
    pub(super) missing: Missing,
    undeclared: Undeclared,
    marks: Marks,
    pub(super) slots: Vec<Slot>,
    columns: Vec<EncodedColumn>,
    /// Columns of ones before the features: 1 if a constant column was asked for and the model has an intercept.
    pub(super) constants: usize,
    target: Option<Target>,
    pub(super) touched: Vec<Touched>,
    pub(crate) rows: usize,
    pub(super) entries: Entries,
    response: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    exposure: Option<Vec<f64>>,
    sample_weight: Option<Vec<f64>>,
    units: Option<Numbering>,
    missing_cells: Option<MissingCells>,
    formula: Option<Terms>,
}

/// What a formula makes columns of.
struct Terms {
    formula: Compiled,
    /// The cells that it names, row after row.
    cells: Vec<f64>,
    /// Whether those of the response are read.
    has_response: bool,
}

/// Which cells are missing, where they are counted out.
struct MissingCells {
    /// The place of each slot among the declared features, in the order of the columns.
    places: Vec<Option<usize>>,
    features: usize,
    cells: Vec<bool>,
}

impl MissingCells {
    fn new(slots: &[Slot]) -> Self {
        let mut starts: Vec<usize> = slots.iter().filter_map(|slot| slot.purpose.feature()).collect();
        starts.sort_unstable();
        let place = |slot: &Slot| slot.purpose.feature().and_then(|at| starts.binary_search(&at).ok());
        Self { places: slots.iter().map(place).collect(), features: starts.len(), cells: Vec::new() }
    }
}

impl<'g> Builder<'g> {
    pub(crate) fn new(path: &Path, schema: &Schema, plan: Plan, settings: Settings) -> Self {
        let has = |f: fn(&Purpose) -> bool| plan.slots.iter().any(|slot| f(&slot.purpose));
        let present = Present::new(schema, &plan, &settings);
        let touched =
            plan.slots.iter().map(|s| Touched { column: s.name.clone(), ..Touched::default() }).collect();
        Self {
            path: path.to_path_buf(),
            flow: None,
            layout: settings.layout,
            first: 0,
            strict: settings.strict,
            intercept: schema.intercept(),
            missing: schema.missing(),
            undeclared: schema.undeclared(),
            marks: schema.marks(),
            touched,
            rows: 0,
            entries: Entries::new(settings.layout, present.constant),
            response: has(Purpose::is_target).then(Vec::new),
            weights: present.weights.then(Vec::new),
            exposure: present.exposure.then(Vec::new),
            sample_weight: present.sample_weight.then(Vec::new),
            units: present.units.then(Numbering::default),
            missing_cells: schema.counts_out().then(|| MissingCells::new(&plan.slots)),
            formula: plan.formula.map(|formula| Terms {
                formula,
                cells: Vec::new(),
                has_response: has(Purpose::is_target),
            }),
            slots: plan.slots,
            columns: plan.columns,
            constants: usize::from(present.constant),
            target: plan.target,
        }
    }

    /// The same, its rows given away in blocks.
    pub(crate) fn flowing(self, flow: Option<Flow<'g>>) -> Self {
        Self { flow, ..self }
    }

    /// Begins the next of several files. Its rows follow, numbered from 0.
    pub(crate) fn begin(&mut self, path: &Path) {
        self.path = path.to_path_buf();
        self.first = -(self.rows as isize);
    }

    /// How many rows a reader should put at a time, of so many that suit it; `None` if all rows are held.
    pub(crate) fn at_a_time(&self, suits: usize) -> Option<usize> {
        self.flow.as_ref().map(|flow| flow.rows.min(suits).max(1))
    }

    /// The bytes that a reader may hold, where rows are not all held.
    pub(crate) fn spare(&self) -> Option<usize> {
        self.flow.as_ref().map(|flow| flow.spare)
    }

    /// The place of a row among those that are held.
    #[inline]
    fn place(&self, row: usize) -> usize {
        (row as isize - self.first) as usize
    }

    /// Gives away the rows so far.
    fn give(&mut self) -> Result<()> {
        let block = self.take()?;
        self.first += block.rows() as isize;
        match &mut self.flow {
            Some(flow) => (flow.give)(block),
            None => Ok(()),
        }
    }

    /// The rows so far as a table; none are left.
    fn take(&mut self) -> Result<Encoded> {
        self.make_terms();
        let (rows, width) = (std::mem::take(&mut self.rows), self.width());
        let taken = |values: &mut Option<Vec<f64>>| values.as_mut().map(std::mem::take);
        let entries = std::mem::replace(&mut self.entries, Entries::new(self.layout, self.constants > 0));
        Ok(Encoded {
            design: entries.finish(rows, width)?,
            columns: self.columns.clone(),
            response: taken(&mut self.response).unwrap_or_default(),
            target: self.target.clone(),
            weights: taken(&mut self.weights),
            missing: self.missing_cells.as_mut().map(|m| std::mem::take(&mut m.cells)),
            exposure: taken(&mut self.exposure),
            sample_weight: taken(&mut self.sample_weight),
            units: self
                .units
                .as_mut()
                .map(|u| Units { count: u.count(), of_row: std::mem::take(&mut u.of_row) }),
            intercept: self.intercept,
            constant_column: self.constants > 0,
            curator: CuratorNotes(self.touched.clone()),
        })
    }

    /// The number of columns read.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The position in the file of the column in a slot.
    pub(crate) fn position(&self, slot: usize) -> usize {
        self.slots[slot].position
    }

    /// The width of a stored row.
    pub(super) fn width(&self) -> usize {
        self.constants + self.columns.len()
    }

    /// Makes room for at least `rows` rows of this file, all zero but for the constant column. Every cell of the rows before is put.
    pub(crate) fn ensure_rows(&mut self, rows: usize) -> Result<()> {
        if self.place(rows) <= self.rows {
            return Ok(());
        }
        if self.rows > 0 && self.flow.as_ref().is_some_and(|flow| self.place(rows) > flow.rows) {
            self.give()?;
        }
        let rows = self.place(rows);
        let width = self.width();
        let grown = self.entries.grow(rows, width)
            && self.response.as_mut().is_none_or(|v| grow(v, rows, 1, 0.0))
            && self.weights.as_mut().is_none_or(|v| grow(v, rows, 1, 1.0))
            && self.exposure.as_mut().is_none_or(|v| grow(v, rows, 1, 1.0))
            && self.sample_weight.as_mut().is_none_or(|v| grow(v, rows, 1, 1.0))
            && self.units.as_mut().is_none_or(|u| grow(&mut u.of_row, rows, 1, 0))
            && self.missing_cells.as_mut().is_none_or(|m| grow(&mut m.cells, rows, m.features, false))
            && self.formula.as_mut().is_none_or(|f| grow(&mut f.cells, rows, f.formula.cells.len(), 0.0));
        if !grown {
            return Err(Error::file(
                &self.path,
                Place::Whole,
                format!("{rows} rows of {} encoded columns do not fit in memory", self.columns.len()),
                "ignore columns, store single precision, or use a machine with more memory",
            ));
        }
        if self.constants > 0 {
            for row in self.rows..rows {
                self.entries.set_constant(row, width);
            }
        }
        self.rows = rows;
        Ok(())
    }

    /// Takes one cell by the public rule. The row must have been made room for. Fails in strict mode only.
    #[inline]
    pub(crate) fn put(&mut self, row: usize, slot: usize, cell: Cell<'_>) -> Result<()> {
        let in_file = row;
        let row = self.place(row);
        let marks = &self.marks;
        let (width, first_feature) = (self.width(), self.constants);
        let fault = match &self.slots[slot].purpose {
            Purpose::Number { at, numeric, scaling } => {
                let (value, fault) = numeric.decode(cell);
                self.entries.set(row, first_feature + at, width, value, scaling);
                fault
            }
            Purpose::Binary { at, levels, undeclared, scaling } => {
                let (level, fault) = levels.decode(cell, marks, *undeclared);
                self.entries.set(row, first_feature + at, width, level as f64, scaling);
                fault
            }
            Purpose::Indicators { first, levels, undeclared } => {
                let (level, fault) = levels.decode(cell, marks, *undeclared);
                if level != levels.reference {
                    let offset = level - usize::from(level > levels.reference);
                    let column = first_feature + first + offset;
                    self.entries.set(row, column, width, 1.0, &Scaling::INDICATOR);
                }
                fault
            }
            Purpose::NumberTarget(numeric) => {
                let (value, fault) = numeric.decode(cell);
                set(&mut self.response, row, value);
                fault
            }
            Purpose::LevelTarget(levels) => {
                let (level, fault) = levels.decode(cell, marks, levels.fill);
                set(&mut self.response, row, level as f64);
                fault
            }
            Purpose::Exposure(numeric) => {
                let (value, fault) = numeric.decode(cell);
                set(&mut self.exposure, row, value);
                fault
            }
            Purpose::SampleWeight(numeric) => {
                let (value, fault) = numeric.decode(cell);
                set(&mut self.sample_weight, row, value);
                fault
            }
            Purpose::Unit => self.put_unit(row, cell)?,
            Purpose::Term { cell: at, kind, undeclared, .. } => {
                let (value, fault) = match kind {
                    SourceKind::Number(numeric) => numeric.decode(cell),
                    SourceKind::Levels(levels) => {
                        let (level, fault) = levels.decode(cell, marks, *undeclared);
                        (level as f64, fault)
                    }
                };
                if let Some(terms) = &mut self.formula {
                    let width = terms.formula.cells.len();
                    terms.cells[row * width + at] = value;
                }
                fault
            }
        };
        match fault {
            None => Ok(()),
            Some(fault) => self.note(in_file, slot, fault),
        }
    }

    /// Makes the columns of a formula from the cells that it names.
    fn make_terms(&mut self) {
        let (width, first_feature) = (self.width(), self.constants);
        let Some(Terms { formula, cells, has_response }) = &mut self.formula else { return };
        let cells = std::mem::take(cells);
        // A formula of an intercept alone is refused, so there is a cell in each row.
        for (row, cells) in cells.chunks_exact(formula.cells.len().max(1)).enumerate() {
            for (j, (recipe, column)) in formula.recipes.iter().zip(&formula.columns).enumerate() {
                let value = recipe.value(cells);
                self.entries.set(row, first_feature + j, width, value, &column.scaling);
            }
            if let (true, Some((_, number))) = (*has_response, &formula.response) {
                set(&mut self.response, row, number.value(cells));
            }
        }
    }

    /// Leaves out an entry of a sparse row in a column beyond the declared ones: the public rule for an index that one
    /// private row may hold. Fails in strict mode only.
    pub(crate) fn leave_out(&mut self, row: usize) -> Result<()> {
        let column = format!("x{} and beyond", self.columns.len());
        if self.strict {
            return Err(Error::BadCell {
                path: self.path.clone(),
                row: row + 1,
                column,
                fault: "in a column beyond the declared number",
                rule: "it is left out",
            });
        }
        match self.touched.get_mut(self.slots.len()) {
            Some(beyond) => beyond.left_out += 1,
            None => self.touched.push(Touched { column, left_out: 1, ..Touched::default() }),
        }
        Ok(())
    }

    fn put_unit(&mut self, row: usize, cell: Cell<'_>) -> Result<Option<Fault>> {
        let Some(units) = &mut self.units else { return Ok(None) };
        let cell = if self.marks.cover(cell) { Cell::Missing } else { cell };
        units.of_row[row] = units.number(cell).ok_or_else(|| {
            let problem = "more than 4,294,967,295 units";
            Error::file(&self.path, Place::Whole, problem, "use the row as unit, or fewer rows")
        })?;
        Ok(matches!(cell, Cell::Missing).then_some(Fault::Missing))
    }

    /// A cell that the public rule changed: counted for the curator, or, in strict mode, the end.
    #[cold]
    fn note(&mut self, row: usize, slot: usize, fault: Fault) -> Result<()> {
        let purpose = &self.slots[slot].purpose;
        let is_target = purpose.is_target();
        let has_no_column = is_target || matches!(purpose, Purpose::Exposure(_) | Purpose::SampleWeight(_));
        let counts_as_missing = match fault {
            Fault::Missing => !matches!(purpose, Purpose::Unit),
            Fault::Undeclared => is_target || self.undeclared == Undeclared::Missing,
            Fault::OutOfBounds => false,
        };
        let drops = counts_as_missing
            && match self.missing {
                Missing::Fill => false,
                Missing::Drop => true,
                Missing::Indicator => has_no_column,
            };
        if self.strict {
            let rule = match fault {
                _ if drops && self.counts_out(slot) => "it is counted out",
                _ if drops => "the row gets weight zero",
                Fault::OutOfBounds => "it is clamped to the bounds",
                Fault::Undeclared if !counts_as_missing => "it counts as the reference level",
                _ if matches!(purpose, Purpose::Unit) => "rows without an id count as one unit",
                _ if self.slots[slot].missing_at.is_some() => {
                    "it gets the column's fill value, and a column says so"
                }
                _ => "it gets the column's fill value",
            };
            return Err(Error::BadCell {
                path: self.path.clone(),
                row: row + 1,
                column: self.slots[slot].name.clone(),
                fault: fault.words(),
                rule,
            });
        }
        let touched = &mut self.touched[slot];
        match fault {
            Fault::Missing => touched.missing += 1,
            Fault::OutOfBounds => touched.out_of_bounds += 1,
            Fault::Undeclared => touched.undeclared += 1,
        }
        if let (true, Some(at)) = (counts_as_missing, self.slots[slot].missing_at) {
            let (row, column, width) = (self.place(row), self.constants + at, self.width());
            self.entries.set(row, column, width, 1.0, &Scaling::INDICATOR);
        }
        if drops {
            let row = self.place(row);
            match &mut self.missing_cells {
                Some(MissingCells { places, features, cells }) if places[slot].is_some() => {
                    cells[row * *features + places[slot].unwrap_or(0)] = true;
                }
                _ => set(&mut self.weights, row, 0.0),
            }
        }
        Ok(())
    }

    /// Whether a missing cell of this column leaves its row's other cells counted.
    fn counts_out(&self, slot: usize) -> bool {
        self.missing_cells.as_ref().is_some_and(|m| m.places[slot].is_some())
    }

    /// The finished table, or the last block of it.
    pub(crate) fn finish(mut self) -> Result<Encoded> {
        if self.columns.is_empty() {
            return Err(Error::file(
                &self.path,
                Place::Whole,
                "no feature columns are left (d = 0)",
                "declare at least one column besides the target that is not ignored",
            ));
        }
        self.require_rows()?;
        self.take()
    }

    /// Gives a table its response, from a builder that holds nothing else. A row whose response drops it is dropped.
    pub(crate) fn finish_response(self, table: &mut Encoded) -> Result<()> {
        self.require_rows()?;
        self.drop_rows(table);
        table.response = self.response.unwrap_or_default();
        table.target = self.target;
        table.curator.0.extend(self.touched);
        Ok(())
    }

    /// Gives a table its sampling weights, from a builder that holds nothing else. A row whose weight drops it is dropped.
    pub(crate) fn finish_weights(self, table: &mut Encoded) -> Result<()> {
        self.require_rows()?;
        self.drop_rows(table);
        table.sample_weight = self.sample_weight;
        table.curator.0.extend(self.touched);
        Ok(())
    }

    /// Drops from a table the rows that are dropped here.
    fn drop_rows(&self, table: &mut Encoded) {
        if let (Some(all), Some(own)) = (&mut table.weights, &self.weights) {
            all.iter_mut().zip(own).for_each(|(weight, kept)| *weight *= kept);
        }
    }

    /// Whose row each row is, of a table that holds nothing else.
    pub(crate) fn finish_units(self) -> Result<(Option<Units>, CuratorNotes)> {
        self.require_rows()?;
        let units = self.units.map(|u| Units { count: u.count(), of_row: u.of_row });
        Ok((units, CuratorNotes(self.touched)))
    }

    fn require_rows(&self) -> Result<()> {
        if self.rows > 0 {
            return Ok(());
        }
        Err(Error::file(
            &self.path,
            Place::Whole,
            "the file has no data rows (n = 0)",
            "check that the export was complete",
        ))
    }
}

fn set(values: &mut Option<Vec<f64>>, row: usize, value: f64) {
    if let Some(values) = values {
        values[row] = value;
    }
}
