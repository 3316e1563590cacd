//! How each column of a file enters the encoded table: the schema matched to the file's column names.

use dpglm::error::{Message, Parameter};
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{Domain, EncodedColumn, Target};
use crate::bounds::{Bounds, Scale, Scaling};
use crate::cell::{Categorical, Numeric};
use crate::error::{Error, Place, Result, list};
use crate::formula::{Compiled, SourceKind};
use crate::schema::{Column, Kind, Missing, Schema, Undeclared};

/// What a column that says where another's cells are missing is called after that one's name.
pub(crate) const INDICATES_MISSING: &str = "=missing";

/// A file's column that is read.
pub(crate) struct Slot {
    /// Its position in the file.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: Purpose,
    /// The column of the table that says where its cells are missing.
    pub missing_at: Option<usize>,
}

/// What a file's column is for.
pub(crate) enum Purpose {
    Number {
        at: usize,
        numeric: Numeric,
        scaling: Scaling,
    },
    Binary {
        at: usize,
        levels: Categorical,
        undeclared: usize,
        scaling: Scaling,
    },
    Indicators {
        first: usize,
        levels: Categorical,
        undeclared: usize,
    },
    NumberTarget(Numeric),
    LevelTarget(Categorical),
    Exposure(Numeric),
    SampleWeight(Numeric),
    Unit,
    /// What a formula makes columns of: the place among its cells, and whether it is for the response.
    Term {
        cell: usize,
        kind: SourceKind,
        undeclared: usize,
        is_response: bool,
    },
}

impl Purpose {
    /// Its first column in the table, if it is a feature.
    pub(crate) fn feature(&self) -> Option<usize> {
        match self {
            Purpose::Number { at, .. }
            | Purpose::Binary { at, .. }
            | Purpose::Indicators { first: at, .. } => Some(*at),
            _ => None,
        }
    }

    /// Whether it is what is explained.
    pub(crate) fn is_target(&self) -> bool {
        matches!(self, Self::NumberTarget(_) | Self::LevelTarget(_) | Self::Term { is_response: true, .. })
    }
}

/// The whole file's plan.
pub(crate) struct Plan {
    pub slots: Vec<Slot>,
    pub columns: Vec<EncodedColumn>,
    pub target: Option<Target>,
    /// How columns are made, where a formula says so.
    pub formula: Option<Compiled>,
}

