//! What is publicly known of a table, and what follows from it before any cell is read.

use super::failure::Failure;
use crate::{Bounds, Domain, Encoded, ReadOptions, Response, Schema, Shape, Wide, WideBounds, shape};
use std::path::Path;

/// What is publicly known about a table: a schema, or one pair of bounds.
pub enum Known {
    /// Every column's own.
    Schema(Schema),
    /// One pair of bounds for all features.
    Wide(Wide),
}

impl Known {
    /// The shape a dry run plans for: from flags, the schema, or the file's header; no cell is read.
    pub fn shape(
        &self,
        file: Option<&Path>,
        rows: Option<usize>,
        columns: Option<usize>,
    ) -> Result<(usize, usize), Failure> {
        let header = match file {
            None => Shape { rows: None, columns: None },
            Some(path) => {
                let schema = match self {
                    Known::Schema(schema) => Some(schema),
                    Known::Wide(_) => None,
                };
                shape(path, schema, &ReadOptions::default())?
            }
        };
        let has_unit = matches!(self, Known::Schema(schema) if schema.unit().is_some());
        let stated = header.rows.filter(|_| !has_unit).and_then(|rows| usize::try_from(rows).ok());
        let rows = rows.or(stated).ok_or_else(|| {
            let what = if has_unit { "units" } else { "rows" };
            Failure::Usage(format!(
                "the number of {what} cannot be read from a header: give it with --rows N"
            ))
        })?;
        let columns = match self {
            Known::Schema(schema) => schema.encoded()?.0.len(),
            Known::Wide(wide) => {
                let inside = matches!(wide.response, Response::LastColumn | Response::Column(_));
                let named = header.columns.map(|names| names.len().saturating_sub(usize::from(inside)));
                columns.or(named).ok_or_else(|| {
                    Failure::Usage("the number of columns is not known: give it with --columns D".into())
                })?
            }
        };
        Ok((rows, columns))
    }

    /// The values the target can take; `None` without a target.
    pub fn domain(&self) -> Result<Option<Domain>, Failure> {
        Ok(match self {
            Known::Schema(schema) => schema.encoded()?.1.map(|target| target.domain),
            Known::Wide(Wide { bounds: WideBounds { binary: true, .. }, .. }) => {
                Some(Domain::Binary(["0".into(), "1".into()]))
            }
            Known::Wide(wide) => match wide.bounds.target {
                Some((low, high)) => Some(Domain::Real(Bounds::new("--target-bounds", low, high)?)),
                None => None,
            },
        })
    }

    /// The largest size of a stored feature that the declared bounds allow.
    pub fn largest_entry(&self) -> Result<f64, Failure> {
        match self {
            Known::Schema(schema) => {
                let sizes =
                    schema.encoded()?.0.into_iter().map(|c| c.scaling.lower.abs().max(c.scaling.upper.abs()));
                Ok(sizes.fold(0.0, f64::max))
            }
            // Scaled to [-1, 1].
            Known::Wide(_) => Ok(1.0),
        }
    }

    /// Whether the model has an intercept.
    pub fn intercept(&self) -> bool {
        match self {
            Known::Schema(schema) => schema.intercept(),
            Known::Wide(wide) => wide.intercept,
        }
    }

    /// The schema under which another file of the same kind is read.
    pub fn schema_of(&self, path: &Path, table: &Encoded) -> Result<Schema, Failure> {
        match self {
            Known::Schema(schema) => Ok(schema.clone()),
            Known::Wide(wide) => {
                let mut names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
                if matches!(wide.response, Response::LastColumn | Response::Column(_)) {
                    names.extend(table.target.as_ref().map(|target| target.name.clone()));
                }
                Ok(wide.schema(path, &names)?)
            }
        }
    }
}
