//! `POST /report`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::{Shared, allowed, bearer, told};
use crate::answer::Answer;
use crate::message::Message;
use crate::storage::{Submission, TokenHash};

/// No body is longer than this; a message is shorter.
pub const MAX_BODY: usize = 64;
/// How long a body of so few bytes may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn post(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let started = Instant::now();
    let answer = decide(&shared, peer, &headers, body).await;
    shared.metrics.answered(answer, started.elapsed());
    let mut response = told(status(answer), answer.code(), answer.message());
    if answer.retry() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if matches!(answer, Answer::Oversized | Answer::Slow) {
        // The rest of the body is not worth reading.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn decide(shared: &Shared, peer: SocketAddr, headers: &HeaderMap, body: Body) -> Answer {
    if !allowed(shared, peer, headers) {
        return Answer::TooMany;
    }
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BODY as u64) {
        return Answer::Oversized;
    }
    let bytes = match tokio::time::timeout(PATIENCE, axum::body::to_bytes(body, MAX_BODY)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return Answer::Oversized,
        Err(_) => return Answer::Slow,
    };
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
    match shared.writer.accept(submission).await {
        Ok(outcome) => outcome.into(),
        Err(_) => Answer::Unavailable,
    }
}

/// Every answer's number is one that HTTP knows.
fn status(answer: Answer) -> StatusCode {
    StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
