//! What R calls. Nothing here throws: R makes a condition of a failure itself, so that no jump passes through Rust.

use super::running::Job;
use super::table::{Table, stranger};
use super::{accounting as events, artefact, audit, describe, fit, ledger, study, table, values, words};
use dpglm_workflow::Failure;
use extendr_api::prelude::*;
use std::path::Path;

type Done<T> = std::result::Result<T, Failure>;

/// `value`, or `error` and whether what was asked for is wrong.
fn answer<T: Into<Robj>>(done: Done<T>) -> Robj {
    match done {
        Ok(value) => list!(value = value.into()).into(),
        Err(failure) => {
            let usage = matches!(failure, Failure::Usage(_));
            list!(error = words::of(&failure), usage = usage).into()
        }
    }
}

fn text(robj: &Robj) -> Done<&str> {
    values::optional_text(robj)?.ok_or_else(|| Failure::Usage("a text is needed".into()))
}

fn number(robj: &Robj) -> Done<f64> {
    robj.as_real().ok_or_else(|| Failure::Usage("a number is needed".into()))
}

fn path(robj: &Robj) -> Done<&Path> {
    text(robj).map(Path::new)
}

fn with_table<T>(handle: &Robj, work: impl FnOnce(&Table) -> Done<T>) -> Done<T> {
    let handle: ExternalPtr<Table> = handle.try_into().map_err(|_| stranger("the table"))?;
    work(handle.try_addr().map_err(|_| stranger("the table"))?)
}

fn with_job<T>(handle: &Robj, work: impl FnOnce(&Job) -> Done<T>) -> Done<T> {
    let handle: ExternalPtr<Job> = handle.try_into().map_err(|_| stranger("the computation"))?;
    work(handle.try_addr().map_err(|_| stranger("the computation"))?)
}

#[extendr]
fn encode_columns(how: Robj, schema: Robj, columns: Robj) -> Robj {
    answer(table::columns(&how, &schema, &columns))
}

#[extendr]
fn encode_matrix(how: Robj, schema: Robj, x: Robj, names: Robj, beside: Robj) -> Robj {
    answer(table::matrix(&how, &schema, &x, &names, &beside))
}

#[extendr]
fn read_schema(toml: Robj) -> Robj {
    let read = || values::parsed(&table::read_schema(text(&toml)?)?);
    answer(read())
}

#[extendr]
fn schema_of_means(schema: Robj, by: Robj, weights: Robj) -> Robj {
    let read =
        || fit::schema_of_means(&schema, values::optional_text(&by)?, values::optional_text(&weights)?);
    answer(read())
}

#[extendr]
fn schema_of_description(schema: Robj, by: Robj) -> Robj {
    answer(values::optional_text(&by).and_then(|by| describe::schema_of(&schema, by)))
}

#[extendr]
fn check_budget(budget: Robj) -> Robj {
    answer(fit::check_budget(&budget))
}

#[extendr]
fn check_bounds(key: Robj, low: Robj, high: Robj) -> Robj {
    let check = || fit::check_bounds(text(&key)?, number(&low)?, number(&high)?);
    answer(check())
}

#[extendr]
fn start_fit(table: Robj, asked: Robj, ledger: Robj) -> Robj {
    answer(with_table(&table, |table| fit::fit(table, &asked, &ledger)))
}

#[extendr]
fn start_mean(table: Robj, asked: Robj, ledger: Robj) -> Robj {
    answer(with_table(&table, |table| fit::mean(table, &asked, &ledger)))
}

#[extendr]
fn start_description(table: Robj, asked: Robj, ledger: Robj) -> Robj {
    answer(with_table(&table, |table| describe::describe(table, &asked, &ledger)))
}

#[extendr]
fn start_plan(asked: Robj) -> Robj {
    answer(study::plan(&asked))
}

#[extendr]
fn start_audit(table: Robj, asked: Robj, how: Robj, of_mean: Robj) -> Robj {
    let is_mean = of_mean.as_bool() == Some(true);
    answer(with_table(&table, |table| match is_mean {
        true => audit::mean(table, &asked, &how),
        false => audit::model(table, &asked, &how),
    }))
}

#[extendr]
fn wait_for_job(job: Robj, milliseconds: Robj) -> Robj {
    let wait = || -> Done<Robj> {
        let milliseconds = number(&milliseconds)? as u64;
        Ok(match with_job(&job, |job| job.wait(milliseconds))? {
            None => ().into(),
            Some(done) => list!(json = done.json, text = done.text, said = done.said).into(),
        })
    };
    answer(wait())
}

#[extendr]
fn stop_job(job: Robj) -> Robj {
    let stop = |job: &Job| {
        job.stop();
        Ok(())
    };
    answer(with_job(&job, stop))
}

