//! The HTTP service: transport around [`crate::protocol`] and [`crate::storage`].
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /study` | the study's text and signature, as JSON |
//! | `GET /round` | the current round: number, phase, deadline and public state |
//! | `POST /report` | a message in the body, a token as `Authorization: Bearer`: see [`Answer`](crate::answer::Answer) |
//! | `GET /status`, `GET /status.json` | rounds, counts and the estimate so far |
//! | `GET /metrics`, `GET /healthz` | for monitoring |
//! | `GET /` | a page by which a person can answer, and see what leaves their device |
//! | `POST /admin/enroll`, `/admin/close`, `/admin/end` | with the administrator's bearer token |
//!
//! Two threads own a storage each: the writer takes reports, the clock ends rounds and sums them. Handlers read a snapshot
//! that the clock refreshes. Neither logs nor errors hold tokens, report bytes or addresses.

mod admin;
mod clock;
mod limit;
mod metrics;
mod pages;
mod report;
mod writer;

use std::net::SocketAddr;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use tokio::net::TcpListener;

pub use clock::{RoundSummary, Snapshot};

use crate::error::{Error, Result};
use crate::protocol::StudyProtocol;
use crate::storage::{self, Opening, Storage};
use crate::study::SignedStudy;
use crate::token::Token;
use limit::RateLimit;
use metrics::Metrics;
use writer::Writer;

/// Where messages for the operator go.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// How a study is served.
pub struct Config {
    /// The study.
    pub study: SignedStudy,
    /// The path of an SQLite file, or a PostgreSQL URL.
    pub storage: String,
    /// The administrator's token. Without one there is no administration over HTTP.
    pub admin: Option<Token>,
    /// Requests a second from one address; `None` for no limit.
    pub rate_limit: Option<f64>,
    /// Whether a reverse proxy stands in front, whose `X-Forwarded-For` names the address.
    pub behind_proxy: bool,
    /// Where messages for the operator go.
    pub log: Log,
}

/// What every handler shares.
struct Shared {
    study: SignedStudy,
    protocol: StudyProtocol,
    admin: Option<Token>,
    limit: Option<RateLimit>,
    behind_proxy: bool,
    metrics: Arc<Metrics>,
    snapshot: Arc<RwLock<Arc<Snapshot>>>,
    writer: Writer,
    /// The last round of which a report came too late: a device that asks now must not make another.
    over: Arc<AtomicU32>,
    log: Log,
}

impl Shared {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A service whose storage is open and whose threads run.
pub struct Service {
    router: Router,
}

impl Service {
    /// Opens the storage, begins or resumes the study and starts the threads.
    pub fn start(config: Config) -> Result<Self> {
        let study = config.study.unverified();
        let protocol = StudyProtocol::new(study)?;
        if let Some(rate) = config.rate_limit
            && !(rate.is_finite() && rate > 0.0)
        {
            return Err(Error::Argument(format!(
                "the rate limit must be a finite number above 0, got {rate}: leave it out for no limit"
            )));
        }
        let mut storage = begin(&config.study, &protocol, &config.storage)?;
        let writing = storage::open(&config.storage)?;
        let metrics = Arc::new(Metrics::default());
        let snapshot = Arc::new(RwLock::new(Arc::new(clock::snapshot(&mut *storage, &protocol)?)));
        let (wake, woken) = sync_channel(1);
        let rules = protocol.clone();
        let over = Arc::new(AtomicU32::new(0));
        let writer = Writer::start(
            writing,
            move |round| rules.rule(round),
            metrics.clone(),
            over.clone(),
            wake,
            config.log.clone(),
        );
        clock::start(storage, protocol.clone(), snapshot.clone(), woken, config.log.clone());
        let shared = Arc::new(Shared {
            study: config.study,
            protocol,
            admin: config.admin,
            limit: config.rate_limit.map(RateLimit::new),
            behind_proxy: config.behind_proxy,
            metrics,
            snapshot,
            writer,
            over,
            log: config.log,
        });
        Ok(Self { router: router(shared) })
    }

    /// Serves until `stop` resolves, then finishes what has begun.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let application = self.router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, application).with_graceful_shutdown(stop).await
    }
}

impl Service {
    /// Serves on an address until the process is asked to stop (an interrupt, or SIGTERM). `ready` hears the address.
    pub fn run(self, address: SocketAddr, ready: impl FnOnce(SocketAddr)) -> std::io::Result<SocketAddr> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            ready(address);
            self.serve(listener, asked_to_stop()).await?;
            Ok(address)
        })
    }
}

/// Resolves on an interrupt or, where there is such a thing, on SIGTERM.
async fn asked_to_stop() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
        std::future::poll_fn(|context| {
            if interrupt.as_mut().poll(context).is_ready() || terminate.poll_recv(context).is_ready() {
                return std::task::Poll::Ready(());
            }
            std::task::Poll::Pending
        })
        .await;
        return;
    }
    // Without a way to be told, serve for ever.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Opens a storage and makes sure that it holds this study.
pub fn begin(study: &SignedStudy, protocol: &StudyProtocol, place: &str) -> Result<Box<dyn Storage>> {
    let mut storage = storage::open(place)?;
    let deadline = now().saturating_add(protocol.rule(1).seconds);
    let first = Opening { number: 1, deadline, state: protocol.first()? };
    storage.begin(&study.stored(), &first)?;
    Ok(storage)
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(pages::client))
        .route("/client.js", get(pages::client_script))
        .route("/randomizer.js", get(pages::randomizer_script))
        .route("/style.css", get(pages::style))
        .route("/study", get(pages::study))
        .route("/round", get(pages::round))
        .route("/status", get(pages::status))
        .route("/status.json", get(pages::status_json))
        .route("/metrics", get(pages::metrics))
        .route("/healthz", get(pages::health))
        .route("/report", post(report::post))
        .route("/admin/enroll", post(admin::enroll))
        .route("/admin/close", post(admin::close))
        .route("/admin/end", post(admin::end))
        .with_state(shared)
}

/// A JSON answer that no cache keeps.
fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let text = serde_json::to_string(body).unwrap_or_else(|_| "{}".into());
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (axum::http::header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, text).into_response()
}

/// A code and a sentence.
#[derive(Serialize)]
struct Told<'a> {
    code: &'a str,
    message: &'a str,
}

fn told(status: StatusCode, code: &str, message: &str) -> Response {
    json(status, &Told { code, message })
}

/// The bearer token of a request.
fn bearer(headers: &axum::http::HeaderMap) -> Option<Token> {
    let value = headers.get(axum::http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| Token::parse(token.trim())).flatten()
}

/// Whether the address behind a request may ask now.
fn allowed(shared: &Shared, peer: SocketAddr, headers: &axum::http::HeaderMap) -> bool {
    let Some(limit) = &shared.limit else { return true };
    // The last address is the one that the trusted proxy itself has seen.
    let forwarded = || headers.get("x-forwarded-for")?.to_str().ok()?.rsplit(',').next()?.trim().parse().ok();
    let address = if shared.behind_proxy { forwarded().unwrap_or(peer.ip()) } else { peer.ip() };
    limit.allows(address, Instant::now())
}
