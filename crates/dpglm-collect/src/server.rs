//! The HTTP service: transport around [`crate::protocol`] and [`crate::storage`].
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /study` | the study's text and signatures, as JSON |
//! | `GET /round` | the current round: number, phase, deadline and public state |
//! | `POST /reserve` | a token as `Authorization: Bearer`: a place in the device's round, or when to come back |
//! | `POST /report` | a message in the body, a token as `Authorization: Bearer`: see [`Answer`] |
//! | `GET /status`, `GET /status.json` | rounds, counts and the estimate so far |
//! | `GET /healthz`, `GET /readyz` | whether the process lives; whether reports would be taken |
//! | `GET /` | a page by which a person can answer, and see what leaves their device |
//! | `POST /admin/enroll`, `/admin/close`, `/admin/end` | with the administrator's bearer token |
//!
//! `GET /metrics` is served on an address of its own, or not at all.
//!
//! Two threads own a storage each: the writer takes requests, the clock ends rounds and sums them. Handlers read a snapshot
//! that the clock refreshes; one that is too old is not shown. Neither logs nor errors hold tokens, report bytes or addresses.

mod admin;
mod clock;
mod connections;
mod health;
mod limit;
mod log;
mod metrics;
mod pages;
mod report;
mod time;
mod writer;

use std::net::SocketAddr;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use tokio::net::TcpListener;

pub use clock::{RoundSummary, Snapshot, close_round, sum_round};
pub use connections::Limits;
pub use ipnet::IpNet;
pub use log::{Log, utc};
pub use time::{Clock, Wall, system_clock};

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::protocol::{Assignment, StudyProtocol};
use crate::storage::{self, Access, Opening, Outcome, Storage, Terms};
use crate::study::SignedStudy;
use crate::token::Token;
use connections::Server;
use health::Health;
use limit::{RateLimit, origin};
use metrics::Metrics;
use writer::Writer;

/// How a study is served.
pub struct Config {
    /// The study.
    pub study: SignedStudy,
    /// Statements about the curator's key, one a line, that devices are to know.
    pub statements: String,
    /// The path of an SQLite file, or a PostgreSQL URL.
    pub storage: String,
    /// The administrator's token. Without one there is no administration over HTTP.
    pub admin: Option<Token>,
    /// Requests a second from one address; `None` for no limit.
    pub rate_limit: Option<f64>,
    /// Reverse proxies in front, whose `X-Forwarded-For` is believed.
    pub proxies: Vec<IpNet>,
    /// For how long a place in a round is held.
    pub hold: Duration,
    /// How many connections there may be.
    pub limits: Limits,
    /// The wall clock.
    pub wall: Wall,
    /// Where messages for the operator go.
    pub log: Log,
}

impl Config {
    /// With no administration, ten requests a second from one address, no proxy, and places held for ten minutes.
    pub fn new(study: SignedStudy, storage: impl Into<String>, log: Log) -> Self {
        Self {
            study,
            statements: String::new(),
            storage: storage.into(),
            admin: None,
            rate_limit: Some(10.0),
            proxies: Vec::new(),
            hold: Duration::from_secs(600),
            limits: Limits::default(),
            wall: system_clock(),
            log,
        }
    }
}

/// What every handler shares.
struct Shared {
    study: SignedStudy,
    statements: String,
    protocol: StudyProtocol,
    admin: Option<Token>,
    limit: Option<RateLimit>,
    proxies: Vec<IpNet>,
    hold: u64,
    metrics: Arc<Metrics>,
    health: Arc<Health>,
    snapshot: Arc<RwLock<Arc<Snapshot>>>,
    writer: Writer,
    log: Log,
}

impl Shared {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// By what requests are decided. Cheap to clone.
#[derive(Clone)]
struct Rules {
    protocol: StudyProtocol,
    assignment: Assignment,
    hold: u64,
    clock: Arc<Clock>,
}

impl Rules {
    fn take(
        &self,
        storage: &mut dyn Storage,
        gather: &mut dyn FnMut() -> Vec<storage::Request>,
    ) -> Result<Vec<Outcome>> {
        let now = self.clock.now();
        storage.take_gathered(
            gather,
            &Terms {
                rule: &|round| self.protocol.rule(round),
                assigned: &|token| self.protocol.assigned(&self.assignment, token),
                hold: self.hold,
                now,
                current: self.protocol.study().is_current(now),
            },
        )
    }
}

/// A service whose storage is open and whose threads run.
pub struct Service {
    shared: Arc<Shared>,
    limits: Limits,
    begun: String,
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
        let hold = config.hold.as_secs();
        if !(1..=86_400).contains(&hold) {
            return Err(Error::Argument(format!(
                "a place must be held for one second to a day, got {hold} seconds: ten minutes suit people"
            )));
        }
        let log = config.log;
        let clock = Arc::new(Clock::new(config.wall, log.clone()));
        let mut storage = storage::open(&config.storage, Access::Serve)?;
        begin(&mut *storage, &config.study, &protocol, clock.now(), &log)?;
        let assignment = storage.assignment()?;
        let begun = assignment.name();
        let rules = Rules { protocol: protocol.clone(), assignment, hold, clock: clock.clone() };
        let writing = storage::open(&config.storage, Access::Serve)?;
        let (metrics, health) = (Arc::new(Metrics::default()), Arc::new(Health::new()));
        let snapshot =
            Arc::new(RwLock::new(Arc::new(clock::snapshot(&mut *storage, &protocol, clock.now())?)));
        let (wake, woken) = sync_channel(1);
        let writer = Writer::start(writing, rules, metrics.clone(), health.clone(), wake, log.clone());
        let keeper = clock::Keeper {
            protocol: protocol.clone(),
            clock,
            shown: snapshot.clone(),
            health: health.clone(),
            log: log.clone(),
        };
        keeper.start(storage, woken);
        let shared = Arc::new(Shared {
            study: config.study,
            statements: config.statements,
            protocol,
            admin: config.admin,
            limit: config.rate_limit.map(RateLimit::new),
            proxies: config.proxies,
            hold,
            metrics,
            health,
            snapshot,
            writer,
            log,
        });
        Ok(Self { shared, limits: config.limits, begun })
    }

    /// What tells this beginning of the study from others: the same however often its storage is served.
    pub fn begun(&self) -> &str {
        &self.begun
    }

    /// Serves until `stop` resolves, then finishes what has begun, for ten seconds at most. Metrics are served on a listener of
    /// their own.
    pub async fn serve(
        self,
        listener: TcpListener,
        metrics: Option<TcpListener>,
        stop: impl Future<Output = ()>,
    ) -> std::io::Result<()> {
        let Self { shared, limits, .. } = self;
        let watched = metrics.map(|listener| {
            let few = Limits { total: 64, per_address: 64 };
            tokio::spawn(
                server(&shared, watching(shared.clone()), few).serve(listener, std::future::pending()),
            )
        });
        let router = router(shared.clone());
        let served = server(&shared, router, limits).serve(listener, stop).await;
        if let Some(watched) = watched {
            watched.abort();
        }
        served
    }

    /// Serves on an address until the process is asked to stop (an interrupt, or SIGTERM), and metrics on another. `ready` hears
    /// the addresses.
    pub fn run(
        self,
        address: SocketAddr,
        metrics: Option<SocketAddr>,
        ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
    ) -> std::io::Result<SocketAddr> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            let watched = match metrics {
                Some(address) => Some(TcpListener::bind(address).await?),
                None => None,
            };
            ready(address, watched.as_ref().and_then(|listener| listener.local_addr().ok()));
            self.serve(listener, watched, asked_to_stop()).await?;
            Ok(address)
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        served
    }
}

fn server(shared: &Shared, router: Router, limits: Limits) -> Server {
    Server {
        router,
        metrics: shared.metrics.clone(),
        limits,
        trusted: shared.proxies.clone(),
        log: shared.log.clone(),
    }
}

/// Resolves on an interrupt or, where there is such a thing, on SIGTERM.
async fn asked_to_stop() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    // Without a way to be told, serve for ever.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Makes sure that a storage holds this study.
fn begin(
    storage: &mut dyn Storage,
    study: &SignedStudy,
    protocol: &StudyProtocol,
    now: u64,
    log: &Log,
) -> Result<()> {
    let resumed = storage.study()?.is_some();
    let first = Opening { number: 1, deadline: protocol.deadline(1, now), state: protocol.first()? };
    storage.begin(&study.stored(), &first)?;
    if resumed {
        let current = storage.current()?;
        log.info(
            "resumed",
            &format!("the study goes on in round {}, {}", current.number, current.phase.name()),
        );
    } else {
        log.info("begun", "a new study begins in this storage");
    }
    Ok(())
}

fn router(shared: Arc<Shared>) -> Router {
    let limited = Router::new()
        .route("/", get(pages::client))
        .route("/client.js", get(pages::client_script))
        .route("/ledger.js", get(pages::ledger_script))
        .route("/randomizer.js", get(pages::randomizer_script))
        .route("/style.css", get(pages::style))
        .route("/study", get(pages::study))
        .route("/round", get(pages::round))
        .route("/status", get(pages::status))
        .route("/status.json", get(pages::status_json))
        .route("/reserve", post(report::reserve))
        .route("/report", post(report::post))
        .route("/admin/enroll", post(admin::enroll))
        .route("/admin/close", post(admin::close))
        .route("/admin/end", post(admin::end))
        .layer(from_fn_with_state(shared.clone(), limited));
    limited.route("/healthz", get(pages::health)).route("/readyz", get(pages::ready)).with_state(shared)
}

/// What is served on the address for monitoring.
fn watching(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/metrics", get(pages::metrics))
        .route("/healthz", get(pages::health))
        .route("/readyz", get(pages::ready))
        .with_state(shared)
}

/// Lets a request through if the address behind it may ask now.
async fn limited(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(limit) = &shared.limit
        && !limit.allows(origin(peer.ip(), request.headers(), &shared.proxies), Instant::now())
    {
        shared.metrics.answered(Answer::TooMany, Duration::ZERO);
        return report::answered(Answer::TooMany);
    }
    next.run(request).await
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
