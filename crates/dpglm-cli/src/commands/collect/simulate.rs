//! `dpglm collect simulate`: many devices from a table.

use super::read;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm::data::design::Storage;
use dpglm_collect::client::{Record, Service};
use dpglm_collect::simulate::{Measured, Simulation};
use dpglm_collect::study::{Column, PublicKey, Study};
use dpglm_collect::token::Token;
use dpglm_io::{Precision, ReadOptions, Schema, read_table};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run many devices from a table against a service.
///
/// Every row is a device that asks for a place in its round, waits if there is none, and answers once. Start the service with
/// --rate-limit 0, as all devices share an address. Rounds are drawn from tokens, so enrol a tenth more devices than reports.
#[derive(Args)]
pub struct Simulate {
    /// The table, with the study's columns
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The study's service
    #[arg(long, value_name = "URL")]
    service: String,
    /// The curator's public key
    #[arg(long, value_name = "HEX")]
    key: String,
    /// Enrolment tokens, one a line
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
    /// Connections at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,
    /// The time over which devices arrive
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    arrivals: f64,
    /// How long a person looks at a report before sending it
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    think: f64,
    /// How often a device that waits asks again
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = seconds)]
    poll: f64,
    /// How long nothing may happen before devices that still wait give up
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    patience: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    if (0.0..=86_400.0).contains(&value) { Ok(value) } else { Err("must be from 0 to 86400 seconds".into()) }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    accepted: usize,
    refused: usize,
    turned_away: usize,
    waiting: usize,
    repeated: usize,
    seconds: f64,
    reports_per_second: f64,
    latency_p50: f64,
    latency_p99: f64,
}

pub fn run(arguments: &Simulate, format: Format) -> Result<String, Failure> {
    let service = Service::new(&arguments.service)?;
    let key = PublicKey::parse(&arguments.key)?;
    // Simulated people have no limit of their own.
    let accepted = service.accept(&key, "", f64::MAX)?;
    let records = records(&arguments.file, accepted.study())?;
    let tokens = read(&arguments.tokens)?
        .lines()
        .map(|line| Token::parse(line.trim()))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Failure::Failed(format!("{}: not a list of tokens", arguments.tokens.display())))?;
    let simulation = Simulation {
        service: &service,
        accepted: &accepted,
        tokens: &tokens,
        records: &records,
        connections: usize::from(arguments.connections),
        arrivals: Duration::from_secs_f64(arguments.arrivals),
        think: Duration::from_secs_f64(arguments.think),
        poll: Duration::from_secs_f64(arguments.poll),
        patience: Duration::from_secs_f64(arguments.patience),
    };
    let measured = simulation.run()?;
    show(&measured, format)
}

fn show(measured: &Measured, format: Format) -> Result<String, Failure> {
    let (p50, p99) = (measured.quantile(0.5).as_secs_f64(), measured.quantile(0.99).as_secs_f64());
    if format == Format::Json {
        return render::json(&Document {
            schema: "dpglm.collect.simulation/2",
            accepted: measured.accepted,
            refused: measured.refused,
            turned_away: measured.turned_away,
            waiting: measured.waiting,
            repeated: measured.repeated,
            seconds: measured.elapsed.as_secs_f64(),
            reports_per_second: measured.rate(),
            latency_p50: p50,
            latency_p99: p99,
        });
    }
    Ok(format!(
        "accepted     {} reports\nrefused      {} reports, whose devices have spent for nothing\n\
         turned away  {} devices, which have spent nothing\nwaiting      {} devices, which have spent nothing\n\
         repeated     {} attempts\ntime         {:.1} s: {:.0} reports a second\n\
         latency      {:.1} ms half of the reports, {:.1} ms 99 of 100\n",
        measured.accepted,
        measured.refused,
        measured.turned_away,
        measured.waiting,
        measured.repeated,
        measured.elapsed.as_secs_f64(),
        measured.rate(),
        1e3 * p50,
        1e3 * p99,
    ))
}

/// The table's rows in the study's order and units.
fn records(path: &Path, study: &Study) -> Result<Vec<Record>, Failure> {
    let declared = |column: &Column| (column.name.clone(), json!({"kind": "real", "bounds": column.bounds}));
    let columns: serde_json::Map<String, Value> =
        study.features().iter().chain([study.response()]).map(declared).collect();
    let schema = json!({"target": study.response().name, "scale": "none", "columns": columns});
    let schema: Schema = serde_json::from_value(schema).map_err(|error| {
        Failure::Failed(format!("the study's columns cannot be read from a table: {error}"))
    })?;
    let options = ReadOptions { precision: Some(Precision::F64), ..ReadOptions::default() };
    let table = read_table(path, &schema, &options)?;
    let Storage::F64(entries) = table.design.storage() else {
        return Err(Failure::Failed(format!(
            "{}: give a dense table: CSV, Parquet or NumPy",
            path.display()
        )));
    };
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let places: Vec<usize> = study.features().iter().filter_map(|column| place(&column.name)).collect();
    let rows = entries.chunks_exact(table.design.columns().max(1)).zip(&table.response);
    Ok(rows
        .map(|(values, &response)| Record { features: places.iter().map(|&j| values[j]).collect(), response })
        .collect())
}
