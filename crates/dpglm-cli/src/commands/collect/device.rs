//! `dpglm collect report`: the reference client.

use super::{read, token};
use crate::failure::Failure;
use crate::{Format, flags, render};
use clap::Args;
use dpglm::noise::RandomSource;
use dpglm_collect::client::{Accepted, Device, Service, Standing};
use dpglm_collect::study::PublicKey;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Answer a study from this device: check, randomize, keep, send.
///
/// The values never leave. The report is written to the device's folder before it is sent; calling again sends the same bytes.
#[derive(Args)]
pub struct Report {
    /// The study's service
    #[arg(long, value_name = "URL")]
    service: String,
    /// The curator's public key, from a source you trust
    #[arg(long, value_name = "HEX")]
    key: String,
    /// The most epsilon that this device may spend in all its studies together
    #[arg(long, value_name = "EPSILON", value_parser = flags::number)]
    limit: f64,
    /// The file that holds this device's enrolment token
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The device's folder, which keeps what was spent and sent
    #[arg(long, value_name = "FOLDER")]
    device: PathBuf,
    /// The values: a JSON object from column to number. A column left out, or null, counts as the middle of its bounds
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
    let key = PublicKey::parse(&arguments.key)?;
    let accepted = Accepted::check(&service.study()?, &key, arguments.limit)?;
    let study = accepted.study();
    let mut device = Device::open(&arguments.device)?;
    let answered = match device.made(&accepted)? {
        Some(before) => before,
        None => {
            let values: BTreeMap<String, Option<f64>> = serde_json::from_str(&read(&arguments.record)?)
                .map_err(|_| {
                    // The parser's message may quote a value.
                    Failure::Failed(format!(
                        "{}: not a JSON object from column to number",
                        arguments.record.display()
                    ))
                })?;
            let values = values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            let record = accepted.record(&values)?;
            let round = service.round()?;
            if round.phase != "open" {
                return Err(Failure::Failed(format!(
                    "no round is open (round {} is {}): try again later; nothing was spent",
                    round.round, round.phase
                )));
            }
            let token = token(&arguments.token_file)?;
            let mut rng = RandomSource::from_os()?;
            device.answer(
                &accepted,
                arguments.limit,
                &token,
                (round.round, &round.state),
                &record,
                &mut rng,
            )?
        }
    };
    let answer = service.send(&answered.token, &answered.message)?;
    let standing = device.settle(&accepted, answer)?;
    let spent = device.spent();
    if standing != Standing::Counted {
        let again = if answer.retry() { "; call again to send the same bytes" } else { "" };
        return Err(Failure::Failed(format!(
            "the service answered {}: {}{again}; epsilon {} is spent",
            answer.code(),
            answer.message(),
            render::rounded_up(study.epsilon())
        )));
    }
    if format == Format::Json {
        return render::json(&Document {
            schema: "dpglm.collect.report/1",
            study: study.name(),
            code: answer.code(),
            epsilon: study.epsilon(),
            spent,
            limit: arguments.limit,
        });
    }
    Ok(format!(
        "{}: {}. {} bytes were sent; this device has spent epsilon {} of {}.\n",
        study.name(),
        answer.message(),
        answered.message.len(),
        render::rounded_up(spent),
        render::plain(arguments.limit)
    ))
}
