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
//!
//! # Many small sites
//! The workers of a cluster are sites that the curator owns. Each holds its rows in blocks, and a [`Respondent`] adds up what they say to one
//! question; there, means and descriptions are asked too ([`SiteCells`]).

use super::cells::{CellPass, CellRows, MeanRows, MeanShape};
use super::kept::Kept;
use super::partial::Partial;
use super::pass::{Pass, PrivateRows, Rows};
use super::table::{Carried, Table};
use crate::data::{Dataset, Shape};
use crate::error::{Error, Result};
use crate::parallel::{self, lock};
use crate::privacy::Adjacency;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

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

/// Rows at several places whose cells means and descriptions ask for.
pub struct SiteCells {
    shape: MeanShape,
    columns: usize,
    unit: Option<String>,
    ask: Arc<dyn Ask>,
}

/// A pass, and how columns are measured anew before it.
#[derive(Serialize, Deserialize)]
struct Question {
    rescaled: Vec<Vec<Option<(f64, f64)>>>,
    pass: Asked,
}

/// What is asked of rows.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Asked {
    Rows(Box<Pass>),
    Cells(CellPass),
}

/// What some rows add to a pass.
#[derive(Serialize, Deserialize)]
struct Answer {
    /// What is public of the rows: columns, units, and whether they are grouped, dropped, and have exposures; of cells whether they are
    /// grouped, weighted, and may be missing.
    shape: Facts,
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
        let question =
            Question { rescaled: self.rescaled.clone(), pass: Asked::Rows(Box::new(pass.clone())) };
        merged(&self.ask.ask(&text(&question)?)?)?.require(facts(self.shape), self.unit.as_deref())
    }

    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>> {
        let mut rescaled = self.rescaled.clone();
        rescaled.push(maps.to_vec());
        Ok(Box::new(Self { shape: self.shape, unit: self.unit.clone(), ask: self.ask.clone(), rescaled }))
    }
}

impl SiteCells {
    /// Rows of so many columns of which this is public, all places together; `unit` says what a unit is called, where rows are not units.
    pub fn new(shape: MeanShape, columns: usize, unit: Option<String>, ask: Arc<dyn Ask>) -> Self {
        Self { shape, columns, unit, ask }
    }
}

impl CellRows for SiteCells {
    fn shape(&self) -> MeanShape {
        self.shape
    }

    fn unit_name(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// What the rows have is compared in every pass.
    fn require(&self, columns: usize, _blocks: usize) -> Result<()> {
        if columns == self.columns { Ok(()) } else { Err(another_table()) }
    }

    fn answer(&self, pass: &CellPass) -> Result<Partial> {
        let question = Question { rescaled: Vec::new(), pass: Asked::Cells(pass.clone()) };
        let facts = cell_facts(self.columns, self.shape);
        merged(&self.ask.ask(&text(&question)?)?)?.require(facts, self.unit.as_deref())
    }
}

impl Answer {
    /// Adds what other rows say.
    fn merge(&mut self, other: Self) -> Result<()> {
        let Self { shape: (columns, units, flags), unit, partial } = other;
        if (columns, flags, &unit) != (self.shape.0, self.shape.2, &self.unit) {
            return Err(another_table());
        }
        self.shape.1 = self.shape.1.saturating_add(units);
        self.partial.merge(&partial)
    }

    /// What all rows together add to a pass, if they are the declared ones.
    fn require(self, facts: Facts, unit: Option<&str>) -> Result<Partial> {
        if self.shape == facts && self.unit.as_deref() == unit {
            return Ok(self.partial);
        }
        Err(Error::Conflict(format!(
            "the sites have {} columns and {} rows or units together, {} and {} are declared, or their schemas differ: nothing is released",
            self.shape.0, self.shape.1, facts.0, facts.1
        )))
    }
}

/// What a process that answers keeps of blocks from question to question, because it takes longer to compute than most answers.
pub struct Memo(Mutex<Kept<u128>>);

impl Memo {
    /// Up to so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Mutex::new(Kept::new(bytes)))
    }
}

