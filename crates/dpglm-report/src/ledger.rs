//! The ledger that results were paid from: what it promises for all of them together, and which line paid for which.

use crate::page::{Block, Notice, Section, Table};
use crate::source::{Document, Source};
use dpglm::privacy::decimal::plain;
use dpglm_ledger::{Chain, Ledger, of_artefact};
use dpglm_workflow::Failure;
use dpglm_workflow::ledger::{COLLECTION, assumed, charges, failure, percent, percent_left, provided};
use std::path::Path;

/// A ledger that was read and verified.
pub struct PaidFrom {
    name: String,
    chain: Chain,
}

impl PaidFrom {
    /// Reads a ledger, and verifies every line of it.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        let chain =
            Ledger::open(path).and_then(|ledger| ledger.read()).map_err(|error| failure(path, error))?;
        Ok(Self { name, chain })
    }

    /// The line that notes a result; the outer `None` for what is no result and is never paid for.
    fn line(&self, source: &Source) -> Result<Option<Option<usize>>, Failure> {
        let Document::Artefact(artefact) = &source.document else { return Ok(None) };
        Ok(Some(self.chain.result_line(&of_artefact(&artefact.json()?))))
    }

    /// A result that this ledger knows nothing of.
    pub(crate) fn notice(&self, source: &Source) -> Result<Option<Notice>, Failure> {
        let is_unknown = self.line(source)? == Some(None);
        Ok(is_unknown.then(|| Notice {
            is_grave: true,
            heading: "Not paid from the ledger".into(),
            text: format!(
                "No line of the ledger {} notes this result: its loss comes on top of what the ledger promises, or the file was changed, \
                 or the ledger was cut off.",
                self.name
            ),
        }))
    }

    /// What the ledger says, for a reviewer.
    pub(crate) fn section(&self, sources: &[Source]) -> Result<Section, Failure> {
        let chain = &self.chain;
        let (terms, name) = (chain.terms(), &self.name);
        let mut blocks = vec![Block::Lead(format!(
            "Everything that is ever paid from the ledger {name} is, together, ({}, {})-differentially private, however each release was \
             chosen after looking at the ones before{}. It protects {}.",
            plain(terms.epsilon),
            plain(terms.delta),
            provided(chain),
            terms.protects.protected()
        ))];
        if !terms.about.is_empty() {
            blocks.push(Block::Text(format!("It is for: {}.", terms.about.trim_end_matches('.'))));
        }
        blocks.push(Block::Text(format!(
            "{} of the total is spent, {} is left. Every line follows from the one before, and all costs were counted again. That no line is \
             missing at the end shows by its head, kept elsewhere: {}.",
            percent(chain.spent(), chain),
            percent_left(chain),
            chain.head()
        )));
        let mut paid = Vec::new();
        for source in sources {
            match self.line(source)? {
                Some(Some(line)) => {
                    paid.push(format!("{} is the result that line {line} notes.", source.name))
                }
                Some(None) => paid.push(format!("{} is not in it.", source.name)),
                None => {}
            }
        }
        if !paid.is_empty() {
            blocks.push(Block::List(paid));
        }
        let rows: Vec<Vec<String>> = charges(chain)
            .map(|(at, charge, cost)| {
                let none = if charge.what == COLLECTION { "collected" } else { "none came" };
                let result = chain.result_of(at).map_or(none, |hash| hash.get(..12).unwrap_or(hash));
                let time = chain.records().get(at).map_or("", |record| &record.time);
                [
                    &at.to_string(),
                    time,
                    &charge.what,
                    &charge.data,
                    &percent(cost, chain),
                    result,
                    &charge.purpose,
                ]
                .map(str::to_owned)
                .to_vec()
            })
            .collect();
        if rows.is_empty() {
            blocks.push(Block::Text("Nothing was paid from it.".into()));
        } else {
            blocks.push(Block::Table(Table {
                caption: format!("What was paid from {name}"),
                headings: ["Line", "Time", "What", "Data", "Cost", "Certificate", "Purpose"]
                    .map(str::to_owned)
                    .to_vec(),
                rows,
                is_numeric: false,
            }));
        }
        let assumed = assumed(chain);
        if !assumed.is_empty() {
            blocks.push(Block::List(assumed));
        }
        Ok(Section { id: "ledger".into(), heading: "The budget that paid", blocks })
    }
}
