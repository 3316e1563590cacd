//! Documents of the command and the Python package as one page for three readers: who decides, who computes and who reviews.
//!
//! The page is one file that loads nothing: no network, no script, no font. It holds what the documents hold and no more.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `source` | documents of every kind, read and checked |
//! | `promise` | what a promise means: how sure an attacker can become, and how often right, with the argument |
//! | `gaussian` | the mu beside (epsilon, delta) |
//! | `effects` | coefficients with what is publicly known of their columns, each in a sentence |
//! | `ledger` | the budget that paid, and which of its lines paid for what |
//! | `kinds` | what each kind of document becomes |
//! | `compare` | several documents beside each other |
//! | `meaning`, `review` | the sections about the promise, for who decides and who reviews |
//! | `subject`, `deployment` | whom and how, in words; the same in a registry's fields |
//! | `page` | the page as plain data; `templates` holds how it looks |
//!
//! The templates are askama's: they are checked when the program is compiled, so that no document makes a page fail half-way, and they
//! escape every text but the drawings, which escape their own.

#![warn(unreachable_pub)]

mod compare;
mod deployment;
mod effects;
mod gaussian;
mod kinds;
mod ledger;
mod meaning;
mod page;
mod promise;
mod review;
mod source;
mod subject;

use askama::Template as _;
use dpglm_workflow::Failure;
use page::Page;

pub use ledger::PaidFrom;
pub use source::Source;

/// The page of one or more documents, and of the ledger that they were paid from if one is given.
pub fn html(sources: &[Source], ledger: Option<&PaidFrom>) -> Result<String, Failure> {
    if sources.is_empty() {
        return Err(Failure::Usage("a report needs at least one document".into()));
    }
    let mut reports: Vec<page::Report> =
        sources.iter().enumerate().map(|(place, source)| kinds::report(place, source)).collect();
    let title = match reports.as_slice() {
        [only] => only.heading.clone(),
        all => format!("{} results compared", all.len()),
    };
    let mut comparison = if sources.len() > 1 { vec![compare::section(sources)] } else { Vec::new() };
    if let Some(ledger) = ledger {
        for (report, source) in reports.iter_mut().zip(sources) {
            report.notices.extend(ledger.notice(source)?);
        }
        let section = ledger.section(sources)?;
        match reports.as_mut_slice() {
            [only] => only.sections.push(section),
            _ => comparison.push(section),
        }
    }
    let page = Page { title, comparison, reports, version: env!("CARGO_PKG_VERSION") };
    page.render().map_err(|error| Failure::Failed(format!("cannot write the page: {error}").into()))
}
