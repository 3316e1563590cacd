//! The files that are carried: `pass-N.json` from the curator, `pass-N.SITE.json` from each site, `done.json` at the end.

use crate::failure::Failure;
use dpglm_io::{Schema, write_secret};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const QUESTION: &str = "dpglm.pass/1";
const ANSWER: &str = "dpglm.partial/1";

/// How often a folder is looked at.
pub const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// What the curator asks.
#[derive(Serialize, Deserialize)]
pub struct Question {
    pub schema: String,
    /// A number of this run's own, which answers repeat.
    pub run: String,
    pub number: u64,
    /// How the table is declared.
    pub table: serde_json::Value,
    pub question: String,
}

/// What a site says, or several together. It is not noised.
#[derive(Serialize, Deserialize)]
pub struct Answer {
    pub schema: String,
    pub run: String,
    pub number: u64,
    pub answer: String,
}

impl Question {
    pub fn new(run: &str, number: u64, table: serde_json::Value, question: &str) -> Self {
        let (run, question) = (run.to_owned(), question.to_owned());
        Self { schema: QUESTION.into(), run, number, table, question }
    }

    pub fn read(path: &Path) -> Result<Self, Failure> {
        let found: Self = read(path)?;
        if found.schema != QUESTION {
            return Err(not_such(path, QUESTION));
        }
        Ok(found)
    }
}

impl Answer {
    pub fn new(run: &str, number: u64, answer: String) -> Self {
        Self { schema: ANSWER.into(), run: run.to_owned(), number, answer }
    }

    pub fn read(path: &Path) -> Result<Self, Failure> {
        let found: Self = read(path)?;
        if found.schema != ANSWER {
            return Err(not_such(path, ANSWER));
        }
        Ok(found)
    }
}

pub fn question_in(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("pass-{number}.json"))
}

pub fn answer_in(folder: &Path, number: u64, site: &str) -> PathBuf {
    folder.join(format!("pass-{number}.{site}.json"))
}

pub fn end_in(folder: &Path) -> PathBuf {
    folder.join("done.json")
}

/// A name that can be part of a file's.
pub fn site(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("a name of letters, digits, - and _ is needed: it becomes part of a file's name".into()),
    }
}

/// A schema as it is compared.
pub fn declared(schema: &Schema) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(schema).map_err(|error| Failure::Failed(error.to_string()))
}

/// Writes a file for its owner alone. It takes its name when it is whole: somebody may be waiting for it.
pub fn write(path: &Path, thing: &impl Serialize) -> Result<(), Failure> {
    let part = path.with_extension("part");
    write_secret(&part, &text(thing)?)?;
    std::fs::rename(&part, path)
        .map_err(|error| Failure::Failed(format!("{}: cannot be written ({error})", path.display())))
}

pub fn text(thing: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(thing).map(|text| text + "\n").map_err(|error| Failure::Failed(error.to_string()))
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Failed(format!("{}: cannot be read ({error})", path.display())))?;
    serde_json::from_str(&text).map_err(|_| not_such(path, "pass or partial"))
}

fn not_such(path: &Path, what: &str) -> Failure {
    Failure::Failed(format!("{}: not a {what} file: give one that `dpglm sites` wrote", path.display()))
}
