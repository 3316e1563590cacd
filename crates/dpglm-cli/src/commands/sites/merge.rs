//! `dpglm sites merge`: several answers as one.

use super::folder::{Answer, text};
use crate::Format;
use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// Add several sites' answers to one question, as a centre does that sends one for its sites.
#[derive(Args)]
pub struct Arguments {
    /// The answers
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    super::refuse_format(format)?;
    let answers = arguments.files.iter().map(|file| Answer::read(file)).collect::<Result<Vec<_>, _>>()?;
    let (run, number) = answers.first().map(|first| (first.run.clone(), first.number)).unwrap_or_default();
    if let Some(place) = answers.iter().position(|answer| (&answer.run, answer.number) != (&run, number)) {
        return Err(Failure::Failed(format!(
            "{}: answers another question than {}: give answers to one question",
            arguments.files[place].display(),
            arguments.files[0].display()
        )));
    }
    let parts: Vec<String> = answers.into_iter().map(|answer| answer.answer).collect();
    text(&Answer::new(&run, number, dpglm::passes::merge(&parts)?))
}
