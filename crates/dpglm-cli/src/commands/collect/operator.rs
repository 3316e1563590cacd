//! The operator's commands on a storage, beside a running service or without one: `status`, `extend`, `reopen`, `revoke`.

use super::place::Place;
use super::read;
use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::server::{system_clock, utc};
use dpglm_collect::storage::{Phase, Storage};
use dpglm_collect::study::Study;
use dpglm_collect::token::{Token, TokenHash};
use serde::Serialize;
use std::path::PathBuf;

/// Show where a study stands: rounds, reports, places that are held, deadlines.
#[derive(Args)]
pub struct Status {
    #[command(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct StatusDocument {
    schema: &'static str,
    study: String,
    fingerprint: String,
    expires: Option<String>,
    enrolled: u64,
    held: u64,
    planned_rounds: u32,
    rounds: Vec<RoundDocument>,
}

#[derive(Serialize)]
struct RoundDocument {
    round: u32,
    phase: &'static str,
    reports: u64,
    wanted: u64,
    minimum: u64,
    deadline: String,
    extensions: u32,
}

pub fn status(arguments: &Status, format: Format) -> Result<String, Failure> {
    let mut storage = arguments.place.open()?;
    let study = study(&mut *storage)?;
    let protocol = StudyProtocol::new(&study)?;
    let now = system_clock()();
    let rounds = storage.rounds()?;
    let rounds = rounds.iter().map(|round| {
        let rule = protocol.rule(round.number);
        RoundDocument {
            round: round.number,
            phase: round.phase.name(),
            reports: round.count,
            wanted: rule.target,
            minimum: rule.minimum,
            deadline: utc(round.deadline),
            extensions: round.extensions,
        }
    });
    let document = StatusDocument {
        schema: "dpglm.collect.status/1",
        study: study.name().into(),
        fingerprint: study.fingerprint().to_string(),
        expires: study.expires().map(utc),
        enrolled: storage.enrolled()?,
        held: storage.held(now)?,
        planned_rounds: protocol.rounds(),
        rounds: rounds.collect(),
    };
    if format == Format::Json {
        return render::json(&document);
    }
    let mut text = format!(
        "{}\n\nexpires   {}\nenrolled  {} devices\nheld      {} places\nrounds    {} planned\n\n\
         round  phase      reports of wanted  minimum  deadline              extended\n",
        document.study,
        document.expires.as_deref().unwrap_or("never"),
        document.enrolled,
        document.held,
        document.planned_rounds
    );
    for round in &document.rounds {
        text += &format!(
            "{:<5}  {:<9}  {:<17}  {:<7}  {}  {}\n",
            round.round,
            round.phase,
            format!("{} of {}", round.reports, round.wanted),
            round.minimum,
            round.deadline,
            round.extensions
        );
    }
    Ok(text)
}

/// Give the open round more time.
#[derive(Args)]
pub struct Extend {
    #[command(flatten)]
    place: Place,
    /// How long from its deadline, or from now if that has passed
    #[arg(long, value_name = "HOURS")]
    hours: f64,
}

pub fn extend(arguments: &Extend) -> Result<String, Failure> {
    change(
        &arguments.place,
        arguments.hours,
        Phase::Open,
        "the study has ended: `dpglm collect reopen` takes it back",
    )
}

/// Open a round again that was abandoned: too few reports, a wrong clock, or a change of mind.
///
/// Nobody has lost by it: devices whose round it is may answer as if it had stayed open.
#[derive(Args)]
pub struct Reopen {
    #[command(flatten)]
    place: Place,
    /// How long from now
    #[arg(long, value_name = "HOURS")]
    hours: f64,
}

pub fn reopen(arguments: &Reopen) -> Result<String, Failure> {
    change(
        &arguments.place,
        arguments.hours,
        Phase::Abandoned,
        "the study has not ended: `dpglm collect extend` gives it more time",
    )
}

fn change(place: &Place, hours: f64, from: Phase, otherwise: &str) -> Result<String, Failure> {
    if !(hours > 0.0 && hours <= 876_000.0) {
        return Err(Failure::Usage(format!("--hours must be above 0 and at most 876000, got {hours}")));
    }
    let mut storage = place.open()?;
    let study = study(&mut *storage)?;
    let current = storage.current()?;
    let now = system_clock()();
    if current.phase != from {
        return Err(Failure::Failed(format!(
            "round {} is {}: {otherwise}",
            current.number,
            current.phase.name()
        )));
    }
    let start = if from == Phase::Open { current.deadline.max(now) } else { now };
    let wanted = start.saturating_add((hours * 3600.0).ceil() as u64);
    let deadline = study.expires().map_or(wanted, |end| wanted.min(end));
    if deadline <= now {
        return Err(Failure::Failed("the study has expired: sign a new one with a later `expires`".into()));
    }
    if !storage.extend(current.number, deadline)? {
        return Err(Failure::Failed(format!(
            "round {} changed meanwhile: look at `dpglm collect status`",
            current.number
        )));
    }
    Ok(format!("round {} is open until {}.\n", current.number, utc(deadline)))
}

/// Take back enrolment tokens: their devices can no longer answer. What they have answered stays.
#[derive(Args)]
pub struct Revoke {
    #[command(flatten)]
    place: Place,
    /// The tokens, one a line
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
}

pub fn revoke(arguments: &Revoke) -> Result<String, Failure> {
    let tokens = read(&arguments.tokens)?
        .lines()
        .map(|line| Token::parse(line.trim()).map(|token| TokenHash::of(&token)))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Failure::Failed(format!("{}: not a list of tokens", arguments.tokens.display())))?;
    let mut storage = arguments.place.open()?;
    let revoked = storage.revoke(&tokens)?;
    Ok(format!("{revoked} of {} tokens are revoked; the others are not of this study.\n", tokens.len()))
}

fn study(storage: &mut dyn Storage) -> Result<Study, Failure> {
    let stored =
        storage.study()?.ok_or_else(|| Failure::Failed("no study has begun in this storage".into()))?;
    Ok(Study::parse(&stored.text)?)
}
