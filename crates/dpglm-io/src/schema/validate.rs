//! From what is written to what can be used: every declaration is checked before any data file is opened.

use std::collections::HashSet;

use super::raw::{RawColumn, RawKind, RawLevel, RawSchema, Scalar};
use super::{Column, Kind, OfFormula, Schema};
use crate::bounds::Bounds;
use crate::cell::{Categorical, Numeric};
use crate::error::{Error, Result, list};
use crate::formula::Compiled;
use crate::levels::Levels;

impl TryFrom<RawSchema> for Schema {
    type Error = Error;

    fn try_from(raw: RawSchema) -> Result<Self> {
        refuse_blanks(&raw)?;
        let columns = raw
            .columns
            .iter()
            .map(|(name, column)| Ok(Column { name: name.clone(), kind: kind(name, column)? }))
            .collect::<Result<Vec<_>>>()?;
        let mut schema = Self { raw, columns, counting_out: false, of_formula: None };
        check_text_format(&schema.raw)?;
        check_target(&schema)?;
        check_exposure(&schema)?;
        check_weight(&schema)?;
        check_unit(&schema)?;
        if let Some(formula) = schema.compiled()? {
            let Compiled { intercept, target, explains, .. } = formula;
            schema.of_formula = Some(OfFormula { intercept, target, explains });
        }
        Ok(schema)
    }
}

impl From<Schema> for RawSchema {
    fn from(schema: Schema) -> Self {
        schema.raw
    }
}

/// A draft still has its blanks: name them all at once.
fn refuse_blanks(raw: &RawSchema) -> Result<()> {
    let mut blank = Vec::new();
    if raw.target.as_ref().is_some_and(|t| t.trim().is_empty()) {
        blank.push("target".to_owned());
    }
    for (name, column) in &raw.columns {
        let empty = |list: Option<usize>| list == Some(0);
        if empty(column.bounds.as_ref().map(Vec::len)) {
            blank.push(format!("columns.{name}.bounds"));
        }
        if empty(column.levels.as_ref().map(Vec::len)) {
            blank.push(format!("columns.{name}.levels"));
        }
    }
    if blank.is_empty() {
        return Ok(());
    }
    Err(Error::declaration(
        list(&blank),
        "still blank",
        "write bounds and levels from public knowledge (a code book, the law, a published table), not from this \
         file: what is read off private rows leaks",
    ))
}

fn kind(name: &str, raw: &RawColumn) -> Result<Kind> {
    let misplaced = |field: &str| {
        Error::declaration(
            format!("columns.{name}.{field}"),
            format!("a column of kind \"{}\" has no {field}", raw.kind.word()),
            "remove it or change the kind",
        )
    };
    let numeric = matches!(raw.kind, RawKind::Real | RawKind::Count);
    let categorical = matches!(raw.kind, RawKind::Binary | RawKind::Category);
    if raw.bounds.is_some() && !numeric {
        return Err(misplaced("bounds"));
    }
    for (field, given) in [("magnitude", raw.magnitude), ("resolution", raw.resolution)] {
        if given.is_some() && !numeric {
            return Err(misplaced(field));
        }
    }
    if raw.levels.is_some() && !categorical {
        return Err(misplaced("levels"));
    }
    if raw.reference.is_some() && !categorical {
        return Err(misplaced("reference"));
    }
    match raw.kind {
        RawKind::Real => Ok(Kind::Real(self::numeric(name, raw, false)?)),
        RawKind::Count => Ok(Kind::Count(self::numeric(name, raw, true)?)),
        RawKind::Binary => Ok(Kind::Binary(binary(name, raw)?)),
        RawKind::Category => Ok(Kind::Category(self::categorical(name, raw)?)),
        RawKind::Ignore if raw.fill.is_some() => Err(misplaced("fill")),
        RawKind::Ignore => Ok(Kind::Ignore),
    }
}

