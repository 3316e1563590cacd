//! What is publicly known of a table, and what follows from it before any cell is read.

use super::failure::Failure;
use dpglm::error::{Message, Parameter};
use dpglm::privacy::Adjacency;
use dpglm_io::{
    Declared, Domain, Encoded, EncodedColumn, ReadOptions, Response, Schema, Shape, TableBounds, Target,
    UniformBounds, shape,
};
use std::path::Path;

/// What is publicly known about a table: a schema, or one pair of bounds.
pub enum PublicFacts {
    /// Every column's own.
    Schema(Schema),
    /// One pair of bounds for all features.
    Uniform(UniformBounds),
}

impl PublicFacts {
    /// What readers must know.
    pub fn declared(&self) -> Declared<'_> {
        match self {
            PublicFacts::Schema(schema) => Declared::Schema(schema),
            PublicFacts::Uniform(uniform) => Declared::Uniform(uniform),
        }
    }

    /// The shape a dry run plans for: from flags, the schema, or the file's header; no cell is read.
    pub fn shape(&self, file: Option<&Path>, rows: Option<usize>) -> Result<(usize, usize), Failure> {
        let declared = self.declared();
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
            Failure::Usage(Message::new(
                "the number of {} cannot be read from a header: give it with {} N",
                &[&what, &Parameter::Rows],
            ))
        })?;
        let named = file.zip(header.columns);
        let columns = match (self, named) {
            (PublicFacts::Schema(schema), Some((path, names))) => schema.encoded_in(path, &names)?.len(),
            (PublicFacts::Schema(schema), None) => schema.encoded()?.0.len(),
            (PublicFacts::Uniform(uniform), Some((path, names))) => {
                uniform.schema(path, &names)?.encoded()?.0.len()
            }
            (PublicFacts::Uniform(uniform), None) => uniform.features.ok_or_else(|| {
                Failure::Usage(Message::new(
                    "the number of columns is not known: give it with {} D",
                    &[&Parameter::Columns],
                ))
            })?,
        };
        Ok((rows, columns))
    }

    /// Without a file there is no column to look for, no second file and no list.
    fn refuse_what_needs_a_file(&self) -> Result<(), Failure> {
        let PublicFacts::Uniform(uniform) = self else { return Ok(()) };
        let flag = match (&uniform.response, &uniform.lists) {
            (Response::Column(_), _) => Parameter::Target,
            (Response::File(_), _) => Parameter::Response,
            (_, Some(_)) => Parameter::SparseColumns,
            _ => return Ok(()),
        };
        Err(Failure::Usage(Message::new(
            "{} speaks of a table, and none is given: leave out {}, or give FILE",
            &[&flag, &flag],
        )))
    }

    /// The column that says whose row it is.
    pub fn unit(&self) -> Option<&str> {
        match self {
            PublicFacts::Schema(schema) => schema.unit(),
            PublicFacts::Uniform(uniform) => uniform.unit.as_deref(),
        }
    }

    /// Who the neighbours are.
    pub fn adjacency(&self) -> Adjacency {
        self.unit().map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.to_owned()))
    }

    /// What a fit of a table of this many columns, the constant one included, and units plans from.
    pub fn plan_shape(&self, columns: usize, units: usize) -> dpglm::data::Shape {
        let shape = match self {
            PublicFacts::Schema(schema) => schema.shape(columns, units),
            PublicFacts::Uniform(_) => dpglm::data::Shape::new(columns, units),
        };
        if self.unit().is_some() { shape.grouped() } else { shape }
    }

    /// The values the target can take; `None` without a target.
    pub fn domain(&self) -> Result<Option<Domain>, Failure> {
        Ok(match self {
            PublicFacts::Schema(schema) => schema.encoded()?.1.map(|target| target.domain),
            PublicFacts::Uniform(UniformBounds { bounds: TableBounds { binary: true, .. }, .. }) => {
                Some(Domain::Binary(["0".into(), "1".into()]))
            }
            PublicFacts::Uniform(uniform) => match uniform.bounds.target {
                Some((low, high)) => {
                    Some(Domain::Real(dpglm_io::bounds::declared(Parameter::TargetBounds, low, high)?))
                }
                None => None,
            },
        })
    }

    /// The largest size of a stored feature that the declared bounds allow.
    pub(crate) fn largest_entry(&self) -> Result<f64, Failure> {
        match self {
            PublicFacts::Schema(schema) => {
                let sizes =
                    schema.encoded()?.0.into_iter().map(|c| c.scaling.lower.abs().max(c.scaling.upper.abs()));
                Ok(sizes.fold(0.0, f64::max))
            }
            // Scaled to [-1, 1].
            PublicFacts::Uniform(_) => Ok(1.0),
        }
    }

    /// Whether the model has an intercept.
    pub fn intercept(&self) -> bool {
        match self {
            PublicFacts::Schema(schema) => schema.intercept(),
            PublicFacts::Uniform(uniform) => uniform.intercept,
        }
    }

    /// The schema under which another file of the same kind is read.
    pub fn schema_of(&self, path: &Path, table: &Encoded) -> Result<Schema, Failure> {
        self.schema_of_columns(path, &table.columns, table.target.as_ref())
    }

    /// The same of a table with these columns and this target.
    pub fn schema_of_columns(
        &self,
        path: &Path,
        columns: &[EncodedColumn],
        target: Option<&Target>,
    ) -> Result<Schema, Failure> {
        match self {
            PublicFacts::Schema(schema) => Ok(schema.clone()),
            PublicFacts::Uniform(uniform) => {
                let mut names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
                names.extend(uniform.unit.clone());
                if matches!(uniform.response, Response::LastColumn | Response::Column(_)) {
                    names.extend(target.map(|target| target.name.clone()));
                }
                Ok(uniform.schema(path, &names)?)
            }
        }
    }
}
