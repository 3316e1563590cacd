//! Connections: who may hold one, for how long, and how they end.
//!
//! * A request's head must come within [`HEAD`], its body within [`BODY`]; an idle connection is closed after [`HEAD`] too, and
//!   every connection after [`LIFETIME`].
//! * There are at most so many connections, and so many from one address. A new one beyond that closes the one that has been
//!   without a whole request for longest, so that people who hold connections open keep nobody out.
//! * A service that is asked to stop finishes what it has, for [`FAREWELL`] at most.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HeaderValue};
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::ServiceExt;

use super::metrics::Metrics;
use super::report::answered;
use super::{Log, Router};
use crate::answer::Answer;

/// How long a request's head may take, and how long a connection may idle.
const HEAD: Duration = Duration::from_secs(10);
/// How long a request's body may take.
const BODY: Duration = Duration::from_secs(10);
/// How long a connection may live.
const LIFETIME: Duration = Duration::from_secs(600);
/// How long a service that stops waits for its connections.
const FAREWELL: Duration = Duration::from_secs(10);
/// No body is longer than this.
const LARGEST_BODY: usize = 1024;

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// In all.
    pub total: usize,
    /// From one address.
    pub per_address: usize,
}

impl Default for Limits {
    /// As many as the process may open files, with some left for the storage; at most 4096.
    fn default() -> Self {
        let files = std::fs::read_to_string("/proc/self/limits").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("Max open files"))?;
            line.split_whitespace().nth(3)?.parse::<usize>().ok()
        });
        Self { total: files.unwrap_or(1024).saturating_sub(128).clamp(64, 4096), per_address: 256 }
    }
}

/// The connections that are open.
struct Registry {
    limits: Limits,
    trusted: Vec<ipnet::IpNet>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Connection>,
    /// Connections without a whole request, by when they became so.
    waiting: BTreeMap<u64, u64>,
    addresses: HashMap<IpAddr, usize>,
}

struct Connection {
    address: IpAddr,
    /// The place in `waiting`.
    since: Option<u64>,
    close: Arc<Notify>,
}

impl Open {
    fn waits(&mut self, id: u64) {
        self.next += 1;
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.since = Some(self.next);
            self.waiting.insert(self.next, id);
        }
    }

    fn works(&mut self, id: u64) {
        if let Some(since) = self.connections.get_mut(&id).and_then(|connection| connection.since.take()) {
            self.waiting.remove(&since);
        }
    }

    fn leave(&mut self, id: u64) {
        self.works(id);
        let Some(connection) = self.connections.remove(&id) else { return };
        if let Some(count) = self.addresses.get_mut(&connection.address) {
            *count -= 1;
            if *count == 0 {
                self.addresses.remove(&connection.address);
            }
        }
    }

    /// Closes the connection that has waited longest, of one address or of all. False if none waits.
    fn evict(&mut self, address: Option<IpAddr>) -> bool {
        let belongs = |id: &u64| {
            address.is_none_or(|address| self.connections.get(id).is_some_and(|c| c.address == address))
        };
        let Some(id) = self.waiting.values().copied().find(belongs) else { return false };
        if let Some(connection) = self.connections.get(&id) {
            connection.close.notify_one();
        }
        self.leave(id);
        true
    }
}

impl Registry {
    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for a connection of this address, made if need be.
    fn enter(&self, address: IpAddr) -> Option<(u64, Arc<Notify>)> {
        let mut open = self.lock();
        let proxy = self.trusted.iter().any(|net| net.contains(&address));
        if !proxy
            && open.addresses.get(&address).is_some_and(|&count| count >= self.limits.per_address)
            && !open.evict(Some(address))
        {
            return None;
        }
        if open.connections.len() >= self.limits.total && !open.evict(None) {
            return None;
        }
        open.next += 1;
        let (id, close) = (open.next, Arc::new(Notify::new()));
        *open.addresses.entry(address).or_default() += 1;
        open.connections.insert(id, Connection { address, since: None, close: close.clone() });
        open.waits(id);
        Some((id, close))
    }
}

/// What every connection of a listener shares.
pub(super) struct Server {
    pub router: Router,
    pub metrics: Arc<Metrics>,
    pub limits: Limits,
    pub trusted: Vec<ipnet::IpNet>,
    pub log: Log,
}

