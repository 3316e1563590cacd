//! What a coefficient is the coefficient of, as far as its name does not say it: the reference level, the basis of a curve, the first
//! interval of survival.

use crate::document::FitDocument;
use crate::failure::Failure;
use dpglm_io::Schema;
use dpglm_io::schema::{Column, Kind};
use indexmap::IndexMap;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the coefficients of a fit mean.
pub(super) struct Meanings {
    /// Of each column of the model, the term it belongs to.
    of_columns: Vec<String>,
    /// Of each term.
    of_terms: IndexMap<String, Term>,
    /// Where the first interval of survival ends, with which all others are compared.
    first_cut: Option<f64>,
}

/// A term's columns and what they are made of. Two terms of one name are the same thing if these are equal.
#[derive(Default, PartialEq)]
struct Term {
    /// Whether the reference level is among them depends on the other terms.
    columns: BTreeSet<String>,
    /// The declarations that the columns depend on.
    rests_on: BTreeSet<String>,
}

impl Meanings {
    pub(super) fn of(fit: &FitDocument) -> Result<Self, Failure> {
        let mut found = Self {
            of_columns: Vec::new(),
            of_terms: IndexMap::new(),
            first_cut: fit.survival.as_ref().and_then(|survival| survival.cuts.first().copied()),
        };
        for (column, sources) in fit.encoding.encoded_from()? {
            let term = found.of_terms.entry(column.declared.clone()).or_default();
            // Bounds of a number that stands for itself say where it is clamped, not what its slope is.
            let others = sources.iter().filter(|name| **name != column.name);
            for source in others.filter_map(|name| fit.encoding.column(name)) {
                term.rests_on.insert(format!("{}: {}", source.name, values(source)));
            }
            term.columns.insert(column.name);
            found.of_columns.push(column.declared);
        }
        Ok(found)
    }

    /// Whether a coefficient means the same here and there: that of a column, by its place in each, or the intercept.
    pub(super) fn agree(&self, here: Option<usize>, other: &Self, there: Option<usize>) -> bool {
        let term = |of: &Self, place: usize| of.of_columns.get(place).cloned();
        let same_term = |name: &String| self.of_terms.get(name) == other.of_terms.get(name);
        match (here, there) {
            // The intercept is what is said where each column is zero or its reference level.
            (None, None) => {
                let shared = self.of_terms.keys().filter(|name| other.of_terms.contains_key(*name));
                self.first_cut == other.first_cut && shared.into_iter().all(same_term)
            }
            (Some(here), Some(there)) => match (term(self, here), term(other, there)) {
                (Some(here), Some(there)) => here == there && same_term(&here),
                // Intervals follow the columns.
                (None, None) => self.first_cut == other.first_cut,
                _ => false,
            },
            _ => false,
        }
    }
}

/// The columns that both schemas read and that are declared differently, in words.
pub(super) fn other_declarations(first: &Schema, second: &Schema) -> Result<Vec<String>, Failure> {
    let read = |schema: &Schema| -> Result<HashSet<String>, Failure> {
        let roles = [schema.target(), schema.exposure(), schema.weight()];
        Ok(schema.columns_read()?.into_iter().chain(roles.into_iter().flatten().map(str::to_owned)).collect())
    };
    let (those, others) = (read(first)?, read(second)?);
    let otherwise: HashMap<&str, &Column> =
        second.columns().iter().map(|column| (column.name.as_str(), column)).collect();
    let differs = |column: &Column| {
        let [said, otherwise] = [column, otherwise.get(column.name.as_str())?].map(described);
        (said != otherwise).then(|| format!("column {}: {said} and {otherwise}", column.name))
    };
    let in_both = |column: &&Column| those.contains(&column.name) && others.contains(&column.name);
    Ok(first.columns().iter().filter(in_both).filter_map(differs).collect())
}

/// A declaration in words.
fn described(column: &Column) -> String {
    let fill = match &column.kind {
        Kind::Real(n) | Kind::Count(n) => n.fill.to_string(),
        Kind::Binary(c) | Kind::Category(c) => c.levels.names().get(c.fill).cloned().unwrap_or_default(),
        Kind::Ignore => "nothing".into(),
    };
    format!("{}, filled with {fill}", values(column))
}

/// What its cells can be, and with what they are compared.
fn values(column: &Column) -> String {
    match &column.kind {
        Kind::Real(n) | Kind::Count(n) => {
            let whole = if n.whole { "whole number" } else { "number" };
            format!("{whole} in [{}, {}]", n.bounds.lower(), n.bounds.upper())
        }
        Kind::Binary(c) | Kind::Category(c) => {
            let reference = c.levels.names().get(c.reference).map_or("", String::as_str);
            format!("levels {} against {reference}", c.levels.names().join(", "))
        }
        Kind::Ignore => "ignored".into(),
    }
}
