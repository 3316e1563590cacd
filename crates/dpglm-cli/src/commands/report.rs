//! `dpglm report`: artefacts as one page for readers.

use crate::Format;
use crate::failure::{Failure, said};
use clap::Args;
use dpglm_report::{PaidFrom, Source};
use std::path::{Path, PathBuf};

/// Make one page of artefacts, for who decides, who computes and who reviews.
///
/// The page says what was found in plain sentences and drawings, what the promise means for somebody in the data, the estimates with their
/// intervals, and what a reviewer asks (the points of NIST SP 800-226, with a block of JSON for the Privacy Deployments Registry). It is one
/// HTML file that loads nothing, for screens and paper. Several files are compared on one page. It holds what the files hold and no more: a
/// page of an audit is for the curator only, and says so.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Files written by `--output` of `fit`, `mean` or `describe`, or printed with `--format json` by `plan`, `audit` or a dry run
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The ledger that the results were paid from: the page tells what it promises for all of them together, and which line paid for each
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// The page to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  A page of one fit:
    dpglm report fit.json --output report.html
  Two fits and a description on one page:
    dpglm report small.json large.json table.json --output report.html
  A fit, with the ledger it was paid from:
    dpglm report fit.json --ledger hospital.ledger --output report.html";

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    if format == Format::Json {
        return Err(Failure::Usage(
            "--format json: a report is a page for people, and the files it is made from are JSON: leave out --format".into(),
        ));
    }
    let output = same(&arguments.output);
    if arguments.files.iter().chain(&arguments.ledger).any(|file| same(file) == output) {
        return Err(Failure::Usage(format!(
            "--output {} is one of the files that the report is made from: name another file",
            arguments.output.display()
        )));
    }
    let sources: Vec<Source> = arguments.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let ledger = arguments.ledger.as_deref().map(PaidFrom::read).transpose()?;
    let html = dpglm_report::html(&sources, ledger.as_ref())?;
    dpglm_io::write_atomically(&arguments.output, html.as_bytes())?;
    Ok(String::new())
}

/// A file under its one name, as far as it exists.
fn same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn read(path: &Path) -> Result<Source, Failure> {
    let refuse = |what: String| Failure::Failed(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| {
        refuse(format!("cannot be read ({error}): give a file that `dpglm fit --output` wrote"))
    })?;
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    Source::parse(name, &text).map_err(|what| refuse(said(&what)))
}
