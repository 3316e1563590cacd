//! The device's side: check the study, make one report, keep it, send it.
//!
//! # What the device promises its user
//! * It answers only a study that the pinned curator's key has signed, in a protocol version it knows, with bounds for every
//!   value, and whose epsilon, together with all that was spent before, stays within the user's limit.
//! * It asks for a place in its round first. Without one nothing is made and nothing is spent.
//! * It makes one report for a study. The report is on the device's disk, and its epsilon counted as spent, before a byte of it
//!   leaves. Every attempt sends those bytes: a server that says "failed, try again" learns nothing new.
//! * What the server can choose, the state of the round, does not enter the guarantee: the report is pure epsilon for every
//!   state. Radius, randomizer and epsilon come from the signed study.
//!
//! # Why private
//! All reports of a device together are at most one report for each study in its ledger, each pure epsilon under
//! replacement of the user's record, so by composition they cost at most the sum, which the ledger keeps below the limit. Sums are
//! rounded upward. Values out of bounds, missing or not numbers follow a public rule, so whether a report is made does not
//! depend on them.

mod answering;
mod device;
mod http;

pub use answering::{Told, answer};
pub use device::{Answered, Device, Standing};
pub use http::{Place, Served, Service};

use std::collections::BTreeMap;

use dpglm::noise::RandomSource;
use dpglm::privacy::decimal;
use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::message::Message;
use crate::protocol::StudyProtocol;
use crate::study::{PublicKey, SignedStudy, Study};

/// A study that this device may answer.
#[derive(Debug, Clone)]
pub struct Accepted {
    study: Study,
    protocol: StudyProtocol,
}

impl Accepted {
    /// Checks the curator's signature and the user's limit for a single study. [`Service::accept`] checks also where it is served.
    pub fn check(signed: &SignedStudy, key: &PublicKey, limit: f64) -> Result<Self> {
        check_limit(limit)?;
        let study = signed.verify(key)?.clone();
        if study.epsilon() > limit {
            return Err(Error::refused(
                format!(
                    "the study asks for epsilon {}, above the user's limit of {limit}",
                    decimal::rounded_up(study.epsilon())
                ),
                "leave the study out, or raise the limit knowingly",
            ));
        }
        let protocol = StudyProtocol::new(&study)?;
        Ok(Self { study, protocol })
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// Makes a report for a round. Nothing is kept or counted as spent: devices use [`Device::answer`].
    pub fn randomize(
        &self,
        round: u32,
        state: &str,
        record: &Record,
        rng: &mut RandomSource,
    ) -> Result<Message> {
        let report = self.protocol.report(state, round, &record.features, record.response, rng)?;
        let round = u16::try_from(round).map_err(|_| foreign_round())?;
        Ok(Message::new(self.study.fingerprint(), round, &report))
    }

    /// A record in the order of the study's columns. Names must be known; values may be anything.
    pub fn record(&self, values: &BTreeMap<String, f64>) -> Result<Record> {
        let known = |name: &str| {
            name == self.study.response().name || self.study.features().iter().any(|c| c.name == name)
        };
        if let Some(name) = values.keys().find(|name| !known(name)) {
            return Err(Error::Argument(format!("the study has no column `{name}`: leave it out")));
        }
        let value = |name: &str| values.get(name).copied().unwrap_or(f64::NAN);
        Ok(Record {
            features: self.study.features().iter().map(|column| value(&column.name)).collect(),
            response: value(&self.study.response().name),
        })
    }

    /// A record from a JSON object. What is no number counts as missing, and a number beyond all bounds as the nearest bound:
    /// whether a report is made does not depend on values.
    pub fn record_from_json(&self, text: &str) -> Result<Record> {
        // The parser's message may quote a value.
        let values: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text)
            .map_err(|_| Error::Argument("the record is not a JSON object from column to number".into()))?;
        let number = |value: Box<RawValue>| value.get().parse().unwrap_or(f64::NAN);
        self.record(&values.into_iter().map(|(name, value)| (name, number(value))).collect())
    }
}

/// A person's values, in the study's order and the user's units. NaN where one is missing.
#[derive(Clone, PartialEq)]
pub struct Record {
    /// The features.
    pub features: Vec<f64>,
    /// The response.
    pub response: f64,
}

impl std::fmt::Debug for Record {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Record({} features)", self.features.len())
    }
}

fn check_limit(limit: f64) -> Result<()> {
    if limit.is_finite() && limit > 0.0 {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "the limit must be a finite number above 0, got {limit}: say how much epsilon this device may spend in all"
    )))
}

fn foreign_round() -> Error {
    Error::refused("the service speaks of a round that the study does not have", "ask the curator")
}
