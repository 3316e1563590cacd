//! `dpglm sites fit`: the curator's side.

use super::folder::{self, Answer, PAUSE, Question};
use crate::artefact::{Artefact, Destination};
use crate::budget;
use crate::failure::Failure;
use crate::ledger;
use crate::model::{Family, FitRequest};
use crate::progress::{self, Progress, tell};
use crate::table::PublicFacts;
use crate::{Format, flags};
use clap::Args;
use dpglm::passes::Ask;
use dpglm_io::Schema;
use dpglm_workflow::fit;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fit rows that stay at sites: ask them pass after pass, add noise, and release what the fit of the pooled table would release.
///
/// The folder gets a question for each pass, and waits for an answer of each site; up to 16 passes. It must be empty at the start. Answers are
/// not noised: keep them from everybody else, and delete the folder in the end.
#[derive(Args)]
pub struct Arguments {
    /// The folder that questions and answers are carried through
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// A site's name; once for each
    #[arg(long = "site", value_name = "NAME", value_parser = folder::site, required = true)]
    sites: Vec<String>,
    /// The schema of all sites. It says target, unit, exposure and intercept
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// The number of rows (or units) of all sites together, which is public
    #[arg(long, value_name = "N")]
    rows: usize,
    /// What kind of response it is [default: by the target's kind]
    #[arg(long, value_enum, value_name = "NAME")]
    family: Option<Family>,
    /// Also give standard errors and confidence intervals of this level (0.95), paid from the same budget
    #[arg(long, value_name = "LEVEL", value_parser = flags::number, allow_negative_numbers = true)]
    intervals: Option<f64>,
    #[command(flatten)]
    budget: budget::Granted,
    #[command(flatten)]
    ledger: ledger::PayFrom,
    /// Write the model as JSON, for `dpglm predict` and `dpglm show`
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the output file if it exists: what it holds may have been paid from a budget
    #[arg(long, requires = "output")]
    force: bool,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    let schema = Schema::load(&arguments.schema)?;
    let known = PublicFacts::Schema(schema.clone());
    let request =
        FitRequest { family: arguments.family.clone(), level: arguments.intervals, ..FitRequest::default() };
    let model = request.model(&known)?;
    model.validate()?;
    let privacy = arguments.budget.privacy()?;
    // No site is asked what there is no room for.
    let payers = arguments.ledger.open(&[], privacy, &known.adjacency(), &arguments.budget)?;
    let destination = Destination::new(arguments.output.as_deref(), None, arguments.force)?;
    let ask = Arc::new(Carried::new(&arguments.folder, &arguments.sites, &schema)?);
    let prepared = fit::prepare_sites(&model, &known, schema, arguments.rows, ask.clone())?;
    let mut rng = arguments.budget.source()?;
    let mut bar = Progress::new();
    let grant = payers.grant(privacy, &rng)?;
    let document =
        prepared.fit(&model, grant, &mut rng, &mut progress::note, &mut |done, of| bar.step(done, of))?;
    drop(bar);
    let printed = destination.release(&Artefact::Fit(Box::new(document)), format)?;
    folder::write(&folder::end_in(&arguments.folder), &ask.number.load(Ordering::Relaxed))?;
    Ok(printed)
}

/// Questions and answers in files.
struct Carried {
    folder: PathBuf,
    sites: Vec<String>,
    table: serde_json::Value,
    run: String,
    number: AtomicU64,
}

impl Carried {
    fn new(folder: &Path, sites: &[String], schema: &Schema) -> Result<Self, Failure> {
        let fault = |error: std::io::Error| {
            Failure::Failed(format!("{}: cannot be used ({error})", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(fault)?;
        if std::fs::read_dir(folder).map_err(fault)?.next().is_some() {
            return Err(Failure::Failed(format!(
                "{}: the folder is not empty, and an old answer must not be taken for a new one: name another",
                folder.display()
            )));
        }
        let mut names = sites.to_vec();
        names.sort_unstable();
        names.dedup();
        if names.len() != sites.len() {
            return Err(Failure::Usage("--site: two sites have one name: name each once".into()));
        }
        let run = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let (folder, table) = (folder.to_path_buf(), folder::declared(schema)?);
        Ok(Self { folder, sites: names, table, run, number: AtomicU64::new(0) })
    }

    fn carry(&self, question: &str) -> Result<Vec<String>, Failure> {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        let question = Question::new(&self.run, number, self.table.clone(), question);
        folder::write(&folder::question_in(&self.folder, number), &question)?;
        let path = |site: &String| folder::answer_in(&self.folder, number, site);
        let mut waited = 0;
        loop {
            let missing: Vec<&str> =
                self.sites.iter().filter(|site| !path(site).exists()).map(String::as_str).collect();
            if missing.is_empty() {
                break;
            }
            // Sites that follow the folder answer at once; of others the curator is told.
            if waited == 20 {
                tell(&format!("pass {number}: waiting for {}", missing.join(", ")));
            }
            waited += 1;
            std::thread::sleep(PAUSE);
        }
        let read = |site: &String| {
            let found = Answer::read(&path(site))?;
            if (found.run.as_str(), found.number) != (self.run.as_str(), number) {
                return Err(Failure::Failed(format!(
                    "{}: answers another question: nothing is released",
                    path(site).display()
                )));
            }
            Ok(found.answer)
        };
        self.sites.iter().map(read).collect()
    }
}

impl Ask for Carried {
    fn ask(&self, question: &str) -> dpglm::Result<Vec<String>> {
        self.carry(question).map_err(|failure| dpglm::Error::Conflict(failure.to_string()))
    }
}
