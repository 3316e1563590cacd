//! The curator's commands on a storage: `enroll`, `estimate`.

use super::place::Place;
use super::sign::Shuffling;
use super::token;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm::accounting::Certificate;
use dpglm_collect::client::Service;
use dpglm_collect::protocol::same_result;
use dpglm_collect::protocol::{Coefficient, StudyProtocol};
use dpglm_collect::server::sum_round;
use dpglm_collect::storage::{Phase, TokenHash};
use dpglm_collect::study::Study;
use dpglm_collect::token::Token;
use serde::Serialize;
use std::path::PathBuf;

/// Make enrolment tokens, one for each device.
///
/// A token lets one device answer once. Tokens are told here and nowhere else; the storage keeps their hashes.
#[derive(Args)]
pub struct Enroll {
    #[command(flatten)]
    place: Place,
    /// Ask a running service instead
    #[arg(long, value_name = "URL", requires = "admin_token_file", conflicts_with_all = ["storage", "storage_file"])]
    service: Option<String>,
    /// The administrator's token, for --service
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// How many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    count: u32,
    /// Where to write them, one a line; an existing file is never overwritten
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Tokens in one transaction or request.
const CHUNK: usize = 10_000;

pub fn enroll(arguments: &Enroll) -> Result<String, Failure> {
    let remote = match (&arguments.service, &arguments.admin_token_file) {
        (Some(address), Some(file)) => Some((Service::new(address)?, token(file)?)),
        (None, Some(_)) => return Err(Failure::Usage("--admin-token-file goes with --service".into())),
        _ => None,
    };
    let mut storage = if remote.is_none() { Some(arguments.place.open()?) } else { None };
    // The file comes first: tokens that nobody could write down would be enrolled for nothing.
    dpglm_io::write_secret(&arguments.output, "")?;
    let mut text = String::new();
    let mut left = arguments.count as usize;
    let mut more = |left: usize| -> Result<Vec<Token>, Failure> {
        let count = left.min(CHUNK);
        match (&mut storage, &remote) {
            (Some(storage), _) => {
                let tokens = (0..count).map(|_| Token::fresh()).collect::<Result<Vec<_>, _>>()?;
                storage.enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>())?;
                Ok(tokens)
            }
            (None, Some((service, admin))) => Ok(service.enroll(admin, count)?),
            (None, None) => Err(Failure::Usage("give --storage or --service".into())),
        }
    };
    let mut failure = None;
    while left > 0 && failure.is_none() {
        match more(left) {
            Ok(tokens) => {
                left -= tokens.len().min(left);
                for token in tokens {
                    text += &token.reveal();
                    text.push('\n');
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    // What was enrolled before a failure is not lost.
    std::fs::write(&arguments.output, &text)
        .map_err(|error| Failure::Failed(format!("{}: {error}", arguments.output.display())))?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    Ok(format!("{} tokens are in {}.\n", arguments.count, arguments.output.display()))
}

/// The estimate so far, computed again from the stored reports.
///
/// Every closed round is summed again and compared with what the service has stored.
#[derive(Args)]
pub struct Estimate {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shuffling: Shuffling,
}

#[derive(Serialize)]
struct EstimateDocument<'a> {
    schema: &'static str,
    study: &'a str,
    fingerprint: String,
    rounds: Vec<RoundDocument>,
    estimate: Vec<Coefficient>,
    certificate: Certificate,
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffled: Option<Certificate>,
}

#[derive(Serialize)]
struct RoundDocument {
    round: u32,
    phase: &'static str,
    reports: u64,
}

pub fn estimate(arguments: &Estimate, format: Format) -> Result<String, Failure> {
    let mut storage = arguments.place.open()?;
    let stored = storage.study()?.ok_or_else(|| {
        Failure::Failed(
            "no study has begun in this storage: name the storage of `dpglm collect serve`".into(),
        )
    })?;
    let study = Study::parse(&stored.text)?;
    let protocol = StudyProtocol::new(&study)?;
    let rounds = storage.rounds()?;
    for round in rounds.iter().filter(|round| round.phase == Phase::Closed) {
        let closed = sum_round(&mut *storage, &protocol, round, &|| ())?;
        if !round.result.as_deref().is_some_and(|stored| same_result(stored, &closed.result)) {
            return Err(Failure::Failed(format!(
                "round {}: the stored result is not that of the stored reports: restore the storage from a backup",
                round.number
            )));
        }
    }
    let closed = rounds.iter().filter(|round| round.phase == Phase::Closed).map(|round| round.count);
    let shuffled = match arguments.shuffling.shuffled_delta {
        Some(delta) => Some(protocol.shuffled(closed, delta)?),
        None => None,
    };
    let document = EstimateDocument {
        schema: "dpglm.collect.estimate/1",
        study: study.name(),
        fingerprint: study.fingerprint().to_string(),
        rounds: rounds
            .iter()
            .map(|round| RoundDocument {
                round: round.number,
                phase: round.phase.name(),
                reports: round.count,
            })
            .collect(),
        estimate: protocol.estimate(rounds.iter().rev().find_map(|round| round.result.as_deref()))?,
        certificate: protocol.certificate()?,
        shuffled,
    };
    if format == Format::Json {
        return render::json(&document);
    }
    let mut text = format!("{}\n\nround  phase      reports\n", study.name());
    for round in &document.rounds {
        text += &format!("{:<5}  {:<9}  {}\n", round.round, round.phase, round.reports);
    }
    let width = document.estimate.iter().map(|c| c.name.chars().count()).max().unwrap_or(0).max(11);
    text += &format!("\n{:<width$}  estimate\n", "coefficient");
    for Coefficient { name, estimate } in document.estimate.iter().filter(|c| c.estimate != 0.0) {
        text += &format!("{name:<width$}  {}\n", dpglm_workflow::render::rounded(*estimate));
    }
    text += &format!("\nColumns that are not listed are zero.\n\n{}\n", document.certificate);
    text += &render::conditions(&document.certificate, "--format json lists them");
    if let Some(shuffled) = &document.shuffled {
        text += &format!("\nShuffled: {shuffled}\n");
    }
    Ok(text)
}