/// Adds up what blocks of rows say to one question. All rows of a unit must be in one block.
pub struct Respondent {
    question: Question,
    total: Option<Answer>,
}

impl Respondent {
    /// For a question that an [`Ask`] carried.
    pub fn new(question: &str) -> Result<Self> {
        Ok(Self { question: read("pass", question)?, total: None })
    }

    /// Whether cells are asked for, as means and descriptions do.
    pub fn asks_for_cells(&self) -> bool {
        matches!(self.question.pass, Asked::Cells(_))
    }

    /// Adds a block, on this thread alone: a worker has others for other blocks. `key` is the block's own, in this process.
    pub fn add(&mut self, rows: Dataset, key: u128, memo: &Memo) -> Result<()> {
        // What is known of rows holds for them as they are.
        let carried =
            if self.question.rescaled.is_empty() { lock(&memo.0).take(&key) } else { Carried::default() };
        let table = Table::carrying(rows, carried);
        let answer = parallel::alone(|| answered(&table, &self.question))?;
        if self.question.rescaled.is_empty() {
            lock(&memo.0).keep(key, table.carried());
        }
        self.join(answer)
    }

    /// The same of a block's cells.
    pub fn add_cells(&mut self, rows: &MeanRows<'_>) -> Result<()> {
        let Asked::Cells(pass) = &self.question.pass else { return Err(another_table()) };
        let partial = parallel::alone(|| rows.answer(pass))?;
        let (shape, unit) = (cell_facts(rows.columns(), rows.shape()), rows.unit_name().map(str::to_owned));
        self.join(Answer { shape, unit, partial })
    }

    fn join(&mut self, answer: Answer) -> Result<()> {
        match &mut self.total {
            None => self.total = Some(answer),
            Some(total) => total.merge(answer)?,
        }
        Ok(())
    }

    /// What all blocks say; `None` if there was none. **It is not noised.**
    pub fn answer(self) -> Result<Option<String>> {
        self.total.as_ref().map(text).transpose()
    }
}

/// Rows in memory, to be asked passes.
pub fn in_memory(data: &Dataset) -> impl PrivateRows + '_ {
    Table::new(data)
}

/// A site's answer to a question. **It is not noised**: it is for the curator alone.
pub fn answer(rows: &dyn PrivateRows, question: &str) -> Result<String> {
    text(&answered(rows, &read("pass", question)?)?)
}

fn answered(rows: &dyn PrivateRows, question: &Question) -> Result<Answer> {
    if rows.is_sparse() {
        return Err(Error::Conflict(
            "rows that leave zeros out cannot be at a site: write every entry".into(),
        ));
    }
    let columns = rows.shape().columns;
    let Asked::Rows(pass) = &question.pass else { return Err(another_table()) };
    if question.rescaled.iter().any(|maps| maps.len() != columns) || !pass.is_for(columns) {
        return Err(another_table());
    }
    let partial = match question.rescaled.split_first() {
        None => rows.pass(pass)?,
        Some((first, rest)) => {
            let mut scaled = rows.rescaled(first)?;
            for maps in rest {
                scaled = scaled.rescaled(maps)?;
            }
            scaled.pass(pass)?
        }
    };
    let unit = match rows.adjacency() {
        Adjacency::ReplaceUnit(name) => Some(name),
        _ => None,
    };
    Ok(Answer { shape: facts(rows.shape()), unit, partial })
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
        total.merge(answer?)?;
    }
    Ok(total)
}

/// Columns, units, and what rows have beside.
type Facts = (usize, usize, [bool; 4]);

fn facts(shape: Shape) -> Facts {
    (shape.columns, shape.units, [shape.grouped, shape.dropped, shape.exposures, shape.weighted])
}

fn cell_facts(columns: usize, shape: MeanShape) -> Facts {
    (columns, shape.units, [shape.grouped, shape.missing, false, shape.weighted])
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
