//! The schema: what the curator declares about a table from *public* knowledge.
//!
//! A TOML file says which column is the target and, for every column of the file, its kind with bounds or levels:
//!
//! ```toml
//! target = "income"
//! missing = "fill"                # or "drop": the row's weight becomes zero; or "indicator": a column says where
//!
//! [columns]
//! age       = { kind = "real", bounds = [17, 90], fill = 40 }
//! visits    = { kind = "count", bounds = [0, 30] }
//! sex       = { kind = "binary", levels = ["Female", "Male"] }
//! workclass = { kind = "category", levels = ["Private", "State-gov", ["Self-emp", "Self-employed"]] }
//! id        = { kind = "ignore" }
//! income    = { kind = "binary", levels = ["<=50K", ">50K"] }
//! ```
//!
//! A level may list several spellings; the first is its name. [`draft`] writes a first version for a file.
//!
//! Of a text file the schema also says whether its first line is a header, and no cell ever decides it: the file has one, unless the
//! schema gives `names = [...]`, or `header = false`, where columns are called `x0, x1, ...`. Formats that name their columns
//! themselves are read by those names.

mod check;
mod draft;
mod hints;
pub(crate) mod raw;
mod validate;

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use crate::cell::{Categorical, Numeric};
pub use check::check;
pub use draft::draft;

use crate::bounds::Scale;
use crate::cell::Marks;
use crate::encode::{EncodedColumn, INDICATES_MISSING, Plan, Target};
use crate::error::{Error, Result};
use crate::formula::Compiled;
use raw::RawSchema;

/// A validated schema.
///
/// It serialises to what the curator wrote, so that an artefact can carry it, and is validated again when read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawSchema", into = "RawSchema")]
pub struct Schema {
    pub(crate) raw: RawSchema,
    pub(crate) columns: Vec<Column>,
    /// What the table is read for, and no part of what was written.
    counting_out: bool,
    /// What the formula says of the model as a whole, if there is one.
    of_formula: Option<OfFormula>,
}

/// What a formula says of the model as a whole.
#[derive(Debug, Clone, PartialEq)]
struct OfFormula {
    intercept: bool,
    /// The column on its left side, if there is a left side and it is one.
    target: Option<String>,
    /// Whether it has a left side.
    explains: bool,
}

/// A declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in the file.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A real number within public bounds.
    Real(Numeric),
    /// A whole number of at least zero within public bounds.
    Count(Numeric),
    /// One of two public levels; the first is 0.
    Binary(Categorical),
    /// One of several public levels.
    Category(Categorical),
    /// Nothing that is read.
    Ignore,
}

/// Where the names of a text file's columns come from. Declared, never told from the cells of the first line: they may be
/// somebody's.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Naming<'a> {
    /// The first line is a header.
    FirstLine,
    /// There is no header; the columns have these names.
    Listed(&'a [String]),
    /// There is no header; the columns are called `x0, x1, ...`
    Numbered,
}

/// What a missing cell does to its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The cell gets the column's public fill value.
    #[default]
    Fill,
    /// The row gets weight zero. It still counts as a row.
    Drop,
    /// The cell gets the column's public fill value, and a column of its own says where: `age=missing`. A row whose target, exposure or
    /// sampling weight is missing gets weight zero.
    Indicator,
}

/// What a level that was not declared counts as, in a feature. In a target it is always a missing cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undeclared {
    /// The reference level.
    #[default]
    Reference,
    /// A missing cell.
    Missing,
}