impl Server {
    /// Serves until `stop` resolves, then finishes what has begun.
    pub(super) async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
        let registry =
            Arc::new(Registry { limits: self.limits, trusted: self.trusted.clone(), open: Mutex::default() });
        let shared = Arc::new(self);
        let (stopping, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            while tasks.try_join_next().is_some() {}
            match accepted {
                Ok((stream, peer)) => {
                    // Refused without a word: the address has all its connections at work.
                    let Some((id, close)) = registry.enter(peer.ip().to_canonical()) else { continue };
                    let (shared, registry) = (shared.clone(), registry.clone());
                    let mut stopped = stopped.clone();
                    tasks.spawn(async move {
                        shared.connection(stream, peer, (id, close), &registry, &mut stopped).await;
                        registry.lock().leave(id);
                    });
                }
                Err(error) => {
                    shared.log.error("accept", &format!("a connection could not be taken: {error}"));
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(listener);
        let _ = stopping.send(true);
        let farewell = async { while tasks.join_next().await.is_some() {} };
        if timeout(FAREWELL, farewell).await.is_err() {
            shared.log.warn("stopping", "some connections did not end in time and were closed");
        }
        tasks.shutdown().await;
        Ok(())
    }

    async fn connection(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        (id, close): (u64, Arc<Notify>),
        registry: &Arc<Registry>,
        stopped: &mut watch::Receiver<bool>,
    ) {
        // Answers are small: none should wait for another.
        let _ = stream.set_nodelay(true);
        let service = hyper::service::service_fn(|request: hyper::Request<hyper::body::Incoming>| {
            let (shared, registry) = (self.clone(), registry.clone());
            async move {
                let request = match shared.whole(request.map(Body::new)).await {
                    Ok(request) => request,
                    Err(answer) => return Ok::<Response, Infallible>(answer),
                };
                registry.lock().works(id);
                let response = shared.answer(request, peer).await;
                registry.lock().waits(id);
                Ok(response)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            () = close.notified() => return,
            _ = stopped.wait_for(|stopped| *stopped) => {}
            () = tokio::time::sleep(LIFETIME) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = timeout(FAREWELL, connection).await;
    }

    /// The request with its body, which is short and must come soon.
    async fn whole(&self, request: Request) -> Result<Request, Response> {
        let started = Instant::now();
        let refuse = |answer: Answer| {
            self.metrics.answered(answer, started.elapsed());
            let mut response = answered(answer);
            // The rest of the body is not worth reading.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        };
        let (parts, body) = request.into_parts();
        let announced =
            parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > LARGEST_BODY as u64) {
            return Err(refuse(Answer::Oversized));
        }
        match timeout(BODY, axum::body::to_bytes(body, LARGEST_BODY)).await {
            Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
            Ok(Err(_)) => Err(refuse(Answer::Oversized)),
            Err(_) => Err(refuse(Answer::Slow)),
        }
    }

    async fn answer(&self, mut request: Request, peer: SocketAddr) -> Response {
        request.extensions_mut().insert(ConnectInfo(peer));
        match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The whole body of a request that [`Server::whole`] has read already.
pub(super) async fn body(body: Body) -> Bytes {
    axum::body::to_bytes(body, LARGEST_BODY).await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(total: usize, per_address: usize) -> Registry {
        let trusted = vec!["10.0.0.0/8".parse().unwrap()];
        Registry { limits: Limits { total, per_address }, trusted, open: Mutex::default() }
    }

    /// A newcomer gets in at the cost of whoever has waited longest; those at work are left alone.
    #[tokio::test]
    async fn who_waits_longest_goes_first() {
        let registry = registry(3, 2);
        let address = |last: u8| IpAddr::from([192, 168, 0, last]);
        let (first, closed) = registry.enter(address(1)).unwrap();
        let (second, _) = registry.enter(address(1)).unwrap();
        registry.enter(address(2)).unwrap();
        // A third of the same address: its oldest goes.
        registry.enter(address(1)).unwrap();
        closed.notified().await;
        assert!(!registry.lock().connections.contains_key(&first));
        // A fourth in all: the oldest of all goes, unless it is at work.
        registry.lock().works(second);
        registry.enter(address(3)).unwrap();
        assert!(registry.lock().connections.contains_key(&second));
        assert_eq!(registry.lock().connections.len(), 3);
        registry.lock().waits(second);
        // Everybody at work: nobody else gets in.
        let ids: Vec<u64> = registry.lock().connections.keys().copied().collect();
        ids.iter().for_each(|&id| registry.lock().works(id));
        assert!(registry.enter(address(4)).is_none());
        ids.iter().for_each(|&id| registry.lock().leave(id));
        assert!(registry.lock().addresses.is_empty() && registry.lock().waiting.is_empty());
        // A trusted proxy has no limit of its own.
        assert_eq!((0..3).filter_map(|_| registry.enter([10, 0, 0, 1].into())).count(), 3);
        assert_eq!(registry.lock().connections.len(), 3);
    }
}
