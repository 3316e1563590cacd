//! The encoded table: what an estimator fits, and the way back to the user's own units.

mod block;
mod builder;
mod entries;
mod numbering;
mod plan;
mod record;

use std::fmt;

use dpglm::data::Design;

pub(crate) use builder::{Builder, Flow, Settings};
pub use dpglm::data::UserUnits;
pub(crate) use entries::{ByteScale, Layout};
pub(crate) use numbering::Numbering;
pub(crate) use plan::{INDICATES_MISSING, Plan, Purpose, binary_name, binary_scaling, domain};
pub(crate) use record::Record;

use crate::bounds::{Bounds, Scaling};
use crate::schema::Schema;

/// How the design's entries are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Single precision: half the memory.
    F32,
    /// Double precision.
    F64,
}

/// A table ready to fit.
pub struct Encoded {
    /// The features, scaled by their declared bounds; one indicator a level but the reference; before
    /// them a column of ones where one was asked for.
    pub design: Design,
    /// What each column of the design is, the column of ones left out.
    pub columns: Vec<EncodedColumn>,
    /// The target in its own units: clamped for a real or count, 0 or 1 for a binary, the level's index for a
    /// category. Empty without a target.
    pub response: Vec<f64>,
    /// What the target is; `None` without one.
    pub target: Option<Target>,
    /// One weight a row, 0 or 1, under the rules `missing = "drop"` and `"indicator"`; `None` under `missing = "fill"`. Whether it is
    /// there depends on the schema, not on the rows.
    pub weights: Option<Vec<f64>>,
    /// Where cells are counted out ([`Schema::counting_out`](crate::Schema::counting_out)): row after row, for each declared feature
    /// in the order of the columns, whether its cell is missing.
    pub missing: Option<Vec<bool>>,
    /// The exposures, within their declared positive bounds.
    pub exposure: Option<Vec<f64>>,
    /// The sampling weights, within their declared bounds.
    pub sample_weight: Option<Vec<f64>>,
    /// Whose row each row is.
    pub units: Option<Units>,
    /// True if the model has an intercept.
    pub intercept: bool,
    /// True if the design's first column is constant 1, for the intercept.
    pub constant_column: bool,
    /// For the curator's eyes: how many cells the public rule changed. Never part of an artefact.
    pub curator: CuratorNotes,
}

/// Some rows of a table: what a data set is made of.
pub struct RowBlock {
    /// As in [`Encoded`].
    pub design: Design,
    /// As in [`Encoded`].
    pub response: Vec<f64>,
    /// As in [`Encoded`].
    pub weights: Option<Vec<f64>>,
    /// As in [`Encoded`].
    pub exposure: Option<Vec<f64>>,
    /// As in [`Encoded`].
    pub missing: Option<Vec<bool>>,
    /// As in [`Encoded`].
    pub sample_weight: Option<Vec<f64>>,
    /// Whose row each row is, numbered within the block.
    pub units: Option<Units>,
}

impl From<Encoded> for RowBlock {
    fn from(table: Encoded) -> Self {
        let Encoded { design, response, weights, exposure, sample_weight, missing, units, .. } = table;
        Self { design, response, weights, exposure, sample_weight, missing, units }
    }
}

/// What a table's rows have beside their features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Present {
    pub constant: bool,
    pub weights: bool,
    pub exposure: bool,
    /// How many cells a row has whose absence is marked.
    pub marks: usize,
    pub sample_weight: bool,
    pub units: bool,
}

impl Present {
    pub(crate) fn new(schema: &Schema, plan: &Plan, settings: &Settings) -> Self {
        let has = |f: fn(&Purpose) -> bool| plan.slots.iter().any(|slot| f(&slot.purpose));
        Self {
            constant: settings.constant_column && schema.intercept(),
            weights: schema.drops_rows(),
            exposure: has(|purpose| matches!(purpose, Purpose::Exposure(_))),
            marks: match schema.counts_out() {
                true => plan.slots.iter().filter(|slot| slot.purpose.feature().is_some()).count(),
                false => 0,
            },
            sample_weight: has(|purpose| matches!(purpose, Purpose::SampleWeight(_))),
            units: has(|purpose| matches!(purpose, Purpose::Unit)),
        }
    }
}

