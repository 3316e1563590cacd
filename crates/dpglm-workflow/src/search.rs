//! Columns that have a magnitude in place of bounds: which they are, and who may search for theirs.

use super::failure::Failure;
use super::means::columns::blocks;
use super::model::{Method, Model};
use dpglm::error::{Message, Parameter};
use dpglm::estimators::bounds::{Magnitude, Sought};
use dpglm_io::schema::Kind;
use dpglm_io::{Domain, EncodedColumn, Schema, Target};

/// Refuses columns without bounds where none are searched for, and a search for none.
pub fn require(share: Option<f64>, columns: &[EncodedColumn]) -> Result<(), Failure> {
    require_any(share, columns.iter().find(|c| c.resolution.is_some()).map(|c| c.declared.as_str()))
}

/// The same of the first number without bounds.
fn require_any(share: Option<f64>, first: Option<&str>) -> Result<(), Failure> {
    match (share, first) {
        (None, Some(name)) => Err(Failure::Usage(Message::new(
            "`{}` has a magnitude and no bounds: give {} private, which spends a part of the budget to find them, or declare bounds",
            &[&name, &Parameter::Bounds],
        ))),
        (Some(_), None) => Err(Failure::Usage(Message::new(
            "{} private has nothing to find: give {} NAME=MAX:RESOLUTION, or a schema in which a number has a magnitude \
             in place of bounds",
            &[&Parameter::Bounds, &Parameter::Magnitudes],
        ))),
        _ => Ok(()),
    }
}

/// Refuses a schema without bounds, for what cannot search.
pub fn refuse(schema: &Schema, what: &str) -> Result<(), Failure> {
    match schema.unbounded().next() {
        None => Ok(()),
        Some(name) => Err(Failure::Failed(Message::new(
            "`{}` has a magnitude and no bounds, and {} cannot search for them: `dpglm describe {} private` finds bounds, \
             which can then be declared; or declare bounds from public knowledge",
            &[&name, &what, &Parameter::Bounds],
        ))),
    }
}

/// The magnitude of each block, in stored units.
pub fn magnitudes(columns: &[EncodedColumn]) -> Result<Vec<Option<Magnitude>>, Failure> {
    let mut first = 0;
    let mut all = Vec::new();
    for (block, _) in blocks(columns) {
        let column = &columns[first];
        first += block.columns();
        all.push(match column.resolution {
            None => None,
            Some(resolution) => {
                let largest = column.scaling.lower.abs().max(column.scaling.upper.abs());
                Some(Magnitude::new(largest, resolution / column.scaling.half_width)?)
            }
        });
    }
    Ok(all)
}

/// Which bounds of a model are to be found, and with which part of the budget.
#[derive(Clone)]
pub struct ModelSearch {
    /// One per encoded column, in stored units.
    pub columns: Vec<Option<Sought>>,
    /// The target, in its own units.
    pub target: Option<Sought>,
    /// The part of the budget.
    pub share: f64,
}

impl ModelSearch {
    /// What the library takes: one per column of the design.
    pub fn sought(&self, intercept: bool) -> Vec<Option<Sought>> {
        intercept.then_some(None).into_iter().chain(self.columns.iter().copied()).collect()
    }
}

impl Model {
    /// Numbers with a magnitude in place of bounds have them found first, with this part of the budget.
    pub fn searching(
        mut self,
        share: Option<f64>,
        columns: &[EncodedColumn],
        schema: &Schema,
        target: Option<&Target>,
    ) -> Result<Self, Failure> {
        let target = target.filter(|t| t.resolution.is_some());
        let first = columns.iter().find(|c| c.resolution.is_some()).map(|c| c.declared.as_str());
        require_any(share, first.or(target.map(|t| t.name.as_str())))?;
        let Some(share) = share else { return Ok(self) };
        if self.method != Method::Likelihood {
            return Err(Failure::Usage(Message::new(
                "{} private goes with {} likelihood, not with {}: leave out {}, {} and {}, or find bounds with \
                 `dpglm describe {} private` first and declare them",
                &[
                    &Parameter::Bounds,
                    &Parameter::Method,
                    &self.method.name(),
                    &Parameter::Method,
                    &Parameter::Sparsity,
                    &Parameter::Tune,
                    &Parameter::Bounds,
                ],
            )));
        }
        self.search = Some(ModelSearch {
            columns: columns.iter().map(|c| of_column(c, schema)).collect::<Result<_, _>>()?,
            target: target.map(of_target).transpose()?.flatten(),
            share,
        });
        // The library checks the numbers themselves.
        self.regression()?;
        Ok(self)
    }
}

/// A column's magnitude in stored units, within the range that it allows.
fn of_column(column: &EncodedColumn, schema: &Schema) -> Result<Option<Sought>, Failure> {
    let Some(resolution) = column.resolution else { return Ok(None) };
    let whole = matches!(schema.column(&column.declared).map(|c| &c.kind), Some(Kind::Count(_)));
    let (low, high, unit) = (column.scaling.lower, column.scaling.upper, column.scaling.half_width);
    let magnitude = Magnitude::new(low.abs().max(high.abs()), resolution / unit)?;
    Ok(Some(Sought { magnitude, low, high, whole: whole.then_some(1.0 / unit) }))
}

fn of_target(target: &Target) -> Result<Option<Sought>, Failure> {
    let (bounds, whole) = match &target.domain {
        Domain::Real(bounds) => (*bounds, None),
        Domain::Count(bounds) => (*bounds, Some(1.0)),
        _ => return Ok(None),
    };
    let Some(resolution) = target.resolution else { return Ok(None) };
    let magnitude = Magnitude::new(bounds.magnitude(), resolution)?;
    Ok(Some(Sought { magnitude, low: bounds.lower(), high: bounds.upper(), whole }))
}