impl Schema {
    /// Reads and validates a schema file.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::InvalidData => Error::read(path, e),
            _ => Error::open(path, e),
        })?;
        Self::parse(&text).map_err(|e| e.declared_in(path))
    }

    /// Parses and validates the text of a schema.
    pub fn parse(text: &str) -> Result<Self> {
        let raw: RawSchema = toml::from_str(text).map_err(|e| {
            Error::declaration(
                "schema",
                e.to_string().trim_end(),
                "correct the line shown; see `dpglm schema`",
            )
        })?;
        Self::try_from(raw)
    }

    /// The target column's name, if there is one; none if a formula explains what is made of columns.
    pub fn target(&self) -> Option<&str> {
        match &self.of_formula {
            Some(OfFormula { explains: true, target, .. }) => target.as_deref(),
            _ => self.written_target(),
        }
    }

    /// The target as it is written beside a formula.
    pub(crate) fn written_target(&self) -> Option<&str> {
        self.raw.target.as_deref()
    }

    /// The formula, if there is one.
    pub fn formula(&self) -> Option<&str> {
        self.raw.formula.as_deref()
    }

    /// The formula's columns and how they are made.
    pub(crate) fn compiled(&self) -> Result<Option<Compiled>> {
        self.formula().map(|formula| Compiled::new(formula, self)).transpose()
    }

    /// The same schema with a formula: which columns of the model are made of which of the file. Its left side says what is
    /// explained; without one it is the target.
    pub fn with_formula(mut self, formula: Option<&str>) -> Result<Self> {
        self.raw.formula = formula.map(str::to_owned);
        Self::try_from(self.raw)
    }

    /// The same schema with these features alone; the others are not read.
    pub fn with_features(mut self, names: &[String]) -> Result<Self> {
        let refuse = |problem: String, remedy: &str| Err(Error::declaration("features", problem, remedy));
        if self.formula().is_some() {
            return refuse(
                "the formula says which columns there are".into(),
                "leave out one of the two, in the schema or here",
            );
        }
        for name in names {
            let role = [
                ("target", self.target()),
                ("exposure", self.exposure()),
                ("weight", self.weight()),
                ("unit", self.unit()),
            ];
            if let Some((role, _)) = role.into_iter().find(|(_, other)| *other == Some(name)) {
                return refuse(format!("`{name}` is the {role}"), "leave it out of the list");
            }
            match self.column(name).map(|c| &c.kind) {
                None => {
                    return refuse(
                        format!("`{name}` is not declared under [columns]"),
                        "declare it with its bounds or levels, or correct the name",
                    );
                }
                Some(Kind::Ignore) => {
                    return refuse(
                        format!("`{name}` is declared `kind = \"ignore\"`"),
                        "declare its bounds or levels from public knowledge",
                    );
                }
                Some(_) => {}
            }
        }
        let kept: Vec<String> = names
            .iter()
            .map(String::as_str)
            .chain(self.target())
            .chain(self.exposure())
            .chain(self.weight())
            .map(str::to_owned)
            .collect();
        for (name, column) in &mut self.raw.columns {
            if !kept.contains(name) {
                *column = raw::RawColumn::of(raw::RawKind::Ignore);
            }
        }
        Self::try_from(self.raw)
    }

    /// The same schema for what is asked of columns as they are, such as means: without a formula, and with missing cells counted out in place
    /// of pointed out.
    pub fn of_columns(mut self) -> Result<Self> {
        self.raw.formula = None;
        if self.raw.missing == Missing::Indicator {
            self.raw.missing = Missing::Drop;
        }
        Ok(Self { counting_out: self.counting_out, ..Self::try_from(self.raw)? })
    }

    /// Whether rows may get weight zero.
    pub(crate) fn drops_rows(&self) -> bool {
        matches!(self.missing(), Missing::Drop | Missing::Indicator)
    }

    /// The names of the columns that features are made of.
    pub fn columns_read(&self) -> Result<Vec<String>> {
        if let Some(formula) = self.compiled()? {
            return Ok(formula
                .cells
                .into_iter()
                .filter(|cell| !cell.is_response)
                .map(|cell| cell.name)
                .collect());
        }
        let is_feature = |c: &&Column| {
            c.kind != Kind::Ignore
                && ![self.target(), self.exposure(), self.weight()].contains(&Some(&c.name))
        };
        Ok(self.columns.iter().filter(is_feature).map(|c| c.name.clone()).collect())
    }

    /// The columns of the encoded table, each with the names of the declared columns that it is made of.
    pub fn encoded_from(&self) -> Result<Vec<(EncodedColumn, Vec<String>)>> {
        let formula = self.compiled()?;
        let declared: HashSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let made_of = |(j, column): (usize, EncodedColumn)| {
            let name = column.declared.as_str();
            let names = match formula.as_ref().and_then(|f| Some((f, f.recipes.get(j)?))) {
                Some((formula, recipe)) => {
                    recipe.cells().into_iter().map(|cell| formula.cells[cell].name.clone()).collect()
                }
                None if declared.contains(name) => vec![name.to_owned()],
                None => vec![name.strip_suffix(INDICATES_MISSING).unwrap_or(name).to_owned()],
            };
            (column, names)
        };
        Ok(self.encoded()?.0.into_iter().enumerate().map(made_of).collect())
    }

    /// The numbers that are read as features, exposures or weights and have no declared fill, with what a missing cell of each counts as.
    pub fn undeclared_fills(&self) -> Vec<(&str, f64)> {
        if self.missing() == Missing::Drop {
            return Vec::new();
        }
        let mut read = self.columns_read().unwrap_or_default();
        // Under the other rules a row without one of these is dropped.
        if self.missing() == Missing::Fill {
            read.extend([self.exposure(), self.weight()].into_iter().flatten().map(str::to_owned));
        }
        let is_read = |name: &String| read.contains(name);
        let fill = |column: &'_ Column| match &column.kind {
            Kind::Real(n) | Kind::Count(n) if n.resolution.is_none() => Some(n.fill),
            _ => None,
        };
        self.columns
            .iter()
            .filter(|c| {
                is_read(&c.name) && self.raw.columns.get(&c.name).is_some_and(|raw| raw.fill.is_none())
            })
            .filter_map(|column| Some((column.name.as_str(), fill(column)?)))
            .collect()
    }

    /// The declared columns, in the order written.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The declaration of a column.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// True if the model has an intercept.
    pub fn intercept(&self) -> bool {
        self.raw.intercept && self.of_formula.as_ref().is_none_or(|formula| formula.intercept)
    }

    /// What a fit plans from: a table of this many columns, the constant one included, and units.
    pub fn shape(&self, columns: usize, units: usize) -> dpglm::data::Shape {
        dpglm::data::Shape {
            columns,
            units,
            grouped: self.unit().is_some(),
            dropped: self.drops_rows(),
            exposures: self.exposure().is_some(),
            weighted: self.weight().is_some(),
        }
    }

    /// The name of the column of exposures, if there is one.
    pub fn exposure(&self) -> Option<&str> {
        self.raw.exposure.as_deref()
    }

    /// The name of the column of sampling weights, if there is one.
    pub fn weight(&self) -> Option<&str> {
        self.raw.weight.as_deref()
    }

    /// The name of the column that says whose row it is, if there is one.
    pub fn unit(&self) -> Option<&str> {
        self.raw.unit.as_deref()
    }

    /// The rule for missing cells.
    pub fn missing(&self) -> Missing {
        self.raw.missing
    }

    /// The same schema for a table whose missing cells are counted out column by column under the rule `missing = "drop"`, as means do:
    /// the row's other cells stay counted.
    pub fn counting_out(mut self) -> Self {
        self.counting_out = true;
        self
    }

    /// Whether missing cells are counted out column by column.
    pub(crate) fn counts_out(&self) -> bool {
        self.counting_out && self.missing() == Missing::Drop
    }

    /// The rule for undeclared levels.
    pub fn undeclared(&self) -> Undeclared {
        self.raw.undeclared
    }

    /// How numeric columns are scaled.
    pub fn scale(&self) -> Scale {
        self.raw.scale
    }

    /// The same schema with or without an intercept.
    pub fn with_intercept(mut self, intercept: bool) -> Self {
        self.raw.intercept = intercept;
        self
    }

    /// The same schema with another unit of privacy: every row of a unit belongs to one person.
    pub fn with_unit(mut self, column: Option<&str>) -> Result<Self> {
        self.raw.unit = column.map(str::to_owned);
        Self::try_from(self.raw)
    }

    /// A schema of nothing but a unit.
    pub(crate) fn of_unit(name: &str) -> Result<Self> {
        Self::try_from(RawSchema { unit: Some(name.to_owned()), ..RawSchema::empty() })
    }

    /// A schema of nothing but sampling weights, whose missing cells follow this rule.
    pub(crate) fn of_weight(name: &str, (low, high): (f64, f64), missing: Missing) -> Result<Self> {
        let mut raw = RawSchema { weight: Some(name.to_owned()), missing, ..RawSchema::empty() };
        let column =
            raw::RawColumn { bounds: Some(vec![low, high]), ..raw::RawColumn::of(raw::RawKind::Real) };
        raw.columns.insert(name.to_owned(), column);
        Self::try_from(raw)
    }

    /// The same schema with a column of another one.
    pub(crate) fn with_column_of(mut self, other: &Self, name: &str) -> Result<Self> {
        let column = other.raw.columns.get(name).cloned();
        if self.raw.columns.contains_key(name) || self.target() == Some(name) || self.unit() == Some(name) {
            return Err(Error::declaration(
                "weight",
                format!("`{name}` is a column already"),
                "give the weights another name",
            ));
        }
        self.raw.columns.extend(column.map(|column| (name.to_owned(), column)));
        Ok(Self { counting_out: self.counting_out, ..Self::try_from(self.raw)? })
    }

    /// The same schema with another target.
    pub fn with_target(mut self, column: Option<&str>) -> Result<Self> {
        if self.of_formula.as_ref().is_some_and(|formula| formula.explains) {
            return Err(Error::declaration(
                "target",
                "the left side of the formula says what is explained",
                "write it there, or leave the left side out: \"~ age + sex\"",
            ));
        }
        self.raw.target = column.map(str::to_owned);
        Self::try_from(self.raw)
    }

    /// The same schema for text files that begin with a line of names (`true`), or have none (`false`): their columns are then
    /// called as the schema lists them, or `x0, x1, ...`
    pub fn with_header(mut self, header: bool) -> Result<Self> {
        self.raw.header = Some(header);
        if header {
            self.raw.names = None;
        }
        Self::try_from(self.raw)
    }

    /// The same schema with another column of exposures.
    pub fn with_exposure(mut self, column: Option<&str>) -> Result<Self> {
        self.raw.exposure = column.map(str::to_owned);
        Self::try_from(self.raw)
    }

    /// The same schema with another column of sampling weights.
    pub fn with_weight(mut self, column: Option<&str>) -> Result<Self> {
        self.raw.weight = column.map(str::to_owned);
        Self::try_from(self.raw)
    }

    /// The same schema with exposure and sampling weight as columns like any other.
    pub fn without_exposure(mut self) -> Self {
        (self.raw.exposure, self.raw.weight) = (None, None);
        self
    }

    /// Where the names of a text file's columns come from.
    pub(crate) fn naming(&self) -> Naming<'_> {
        match (&self.raw.names, self.raw.header) {
            (Some(names), _) => Naming::Listed(names),
            (None, Some(false)) => Naming::Numbered,
            (None, _) => Naming::FirstLine,
        }
    }

    /// The columns of the encoded table and the target, which follow from the schema alone: what a plan needs before
    /// any file is opened.
    pub fn encoded(&self) -> Result<(Vec<EncodedColumn>, Option<Target>)> {
        let names: Vec<String> = self.columns.iter().map(|c| c.name.clone()).collect();
        let plan = Plan::new(self, Path::new("schema"), &names, false)?;
        Ok((plan.columns, plan.target))
    }

    /// The columns that features of a file with these columns become, if the file has what the schema speaks of.
    pub fn encoded_in(&self, path: &Path, names: &[String]) -> Result<Vec<EncodedColumn>> {
        Ok(Plan::new(self, path, names, true)?.columns)
    }

    /// The same schema, in which these numbers have a magnitude and a resolution in place of bounds.
    pub fn with_magnitudes(mut self, magnitudes: &[(String, f64, f64)]) -> Result<Self> {
        for (name, largest, resolution) in magnitudes {
            let Some(column) = self.raw.columns.get_mut(name) else {
                return Err(Error::declaration(
                    "magnitudes",
                    format!("`{name}` is not declared under [columns]"),
                    "give the names of declared numbers",
                ));
            };
            if !matches!(column.kind, raw::RawKind::Real | raw::RawKind::Count) {
                return Err(Error::declaration(
                    "magnitudes",
                    format!("`{name}` is no number"),
                    "give the names of declared numbers",
                ));
            }
            (column.bounds, column.magnitude, column.resolution) = (None, Some(*largest), Some(*resolution));
        }
        Ok(Self { counting_out: self.counting_out, ..Self::try_from(self.raw)? })
    }

    /// The same schema with bounds that were found in place of magnitudes. A missing cell is filled with what it was before, or
    /// with the nearest bound.
    pub fn with_found(mut self, found: &indexmap::IndexMap<String, [f64; 2]>) -> Result<Self> {
        for (name, &[low, high]) in found {
            let fill = match self.column(name).map(|c| &c.kind) {
                Some(Kind::Real(n) | Kind::Count(n)) => n.fill.clamp(low, high),
                _ => continue,
            };
            let Some(column) = self.raw.columns.get_mut(name) else { continue };
            (column.magnitude, column.resolution) = (None, None);
            (column.bounds, column.fill) = (Some(vec![low, high]), Some(raw::Scalar::Float(fill)));
        }
        Ok(Self { counting_out: self.counting_out, ..Self::try_from(self.raw)? })
    }

    /// The columns that have a magnitude in place of bounds.
    pub fn unbounded(&self) -> impl Iterator<Item = &str> {
        let is_searched =
            |c: &&Column| matches!(&c.kind, Kind::Real(n) | Kind::Count(n) if n.resolution.is_some());
        self.columns.iter().filter(is_searched).map(|c| c.name.as_str())
    }

    /// The marks that stand for a missing cell.
    pub(crate) fn marks(&self) -> Marks {
        Marks::new(match &self.raw.missing_values {
            Some(marks) => marks.iter().map(|m| m.trim().as_bytes().to_vec()).collect(),
            None => DEFAULT_MISSING.iter().map(|m| m.as_bytes().to_vec()).collect(),
        })
    }
}

/// The marks of a missing cell when the schema lists none.
pub(crate) const DEFAULT_MISSING: [&str; 10] =
    ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "."];