#[extendr]
fn planned_fit(asked: Robj, schema: Robj, rows: Robj) -> Robj {
    let planned = || fit::planned_fit(&asked, &schema, number(&rows)? as usize);
    answer(planned().and_then(|json| artefact::certificate_alone(&json)))
}

#[extendr]
fn planned_mean(asked: Robj, schema: Robj, rows: Robj) -> Robj {
    let planned = || fit::planned_mean(&asked, &schema, number(&rows)? as usize);
    answer(planned().and_then(|json| artefact::certificate_alone(&json)))
}

#[extendr]
fn open_artefact(json: Robj) -> Robj {
    answer(text(&json).and_then(artefact::open))
}

#[extendr]
fn open_json(json: Robj) -> Robj {
    answer(text(&json).and_then(values::parsed))
}

#[extendr]
fn predict_rows(json: Robj, table: Robj) -> Robj {
    let predicted = || with_table(&table, |table| artefact::predictions(text(&json)?, table));
    answer(predicted())
}

#[extendr]
fn make_key(to: Robj) -> Robj {
    answer(path(&to).and_then(artefact::keygen))
}

#[extendr]
fn save_artefact(json: Robj, to: Robj, key_file: Robj) -> Robj {
    let save = || artefact::save(text(&json)?, path(&to)?, values::optional_text(&key_file)?);
    answer(save())
}

#[extendr]
fn verify_artefact(from: Robj, key: Robj) -> Robj {
    let verify = || artefact::verify(path(&from)?, text(&key)?);
    answer(verify())
}

#[extendr]
fn report_page(names: Robj, documents: Robj, ledger: Robj) -> Robj {
    let report = || {
        let (names, documents) = (values::texts(&names)?, values::texts(&documents)?);
        artefact::report(names, &documents, values::optional_text(&ledger)?)
    };
    answer(report())
}

#[extendr]
fn write_file(words: Robj, to: Robj) -> Robj {
    let write = || artefact::write(text(&words)?, path(&to)?);
    answer(write())
}

#[extendr]
fn create_ledger(at: Robj, asked: Robj) -> Robj {
    answer(path(&at).and_then(|path| ledger::create(path, &asked)))
}

#[extendr]
fn expect_ledger(ledger: Robj, budget: Robj, unit: Robj) -> Robj {
    answer(values::optional_text(&unit).and_then(|unit| ledger::expect(&ledger, &budget, unit)))
}

#[extendr]
fn show_ledger(at: Robj) -> Robj {
    let show = || values::parsed(&ledger::show(path(&at)?)?);
    answer(show())
}

#[extendr]
fn room_in_ledger(at: Robj, delta: Robj) -> Robj {
    let room = || ledger::room(path(&at)?, number(&delta)?);
    answer(room())
}

#[extendr]
fn ledger_holds(at: Robj, hash: Robj) -> Robj {
    let holds = || ledger::holds(path(&at)?, text(&hash)?);
    answer(holds())
}

#[extendr]
fn account_events(listed: Robj, delta: Robj) -> Robj {
    answer(events::account(&listed, delta.as_real()))
}

#[extendr]
fn calibrate_events(template: Robj, spent: Robj, epsilon: Robj, delta: Robj) -> Robj {
    answer(
        number(&epsilon).and_then(|epsilon| events::calibrate(&template, &spent, epsilon, delta.as_real())),
    )
}

#[extendr]
fn certificate_of(json: Robj) -> Robj {
    answer(text(&json).and_then(artefact::certificate))
}

#[extendr]
fn encoding_of(json: Robj) -> Robj {
    answer(text(&json).and_then(artefact::encoding))
}

#[extendr]
fn rounded_up(value: Robj) -> Robj {
    answer(number(&value).map(events::rounded_up))
}

extendr_module! {
    mod dpglm;
    fn encode_columns;
    fn encode_matrix;
    fn read_schema;
    fn schema_of_means;
    fn schema_of_description;
    fn check_budget;
    fn check_bounds;
    fn start_fit;
    fn start_mean;
    fn start_description;
    fn start_plan;
    fn start_audit;
    fn wait_for_job;
    fn stop_job;
    fn planned_fit;
    fn planned_mean;
    fn open_artefact;
    fn open_json;
    fn predict_rows;
    fn make_key;
    fn save_artefact;
    fn verify_artefact;
    fn report_page;
    fn write_file;
    fn create_ledger;
    fn expect_ledger;
    fn show_ledger;
    fn room_in_ledger;
    fn ledger_holds;
    fn account_events;
    fn calibrate_events;
    fn certificate_of;
    fn encoding_of;
    fn rounded_up;
}
