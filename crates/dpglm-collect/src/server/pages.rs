//! What the service shows: the study, the round, the status, and the page for people.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use dpglm::privacy::decimal;
use serde::Serialize;
use serde_json::value::RawValue;

use super::clock::RoundSummary;
use super::report::answered;
use super::{Shared, json, utc};
use crate::answer::Answer;
use crate::influence::Influence;
use crate::protocol::{Coefficient, RoundNumbers};

/// A file of the page. It may load nothing from elsewhere, nor send anything elsewhere.
fn file(kind: &'static str, body: impl Into<String>) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(
                "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            ),
        ),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, body.into()).into_response()
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(super) async fn client() -> Response {
    file("text/html; charset=utf-8", include_str!("../page/client.html"))
}

pub(super) async fn client_script() -> Response {
    file(SCRIPT, include_str!("../page/client.js"))
}

pub(super) async fn ledger_script() -> Response {
    file(SCRIPT, include_str!("../page/ledger.js"))
}

pub(super) async fn randomizer_script() -> Response {
    file(SCRIPT, include_str!("../page/randomizer.js"))
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../page/style.css"))
}

#[derive(Serialize)]
struct StudyShown<'a> {
    fingerprint: String,
    study: &'a str,
    signature: String,
    /// The page's own view of the study: text, so that its bytes are those that were signed.
    facts: String,
    page_signature: Option<String>,
    /// What is known about the curator's key, one statement a line.
    statements: &'a str,
}

pub(super) async fn study(State(shared): State<Arc<Shared>>) -> Response {
    let study = shared.study.unverified();
    json(
        StatusCode::OK,
        &StudyShown {
            fingerprint: study.fingerprint().to_string(),
            study: study.text(),
            signature: shared.study.signature(),
            facts: study.facts(),
            page_signature: shared.study.page_signature(),
            statements: &shared.statements,
        },
    )
}

#[derive(Serialize)]
struct RoundShown<'a> {
    fingerprint: String,
    standing: &'static str,
    round: u32,
    rounds: u32,
    phase: &'static str,
    deadline: u64,
    state: Option<&'a RawValue>,
    /// The randomizer's numbers, which the reference client derives from the study by itself.
    numbers: Option<RoundNumbers>,
}

pub(super) async fn round(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshot();
    let current = snapshot.current();
    if !shared.health.is_fresh() {
        return answered(Answer::Unavailable);
    }
    json(
        StatusCode::OK,
        &RoundShown {
            fingerprint: shared.study.unverified().fingerprint().to_string(),
            standing: snapshot.standing(),
            round: current.number,
            rounds: snapshot.planned,
            phase: current.phase.name(),
            deadline: current.deadline,
            state: serde_json::from_str(&current.state).ok(),
            numbers: shared.protocol.round_numbers(current.number),
        },
    )
}

#[derive(Serialize)]
struct Status<'a> {
    study: &'a str,
    fingerprint: String,
    standing: &'static str,
    epsilon: f64,
    enrolled: u64,
    held: u64,
    planned_rounds: u32,
    /// What people who act together could do.
    influence: Vec<Influence>,
    rounds: Vec<RoundSummary<'a>>,
    estimate: Vec<Coefficient>,
}

pub(super) async fn status_json(State(shared): State<Arc<Shared>>) -> Response {
    if !shared.health.is_fresh() {
        return answered(Answer::Unavailable);
    }
    let snapshot = shared.snapshot();
    let study = shared.study.unverified();
    json(
        StatusCode::OK,
        &Status {
            study: study.name(),
            fingerprint: study.fingerprint().to_string(),
            standing: snapshot.standing(),
            epsilon: study.epsilon(),
            enrolled: snapshot.enrolled,
            held: snapshot.held,
            planned_rounds: snapshot.planned,
            influence: shared.protocol.influence(),
            rounds: snapshot.summaries(),
            estimate: shared.protocol.estimate(snapshot.result()).unwrap_or_default(),
        },
    )
}

