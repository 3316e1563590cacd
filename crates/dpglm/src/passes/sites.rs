//! Rows at several places: a curator asks every site each pass, and adds the answers.
//!
//! A question and an answer are text (JSON) that can be carried by hand. The sums are exact, so the result is that of one table of all rows, to the
//! last bit.
//!
//! # Who sees what
//! Noise is added by the curator alone. **An answer is not noised**: it holds exact sums and counts of a site's rows, from which single rows may be
//! told. Sites must trust the curator with that, and the way there; the promise holds towards everybody who sees what is released. A question
//! holds what was released before, so sites see releases that are in the certificate anyway.
//!
//! # Why private
//! All rows of a unit must be at one site: what bounds a unit in a pass holds within a site. The number of units, which is public and decides the noise,
//! is counted in every pass.

use super::partial::Partial;
use super::pass::{Pass, PrivateRows, Rows};
use super::table::Table;
use crate::data::{Dataset, Shape};
use crate::error::{Error, Result};
use crate::privacy::Adjacency;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Carries questions to sites.
pub trait Ask: Send + Sync {
    /// The answers of all sites to a question, each once, or that of the sites' answers merged.
    fn ask(&self, question: &str) -> Result<Vec<String>>;
}

/// Rows at several sites.
pub struct Sites {
    shape: Shape,
    unit: Option<String>,
    ask: Arc<dyn Ask>,
    rescaled: Vec<Vec<Option<(f64, f64)>>>,
}

/// A pass, and how columns are measured anew before it.
#[derive(Serialize, Deserialize)]
struct Question {
    rescaled: Vec<Vec<Option<(f64, f64)>>>,
    pass: Pass,
}

/// What some rows add to a pass.
#[derive(Serialize, Deserialize)]
struct Answer {
    /// What is public of the rows: columns, units, and whether they are grouped, dropped, and have exposures.
    shape: (usize, usize, [bool; 3]),
    unit: Option<String>,
    partial: Partial,
}

impl Sites {
    /// Rows of which this is public, all sites together; `unit` says what a unit is called, where rows are not units.
    pub fn new(shape: Shape, unit: Option<String>, ask: Arc<dyn Ask>) -> Self {
        Self { shape, unit, ask, rescaled: Vec::new() }
    }
}

impl Rows for Sites {
    fn shape(&self) -> Shape {
        self.shape
    }

    /// Sites hold rows of which every entry is stored: others are refused when they answer.
    fn is_sparse(&self) -> bool {
        false
    }

    fn adjacency(&self) -> Adjacency {
        self.unit.as_ref().map_or(Adjacency::ReplaceRow, |name| Adjacency::ReplaceUnit(name.clone()))
    }

    fn pass(&self, pass: &Pass) -> Result<Partial> {
        let question = Question { rescaled: self.rescaled.clone(), pass: pass.clone() };
        let total = merged(&self.ask.ask(&text(&question)?)?)?;
        let (columns, units, flags) = facts(self.shape);
        if total.shape == (columns, units, flags) && total.unit == self.unit {
            return Ok(total.partial);
        }
        Err(Error::Conflict(format!(
            "the sites have {} columns and {} rows or units together, {columns} and {units} are declared, or their schemas differ: nothing is \
             released",
            total.shape.0, total.shape.1
        )))
    }

    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>> {
        let mut rescaled = self.rescaled.clone();
        rescaled.push(maps.to_vec());
        Ok(Box::new(Self { shape: self.shape, unit: self.unit.clone(), ask: self.ask.clone(), rescaled }))
    }
}

/// Rows in memory, to be asked passes.
pub fn in_memory(data: &Dataset) -> impl PrivateRows + '_ {
    Table::new(data)
}

/// A site's answer to a question. **It is not noised**: it is for the curator alone.
pub fn answer(rows: &dyn PrivateRows, question: &str) -> Result<String> {
    let question: Question = read("pass", question)?;
    if rows.is_sparse() {
        return Err(Error::Conflict(
            "rows that leave zeros out cannot be at a site: write every entry".into(),
        ));
    }
    let columns = rows.shape().columns;
    if question.rescaled.iter().any(|maps| maps.len() != columns) || !question.pass.is_for(columns) {
        return Err(another_table());
    }
    let partial = match question.rescaled.split_first() {
        None => rows.pass(&question.pass)?,
        Some((first, rest)) => {
            let mut scaled = rows.rescaled(first)?;
            for maps in rest {
                scaled = scaled.rescaled(maps)?;
            }
            scaled.pass(&question.pass)?
        }
    };
    let unit = match rows.adjacency() {
        Adjacency::ReplaceUnit(name) => Some(name),
        _ => None,
    };
    text(&Answer { shape: facts(rows.shape()), unit, partial })
}

/// The answer of several sites together.
pub fn merge(answers: &[String]) -> Result<String> {
    text(&merged(answers)?)
}

fn merged(answers: &[String]) -> Result<Answer> {
    let mut answers = answers.iter().map(|answer| read::<Answer>("partial", answer));
    let mut total =
        answers.next().unwrap_or_else(|| Err(Error::Conflict("there is no partial to add".into())))?;
    for answer in answers {
        let Answer { shape: (columns, units, flags), unit, partial } = answer?;
        if (columns, flags, &unit) != (total.shape.0, total.shape.2, &total.unit) {
            return Err(another_table());
        }
        total.shape.1 = total.shape.1.saturating_add(units);
        total.partial.merge(&partial)?;
    }
    Ok(total)
}

fn facts(shape: Shape) -> (usize, usize, [bool; 3]) {
    (shape.columns, shape.units, [shape.grouped, shape.dropped, shape.exposures])
}

fn another_table() -> Error {
    Error::Conflict("the sites' tables are not of one kind: give them the same schema".into())
}

fn text(thing: &impl Serialize) -> Result<String> {
    serde_json::to_string(thing).map_err(|error| Error::Conflict(error.to_string()))
}

fn read<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T> {
    // What stands in it is not repeated.
    serde_json::from_str(text).map_err(|error| Error::Malformed {
        what,
        reason: format!("line {}, column {}", error.line(), error.column()),
    })
}
