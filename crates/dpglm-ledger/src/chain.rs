//! All lines of a ledger, verified.

use crate::record::{Charge, Entry, NOTHING_BEFORE, Record, SCHEMA, Terms};
use crate::{Error, Result};
use dpglm::accounting::filter::{Cost, Filter};
use std::collections::HashMap;

/// A ledger that was read whole, every line of which is as it was written.
#[derive(Debug, Clone)]
pub struct Chain {
    terms: Terms,
    filter: Filter,
    records: Vec<Record>,
    hashes: Vec<String>,
    /// What each line costs.
    costs: Vec<Cost>,
    spent: Cost,
    /// Where each artefact's result is noted.
    artefacts: HashMap<String, usize>,
    finished: HashMap<u64, usize>,
    /// Bytes of whole lines, and bytes after them.
    pub(crate) whole: usize,
    pub(crate) unfinished: usize,
}

impl Chain {
    /// Verifies a ledger. Bytes after the last newline are a line that was never acknowledged: nothing was released for it.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // Without the last newline, which would make an empty line after it.
        let mut lines = bytes[..whole.saturating_sub(1)].split(|byte| *byte == b'\n').enumerate();
        let broken = |at: usize, reason: String| Error::Broken { line: at + 1, reason };
        let Some((_, first)) = lines.next().filter(|_| whole > 0) else {
            return Err(Error::Refused(
                "the ledger has no first line: it was never opened, or its making was interrupted, and nothing was spent from it; remove \
                 the file and make a new one"
                    .into(),
            ));
        };
        let (record, hash) = Record::read(first).map_err(|reason| broken(0, reason))?;
        let Entry::Opened(terms) = &record.entry else {
            return Err(broken(0, "does not say what may be spent".into()));
        };
        if terms.schema != SCHEMA {
            return Err(Error::Refused(format!(
                "the ledger is of the form {:?}, and this version reads {SCHEMA:?}: use the program that wrote it",
                terms.schema
            )));
        }
        if record.index != 0 || record.previous != NOTHING_BEFORE {
            return Err(broken(0, "is not the first that was written".into()));
        }
        let filter = terms.filter().map_err(|error| broken(0, format!("has impossible terms ({error})")))?;
        let mut chain = Self {
            terms: terms.clone(),
            filter,
            records: vec![record],
            hashes: vec![hash],
            costs: vec![Cost::default()],
            spent: Cost::default(),
            artefacts: HashMap::new(),
            finished: HashMap::new(),
            whole,
            unfinished: bytes.len() - whole,
        };
        for (at, line) in lines {
            let (record, hash) = Record::read(line).map_err(|reason| broken(at, reason))?;
            chain.add(record, hash).map_err(|reason| broken(at, reason))?;
        }
        Ok(chain)
    }

    /// Adds a line; on failure says what it does.
    pub(crate) fn add(&mut self, record: Record, hash: String) -> std::result::Result<(), String> {
        let index = self.records.len();
        if usize::try_from(record.index) != Ok(index) {
            return Err(format!("says that it is number {} and stands at {index}", record.index));
        }
        if record.previous != self.head() {
            return Err("does not follow from the line before".into());
        }
        let cost = match &record.entry {
            Entry::Opened(_) => return Err("opens a ledger that is open".into()),
            Entry::Charged(charge) => {
                let cost = self.cost(charge).map_err(|error| format!("cannot be counted ({error})"))?;
                if !self.filter.admits(self.spent.and(cost)) {
                    return Err("spends more than there was".into());
                }
                cost
            }
            Entry::Finished(finish) => {
                let paid = usize::try_from(finish.charge).ok().and_then(|at| self.charge(at));
                if paid.is_none() {
                    return Err("finishes what was not begun".into());
                }
                if self.finished.insert(finish.charge, index).is_some() {
                    return Err("finishes what is finished".into());
                }
                self.artefacts.insert(finish.artefact.clone(), index);
                Cost::default()
            }
        };
        self.spent = self.spent.and(cost);
        self.costs.push(cost);
        self.records.push(record);
        self.hashes.push(hash);
        Ok(())
    }

    /// What a charge costs here. One that protects somebody else has no place.
    pub fn cost(&self, charge: &Charge) -> Result<Cost> {
        if charge.protects != self.terms.protects {
            return Err(Error::Refused(format!(
                "the ledger protects {}, and this {} protects {}: losses of different kinds do not add up; keep a ledger for each",
                self.terms.protects.protected(),
                charge.what,
                charge.protects.protected()
            )));
        }
        Ok(self.filter.cost(&charge.events, &charge.parts)?)
    }

    /// What may be spent.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What decides.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// All lines, the first of which opens the ledger.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The hash of each line.
    pub fn hashes(&self) -> &[String] {
        &self.hashes
    }

    /// What each line costs.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// What all of them cost.
    pub fn spent(&self) -> Cost {
        self.spent
    }

    /// The hash of the last line: whoever keeps it elsewhere sees later whether this ledger is a continuation of today's.
    pub fn head(&self) -> &str {
        self.hashes.last().map_or(NOTHING_BEFORE, String::as_str)
    }

    /// Bytes of a line that was never acknowledged.
    pub fn unfinished(&self) -> usize {
        self.unfinished
    }

    /// The place of the line with this hash.
    pub fn holds(&self, hash: &str) -> Option<usize> {
        self.hashes.iter().position(|known| known.eq_ignore_ascii_case(hash))
    }

    /// The place of the line that notes the artefact of this hash.
    pub fn result_line(&self, artefact: &str) -> Option<usize> {
        self.artefacts.get(artefact).copied()
    }

    /// On what the promise rests that nothing enforces: what charges assume, each once.
    pub fn assumptions(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for record in &self.records {
            let Entry::Charged(charge) = &record.entry else { continue };
            for assumption in &charge.assuming {
                if !all.contains(&assumption.as_str()) {
                    all.push(assumption);
                }
            }
        }
        all
    }

    /// The place of the charge for what is already paid: the same thing of the same data, by its fingerprint.
    pub fn paid_for(&self, wanted: &Charge) -> Option<usize> {
        (0..self.records.len()).find(|place| {
            self.charge(*place).is_some_and(|known| {
                wanted.fingerprint.is_some()
                    && (&known.what, &known.fingerprint, &known.protects)
                        == (&wanted.what, &wanted.fingerprint, &wanted.protects)
                    && (&known.events, &known.parts) == (&wanted.events, &wanted.parts)
            })
        })
    }

    /// The charge at a place.
    pub fn charge(&self, place: usize) -> Option<&Charge> {
        match &self.records.get(place)?.entry {
            Entry::Charged(charge) => Some(charge),
            _ => None,
        }
    }

    /// The hash of the certificate of what a charge paid for; `None` if it never came.
    pub fn result_of(&self, place: usize) -> Option<&str> {
        let at = self.finished.get(&u64::try_from(place).ok()?)?;
        match &self.records.get(*at)?.entry {
            Entry::Finished(finish) => Some(&finish.certificate),
            _ => None,
        }
    }
}
