//! A device's whole answer: a place, the report, its fate.

use dpglm::noise::RandomSource;
use dpglm::privacy::decimal;

use super::{Accepted, Device, Place, Record, Service, Standing};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::token::Token;

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// What the service said: accepted, or counted already.
    pub answer: Answer,
    /// Bytes that were sent.
    pub bytes: usize,
}

/// Answers a study, or sends again what was made before.
///
/// The token is checked, and a place held, before anything is made: a mistyped token, or a round that is full or over, costs
/// nothing. `limit` bounds what the device spends in all its studies together.
pub fn answer(
    service: &Service,
    accepted: &Accepted,
    device: &mut Device,
    limit: f64,
    token: &Token,
    record: impl FnOnce() -> Result<Record>,
    rng: &mut RandomSource,
) -> Result<Told> {
    let answered = match device.correct_token(accepted, token)? {
        Some(before) => before,
        None => {
            let record = record()?;
            let (round, state) = place(service, token)?;
            device.answer(accepted, limit, token, (round, &state), &record, rng)?
        }
    };
    let answer = service.send(&answered.token, &answered.message)?;
    let standing = device.settle(accepted, answer)?;
    if standing == Standing::Counted {
        return Ok(Told { answer, bytes: answered.message.len() });
    }
    Err(Error::Unanswered(format!(
        "the service answered {}: {}{}; epsilon {} is spent",
        answer.code(),
        answer.message(),
        if answer.retry() || answer == Answer::Token { "; call again to send the same bytes" } else { "" },
        decimal::rounded_up(accepted.study().epsilon())
    )))
}

/// A place in the device's round, or why there is none.
fn place(service: &Service, token: &Token) -> Result<(u32, String)> {
    Err(Error::Unanswered(match service.reserve(token)? {
        Place::Held { round, state, .. } => return Ok((round, state)),
        Place::Wait { round, seconds } => format!(
            "this device answers in round {round}, which has no place now: try again in {seconds} seconds or later; \
             nothing was spent"
        ),
        Place::Missed { round } => {
            format!("this device would have answered in round {round}, which is over; nothing was spent")
        }
        Place::Refused(answer) => {
            format!("the service answered {}: {}; nothing was spent", answer.code(), answer.message())
        }
    }))
}
