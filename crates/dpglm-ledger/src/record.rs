//! One line of a ledger.
//!
//! A line is a JSON object whose last field is the SHA-256 hash of all bytes before that field. The next line repeats the hash. Bytes are
//! hashed as they stand in the file, so there is one way only to write what was hashed.

use dpglm::accounting::Part;
use dpglm::accounting::filter::{Filter, Rule};
use dpglm::privacy::{Adjacency, Budget, Event};
use dpglm_sign::hex;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// The name and version of the form.
pub(crate) const SCHEMA: &str = "dpglm.ledger/1";
/// What stands in the first line in place of a hash.
pub(crate) const NOTHING_BEFORE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its place, from 0.
    pub index: u64,
    /// The hash of the line before.
    pub previous: String,
    /// When it was written, in UTC by the clock of the machine.
    pub time: String,
    /// The version of the program that wrote it.
    pub version: String,
    /// What it says.
    pub entry: Entry,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The first line: what may be spent.
    Opened(Terms),
    /// Something will be released: spent from here on.
    Charged(Charge),
    /// The result is there.
    Finished(Finish),
}

/// What may be spent, fixed at the beginning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    pub(crate) schema: String,
    /// What the ledger is for.
    pub about: String,
    /// Whom it protects; everything that is charged protects the same.
    pub protects: Adjacency,
    /// The privacy loss of everything together.
    pub epsilon: f64,
    /// The probability with which that may fail.
    pub delta: f64,
    /// The part of delta for releases that are only known to be (e, d) private.
    pub reserve: f64,
    /// How losses add up.
    pub rule: Rule,
}

impl Terms {
    /// Refuses a total that cannot be kept.
    pub fn new(
        about: impl Into<String>,
        protects: Adjacency,
        budget: Budget,
        reserve: f64,
        rule: Rule,
    ) -> dpglm::Result<Self> {
        Filter::new(budget, reserve, rule)?;
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        Ok(Self { schema: SCHEMA.into(), about: about.into(), protects, epsilon, delta, reserve, rule })
    }

    /// What decides about every charge.
    pub fn filter(&self) -> dpglm::Result<Filter> {
        let budget = match self.delta {
            0.0 if self.rule == Rule::Pure => Budget::pure(self.epsilon)?,
            delta => Budget::new(self.epsilon, delta)?,
        };
        Filter::new(budget, self.reserve, self.rule)
    }
}

/// What will be released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// What is computed: `fit`, `mean`, `describe`.
    pub what: String,
    /// The name of the data.
    pub data: String,
    /// Which data it was, for those who hold the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What for.
    pub purpose: String,
    /// Whom it protects.
    pub protects: Adjacency,
    /// Assumptions on which the promise rests, accepted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assuming: Vec<String>,
    /// What will leave, of all rows.
    pub events: Vec<Event>,
    /// What will leave of rows in public parts, each part's alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// What was released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// The index of the line that paid for it.
    pub charge: u64,
    /// The hash of its certificate.
    pub certificate: String,
    /// The hash of the whole artefact.
    pub artefact: String,
}

/// The hash of bytes, in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex::encode(digest(&SHA256, bytes).as_ref())
}

const FIELD: &str = ",\"hash\":\"";

impl Record {
    /// The line without its end, and its hash.
    pub(crate) fn line(&self) -> serde_json::Result<(String, String)> {
        let mut body = serde_json::to_string(self)?;
        body.pop();
        let hash = hash(body.as_bytes());
        body += FIELD;
        body += &hash;
        body += "\"}";
        Ok((body, hash))
    }

    /// Reads a line and checks its own hash. On failure says what the line does.
    pub(crate) fn read(line: &[u8]) -> Result<(Self, String), String> {
        let line = std::str::from_utf8(line).map_err(|_| "is not UTF-8 text".to_owned())?;
        let parts = line.strip_suffix("\"}").and_then(|rest| {
            let (body, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
            Some((body.strip_suffix(FIELD)?, hash))
        });
        let Some((body, stated)) = parts else { return Err("does not end with its hash".into()) };
        if hash(body.as_bytes()) != stated {
            return Err("does not have the hash that it states".into());
        }
        let record =
            serde_json::from_str(&format!("{body}}}")).map_err(|error| format!("is no entry ({error})"))?;
        Ok((record, stated.to_owned()))
    }
}
