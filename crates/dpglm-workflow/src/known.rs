//! What is publicly known of a table, and what follows from it before any cell is read.

use super::failure::Failure;
use dpglm_io::{Declared, Domain, Encoded, ReadOptions, Response, Schema, Shape, Wide, WideBounds, shape};
use dpglm::privacy::Adjacency;
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
    pub fn shape(&self, file: Option<&Path>, rows: Option<usize>) -> Result<(usize, usize), Failure> {
        let declared = match self {
            Known::Schema(schema) => Declared::Schema(schema),
            Known::Wide(wide) => Declared::Wide(wide),
        };
        let header = match file {
            None => {
                self.refuse_what_needs_a_file()?;
                Shape { rows: None, columns: None }
            }
            Some(path) => shape(path, declared, &ReadOptions::default())?,
        };
        let has_unit = self.unit().is_some();
        let stated = header.rows.filter(|_| !has_unit).and_then(|rows| usize::try_from(rows).ok());
        let rows = rows.or(stated).ok_or_else(|| {
            let what = if has_unit { "units" } else { "rows" };
            Failure::Usage(format!(
                "the number of {what} cannot be read from a header: give it with --rows N"
            ))
        })?;
        let named = file.zip(header.columns);
        let columns = match (self, named) {
            (Known::Schema(schema), Some((path, names))) => schema.encoded_in(path, &names)?.len(),
            (Known::Schema(schema), None) => schema.encoded()?.0.len(),
            (Known::Wide(wide), Some((path, names))) => wide.schema(path, &names)?.encoded()?.0.len(),
            (Known::Wide(wide), None) => wide.features.ok_or_else(|| {
                Failure::Usage("the number of columns is not known: give it with --columns D".into())
            })?,
        };
        Ok((rows, columns))
    }

    /// Without a file there is no column to look for, no second file and no list.
    fn refuse_what_needs_a_file(&self) -> Result<(), Failure> {
        let Known::Wide(wide) = self else { return Ok(()) };
        let flag = match (&wide.response, &wide.lists) {
            (Response::Column(_), _) => "--target",
            (Response::File(_), _) => "--response",
            (_, Some(_)) => "--sparse-columns",
            _ => return Ok(()),
        };
        Err(Failure::Usage(format!(
            "{flag} speaks of a table, and none is given: leave out {flag}, or give FILE"
        )))
    }

    /// The column that says whose row it is.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Known::Schema(schema) => schema.unit(),
            Known::Wide(wide) => wide.unit.as_deref(),
        }
    }

    /// Who the neighbours are.
    pub fn adjacency(&self) -> Adjacency {
        self.unit().map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.to_owned()))
    }

    /// What a fit of a table of this many columns, the constant one included, and units plans from.
    pub fn plan_shape(&self, columns: usize, units: usize) -> dpglm::data::Shape {
        let shape = match self {
            Known::Schema(schema) => schema.shape(columns, units),
            Known::Wide(_) => dpglm::data::Shape::new(columns, units),
        };
        if self.unit().is_some() { shape.grouped() } else { shape }
    }

    /// The values the target can take; `None` without a target.
    pub fn domain(&self) -> Result<Option<Domain>, Failure> {
        Ok(match self {
            Known::Schema(schema) => schema.encoded()?.1.map(|target| target.domain),
            Known::Wide(Wide { bounds: WideBounds { binary: true, .. }, .. }) => {
                Some(Domain::Binary(["0".into(), "1".into()]))
            }
            Known::Wide(wide) => match wide.bounds.target {
                Some((low, high)) => {
                    Some(Domain::Real(dpglm_io::bounds::declared("--target-bounds", low, high)?))
                }
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
                names.extend(wide.unit.clone());
                if matches!(wide.response, Response::LastColumn | Response::Column(_)) {
                    names.extend(table.target.as_ref().map(|target| target.name.clone()));
                }
                Ok(wide.schema(path, &names)?)
            }
        }
    }
}