impl Plan {
    /// Matches a schema to a file's column names. Without `needs_target` the file may lack target, exposure and unit,
    /// as a file to predict for does, and its undeclared columns are not read.
    ///
    /// Messages hold declared names only: the first line of a file without a header is somebody's row.
    pub(crate) fn new(schema: &Schema, path: &Path, names: &[String], needs_target: bool) -> Result<Self> {
        let unknown = undeclared_columns(schema, names);
        let positions = positions(path, names, &unknown, needs_target)?;
        if needs_target {
            refuse_undeclared(schema, path, names, &unknown)?;
        }
        let mut plan =
            Self { slots: Vec::new(), columns: Vec::new(), target: None, formula: schema.compiled()? };
        let mut absent = Vec::new();
        let mut categories = 0;
        if let Some(formula) = &plan.formula {
            plan.columns.clone_from(&formula.columns);
            plan.target = formula.response.as_ref().map(|(target, _)| target.clone());
        }
        for column in &schema.columns {
            let is_target = schema.target() == Some(&column.name);
            let is_exposure = schema.exposure() == Some(&column.name);
            let is_weight = schema.weight() == Some(&column.name);
            if column.kind == Kind::Ignore {
                continue;
            }
            if let Some(formula) = &plan.formula
                && !is_exposure
                && !is_weight
            {
                let Some(cell) = formula.cells.iter().position(|cell| cell.name == column.name) else {
                    continue;
                };
                let source = &formula.cells[cell];
                // What a model is to predict is not read.
                if source.is_response && !needs_target {
                    continue;
                }
                let Some(&position) = positions.get(column.name.as_str()) else {
                    absent.push(column.name.as_str());
                    continue;
                };
                let undeclared = match &source.kind {
                    SourceKind::Levels(c) if source.is_response => c.fill,
                    SourceKind::Levels(c) => undeclared(schema, c),
                    SourceKind::Number(_) => 0,
                };
                let (kind, is_response) = (source.kind.clone(), source.is_response);
                let missing_at =
                    if is_response { None } else { plan.indicator_of_missing(schema, &column.name) };
                let purpose = Purpose::Term { cell, kind, undeclared, is_response };
                plan.slots.push(Slot { position, name: column.name.clone(), purpose, missing_at });
                continue;
            }
            if is_target {
                let resolution = match &column.kind {
                    Kind::Real(n) | Kind::Count(n) => n.resolution,
                    _ => None,
                };
                let (name, domain) = (column.name.clone(), domain(&column.kind));
                plan.target = Some(Target { name, domain, resolution });
            }
            let Some(&position) = positions.get(column.name.as_str()) else {
                if needs_target || !(is_target || is_exposure || is_weight) {
                    absent.push(column.name.as_str());
                }
                continue;
            };
            let purpose = match &column.kind {
                Kind::Real(n) | Kind::Count(n) if is_target => Purpose::NumberTarget(*n),
                Kind::Binary(c) | Kind::Category(c) if is_target => Purpose::LevelTarget(c.clone()),
                Kind::Real(n) | Kind::Count(n) if is_exposure => Purpose::Exposure(*n),
                Kind::Real(n) | Kind::Count(n) if is_weight => Purpose::SampleWeight(*n),
                Kind::Real(n) | Kind::Count(n) => {
                    let scaling = match n.resolution {
                        // Bounds are looked for in steps about zero.
                        Some(_) => Scaling::new(n.bounds, Scale::Symmetric, false),
                        None => Scaling::new(n.bounds, schema.scale(), schema.intercept()),
                    };
                    Purpose::Number {
                        at: plan.feature(column, &column.name, scaling, None),
                        numeric: *n,
                        scaling,
                    }
                }
                Kind::Binary(c) => {
                    let scaling = binary_scaling(schema.scale(), schema.intercept());
                    let at = plan.feature(column, &binary_name(&column.name, c), scaling, None);
                    Purpose::Binary { at, levels: c.clone(), undeclared: undeclared(schema, c), scaling }
                }
                Kind::Category(c) => {
                    let first = plan.columns.len();
                    for (_, level) in c.levels.names().iter().enumerate().filter(|(i, _)| *i != c.reference) {
                        let name = format!("{}={level}", column.name);
                        plan.feature(column, &name, Scaling::INDICATOR, Some(categories));
                    }
                    categories += 1;
                    Purpose::Indicators { first, levels: c.clone(), undeclared: undeclared(schema, c) }
                }
                Kind::Ignore => continue,
            };
            let missing_at = match purpose.feature() {
                Some(_) => plan.indicator_of_missing(schema, &column.name),
                None => None,
            };
            plan.slots.push(Slot { position, name: column.name.clone(), purpose, missing_at });
        }
        if let Some(unit) = schema.unit() {
            match positions.get(unit) {
                Some(&position) => {
                    let (name, purpose) = (unit.to_owned(), Purpose::Unit);
                    plan.slots.push(Slot { position, name, purpose, missing_at: None });
                }
                None if needs_target => absent.push(unit),
                None => {}
            }
        }
        refuse_absent(path, names, &unknown, &absent, needs_target)?;
        refuse_ambiguous(&plan.columns)?;
        // A text file gives its cells from left to right.
        plan.slots.sort_by_key(|slot| slot.position);
        Ok(plan)
    }

