//! `POST /reserve` and `POST /report`: a place first, the report after.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Serialize;
use serde_json::value::RawValue;

use super::connections::body as whole;
use super::{Shared, bearer, json, told};
use crate::answer::Answer;
use crate::message::Message;
use crate::protocol::RoundNumbers;
use crate::storage::{Outcome, Request, Submission, TokenHash};

/// No report's body is longer than this; a message is shorter.
pub(crate) const MAX_BODY: usize = 64;

/// An answer in its HTTP form.
pub(super) fn answered(answer: Answer) -> Response {
    let mut response = told(status(answer), answer.code(), answer.message());
    if answer.retry() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Every answer's number is one that HTTP knows.
fn status(answer: Answer) -> StatusCode {
    StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// What a device is told about its place.
#[derive(Serialize)]
struct Place<'a> {
    code: &'static str,
    message: &'static str,
    /// The device's own round.
    round: u32,
    /// For how long the place is held, or after how long to ask again.
    seconds: u64,
    /// The round's public state, with a place.
    state: Option<&'a RawValue>,
    /// The randomizer's numbers, which the reference client derives from the study by itself.
    numbers: Option<RoundNumbers>,
}

pub(super) async fn reserve(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let Some(token) = bearer(&headers) else { return answered(Answer::Token) };
    let (answer, round, seconds) = match shared.writer.ask(Request::Reserve(TokenHash::of(&token))).await {
        Ok(Outcome::Reserved(round, seconds)) => (Answer::Reserved, round, seconds),
        Ok(Outcome::Wait(round)) => (Answer::Wait, round, shared.hold.clamp(1, 60)),
        Ok(Outcome::Missed(round)) => (Answer::Missed, round, 0),
        Ok(other) => return answered(other.into()),
        Err(_) => return answered(Answer::Unavailable),
    };
    let snapshot = shared.snapshot();
    let mut place =
        Place { code: answer.code(), message: answer.message(), round, seconds, state: None, numbers: None };
    if answer == Answer::Reserved {
        // The place stays held; the round itself may be a moment too new for this server.
        let Some(known) = snapshot.rounds.iter().find(|known| known.number == round) else {
            return answered(Answer::Unavailable);
        };
        place.state = serde_json::from_str(&known.state).ok();
        place.numbers = shared.protocol.round_numbers(round);
    }
    json(status(answer), &place)
}

pub(super) async fn post(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Body) -> Response {
    let started = Instant::now();
    let answer = decide(&shared, &headers, body).await;
    shared.metrics.answered(answer, started.elapsed());
    answered(answer)
}

async fn decide(shared: &Shared, headers: &HeaderMap, body: Body) -> Answer {
    let bytes = whole(body).await;
    if bytes.len() > MAX_BODY {
        return Answer::Oversized;
    }
    let Some(message) = Message::from_bytes(&bytes) else { return Answer::Malformed };
    if message.study != shared.study.unverified().fingerprint().prefix() {
        return Answer::WrongStudy;
    }
    let round = u32::from(message.round);
    if round > shared.protocol.rounds() {
        return Answer::WrongRound;
    }
    if !shared.protocol.accepts(round, &message.report) {
        return Answer::Malformed;
    }
    let Some(token) = bearer(headers) else { return Answer::Token };
    let submission = Submission { token: TokenHash::of(&token), round, report: message.report.to_vec() };
    match shared.writer.ask(Request::Report(submission)).await {
        Ok(outcome) => outcome.into(),
        Err(_) => Answer::Unavailable,
    }
}
