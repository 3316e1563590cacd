//! What a ledger holds, as JSON.

use dpglm::accounting::filter::Cost;
use dpglm_ledger::{Chain, Charge, Entry, Terms};
use serde::Serialize;

/// A ledger's terms, what was spent and what for.
#[derive(Serialize)]
pub struct LedgerDocument<'a> {
    schema: &'static str,
    terms: &'a Terms,
    lines: usize,
    head: &'a str,
    /// In squared mu, rounded up; the limit rounded down.
    spent: f64,
    limit: f64,
    /// Of the reserve of delta, rounded up.
    reserve_spent: f64,
    /// On what the total rests that nothing enforces: the assumptions of all charges, each once.
    assuming: Vec<&'a str>,
    charges: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    index: usize,
    time: &'a str,
    what: &'a str,
    data: &'a str,
    purpose: &'a str,
    /// Assumptions on which the promise of this charge rests, accepted by name.
    assuming: &'a [String],
    loss: f64,
    failure: f64,
    /// The hash of the result's certificate; absent if there was no result.
    certificate: Option<&'a str>,
}

impl<'a> LedgerDocument<'a> {
    /// Of a ledger that was read.
    pub fn new(chain: &'a Chain) -> Self {
        let line = |(index, charge, cost): (usize, &'a Charge, Cost)| Line {
            index,
            time: chain.records().get(index).map_or("", |record| &record.time),
            what: &charge.what,
            data: &charge.data,
            purpose: &charge.purpose,
            assuming: &charge.assuming,
            loss: cost.loss,
            failure: cost.failure,
            certificate: chain.result_of(index),
        };
        Self {
            schema: "dpglm.ledger-shown/1",
            terms: chain.terms(),
            lines: chain.records().len(),
            head: chain.head(),
            spent: chain.spent().loss,
            limit: chain.filter().limit().loss,
            reserve_spent: chain.spent().failure,
            assuming: chain.assumptions(),
            charges: charges(chain).map(line).collect(),
        }
    }
}

/// What a ledger's promise rests on, as the rest of a sentence: nothing where all of it is enforced.
pub fn provided(chain: &Chain) -> String {
    match chain.assumptions().as_slice() {
        [] => String::new(),
        assumptions => format!(", provided that {}", assumptions.join(" and that ")),
    }
}

/// Which lines assume what.
pub fn assumed(chain: &Chain) -> Vec<String> {
    let line = |(at, charge, _): (usize, &Charge, Cost)| -> Option<String> {
        (!charge.assuming.is_empty()).then(|| {
            format!("Line {at} assumes that {}. Nothing enforces it.", charge.assuming.join(" and that "))
        })
    };
    charges(chain).filter_map(line).collect()
}

/// Every charge, with its place and its cost.
pub fn charges(chain: &Chain) -> impl Iterator<Item = (usize, &Charge, Cost)> {
    let lines = chain.records().iter().zip(chain.costs()).enumerate();
    lines.filter_map(|(at, (record, cost))| match &record.entry {
        Entry::Charged(charge) => Some((at, charge, *cost)),
        _ => None,
    })
}