/// Text as it may stand in a page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) async fn status(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshot();
    let study = shared.study.unverified();
    let rounds: String = snapshot
        .rounds
        .iter()
        .map(|round| {
            let rule = shared.protocol.rule(round.number);
            let estimate = shared.protocol.estimate(round.result.as_deref()).unwrap_or_default();
            let estimate: Vec<String> = estimate
                .iter()
                .filter(|coefficient| coefficient.estimate != 0.0)
                .map(|coefficient| {
                    format!("{} {}", escape(&coefficient.name), four_digits(coefficient.estimate))
                })
                .collect();
            format!(
                "<tr><td>{}</td><td>{}</td><td>{} of {}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                round.number,
                round.phase.name(),
                round.count,
                rule.target,
                utc(round.deadline),
                round.extensions,
                estimate.join("<br>")
            )
        })
        .collect();
    let exposed =
        shared.protocol.influence().iter().map(|influence| influence.one_percent).fold(0.0, f64::max);
    let standing = match snapshot.standing() {
        "finished" => "All rounds are closed.",
        "ended" => "The study ended before its last round: too few reports, or by its curator.",
        _ => "Collecting.",
    };
    file(
        "text/html; charset=utf-8",
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"3\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{name}</title>\
             <link rel=\"stylesheet\" href=\"/style.css\"></head><body><main>\n<h1>{name}</h1>\n<p>{purpose}</p>\n\
             <p>{standing} Each participant spends epsilon = {epsilon}, once: replacing one person's values changes the \
             probability of any report by at most a factor {factor}. {enrolled} devices are enrolled.</p>\n\
             <table><thead><tr><th>round</th><th>phase</th><th>reports</th><th>due</th><th>extended</th><th>estimate after it</th></tr>\
             </thead><tbody>\n{rounds}</tbody></table>\n<p>If one device in a hundred acts \
             against the study, a feature whose coefficient is below {exposed}, with features and response scaled to [-1, 1], may be \
             replaced by another.</p>\n<p>Round {current} of {planned}. Study {fingerprint}</p>\n\
             </main></body></html>\n",
            name = escape(study.name()),
            purpose = escape(study.purpose()),
            epsilon = decimal::rounded_up(study.epsilon()),
            factor = decimal::factor(study.epsilon()),
            enrolled = snapshot.enrolled,
            exposed = decimal::rounded_up_to(exposed, 2),
            current = snapshot.current().number,
            planned = snapshot.planned,
            fingerprint = study.fingerprint(),
        ),
    )
}

pub(super) async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let snapshot = shared.snapshot();
    let mut text = shared.metrics.text();
    let current = snapshot.current();
    for (name, help, value) in [
        ("dpglm_enrolled_devices", "Devices with a token.", snapshot.enrolled as f64),
        ("dpglm_round", "The current round.", f64::from(current.number)),
        ("dpglm_round_reports", "Reports in the current round.", current.count as f64),
        ("dpglm_round_places_held", "Places of the current round that are held.", snapshot.held as f64),
        ("dpglm_ready", "Whether reports would be taken.", f64::from(u8::from(shared.health.is_ready()))),
        (
            "dpglm_rounds_closed",
            "Rounds that are part of the estimate.",
            snapshot.rounds.iter().filter(|round| round.result.is_some()).count() as f64,
        ),
        ("dpglm_epsilon", "What each participant spends.", shared.study.unverified().epsilon()),
    ] {
        text += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }
    ([(CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"))], text)
        .into_response()
}

/// The process lives.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// A report would be taken, as far as is known.
pub(super) async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.health.is_ready() { "ready\n".into_response() } else { answered(Answer::Unavailable) }
}

/// Four decimals, fewer for large numbers, powers of ten beyond: coefficients may be in any units.
fn four_digits(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 1e-3) {
        return format!("{value:.3e}");
    }
    let whole = if size >= 1.0 { size.log10().floor() as usize + 1 } else { 0 };
    format!("{value:.*}", 4 - whole.min(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits_in_any_unit() {
        let shown = [0.0, 8.91405, -4.33943e-5, -0.0811, 123_456.0, 2.5e9].map(four_digits);
        assert_eq!(shown, ["0.0000", "8.914", "-4.339e-5", "-0.0811", "123456", "2.500e9"]);
    }
}
