//! `dpglm collect report`: the reference client.

use super::{read, token};
use crate::failure::Failure;
use crate::progress::tell;
use crate::{Format, flags, render};
use clap::Args;
use dpglm::noise::RandomSource;
use dpglm_collect::client::{Device, Service, answer};
use dpglm_collect::study::PublicKey;
use serde::Serialize;
use std::path::PathBuf;

/// Answer a study from this device: check, randomize, keep, send.
///
/// The values never leave. A place in this device's round is asked for first; without one nothing is spent. The report is written to the device's folder before it is sent; calling again sends the same bytes.
#[derive(Args)]
pub struct Report {
    /// The study's service
    #[arg(long, value_name = "URL")]
    service: String,
    /// The curator's public key, from a source you trust
    #[arg(long, value_name = "HEX")]
    key: String,
    /// Statements about that key that you got from the curator, besides those of the service
    #[arg(long, value_name = "FILE")]
    key_statements: Option<PathBuf>,
    /// The most epsilon that this device may spend in all its studies together
    #[arg(long, value_name = "EPSILON", value_parser = flags::number)]
    limit: f64,
    /// The file that holds this device's enrolment token
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The device's folder, which keeps what was spent and sent
    #[arg(long, value_name = "FOLDER")]
    device: PathBuf,
    /// The values: a JSON object from column to number. A column left out, or one that is not a number, counts as the middle of its bounds
    #[arg(long, value_name = "FILE")]
    record: PathBuf,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    study: &'a str,
    code: &'static str,
    epsilon: f64,
    spent: f64,
    limit: f64,
}

pub fn run(arguments: &Report, format: Format) -> Result<String, Failure> {
    let service = Service::new(&arguments.service)?;
    if let Some(warning) = service.warning() {
        tell(&warning);
    }
    let key = PublicKey::parse(&arguments.key)?;
    let statements = arguments.key_statements.as_deref().map_or_else(|| Ok(String::new()), read)?;
    let accepted = service.accept(&key, &statements, arguments.limit)?;
    let study = accepted.study();
    let token = token(&arguments.token_file)?;
    let mut device = Device::open(&arguments.device)?;
    let path = &arguments.record;
    let record = || {
        let text = std::fs::read_to_string(path).map_err(|error| {
            dpglm_collect::Error::Argument(format!(
                "{}: {error}: give a file that can be read",
                path.display()
            ))
        })?;
        accepted.record_from_json(&text)
    };
    let mut rng = RandomSource::from_os()?;
    let told = answer(&service, &accepted, &mut device, arguments.limit, &token, record, &mut rng)?;
    let spent = device.spent();
    if format == Format::Json {
        return render::json(&Document {
            schema: "dpglm.collect.report/1",
            study: study.name(),
            code: told.answer.code(),
            epsilon: study.epsilon(),
            spent,
            limit: arguments.limit,
        });
    }
    Ok(format!(
        "{}: {}. {} bytes were sent; this device has spent epsilon {} of {}.\n",
        study.name(),
        told.answer.message(),
        told.bytes,
        render::rounded_up(spent),
        render::plain(arguments.limit)
    ))
}
