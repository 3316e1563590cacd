//! The device's way to the service. Certificates are checked when the address begins with `https`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::study::{MAX_LENGTH, SignedStudy};
use crate::token::Token;

/// A study's service.
#[derive(Debug, Clone)]
pub struct Service {
    base: String,
    agent: ureq::Agent,
}

/// The round that the service is in.
#[derive(Debug, Clone)]
pub struct Served {
    /// From 1.
    pub round: u32,
    /// `open`, `closing`, `closed` or `abandoned`.
    pub phase: String,
    /// `collecting`, `finished` or `ended`.
    pub standing: String,
    /// The aggregate's public state, as JSON.
    pub state: String,
}

#[derive(Deserialize)]
struct StudyDocument {
    study: String,
    signature: String,
}

#[derive(Deserialize)]
struct RoundDocument {
    round: u32,
    phase: String,
    standing: String,
    state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<String>,
}

/// States and status documents grow with the number of features, not with that of reports.
const LARGEST: u64 = 64 * MAX_LENGTH as u64;

impl Service {
    /// The service at an address such as `https://study.example.org`.
    pub fn new(address: &str) -> Result<Self> {
        if !(address.starts_with("http://") || address.starts_with("https://")) {
            return Err(Error::Argument(format!(
                "the service's address must begin with http:// or https://, got `{address}`"
            )));
        }
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .max_redirects(0)
            .max_idle_connections(4)
            .build()
            .into();
        Ok(Self { base: address.trim_end_matches('/').into(), agent })
    }

    fn failed(&self, path: &str, problem: impl Into<String>) -> Error {
        Error::Transport {
            url: format!("{}{path}", self.base),
            problem: problem.into(),
            remedy: "check the address and try again later; what was made is kept".into(),
        }
    }

    /// A document of the service.
    pub fn get(&self, path: &str) -> Result<String> {
        let mut response = self
            .agent
            .get(format!("{}{path}", self.base))
            .call()
            .map_err(|error| self.failed(path, error.to_string()))?;
        if response.status() != 200 {
            return Err(self.failed(path, format!("the service answered {}", response.status())));
        }
        let text = response.body_mut().with_config().limit(LARGEST).read_to_string();
        text.map_err(|error| self.failed(path, error.to_string()))
    }

    /// The study, not yet verified.
    pub fn study(&self) -> Result<SignedStudy> {
        let document: StudyDocument = serde_json::from_str(&self.get("/study")?)
            .map_err(|_| self.failed("/study", "not a study document"))?;
        SignedStudy::new(&document.study, &document.signature)
    }

    /// The current round.
    pub fn round(&self) -> Result<Served> {
        let document: RoundDocument = serde_json::from_str(&self.get("/round")?)
            .map_err(|_| self.failed("/round", "not a round document"))?;
        let RoundDocument { round, phase, standing, state } = document;
        let state = state.map_or_else(|| "null".into(), |state| state.get().to_owned());
        Ok(Served { round, phase, standing, state })
    }

    /// Sends a report.
    pub fn send(&self, token: &Token, message: &[u8]) -> Result<Answer> {
        let mut response = self
            .agent
            .post(format!("{}/report", self.base))
            .header("Authorization", format!("Bearer {}", token.reveal()))
            .header("Content-Type", "application/octet-stream")
            .send(message)
            .map_err(|error| self.failed("/report", error.to_string()))?;
        let status = response.status();
        let text = response.body_mut().with_config().limit(4096).read_to_string();
        let code = text.ok().and_then(|text| serde_json::from_str::<Code>(&text).ok());
        let answer = code.and_then(|code| Answer::from_code(&code.code));
        // A proxy in between may answer in its own words: then nothing is known, and sending again is safe.
        answer
            .filter(|answer| answer.status() == status.as_u16())
            .ok_or_else(|| self.failed("/report", format!("the service answered {status}")))
    }

    /// Asks for enrolment tokens, as the administrator.
    pub fn enroll(&self, admin: &Token, count: usize) -> Result<Vec<Token>> {
        let mut response = self
            .agent
            .post(format!("{}/admin/enroll", self.base))
            .header("Authorization", format!("Bearer {}", admin.reveal()))
            .send(format!("{{\"count\": {count}}}"))
            .map_err(|error| self.failed("/admin/enroll", error.to_string()))?;
        if response.status() != 201 {
            return Err(self.failed("/admin/enroll", format!("the service answered {}", response.status())));
        }
        let text = response.body_mut().with_config().limit(LARGEST).read_to_string();
        let text = text.map_err(|error| self.failed("/admin/enroll", error.to_string()))?;
        let Tokens { tokens } =
            serde_json::from_str(&text).map_err(|_| self.failed("/admin/enroll", "not a list of tokens"))?;
        tokens
            .iter()
            .map(|token| Token::parse(token).ok_or_else(|| self.failed("/admin/enroll", "not a token")))
            .collect()
    }
}
