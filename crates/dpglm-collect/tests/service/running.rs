//! A study and a service for it, inside the test's own process.

use dpglm::noise::RandomSource;
use dpglm_collect::client::{Accepted, Record, Service as Client};
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::server::{Config, Log, Service};
use dpglm_collect::storage::{self, Access, Outcome, Request, Storage, Terms, TokenHash};
use dpglm_collect::study::{PublicKey, SignedStudy, SigningKey, Study};
use dpglm_collect::token::Token;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A study with what tests vary.
#[derive(Clone)]
pub struct Draft {
    pub features: usize,
    pub epsilon: f64,
    pub randomizer: &'static str,
    pub reports: u64,
    pub minimum: u64,
    pub hours: f64,
    pub extensions: u32,
    pub service: String,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            features: 4,
            epsilon: 2.0,
            randomizer: "duchi",
            reports: 60,
            minimum: 2,
            hours: 1.0,
            extensions: 1,
            service: "http://127.0.0.1:9".into(),
        }
    }
}

impl Draft {
    pub fn text(&self) -> String {
        let Self { features, epsilon, randomizer, reports, minimum, hours, extensions, service } = self;
        format!(
            r#"version = 2
service = "{service}"
expires = 2099-12-31
name = "trial"
purpose = "A trial of the service"
participants = "nobody in particular"

[model]
family = "linear"
sparsity = 2
response = {{ name = "y", bounds = [-2, 2] }}
features = {{ count = {features}, bounds = [-1, 1] }}

[privacy]
epsilon = {epsilon}
randomizer = "{randomizer}"

[rounds]
reports = {reports}
minimum = {minimum}
hours = {hours}
extensions = {extensions}
"#
        )
    }

    pub fn sign(&self) -> (SignedStudy, PublicKey) {
        let key = SigningKey::fresh().unwrap();
        (SignedStudy::sign(Study::parse(&self.text()).unwrap(), &key), key.public())
    }
}

