//! The device's way to the service. Certificates are checked when the address begins with `https`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dpglm_sign::statement::successors;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Accepted;
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::study::{MAX_LENGTH, Origin, PublicKey, SignedStudy};
use crate::token::Token;

/// A study's service.
#[derive(Debug, Clone)]
pub struct Service {
    base: String,
    origin: Origin,
    agent: ureq::Agent,
}

/// What the service says about a place in the device's round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// It is held for so many seconds, in this round, whose public state is JSON.
    Held {
        /// From 1.
        round: u32,
        /// The round's public state.
        state: String,
        /// For how long.
        seconds: u64,
    },
    /// There is none now. Nothing is spent by waiting.
    Wait {
        /// The device's round.
        round: u32,
        /// After how many seconds to ask again.
        seconds: u64,
    },
    /// The device's round is over, and it took no part.
    Missed {
        /// The device's round.
        round: u32,
    },
    /// Another answer: the token is unknown, the device has answered already, or the service is busy.
    Refused(Answer),
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
    #[serde(default)]
    statements: String,
}

#[derive(Deserialize)]
struct PlaceDocument {
    code: String,
    #[serde(default)]
    round: u32,
    #[serde(default)]
    seconds: u64,
    state: Option<Box<RawValue>>,
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
        let origin = Origin::parse(address).ok_or_else(|| {
            Error::Argument(format!(
                "the service's address must begin with http:// or https:// and have no path, got `{address}`"
            ))
        })?;
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .max_redirects(0)
            .max_idle_connections(4)
            .build()
            .into();
        Ok(Self { base: origin.to_string(), origin, agent })
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

    fn study_document(&self) -> Result<StudyDocument> {
        serde_json::from_str(&self.get("/study")?).map_err(|_| self.failed("/study", "not a study document"))
    }

    /// The study, not yet verified.
    pub fn study(&self) -> Result<SignedStudy> {
        let document = self.study_document()?;
        SignedStudy::new(&document.study, &document.signature)
    }

    /// The study, checked: by the curator's key or a successor of it, within the user's limit, current, and at home here.
    pub fn accept(&self, key: &PublicKey, statements: &str, limit: f64) -> Result<Accepted> {
        let document = self.study_document()?;
        let signed = SignedStudy::new(&document.study, &document.signature)?;
        let statements = format!("{}\n{statements}", document.statements);
        let keys = successors(key, &statements).ok_or_else(|| {
            Error::refused(
                "the curator has revoked this key",
                "ask the curator for a new one over a way you trust",
            )
        })?;
        let signer = keys.iter().find(|key| signed.verify(key).is_ok()).unwrap_or(key);
        let accepted = Accepted::check(&signed, signer, limit)?;
        let study = accepted.study();
        if !(study.origins().is_empty() || study.origins().contains(&self.origin)) {
            let named: Vec<String> = study.origins().iter().map(Origin::to_string).collect();
            return Err(Error::refused(
                format!("the study is served at {}, not at {}", named.join(" and "), self.origin),
                "use the address that the study names",
            ));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        if !study.is_current(now) {
            return Err(Error::refused("the study has expired", "ask the curator for a newer one"));
        }
        Ok(accepted)
    }

    /// What the user should know about the way to the service.
    pub fn warning(&self) -> Option<String> {
        (!self.origin.is_private()).then(|| {
            format!(
                "{}: the connection is not encrypted, so others may read the token and see that you answer: use https",
                self.origin
            )
        })
    }

    /// Asks for a place in the device's round.
    pub fn reserve(&self, token: &Token) -> Result<Place> {
        let mut response = self
            .agent
            .post(format!("{}/reserve", self.base))
            .header("Authorization", format!("Bearer {}", token.reveal()))
            .send_empty()
            .map_err(|error| self.failed("/reserve", error.to_string()))?;
        let status = response.status();
        let text = response.body_mut().with_config().limit(LARGEST).read_to_string();
        let document = text.ok().and_then(|text| serde_json::from_str::<PlaceDocument>(&text).ok());
        let known = document.and_then(|document| Some((Answer::from_code(&document.code)?, document)));
        let Some((answer, document)) = known.filter(|(answer, _)| answer.status() == status.as_u16()) else {
            return Err(self.failed("/reserve", format!("the service answered {status}")));
        };
        let PlaceDocument { round, seconds, state, .. } = document;
        Ok(match (answer, state) {
            (Answer::Reserved, Some(state)) => Place::Held { round, state: state.get().to_owned(), seconds },
            (Answer::Wait, _) => Place::Wait { round, seconds },
            (Answer::Missed, _) => Place::Missed { round },
            _ => Place::Refused(answer),
        })
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
