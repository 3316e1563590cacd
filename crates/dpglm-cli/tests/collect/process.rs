//! A study on disk and `dpglm collect serve` as a process of its own.

use dpglm_collect::client::Accepted;
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::storage::{self, Access, TokenHash};
use dpglm_collect::study::{SignedStudy, SigningKey, Study, signature_path};
use dpglm_collect::token::Token;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A signed study in a folder.
pub struct Prepared {
    pub folder: tempfile::TempDir,
    pub file: PathBuf,
    pub accepted: Accepted,
    pub key: String,
}

/// An address of this machine with a free port.
pub fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

impl Prepared {
    pub fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("study.toml");
        std::fs::write(&file, text).unwrap();
        let key = SigningKey::fresh().unwrap();
        let signed = SignedStudy::sign(Study::parse(text).unwrap(), &key);
        std::fs::write(signature_path(&file), signed.signature()).unwrap();
        let accepted = Accepted::check(&signed, &key.public(), f64::MAX).unwrap();
        Self { folder, file, accepted, key: key.public().to_string() }
    }

    pub fn sqlite(&self) -> String {
        self.folder.path().join("study.sqlite").display().to_string()
    }
}

/// A study of one linear model, for tests that only vary its size, answered at these addresses.
pub fn study_text(at: &[&str], features: usize, sparsity: usize, reports: usize, randomizer: &str) -> String {
    let service: Vec<String> = at.iter().map(|address| format!("\"http://{address}\"")).collect();
    let service = service.join(", ");
    format!(
        r#"version = 2
service = [{service}]
expires = 2099-12-31
name = "trial"
purpose = "A trial of the service"
participants = "nobody in particular"
model = {{ family = "linear", sparsity = {sparsity}, response = {{ name = "y", bounds = [-2, 2] }}, features = {{ count = {features}, bounds = [-1, 1] }} }}
privacy = {{ epsilon = 2, randomizer = "{randomizer}" }}
rounds = {{ reports = {reports}, minimum = 1, hours = 1, extensions = 1 }}
"#
    )
}

/// Enrols devices of whatever round they get, directly in a storage.
pub fn enroll(place: &str, count: usize) -> Vec<Token> {
    let tokens: Vec<Token> = (0..count).map(|_| Token::fresh().unwrap()).collect();
    let hashes: Vec<TokenHash> = tokens.iter().map(TokenHash::of).collect();
    storage::open(place, Access::Existing).unwrap().enroll(&hashes).unwrap();
    tokens
}

/// The round in which a device answers.
pub fn round_of(place: &str, study: &Study, token: &Token) -> u32 {
    let assignment = storage::open(place, Access::Existing).unwrap().assignment().unwrap();
    StudyProtocol::new(study).unwrap().assigned(&assignment, &TokenHash::of(token))
}

/// Enrols a device that answers in the first round.
pub fn enroll_first(place: &str, study: &Study) -> Token {
    std::iter::repeat_with(|| enroll(place, 1).remove(0))
        .find(|token| round_of(place, study, token) == 1)
        .unwrap()
}

/// A serving process.
pub struct Server {
    child: Child,
    pub address: String,
    pub log: Arc<Mutex<String>>,
}

impl Server {
    /// Starts and waits until it listens.
    pub fn start(study: &Path, place: &str, listen: &str) -> Self {
        Self::start_with(study, place, listen, &[])
    }

    pub fn start_with(study: &Path, place: &str, listen: &str, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dpglm"))
            .args(["collect", "serve", "--rate-limit", "0", "--storage", place, "--listen", listen])
            .args(more)
            .arg(study)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let mut address = None;
        while address.is_none() {
            let line = lines.next().expect("the server ended before it listened").unwrap();
            address =
                line.split("serving on http://").nth(1).map(|rest| rest.trim_end_matches('"').to_owned());
            *log.lock().unwrap() += &format!("{line}\n");
        }
        let rest = log.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *rest.lock().unwrap() += &format!("{line}\n");
            }
        });
        Self { child, address: address.unwrap(), log }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the process to end by itself.
    pub fn wait(&mut self, patience: std::time::Duration) -> bool {
        let started = std::time::Instant::now();
        while started.elapsed() < patience {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        false
    }

    /// SIGKILL: no warning, no clean-up.
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