/// A running service.
pub struct Running {
    pub address: SocketAddr,
    pub metrics: SocketAddr,
    pub place: String,
    pub accepted: Accepted,
    pub key: PublicKey,
    pub admin: Token,
    pub log: Arc<Mutex<String>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    /// A study that names the address it is served at.
    pub fn start(place: &str, draft: &Draft) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let service = format!("http://{}", listener.local_addr().unwrap());
        let (study, key) = Draft { service, ..draft.clone() }.sign();
        Self::with(listener, study, key, place, |_| ())
    }

    pub fn serve(place: &str, study: SignedStudy, key: PublicKey) -> Self {
        Self::with(TcpListener::bind("127.0.0.1:0").unwrap(), study, key, place, |_| ())
    }

    pub fn with(
        listener: TcpListener,
        study: SignedStudy,
        key: PublicKey,
        place: &str,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let accepted = Accepted::check(&study, &key, f64::MAX).unwrap();
        let lines = Arc::new(Mutex::new(String::new()));
        let kept = lines.clone();
        let admin = Token::fresh().unwrap();
        let log = Log::new(move |line| *kept.lock().unwrap() += &format!("{line}\n"));
        let mut config =
            Config { admin: Some(admin.clone()), rate_limit: None, ..Config::new(study, place, log) };
        change(&mut config);
        let service = Service::start(config).unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let watched = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, metrics) = (listener.local_addr().unwrap(), watched.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        watched.set_nonblocking(true).unwrap();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let stop = async { drop(stopped.await) };
                let watched = tokio::net::TcpListener::from_std(watched).unwrap();
                service.serve(listener, Some(watched), stop).await.unwrap();
            });
        });
        Self {
            address,
            metrics,
            place: place.into(),
            accepted,
            key,
            admin,
            log: lines,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn client(&self) -> Client {
        Client::new(&format!("http://{}", self.address)).unwrap()
    }

    pub fn storage(&self) -> Box<dyn Storage> {
        storage::open(&self.place, Access::Existing).unwrap()
    }

    /// Enrols devices of the first round directly in the storage.
    pub fn enroll(&self, count: usize) -> Vec<Token> {
        self.enroll_in(1, count)
    }

    /// Enrols devices that answer in this round.
    pub fn enroll_in(&self, round: u32, count: usize) -> Vec<Token> {
        let protocol = StudyProtocol::new(self.accepted.study()).unwrap();
        let assignment = self.storage().assignment().unwrap();
        let own = |token: &Token| protocol.assigned(&assignment, &TokenHash::of(token)) == round;
        let tokens: Vec<Token> =
            std::iter::repeat_with(|| Token::fresh().unwrap()).filter(own).take(count).collect();
        self.storage().enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>()).unwrap();
        tokens
    }

    /// Enrols devices of whatever round they get.
    pub fn enroll_any(&self, count: usize) -> Vec<Token> {
        let tokens: Vec<Token> = (0..count).map(|_| Token::fresh().unwrap()).collect();
        self.storage().enroll(&tokens.iter().map(TokenHash::of).collect::<Vec<_>>()).unwrap();
        tokens
    }

    /// The answer to a request for a place: status, code and round.
    pub fn reserve(&self, token: &Token) -> (u16, String, u64) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!("POST /reserve HTTP/1.1\r\nAuthorization: Bearer {}", token.reveal());
        let (status, text) = request(&mut stream, &head, b"");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        (status, value["code"].as_str().unwrap().into(), value["round"].as_u64().unwrap_or(0))
    }

    /// Stops the service and waits until it has.
    pub fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// A fresh message for the current round.
    pub fn message(&self) -> Vec<u8> {
        let served = self.client().round().unwrap();
        let features = self.accepted.study().features().len();
        let record = Record { features: vec![0.5; features], response: 1.0 };
        let mut rng = RandomSource::from_os().unwrap();
        self.accepted.randomize(served.round, &served.state, &record, &mut rng).unwrap().to_bytes()
    }

    /// Waits until the status says so.
    pub fn wait(&self, what: &str, holds: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        let client = self.client();
        for _ in 0..600 {
            let status: serde_json::Value =
                serde_json::from_str(&client.get("/status.json").unwrap()).unwrap();
            if holds(&status) {
                return status;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{what}: not reached");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One request over a connection that stays open; status and body of the answer.
pub fn request(stream: &mut TcpStream, head: &str, body: &[u8]) -> (u16, String) {
    let mut bytes = format!("{head}\r\nHost: test\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend(body);
    stream.write_all(&bytes).unwrap();
    read_answer(stream)
}

/// Reads one answer.
pub fn read_answer(stream: &mut TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                return (head.split(' ').nth(1).unwrap().parse().unwrap(), body.into());
            }
        }
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "the service closed the connection without an answer");
        bytes.extend(&buffer[..read]);
    }
}

/// Sends a report body with a token; the answer's status and code.
pub fn post(address: SocketAddr, token: Option<&str>, body: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let (status, text) = request(&mut stream, &head(token), body);
    (status, code(&text))
}

pub fn head(token: Option<&str>) -> String {
    let mut head = String::from("POST /report HTTP/1.1");
    if let Some(token) = token {
        head += &format!("\r\nAuthorization: Bearer {token}");
    }
    head
}

pub fn code(text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["code"].as_str().unwrap().to_owned()
}

/// Hands requests to a storage as a service would, at this time.
pub fn take(
    storage: &mut dyn Storage,
    protocol: &StudyProtocol,
    batch: &[Request],
    now: u64,
) -> Vec<Outcome> {
    let assignment = storage.assignment().unwrap();
    let terms = Terms {
        rule: &|round| protocol.rule(round),
        assigned: &|token| protocol.assigned(&assignment, token),
        hold: 600,
        now,
        current: true,
    };
    storage.take(batch, &terms).unwrap()
}
