//! `dpglm sites pass`: a site's answers.

use super::folder::{self, Answer, PAUSE, Question};
use crate::Format;
use crate::failure::Failure;
use crate::progress::tell;
use clap::Args;
use dpglm::data::Dataset;
use dpglm::passes;
use dpglm_io::{ReadOptions, Schema, read_table};
use dpglm_workflow::fit::rows_of_site;
use std::path::{Path, PathBuf};

/// Answer a question with exact sums of this site's rows. An answer is not noised: it is as private as the rows, and for the curator alone.
#[derive(Args)]
pub struct Arguments {
    /// A question, `pass-N.json`, whose answer is printed; or the folder that questions come into: all are answered there until the fit is done
    #[arg(value_name = "PASS")]
    pass: PathBuf,
    /// The site's table: every format, folder or pattern that `dpglm fit` reads
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The schema of all sites and of the curator. A question that was asked under another is refused
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// The site's name, as the curator knows it: needed for a folder
    #[arg(long, value_name = "NAME", value_parser = folder::site)]
    site: Option<String>,
}

pub fn run(arguments: &Arguments, format: Format) -> Result<String, Failure> {
    super::refuse_format(format)?;
    let schema = Schema::load(&arguments.schema)?;
    let is_folder = arguments.pass.is_dir();
    let site = match (is_folder, &arguments.site) {
        (true, None) => {
            return Err(Failure::Usage("a folder is answered under a name: give --site NAME".into()));
        }
        (false, Some(_)) => {
            return Err(Failure::Usage(
                "--site goes with a folder: leave out --site, or name a folder".into(),
            ));
        }
        (_, site) => site.clone().unwrap_or_default(),
    };
    // Before the table is read, for one question: it may be of another study.
    let question = if is_folder { None } else { Some(Question::read(&arguments.pass)?) };
    if let Some(question) = &question {
        require_same(question, &schema)?;
    }
    let options = ReadOptions { constant_column: true, ..ReadOptions::default() };
    let data = rows_of_site(read_table(&arguments.file, &schema, &options)?, &schema)?;
    match question {
        Some(question) => folder::text(&answer(&data, &question)?),
        None => follow(&arguments.pass, &data, &schema, &site),
    }
}

/// Answers every question that comes, until the fit is done.
fn follow(folder: &Path, data: &Dataset, schema: &Schema, site: &str) -> Result<String, Failure> {
    let mut number = 1;
    loop {
        let path = folder::question_in(folder, number);
        if path.exists() {
            let own = folder::answer_in(folder, number, site);
            if !own.exists() {
                let question = Question::read(&path)?;
                require_same(&question, schema)?;
                folder::write(&own, &answer(data, &question)?)?;
            }
            number += 1;
        } else if folder::end_in(folder).exists() {
            tell(&format!("{} questions are answered, and the fit is done", number - 1));
            return Ok(String::new());
        } else {
            std::thread::sleep(PAUSE);
        }
    }
}

fn answer(data: &Dataset, question: &Question) -> Result<Answer, Failure> {
    let answer = passes::answer(&passes::in_memory(data), &question.question)?;
    Ok(Answer::new(&question.run, question.number, answer))
}

/// Refuses a question about tables that are declared otherwise.
fn require_same(question: &Question, schema: &Schema) -> Result<(), Failure> {
    if question.table == folder::declared(schema)? {
        return Ok(());
    }
    Err(Failure::Failed(
        "the question was asked under another schema: agree on one, bounds and levels included, and answer nothing until then".into(),
    ))
}
