//! The declared levels of a category: a public list, each with the spellings that stand for it.

use std::collections::HashMap;

use crate::cell::{Cell, parse, truth};

/// The levels of a categorical column, in the order declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    names: Vec<String>,
    spellings: HashMap<Vec<u8>, usize>,
    numbers: HashMap<u64, usize>,
    /// The level that false and true stand for.
    truths: [Option<usize>; 2],
    /// Two levels that are one number, or one truth value, where a column's type is guessed.
    alike: Option<(String, String)>,
}

impl Levels {
    /// The levels, each with its spellings, the first of which is its name. On failure returns the spelling that
    /// is declared twice.
    pub(crate) fn new(levels: &[Vec<String>]) -> Result<Self, String> {
        let mut built = Self {
            names: Vec::new(),
            spellings: HashMap::new(),
            numbers: HashMap::new(),
            truths: [None; 2],
            alike: None,
        };
        for (index, spellings) in levels.iter().enumerate() {
            built.names.extend(spellings.first().cloned());
            for spelling in spellings {
                let trimmed = spelling.trim();
                if built.spellings.insert(trimmed.as_bytes().to_vec(), index).is_some() {
                    return Err(spelling.clone());
                }
                // A file with typed columns holds the number or the truth value, not its spelling.
                let mut stands_for = None;
                if let Some(number) = trimmed.parse().ok().filter(|number: &f64| !number.is_nan()) {
                    stands_for = Some(*built.numbers.entry(key(number)).or_insert(index));
                } else if let Some(truth) = truth(trimmed.as_bytes()) {
                    stands_for = Some(*built.truths[usize::from(truth)].get_or_insert(index));
                }
                if let Some(first) = stands_for.filter(|first| *first != index) {
                    built.alike.get_or_insert((built.names[first].clone(), built.names[index].clone()));
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

    /// Two levels that are the same in one of the forms in which a cell may come: `1` and `01`, `T` and `TRUE`.
    pub(crate) fn alike(&self) -> Option<&(String, String)> {
        self.alike.as_ref()
    }

    /// The level a cell stands for: the one declared so, or the one that is the same number or truth value.
    pub(crate) fn of(&self, cell: Cell<'_>) -> Option<usize> {
        match cell {
            Cell::Missing => None,
            Cell::Text(text) => self.spellings.get(text).copied().or_else(|| match truth(text) {
                Some(truth) => self.truth(truth),
                None => self.number(parse(text)),
            }),
            Cell::Number(number) => self.number(number),
            Cell::Integer(integer) => self.number(integer as f64),
            Cell::Truth(truth) => self.truth(truth),
        }
    }

    fn truth(&self, truth: bool) -> Option<usize> {
        let number = f64::from(u8::from(truth));
        self.truths[usize::from(truth)].or_else(|| self.numbers.get(&key(number)).copied())
    }

    fn number(&self, number: f64) -> Option<usize> {
        if number.is_nan() {
            return None;
        }
        let declared = self.numbers.get(&key(number)).copied();
        declared
            .or_else(|| [0.0, 1.0].iter().position(|of| *of == number).and_then(|truth| self.truths[truth]))
    }
}

/// Equal numbers have equal keys: adding zero makes -0 into 0.
fn key(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(names: &[&str]) -> Levels {
        Levels::new(&names.iter().map(|name| vec![(*name).to_owned()]).collect::<Vec<_>>()).unwrap()
    }

    /// One odd cell makes texts of a column of numbers or truth values: the levels of the others stay what they are.
    #[test]
    fn a_cell_is_the_same_level_in_every_form() {
        for names in
            [["0", "1"], ["False", "True"], ["FALSE", "TRUE"], ["false", "true"], ["F", "T"], ["0.0", "01"]]
        {
            let levels = levels(&names);
            for (level, forms) in [
                [Cell::Truth(false), Cell::Integer(0), Cell::Number(-0.0)],
                [Cell::Truth(true), Cell::Integer(1), Cell::Number(1.0)],
            ]
            .iter()
            .enumerate()
            {
                let texts = [
                    ["0", "0.0", "-0", "False", "FALSE", "false", "F"],
                    ["1", "1.0", "01", "True", "TRUE", "true", "T"],
                ];
                let texts = texts[level].map(|text| Cell::Text(text.as_bytes()));
                for cell in forms.iter().chain(&texts) {
                    assert_eq!(levels.of(*cell), Some(level), "{names:?} {cell:?}");
                }
            }
            assert_eq!(levels.of(Cell::Text(b"x")), None);
            assert_eq!(levels.of(Cell::Integer(2)), None);
        }
        // A column whose every cell is `F` becomes truth values in R.
        assert_eq!(levels(&["M", "F"]).of(Cell::Truth(false)), Some(1));
    }

    #[test]
    fn what_is_declared_is_found_by_its_spelling_first() {
        let declared = levels(&["True", "TRUE", "1", "01"]);
        for (level, text) in ["True", "TRUE", "1", "01"].iter().enumerate() {
            assert_eq!(declared.of(Cell::Text(text.as_bytes())), Some(level));
        }
        assert_eq!(declared.alike(), Some(&("True".into(), "TRUE".into())));
        assert_eq!(levels(&["0", "1", "01"]).alike(), Some(&("1".into(), "01".into())));
        assert_eq!(levels(&["True", "1", "x"]).alike(), None);
    }
}
