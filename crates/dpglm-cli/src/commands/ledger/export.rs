//! `dpglm ledger export`.

use super::read;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm_ledger::Record;
use dpglm_workflow::ledger::charges;
use serde::Serialize;
use std::path::PathBuf;

/// All charges as CSV for a spreadsheet; every line whole with --format json. The file is verified first.
#[derive(Args)]
pub struct Arguments {
    /// A file that `dpglm ledger init` made
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    head: &'a str,
    records: &'a [Record],
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let chain = read(&arguments.ledger)?;
    if format == Format::Json {
        return render::json(&Document {
            schema: "dpglm.ledger-exported/1",
            head: chain.head(),
            records: chain.records(),
        });
    }
    let mut output =
        "line,time,version,what,data,fingerprint,purpose,loss,failure,releases,certificate,assuming\n"
            .to_owned();
    for (at, charge, cost) in charges(&chain) {
        let record = &chain.records()[at];
        let parts = charge.parts.iter().flat_map(|part| &part.events);
        let releases: u64 = charge.events.iter().chain(parts).map(dpglm::privacy::Event::count).sum();
        let cells = [
            at.to_string(),
            record.time.clone(),
            record.version.clone(),
            charge.what.clone(),
            charge.data.clone(),
            charge.fingerprint.clone().unwrap_or_default(),
            charge.purpose.clone(),
            format!("{:e}", cost.loss),
            format!("{:e}", cost.failure),
            releases.to_string(),
            chain.result_of(at).unwrap_or_default().to_owned(),
            charge.assuming.join("; "),
        ];
        output += &(cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n");
    }
    Ok(output)
}

/// A cell of CSV. Words that a spreadsheet would take for a formula are marked as words.
fn quoted(cell: &str) -> String {
    let marked =
        if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell.to_owned() };
    match marked.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", marked.replace('"', "\"\"")),
        false => marked,
    }
}
