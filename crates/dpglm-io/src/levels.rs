//! The declared levels of a category: a public list, each with the spellings that stand for it.

use std::collections::HashMap;

use crate::cell::{Cell, parse};

/// The levels of a categorical column, in the order declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    names: Vec<String>,
    spellings: HashMap<Vec<u8>, usize>,
    numbers: HashMap<u64, usize>,
}

impl Levels {
    /// The levels, each with its spellings, the first of which is its name. On failure returns the spelling that
    /// is declared twice.
    pub(crate) fn new(levels: &[Vec<String>]) -> Result<Self, String> {
        let mut built = Self { names: Vec::new(), spellings: HashMap::new(), numbers: HashMap::new() };
        for (index, spellings) in levels.iter().enumerate() {
            built.names.extend(spellings.first().cloned());
            for spelling in spellings {
                let trimmed = spelling.trim();
                if built.spellings.insert(trimmed.as_bytes().to_vec(), index).is_some() {
                    return Err(spelling.clone());
                }
                // A file with typed columns holds the number, not its spelling.
                if let Ok(number) = trimmed.parse::<f64>() {
                    built.numbers.entry(key(number)).or_insert(index);
                }
            }
        }
        Ok(built)
    }

    /// The levels' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of levels.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The level a spelling stands for.
    pub fn find(&self, spelling: &str) -> Option<usize> {
        self.spellings.get(spelling.trim().as_bytes()).copied()
    }

    /// The level a cell stands for.
    pub(crate) fn of(&self, cell: Cell<'_>) -> Option<usize> {
        match cell {
            Cell::Missing => None,
            // A number may be spelled otherwise than declared: 1.0 for 1.
            Cell::Text(text) => self.spellings.get(text).copied().or_else(|| self.number(parse(text))),
            Cell::Number(number) => self.number(number),
            Cell::Integer(integer) => self.number(integer as f64),
            Cell::Truth(true) => ["true", "True", "TRUE", "1"].iter().find_map(|s| self.find(s)),
            Cell::Truth(false) => ["false", "False", "FALSE", "0"].iter().find_map(|s| self.find(s)),
        }
    }

    fn number(&self, number: f64) -> Option<usize> {
        if self.numbers.is_empty() || !number.is_finite() {
            return None;
        }
        self.numbers.get(&key(number)).copied()
    }
}

/// Equal numbers have equal keys: adding zero makes -0 into 0.
fn key(number: f64) -> u64 {
    (number + 0.0).to_bits()
}
