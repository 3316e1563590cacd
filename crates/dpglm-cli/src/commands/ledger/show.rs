//! `dpglm ledger show`.

use super::{read, rule};
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm::accounting::account;
use dpglm::privacy::Event;
use dpglm_ledger::Chain;
use dpglm_workflow::ledger::{COLLECTION, LedgerDocument, assumed, charges, percent, percent_left, provided};
use std::path::PathBuf;

/// List what was spent, and what is left. The whole file is verified first.
#[derive(Args)]
pub struct Arguments {
    /// A file that `dpglm ledger init` made
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let chain = read(&arguments.ledger)?;
    let terms = chain.terms();
    if format == Format::Json {
        return render::json(&LedgerDocument::new(&chain));
    }
    let mut facts = vec![
        vec![
            "total".to_owned(),
            format!(
                "epsilon {}, delta {}{}",
                render::plain(terms.epsilon),
                render::plain(terms.delta),
                provided(&chain)
            ),
        ],
        vec!["protects".to_owned(), terms.protects.protected()],
        vec!["rule".to_owned(), rule(terms.rule).to_owned()],
        vec!["spent".to_owned(), percent(chain.spent(), &chain)],
        vec!["left".to_owned(), percent_left(&chain)],
    ];
    if terms.reserve > 0.0 {
        let spent = render::rounded_up(chain.spent().failure);
        facts.push(vec![
            "reserve".to_owned(),
            format!("{} of delta, {spent} of it spent", render::plain(terms.reserve)),
        ]);
    }
    facts.push(vec!["head".to_owned(), chain.head().to_owned()]);
    let mut output = String::new();
    if !terms.about.is_empty() {
        output += &format!("{}\n\n", terms.about);
    }
    output += &render::table(&facts);
    output += "\n";
    let mut rows =
        vec![["line", "time", "what", "data", "cost", "result", "purpose"].map(String::from).to_vec()];
    for (at, charge, cost) in charges(&chain) {
        // The result of a collection is with its service.
        let none = if charge.what == COLLECTION { "collected" } else { "none came" };
        let result = chain.result_of(at).map_or(none, |hash| hash.get(..12).unwrap_or(hash));
        let time = chain.records()[at].time.clone();
        let words = [at.to_string(), time, charge.what.clone(), charge.data.clone(), percent(cost, &chain)];
        rows.push(words.into_iter().chain([result.to_owned(), charge.purpose.clone()]).collect());
    }
    output += &if rows.len() > 1 { render::table(&rows) + "\n" } else { "Nothing was spent.\n\n".to_owned() };
    for line in assumed(&chain) {
        output += &(line + "\n\n");
    }
    output += &together(&chain)?;
    if chain.unfinished() > 0 {
        output += &format!(
            "\nThe file ends with {} bytes of a line that is not whole: its writing was interrupted, so nothing was released for it, and the \
             next release removes it.\n",
            chain.unfinished()
        );
    }
    Ok(output)
}

/// What the charges would have cost as one plan.
fn together(chain: &Chain) -> Result<String, Failure> {
    let events: Vec<Event> = charges(chain)
        .flat_map(|(_, charge, _)| {
            charge.events.iter().chain(charge.parts.iter().flat_map(|part| &part.events))
        })
        .cloned()
        .collect();
    let Ok(cost) = account(&events, chain.terms().delta) else { return Ok(String::new()) };
    Ok(format!(
        "Planned together beforehand these releases would cost epsilon {} at delta {}{}. That is no promise of its own: what is promised, \
         however each was chosen, is the total.\n",
        render::rounded_up(cost.epsilon),
        render::plain(chain.terms().delta),
        provided(chain)
    ))
}
