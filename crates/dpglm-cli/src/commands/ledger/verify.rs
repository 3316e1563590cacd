//! `dpglm ledger verify`.

use super::read;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm_ledger::{of_artefact, seal};
use dpglm_sign::{PublicKey, signature_path};
use dpglm_workflow::ledger::{assumed, percent};
use serde::Serialize;
use std::path::PathBuf;

/// Check every line of a ledger: that none was changed, taken out, put in or moved, and that all costs stay within the total.
///
/// That the last lines were not cut off, and that not all of it was written again, a file cannot show by itself. Give what was kept elsewhere: a
/// line's hash (--head), a signature (--key), or artefacts that were paid from it.
#[derive(Args)]
pub struct Arguments {
    /// A file that `dpglm ledger init` made
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// Artefacts that must have been paid from it
    #[arg(value_name = "ARTEFACT")]
    artefacts: Vec<PathBuf>,
    /// The hash of a line that must be in it: the head as it was shown at some time
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
    /// The public key that must have signed it (LEDGER.sig, by `dpglm ledger sign`)
    #[arg(long, value_name = "PUBLICKEY", value_parser = public_key)]
    key: Option<PublicKey>,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    lines: usize,
    head: String,
    spent: f64,
    limit: f64,
    unfinished_bytes: usize,
    /// Up to which line what was kept elsewhere fixes the ledger.
    fixed_to: Option<usize>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let chain = read(&arguments.ledger)?;
    let mut checked = vec!["every line follows from the one before".to_owned()];
    let mut fixed: Option<usize> = None;
    let mut fix = |line: usize| fixed = Some(fixed.map_or(line, |known| known.max(line)));
    let refuse = |reason: String| Failure::Failed(format!("{}: {reason}", arguments.ledger.display()));
    if let Some(head) = &arguments.head {
        let line = chain.holds(head).ok_or_else(|| {
            refuse(format!(
                "no line has the hash {head}: the ledger was cut off, or written again, since it was shown"
            ))
        })?;
        checked.push(format!("line {line} is the one with the given hash"));
        fix(line);
    }
    if let Some(key) = &arguments.key {
        let beside = signature_path(&arguments.ledger);
        let seal = std::fs::read_to_string(&beside).map_err(|error| {
            Failure::Failed(format!("{}: cannot be read ({error}): sign the ledger first", beside.display()))
        })?;
        let line = seal::verify(&chain, &seal, key).map_err(refuse)?;
        checked.push(format!("all lines up to {line} are as {key} signed them"));
        fix(line);
    }
    for path in &arguments.artefacts {
        let artefact = crate::artefact::read(path)?;
        let line = chain.result_line(&of_artefact(&artefact.json()?)).ok_or_else(|| {
            refuse(format!(
                "no line notes {}: the ledger was cut off, or the artefact was changed or paid otherwise",
                path.display()
            ))
        })?;
        checked.push(format!("{} is the one that line {line} notes", path.display()));
        fix(line);
    }
    let (lines, spent) = (chain.records().len(), chain.spent());
    if format == Format::Json {
        return render::json(&Document {
            schema: "dpglm.ledger-verified/1",
            lines,
            head: chain.head().to_owned(),
            spent: spent.loss,
            limit: chain.filter().limit().loss,
            unfinished_bytes: chain.unfinished(),
            fixed_to: fixed,
        });
    }
    let elsewhere = match fixed {
        Some(line) if line + 1 == lines => "Nothing is missing.".to_owned(),
        Some(line) => format!("Whether lines after {line} are missing at the end the file cannot show."),
        None => "Whether lines are missing at the end, or all were written again, the file cannot show: keep its head elsewhere, or sign it."
            .to_owned(),
    };
    let unfinished = match chain.unfinished() {
        0 => String::new(),
        bytes => format!(
            " The last {bytes} bytes are a line that was being written when the program ended: nothing was released for it."
        ),
    };
    let assumed: String = assumed(&chain).into_iter().map(|line| format!(" {line}")).collect();
    Ok(format!(
        "Checked: {}.\n\n{lines} lines, {} of the total is spent.{unfinished} {elsewhere}{assumed}\n\nhead  {}\n",
        checked.join("; "),
        percent(spent, &chain),
        chain.head()
    ))
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    PublicKey::parse(text).map_err(|error| error.to_string())
}