fn numeric(name: &str, raw: &RawColumn, whole: bool) -> Result<Numeric> {
    let key = format!("columns.{name}.bounds");
    let searched = searched(name, raw, whole)?;
    let bounds = match (raw.bounds.as_deref(), searched) {
        (None, Some((bounds, _))) => bounds,
        (Some(&[lower, upper]), _) => crate::bounds::declared(&key, lower, upper)?,
        (Some(other), _) => {
            return Err(Error::declaration(
                key,
                format!("two numbers are needed, got {}", other.len()),
                "write bounds = [lower, upper]",
            ));
        }
        (None, None) => {
            return Err(Error::declaration(
                key,
                format!("a column of kind \"{}\" needs bounds", raw.kind.word()),
                "write bounds = [lower, upper] from public knowledge, or kind = \"ignore\"",
            ));
        }
    };
    if whole && (bounds.lower() < 0.0 || bounds.lower().fract() != 0.0 || bounds.upper().fract() != 0.0) {
        return Err(Error::declaration(
            key,
            format!(
                "a count's bounds must be whole numbers of at least 0, got [{}, {}]",
                bounds.lower(),
                bounds.upper()
            ),
            "round them outward, or use kind = \"real\"",
        ));
    }
    let default = match searched {
        // The middle of what a magnitude allows says nothing.
        Some(_) => 0.0,
        None if whole => bounds.midpoint().floor(),
        None => bounds.midpoint(),
    };
    let fill = match &raw.fill {
        None => default,
        Some(written) => written.number().filter(|x| bounds.contains(*x)).ok_or_else(|| {
            Error::declaration(
                format!("columns.{name}.fill"),
                format!(
                    "must be a number in [{}, {}], got {}",
                    bounds.lower(),
                    bounds.upper(),
                    written.text()
                ),
                "choose a public value within the column's bounds",
            )
        })?,
    };
    Ok(Numeric { bounds, fill, whole, resolution: searched.map(|(_, resolution)| resolution) })
}

/// The widest bounds that a magnitude allows, and its resolution; `None` without one.
fn searched(name: &str, raw: &RawColumn, whole: bool) -> Result<Option<(Bounds, f64)>> {
    let refuse = |field: &str, problem: &str, remedy: &str| {
        Err(Error::declaration(format!("columns.{name}.{field}"), problem, remedy))
    };
    match (raw.magnitude, raw.resolution) {
        (None, None) => Ok(None),
        (Some(_), _) if raw.bounds.is_some() => {
            refuse("magnitude", "a column with bounds needs no magnitude", "remove one of the two")
        }
        (None, Some(_)) => refuse(
            "resolution",
            "a resolution goes with a magnitude",
            "write magnitude = 1e6, resolution = 1, or remove it",
        ),
        (Some(_), None) => refuse(
            "magnitude",
            "a magnitude needs a resolution",
            "write the smallest difference that matters, as resolution = 1",
        ),
        (Some(largest), Some(resolution)) => {
            dpglm::estimators::bounds::Magnitude::new(largest, resolution).map_err(|e| {
                Error::declaration(
                    format!("columns.{name}.magnitude"),
                    e.to_string(),
                    "for example magnitude = 1e6, resolution = 1",
                )
            })?;
            let lower = if whole { 0.0 } else { -largest };
            let upper = if whole { largest.ceil() } else { largest };
            Ok(Some((
                crate::bounds::declared(format!("columns.{name}.magnitude"), lower, upper)?,
                resolution,
            )))
        }
    }
}

fn binary(name: &str, raw: &RawColumn) -> Result<Categorical> {
    let mut raw = raw.clone();
    if raw.levels.is_none() {
        raw.levels = Some(["0", "1"].map(|l| RawLevel::One(Scalar::Text(l.to_owned()))).to_vec());
    }
    let declared = categorical(name, &raw)?;
    if declared.levels.count() != 2 {
        return Err(Error::declaration(
            format!("columns.{name}.levels"),
            format!("a binary column has exactly two levels, got {}", declared.levels.count()),
            "use kind = \"category\", or list several spellings of one level as [\"a\", \"b\"]",
        ));
    }
    Ok(declared)
}

fn categorical(name: &str, raw: &RawColumn) -> Result<Categorical> {
    let key = format!("columns.{name}.levels");
    let spellings: Vec<Vec<String>> = raw.levels.iter().flatten().map(RawLevel::spellings).collect();
    if raw.levels.is_none() {
        return Err(Error::declaration(
            key,
            "a column of kind \"category\" needs levels",
            "list the values that public knowledge allows, or use kind = \"ignore\"",
        ));
    }
    if spellings.len() < 2 || spellings.iter().any(Vec::is_empty) {
        return Err(Error::declaration(
            key,
            format!("at least two levels with a spelling each are needed, got {}", spellings.len()),
            "list every level, or use kind = \"ignore\"",
        ));
    }
    let levels = Levels::new(&spellings).map_err(|twice| {
        Error::declaration(key, format!("level \"{twice}\" is declared twice"), "keep it once")
    })?;
    let find = |field: &str, written: &Option<Scalar>, default: usize| match written {
        None => Ok(default),
        Some(written) => levels.find(&written.text()).ok_or_else(|| {
            Error::declaration(
                format!("columns.{name}.{field}"),
                format!("must be one of the levels {}, got \"{}\"", list(levels.names()), written.text()),
                "choose a declared level, or declare this one",
            )
        }),
    };
    let reference = find("reference", &raw.reference, 0)?;
    if raw.kind == RawKind::Binary && reference != 0 {
        return Err(Error::declaration(
            format!("columns.{name}.reference"),
            "a binary column's first level is its reference",
            "list the levels in the other order",
        ));
    }
    let fill = find("fill", &raw.fill, reference)?;
    Ok(Categorical { levels, reference, fill })
}