    /// The same plan for a file that leaves zeros out: every feature is divided by the largest magnitude that its bounds
    /// allow and not centred, so that zero stays zero. This depends on the format alone, not on how many zeros there are.
    pub(crate) fn without_centring(mut self, schema: &Schema) -> Result<Self> {
        if self.formula.is_some() {
            return Err(Error::declaration(
                "formula",
                "rows that leave zeros out are read as they are",
                "give the rows as a table of columns, or leave out the formula",
            ));
        }
        if schema.missing() == Missing::Indicator {
            return Err(Error::declaration(
                "missing",
                "rows that leave zeros out have no missing cells to say where they are",
                "write missing = \"fill\" or \"drop\"",
            ));
        }
        for slot in &mut self.slots {
            let Purpose::Number { at, numeric, scaling } = &mut slot.purpose else { continue };
            if !numeric.bounds.contains(0.0) {
                return Err(Error::declaration(
                    "feature bounds",
                    format!(
                        "must hold 0, the value of every entry that a sparse file leaves out, got [{}, {}]",
                        numeric.bounds.lower(),
                        numeric.bounds.upper()
                    ),
                    "widen the bounds to include 0",
                ));
            }
            *scaling = Scaling::new(numeric.bounds, schema.scale(), false);
            self.columns[*at].scaling = *scaling;
        }
        Ok(self)
    }

    /// True if the features stand in the table in the order of the file, one column each.
    pub(crate) fn keeps_order(&self) -> bool {
        self.slots
            .iter()
            .filter_map(|slot| match slot.purpose {
                Purpose::Number { at, .. } => Some(at),
                _ => None,
            })
            .eq(0..self.columns.len())
    }

    /// A column that says where another's cells are missing, under the rule that asks for it.
    fn indicator_of_missing(&mut self, schema: &Schema, name: &str) -> Option<usize> {
        if schema.missing() != Missing::Indicator {
            return None;
        }
        let name = format!("{name}{INDICATES_MISSING}");
        self.columns.push(EncodedColumn { binary: true, ..EncodedColumn::number(name, Scaling::INDICATOR) });
        Some(self.columns.len() - 1)
    }

    fn feature(&mut self, of: &Column, name: &str, scaling: Scaling, category: Option<usize>) -> usize {
        let binary = matches!(of.kind, Kind::Binary(_));
        let (name, declared) = (name.to_owned(), of.name.clone());
        let resolution = match &of.kind {
            Kind::Real(n) | Kind::Count(n) => n.resolution,
            _ => None,
        };
        self.columns.push(EncodedColumn { name, scaling, category, declared, binary, resolution });
        self.columns.len() - 1
    }
}

/// A binary feature is the number 0 or 1; scaled to [-1, 1] it uses the whole range, as any other column does.
pub(crate) fn binary_scaling(scale: Scale, intercept: bool) -> Scaling {
    match Bounds::new(0.0, 1.0) {
        Ok(bounds) if scale != Scale::None => Scaling::new(bounds, scale, intercept),
        _ => Scaling::INDICATOR,
    }
}

/// A binary feature is called by the level that counts as 1, unless that says nothing.
pub(crate) fn binary_name(column: &str, levels: &Categorical) -> String {
    match levels.levels.names() {
        [_, one] if !matches!(one.as_str(), "1" | "true") => format!("{column}={one}"),
        _ => column.to_owned(),
    }
}

/// The level that an undeclared one counts as.
fn undeclared(schema: &Schema, categorical: &Categorical) -> usize {
    match schema.undeclared() {
        Undeclared::Reference => categorical.reference,
        Undeclared::Missing => categorical.fill,
    }
}

pub(crate) fn domain(kind: &Kind) -> Domain {
    match kind {
        Kind::Count(n) => Domain::Count(n.bounds),
        Kind::Real(n) => Domain::Real(n.bounds),
        Kind::Binary(c) => match c.levels.names() {
            [zero, one] => Domain::Binary([zero.clone(), one.clone()]),
            other => Domain::Category(other.to_vec()),
        },
        Kind::Category(c) => Domain::Category(c.levels.names().to_vec()),
        Kind::Ignore => Domain::Category(Vec::new()),
    }
}

