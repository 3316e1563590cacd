//! One repetition at one point: its seeds and its values.

use crate::Result;
use crate::draw::Draw;
use crate::figure::{Figure, Point, Promise, Promises};
use dpglm::central::Privacy;
use dpglm::noise::RandomSource;
use dpglm::numeric::fnv1a;
use dpglm::privacy::Budget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one repetition found. One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The point's name.
    pub point: String,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// The version of the lab that computed it.
    pub version: String,
    /// Seconds it took.
    pub seconds: f64,
    /// The value of each line; none where the method failed.
    pub values: BTreeMap<String, Option<f64>>,
    /// The value after every step, of lines that have steps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: BTreeMap<String, Vec<Option<f64>>>,
}

/// The repetition that is being computed.
pub struct Task<'a> {
    key: &'static str,
    promises: &'a Promises,
    record: Record,
}

/// The lab's version, kept with every number.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

impl<'a> Task<'a> {
    /// A repetition without values yet.
    pub fn new(figure: &Figure, point: &Point, promises: &'a Promises, repetition: u32) -> Self {
        let record = Record {
            point: point.name.clone(),
            repetition,
            version: VERSION.into(),
            seconds: 0.0,
            values: BTreeMap::new(),
            paths: BTreeMap::new(),
        };
        Self { key: figure.key, promises, record }
    }

    /// Which repetition this is, from 0.
    pub fn repetition(&self) -> u32 {
        self.record.repetition
    }

    /// The seed of one part of this repetition.
    fn seed(&self, part: &str) -> u64 {
        seed(&[self.key, &self.record.point, part, &self.record.repetition.to_string()])
    }

    /// The generator of this repetition's rows.
    pub fn rows(&self) -> Draw {
        Draw::new(self.seed("rows"))
    }

    /// The generator of a line's ordinary noise.
    pub fn noise(&self, line: &str) -> Draw {
        Draw::new(self.seed(line))
    }

    /// What a line promises at this point; none for a line that makes no promise here.
    pub fn promise(&self, line: &str) -> Option<&'a Promise> {
        self.promises.iter().find(|(name, _)| *name == line).map(|(_, promise)| promise)
    }

    /// Keeps the value of a line. A value that is not finite counts as a failure of the method.
    pub fn value(&mut self, line: &str, value: f64) {
        self.record.values.insert(line.into(), finite(value));
    }

    /// Keeps the values of a line step by step; the last is its value.
    pub fn path(&mut self, line: &str, path: &[f64]) {
        self.value(line, path.last().copied().unwrap_or(f64::NAN));
        self.record.paths.insert(line.into(), path.iter().map(|&v| finite(v)).collect());
    }

    /// Runs a method of the product at the budget that the line promises, with the line's own seed, and keeps the
    /// value. Nothing happens if the line makes no promise at this point.
    pub fn certified(
        &mut self,
        line: &str,
        run: impl FnOnce(Privacy, &mut RandomSource) -> dpglm::Result<f64>,
    ) -> Result<()> {
        if let Some(promise) = self.promise(line) {
            let privacy = Privacy::Budget(Budget::new(promise.epsilon, promise.delta)?);
            // A plan that a tiny budget cannot meet is refused before it sees data: a failure of the method here.
            let value = run(privacy, &mut RandomSource::insecure_seeded(self.seed(line)));
            self.value(line, value.unwrap_or(f64::NAN));
        }
        Ok(())
    }

    /// What was found.
    pub fn finish(mut self, seconds: f64) -> Record {
        self.record.seconds = (seconds * 1e3).round() / 1e3;
        self.record
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A seed from words (64-bit FNV-1a, then mixed): the same on every machine.
pub fn seed(words: &[&str]) -> u64 {
    let hash = fnv1a(words.iter().flat_map(|w| w.bytes().chain([0])));
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_tell_words_apart() {
        assert_eq!(seed(&["a", "b"]), seed(&["a", "b"]));
        assert_ne!(seed(&["a", "b"]), seed(&["ab", ""]));
        assert_ne!(seed(&["a", "b", "0"]), seed(&["a", "b", "1"]));
    }
}