fn check_text_format(raw: &RawSchema) -> Result<()> {
    for (key, mark) in [("delimiter", raw.delimiter), ("comment", raw.comment)] {
        if mark.is_some_and(|m| !m.is_ascii() || m == '"' || m == '\n' || m == '\r') {
            return Err(Error::declaration(
                key,
                format!("must be one ASCII character other than a quote or a line end, got {mark:?}"),
                "write for example delimiter = \";\"",
            ));
        }
    }
    if raw.delimiter.is_some() && raw.delimiter == raw.comment {
        return Err(Error::declaration("comment", "equals the delimiter", "choose another mark"));
    }
    if raw.header == Some(true) && raw.names.is_some() {
        return Err(Error::declaration(
            "header",
            "`names` are for a text file without a header line, but header = true",
            "take out one of the two",
        ));
    }
    let mut seen = HashSet::new();
    for name in raw.names.iter().flatten() {
        if !seen.insert(name.trim()) {
            return Err(Error::declaration(
                "names",
                format!("`{name}` is listed twice"),
                "rename one of them",
            ));
        }
    }
    Ok(())
}

fn check_target(schema: &Schema) -> Result<()> {
    let Some(target) = schema.target() else { return Ok(()) };
    let refuse = |problem: String, remedy: &str| Err(Error::declaration("target", problem, remedy));
    match schema.column(target) {
        None => refuse(
            format!("`{target}` is not declared under [columns]"),
            "declare it with its bounds or levels, or name another column",
        ),
        Some(Column { kind: Kind::Ignore, .. }) => refuse(
            format!("`{target}` is declared `kind = \"ignore\"`"),
            "declare its bounds or levels, or name another column",
        ),
        Some(_) => Ok(()),
    }
}

fn check_exposure(schema: &Schema) -> Result<()> {
    let Some(exposure) = schema.exposure() else { return Ok(()) };
    let refuse = |problem: String, remedy: &str| Err(Error::declaration("exposure", problem, remedy));
    if schema.target() == Some(exposure) {
        return refuse(format!("`{exposure}` is the target"), "name another column");
    }
    match schema.column(exposure).map(|c| &c.kind) {
        Some(Kind::Real(numeric) | Kind::Count(numeric)) if numeric.bounds.lower() > 0.0 => Ok(()),
        Some(Kind::Real(numeric) | Kind::Count(numeric)) => refuse(
            format!("`{exposure}` must have bounds above 0, got a lower bound of {}", numeric.bounds.lower()),
            "declare the smallest exposure that counts; a cell at or below zero is then raised to it",
        ),
        _ => refuse(
            format!("`{exposure}` must be declared as real with bounds above 0"),
            "declare it under [columns], for example { kind = \"real\", bounds = [0.01, 1] }",
        ),
    }
}

fn check_weight(schema: &Schema) -> Result<()> {
    let Some(weight) = schema.weight() else { return Ok(()) };
    let refuse = |problem: String, remedy: &str| Err(Error::declaration("weight", problem, remedy));
    for (role, other) in [("target", schema.target()), ("exposure", schema.exposure())] {
        if other == Some(weight) {
            return refuse(format!("`{weight}` is the {role}"), "name another column");
        }
    }
    match schema.column(weight).map(|c| &c.kind) {
        Some(Kind::Real(numeric) | Kind::Count(numeric)) if numeric.resolution.is_some() => refuse(
            format!("`{weight}` has a magnitude in place of bounds"),
            "declare the largest weight that a row can have, as bounds = [0, 50000]",
        ),
        Some(Kind::Real(numeric) | Kind::Count(numeric)) if numeric.bounds.lower() >= 0.0 => Ok(()),
        Some(Kind::Real(numeric) | Kind::Count(numeric)) => refuse(
            format!(
                "`{weight}` must have bounds of at least 0, got a lower bound of {}",
                numeric.bounds.lower()
            ),
            "declare the smallest and the largest weight; cells beyond count as the nearest",
        ),
        _ => refuse(
            format!("`{weight}` must be declared as real with bounds of at least 0"),
            "declare it under [columns], for example { kind = \"real\", bounds = [0, 50000] }",
        ),
    }
}

fn check_unit(schema: &Schema) -> Result<()> {
    let Some(unit) = schema.unit() else { return Ok(()) };
    match schema.column(unit).map(|c| &c.kind) {
        None | Some(Kind::Ignore) => Ok(()),
        Some(_) => Err(Error::declaration(
            "unit",
            format!("`{unit}` says whose row it is and cannot also be a feature, target, exposure or weight"),
            "declare it `kind = \"ignore\"` or leave it out of [columns]",
        )),
    }
}