/// What a column of the design is.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedColumn {
    /// Its name: the file's column, or `column=level` for an indicator or a binary.
    pub name: String,
    /// From the user's unit to the stored one.
    pub scaling: Scaling,
    /// Indicators of one category share a number: at most one of them is 1 in a row.
    pub category: Option<usize>,
    /// The declared column that it comes from.
    pub declared: String,
    /// True if it takes one of two values.
    pub binary: bool,
    /// Of a number whose bounds are a magnitude: what need not be told apart, in the user's unit.
    pub resolution: Option<f64>,
}

impl EncodedColumn {
    /// A column of numbers that is stored as it is declared.
    pub fn number(name: String, scaling: Scaling) -> Self {
        Self { declared: name.clone(), name, scaling, category: None, binary: false, resolution: None }
    }
}

/// The target's public facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The values it can take.
    pub domain: Domain,
    /// Of a number whose bounds are a magnitude: what need not be told apart.
    pub resolution: Option<f64>,
}

/// The values a target can take.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// Real numbers within bounds.
    Real(Bounds),
    /// Whole numbers within bounds.
    Count(Bounds),
    /// Two levels, coded 0 and 1.
    Binary([String; 2]),
    /// Levels, coded 0, 1, 2, ...
    Category(Vec<String>),
}

/// Whose row each row is.
#[derive(Clone, PartialEq)]
pub struct Units {
    /// For each row its unit's number, from 0; units are numbered as they first appear.
    pub of_row: Vec<u32>,
    /// The number of units.
    pub count: usize,
}

/// How many cells of a column the public rule changed. These are private numbers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// The column's name.
    pub column: String,
    /// Missing, not a number, NaN or infinite.
    pub missing: u64,
    /// Outside the declared bounds.
    pub out_of_bounds: u64,
    /// Not a declared level.
    pub undeclared: u64,
    /// Entries of sparse rows in columns beyond the declared number.
    pub left_out: u64,
}

/// What the public rule did, column by column, for the curator only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CuratorNotes(pub Vec<Touched>);

impl Encoded {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.design.rows()
    }

    /// A bound on every row's l2 norm, the column of ones left out, that follows from the declarations alone.
    pub fn norm_bound(&self) -> f64 {
        norm_bound(&self.columns)
    }

    /// The way back to the user's units.
    pub fn user_units(&self) -> UserUnits {
        UserUnits::new(self.columns.iter().map(|column| column.scaling))
    }

    /// Coefficients of the stored columns as coefficients of the user's, each with its name, and the intercept that
    /// goes with them.
    pub fn to_user_units(
        &self,
        coefficients: &[f64],
        intercept: Option<f64>,
    ) -> (Vec<(String, f64)>, Option<f64>) {
        let (slopes, intercept) = self.user_units().coefficients(coefficients, intercept);
        (self.columns.iter().map(|c| c.name.clone()).zip(slopes).collect(), intercept)
    }
}

/// A bound on the l2 norm of a row of these columns. At most one indicator of a category is 1.
pub fn norm_bound(columns: &[EncodedColumn]) -> f64 {
    let mut square = 0.0;
    let mut last = None;
    for column in columns {
        if column.category.is_none() || column.category != last {
            square += column.scaling.lower.abs().max(column.scaling.upper.abs()).powi(2);
        }
        last = column.category;
    }
    square.sqrt()
}

impl fmt::Debug for Encoded {
    /// Shapes and public facts only: the cells are private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoded")
            .field("design", &self.design)
            .field("target", &self.target)
            .field("intercept", &self.intercept)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Units {
    /// Neither the ids' pattern nor the number of units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Units({} rows)", self.of_row.len())
    }
}

impl fmt::Debug for CuratorNotes {
    /// Nothing: the counts are private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CuratorNotes")
    }
}

impl fmt::Display for CuratorNotes {
    /// One line for each column that the rule changed; empty if there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let touched = self.0.iter().filter(|t| t.missing + t.out_of_bounds + t.undeclared + t.left_out > 0);
        for (i, t) in touched.enumerate() {
            let parts: Vec<String> = [
                (t.missing, "missing or not a number"),
                (t.out_of_bounds, "outside the bounds"),
                (t.undeclared, "not a declared level"),
                (t.left_out, "left out: beyond the declared number of columns"),
            ]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
            let line_end = if i > 0 { "\n" } else { "" };
            write!(f, "{line_end}column `{}`: {}", t.column, parts.join(", "))?;
        }
        Ok(())
    }
}
