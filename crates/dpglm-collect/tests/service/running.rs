//! A study and a service for it, inside the test's own process.

use dpglm::noise::RandomSource;
use dpglm_collect::client::{Accepted, Record, Service as Client};
use dpglm_collect::server::{Config, Service};
use dpglm_collect::storage::{self, TokenHash};
use dpglm_collect::study::{PublicKey, SignedStudy, SigningKey, Study};
use dpglm_collect::token::Token;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
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
        }
    }
}

impl Draft {
    pub fn text(&self) -> String {
        let Self { features, epsilon, randomizer, reports, minimum, hours, extensions } = self;
        format!(
            r#"version = 1
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
    pub place: String,
    pub accepted: Accepted,
    pub key: PublicKey,
    pub admin: Token,
    pub log: Arc<Mutex<String>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    pub fn start(place: &str, draft: &Draft) -> Self {
        let (study, key) = draft.sign();
        Self::serve(place, study, key, None)
    }

    pub fn serve(place: &str, study: SignedStudy, key: PublicKey, rate_limit: Option<f64>) -> Self {
        let accepted = Accepted::check(&study, &key, f64::MAX).unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let lines = log.clone();
        let admin = Token::fresh().unwrap();
        let service = Service::start(Config {
            study,
            storage: place.into(),
            admin: Some(admin.clone()),
            rate_limit,
            behind_proxy: false,
            log: Arc::new(move |line| *lines.lock().unwrap() += &format!("{line}\n")),
        })
        .unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let stop = async { drop(stopped.await) };
                service.serve(listener, stop).await.unwrap();
            });
        });
        let address = told.recv().unwrap();
        Self {
            address,
            place: place.into(),
            accepted,
            key,
            admin,
            log,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn client(&self) -> Client {
        Client::new(&format!("http://{}", self.address)).unwrap()
    }

    /// Enrols devices directly in the storage.
    pub fn enroll(&self, count: usize) -> Vec<Token> {
        let tokens: Vec<Token> = (0..count).map(|_| Token::fresh().unwrap()).collect();
        let hashes: Vec<TokenHash> = tokens.iter().map(TokenHash::of).collect();
        storage::open(&self.place).unwrap().enroll(&hashes).unwrap();
        tokens
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
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
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