fn positions<'n>(
    path: &Path,
    names: &'n [String],
    undeclared: &[usize],
    needs_target: bool,
) -> Result<HashMap<&'n str, usize>> {
    let mut positions = HashMap::with_capacity(names.len());
    let mut twice = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if let Some(before) = positions.insert(name.as_str(), i) {
            twice.push((before, i));
        }
    }
    let is_declared = |i: usize| undeclared.binary_search(&i).is_err();
    if let Some(&(_, i)) = twice.iter().find(|(_, i)| is_declared(*i)) {
        return Err(Error::file(
            path,
            Place::Header,
            format!("column name `{}` occurs more than once", names[i]),
            "give every column a name of its own",
        ));
    }
    match twice.first() {
        Some((before, i)) if needs_target => Err(Error::file(
            path,
            Place::Header,
            format!("columns {} and {} have one and the same name", before + 1, i + 1),
            format!("give every column a name of its own; {WITHOUT_HEADER}"),
        )),
        _ => Ok(positions),
    }
}

/// The positions of a file's columns that the schema does not declare, ascending.
fn undeclared_columns(schema: &Schema, names: &[String]) -> Vec<usize> {
    let declared: HashSet<&str> =
        schema.columns.iter().map(|c| c.name.as_str()).chain(schema.unit()).collect();
    (0..names.len()).filter(|&i| !declared.contains(names[i].as_str())).collect()
}

/// What to do about a file whose first line is a row.
const WITHOUT_HEADER: &str = "if the file has no header line, write names = [...] in the schema";
/// The same about a file to predict for.
fn new_without_header() -> Message {
    Message::new("if the file has no header line, give {}", &[&Parameter::NoHeader])
}

fn refuse_undeclared(schema: &Schema, path: &Path, names: &[String], undeclared: &[usize]) -> Result<()> {
    if undeclared.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = undeclared.iter().take(8).map(|i| (i + 1).to_string()).collect();
    let more = if undeclared.len() > 8 { ", ..." } else { "" };
    let mut problem = format!(
        "the schema does not declare {} of the file's {} columns (number {}{more})",
        undeclared.len(),
        names.len(),
        shown.join(", ")
    );
    let found: HashSet<&str> = names.iter().map(String::as_str).collect();
    let missing: Vec<&str> = schema
        .columns
        .iter()
        .filter(|c| c.kind != Kind::Ignore)
        .map(|c| c.name.as_str())
        .chain(schema.unit())
        .filter(|name| !found.contains(name))
        .collect();
    if !missing.is_empty() {
        problem.push_str(&format!(", and the declared {} is not among them", list(&missing)));
    }
    Err(Error::file(
        path,
        Place::Header,
        problem,
        delimiter_hint(names).unwrap_or_else(|| {
            format!(
                "declare each under [columns] with its kind and public bounds or levels, or kind = \"ignore\"; \
                 {WITHOUT_HEADER}"
            )
        }),
    ))
}

fn refuse_absent(
    path: &Path,
    names: &[String],
    undeclared: &[usize],
    absent: &[&str],
    needs_target: bool,
) -> Result<()> {
    if absent.is_empty() {
        return Ok(());
    }
    let without_header = if needs_target { WITHOUT_HEADER.into() } else { new_without_header() };
    let declared = names.len() - undeclared.len();
    Err(Error::file(
        path,
        Place::Header,
        format!("column {} is declared in the schema but missing here", list(absent)),
        delimiter_hint(names).map_or_else(
            || {
                Message::new(
                    "{} of the file's {} columns are declared; correct the schema or the file; {}",
                    &[&declared, &names.len(), &without_header],
                )
            },
            Message::from,
        ),
    ))
}

/// A file read with the wrong delimiter shows as one wide column.
fn delimiter_hint(names: &[String]) -> Option<String> {
    let [only] = names else { return None };
    let found = [';', '\t', ',', '|', ' '].into_iter().find(|c| only.contains(*c))?;
    Some(format!("the header looks like several names in one; set delimiter = {found:?} in the schema"))
}

/// Two stored columns of one name could not be told apart in a table of coefficients.
fn refuse_ambiguous(columns: &[EncodedColumn]) -> Result<()> {
    let mut seen = HashSet::with_capacity(columns.len());
    match columns.iter().find(|c| !seen.insert(c.name.as_str())) {
        None => Ok(()),
        Some(c) => Err(Error::declaration(
            format!("columns.{}", c.name),
            "this name stands both for a column and for a level of another",
            "rename one of them",
        )),
    }
}
