//! The administrator's calls. Each needs the administrator's token as `Authorization: Bearer`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::connections;
use super::writer::Change;
use super::{Shared, bearer, json, told};
use crate::storage::{Phase, TokenHash};
use crate::token::Token;

/// Tokens made by one call at most.
pub(crate) const MAX_ENROLMENT: usize = 10_000;

/// Refuses a caller who is not the administrator.
fn refusal(shared: &Shared, headers: &HeaderMap) -> Option<Response> {
    let Some(admin) = &shared.admin else {
        return Some(told(
            StatusCode::FORBIDDEN,
            "no-administration",
            "the service was started without a token",
        ));
    };
    // Hashes are compared, so that the time of the comparison says nothing about the token.
    match bearer(headers) {
        Some(token) if TokenHash::of(&token) == TokenHash::of(admin) => None,
        _ => Some(told(
            StatusCode::UNAUTHORIZED,
            "token",
            "send the administrator's token as Authorization: Bearer",
        )),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Enrolment {
    count: usize,
}

#[derive(Serialize)]
struct Enrolled {
    tokens: Vec<String>,
}

/// Makes enrolment tokens. They are told here once; only hashes are kept.
pub(super) async fn enroll(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Body) -> Response {
    if let Some(refusal) = refusal(&shared, &headers) {
        return refusal;
    }
    let wanted = serde_json::from_slice::<Enrolment>(&connections::body(body).await).ok();
    let Some(count) = wanted.map(|e| e.count).filter(|count| (1..=MAX_ENROLMENT).contains(count)) else {
        return told(
            StatusCode::BAD_REQUEST,
            "malformed",
            "send {\"count\": N} with N from 1 to 10000; call again for more",
        );
    };
    let Ok(tokens) = (0..count).map(|_| Token::fresh()).collect::<Result<Vec<_>, _>>() else {
        return told(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "no randomness: try again");
    };
    let hashes = tokens.iter().map(TokenHash::of).collect();
    match shared.writer.change(Change::Enroll(hashes)).await {
        Ok(_) => json(StatusCode::CREATED, &Enrolled { tokens: tokens.iter().map(Token::reveal).collect() }),
        Err(error) => failed(&shared, &error),
    }
}

/// Ends the current round's collection, if it has its minimum.
pub(super) async fn close(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = refusal(&shared, &headers) {
        return refusal;
    }
    let snapshot = shared.snapshot();
    let current = snapshot.current();
    if current.count < shared.protocol.rule(current.number).minimum {
        return told(
            StatusCode::CONFLICT,
            "too-few-reports",
            "the round has fewer reports than the study's minimum: wait, or end the study",
        );
    }
    change(
        &shared,
        Change::Finish(current.number),
        "closing",
        "no more places are given: the round closes when those that are held are used or lapse",
    )
    .await
}

/// Ends the study in its current round.
pub(super) async fn end(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = refusal(&shared, &headers) {
        return refusal;
    }
    let number = shared.snapshot().current().number;
    change(&shared, Change::Abandon(number), Phase::Abandoned.name(), "the study has ended").await
}

async fn change(shared: &Shared, change: Change, code: &str, message: &str) -> Response {
    match shared.writer.change(change).await {
        Ok(true) => told(StatusCode::OK, code, message),
        Ok(false) => told(StatusCode::CONFLICT, "not-open", "the round is not open"),
        Err(error) => failed(shared, &error),
    }
}

fn failed(shared: &Shared, error: &crate::Error) -> Response {
    shared.log.error("administration", &error.to_string());
    told(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the storage failed: try again")
}
