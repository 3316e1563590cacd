//! Columns that have a magnitude in place of bounds: which they are, and who may search for theirs.

use super::failure::Failure;
use super::means::columns::blocks;
use crate::{EncodedColumn, Schema};
use dpglm::estimators::bounds::Magnitude;

/// Refuses columns without bounds where none are searched for, and a search for none.
pub fn require(share: Option<f64>, columns: &[EncodedColumn]) -> Result<(), Failure> {
    let first = columns.iter().find(|c| c.resolution.is_some());
    match (share, first) {
        (None, Some(column)) => Err(Failure::Usage(format!(
            "`{}` has a magnitude and no bounds: give --bounds private, which spends a part of the budget to find them, or declare bounds",
            column.declared
        ))),
        (Some(_), None) => Err(Failure::Usage(
            "--bounds private has nothing to find: give --magnitudes NAME=MAX:RESOLUTION, or a schema in which a number has a magnitude \
             in place of bounds"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// Refuses a schema without bounds, for what cannot search.
pub fn refuse(schema: &Schema, what: &str) -> Result<(), Failure> {
    match schema.unbounded().next() {
        None => Ok(()),
        Some(name) => Err(Failure::Failed(format!(
            "`{name}` has a magnitude and no bounds, and {what} cannot search for them: `dpglm describe --bounds private` finds bounds, \
             which can then be declared; or declare bounds from public knowledge"
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
