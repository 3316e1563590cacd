//! The study file: everything a person must know before their device answers, signed by the curator.
//!
//! ```toml
//! version = 2
//! service = "https://study.example.org"  # where it is answered, and nowhere else; a list if there are several
//! expires = 2027-01-31               # the last day on which it may be answered
//! name = "sleep-and-steps"
//! purpose = "How sleep depends on the day before"
//! participants = "adults who installed the sleep diary"
//!
//! [model]
//! family = "linear"                  # or "logistic"
//! sparsity = 2                       # at most so many features matter
//! intercept = true                   # the default; one more column
//! second_moment = 0.3                # optional: mean square of a feature scaled to [-1, 1], a public guess; sets the step
//! response = { name = "sleep", bounds = [0, 14] }
//! features = [
//!     { name = "steps", bounds = [0, 30000] },
//!     { name = "coffee", bounds = [0, 10] },
//!     { name = "screen", bounds = [0, 16] },
//! ]
//!
//! [privacy]
//! epsilon = 2                        # what one person spends, once
//! randomizer = "privunit"           # or "duchi"
//!
//! [rounds]
//! reports = 30000                    # of the whole study; the plan divides them
//! minimum = 500                      # a round with fewer is not closed
//! hours = 48                         # how long a round waits
//! extensions = 2                     # how often a round with too few reports waits again
//! ```
//!
//! Many features of one kind are declared together: `features = { count = 50, bounds = [-1, 1] }` names them `x1` to `x50`.
//!
//! **Signed bytes.** The signature (Ed25519) is over the line `dpglm study v1` with its newline, followed by the file's bytes as
//! they are: there is one way only to write what was signed. The *fingerprint* is the SHA-256 of the same bytes. The page that
//! people answer by has no reader for TOML: the curator signs the same [`Facts`] as JSON too, under `dpglm study page v1`.
//! Beside the file lies `study.toml.sig`: the public key, the study's signature and the page's, one a line. Devices know the
//! curator's key beforehand; the one in the file only serves to notice a damaged signature.

mod origin;
mod raw;
mod signed;

use std::fmt;
use std::path::Path;

use dpglm::local::randomizer::Kind;
use dpglm_sign::{STUDY, hex, signed_bytes};
use ring::digest::{SHA256, digest};

use serde::Serialize;

pub use dpglm_sign::{PublicKey, SigningKey, signature_path};
pub use origin::Origin;
pub use raw::Family;
pub use signed::{SignedStudy, StoredStudy};

use crate::error::{Error, Result};
use raw::RawStudy;

/// The protocol version this crate speaks. It reads version 1 too, of studies that began before.
pub const VERSION: u32 = 2;
/// Largest study file: far above any real one.
pub(crate) const MAX_LENGTH: usize = 1 << 20;

/// A validated study.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    raw: RawStudy,
    features: Vec<Column>,
    origins: Vec<Origin>,
    expires: Option<u64>,
    text: String,
    fingerprint: Fingerprint,
}

/// A study's facts as JSON, for the page, which has no reader for the study's own format. Nothing in it is computed, so that
/// every machine writes the same bytes.
#[derive(Debug, Serialize)]
pub struct Facts<'a> {
    fingerprint: String,
    service: Vec<String>,
    expires: Option<u64>,
    name: &'a str,
    purpose: &'a str,
    participants: &'a str,
    epsilon: f64,
    family: &'static str,
    intercept: bool,
    features: &'a [Column],
    response: &'a Column,
}

/// A feature or the response, with its public bounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its name in a person's record.
    pub name: String,
    /// The smallest and the largest value; others are moved to the nearest of them.
    pub bounds: [f64; 2],
}

impl Column {
    /// The value within the bounds as a number in [-1, 1]; the middle for one that is not a number.
    pub fn scale(&self, value: f64) -> f64 {
        let [low, high] = self.bounds;
        let value = if value.is_nan() { 0.5 * low + 0.5 * high } else { value.clamp(low, high) };
        let half = 0.5 * high - 0.5 * low;
        ((value - (0.5 * low + 0.5 * high)) / half).clamp(-1.0, 1.0)
    }
}

/// The SHA-256 of the signed bytes: which study, and which version of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    fn of(text: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, &signed_bytes(STUDY, text.as_bytes())).as_ref());
        Self(bytes)
    }

    /// The eight bytes that a message carries.
    pub fn prefix(&self) -> [u8; 8] {
        let mut prefix = [0; 8];
        prefix.copy_from_slice(&self.0[..8]);
        prefix
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Fingerprint({self})")
    }
}

impl Study {
    /// Parses and validates the text of a study file.
    pub fn parse(text: &str) -> Result<Self> {
        let raw = RawStudy::parse(text)?;
        let features = raw.model.features.columns()?;
        raw.validate(&features)?;
        let (origins, expires) = (raw.origins()?, raw.expiry()?);
        Ok(Self { raw, features, origins, expires, text: text.into(), fingerprint: Fingerprint::of(text) })
    }

    /// Reads and validates a study file.
    pub fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(Error::file(path, "give the path of a study file"))?;
        Self::parse(&text)
    }

    /// Where the study is answered; empty for version 1, which did not say.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// When the study expires, in seconds since 1970; never, in version 1.
    pub fn expires(&self) -> Option<u64> {
        self.expires
    }

    /// Whether the study may still be answered.
    pub(crate) fn is_current(&self, now: u64) -> bool {
        self.expires.is_none_or(|end| now < end)
    }

    /// The facts of the study, as the page reads them and the curator signs them.
    pub fn facts(&self) -> String {
        let facts = Facts {
            fingerprint: self.fingerprint.to_string(),
            service: self.origins.iter().map(Origin::to_string).collect(),
            expires: self.expires,
            name: self.name(),
            purpose: self.purpose(),
            participants: self.participants(),
            epsilon: self.epsilon(),
            family: self.family().name(),
            intercept: self.intercept(),
            features: &self.features,
            response: self.response(),
        };
        // Strings and finite numbers only: there is nothing in it that JSON cannot hold.
        serde_json::to_string(&facts).unwrap_or_default()
    }

    /// The file's text, as signed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Which study this is.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The short name.
    pub fn name(&self) -> &str {
        &self.raw.name
    }

    /// What the study is for.
    pub fn purpose(&self) -> &str {
        &self.raw.purpose
    }

    /// Who may answer.
    pub fn participants(&self) -> &str {
        &self.raw.participants
    }

    /// The response family.
    pub fn family(&self) -> Family {
        self.raw.model.family
    }

    /// How many features may matter.
    pub fn sparsity(&self) -> usize {
        self.raw.model.sparsity
    }

    /// Whether the model has an intercept.
    pub fn intercept(&self) -> bool {
        self.raw.model.intercept
    }

    /// The mean square of a scaled feature, if it is public.
    pub fn second_moment(&self) -> Option<f64> {
        self.raw.model.second_moment
    }

    /// The features, in order.
    pub fn features(&self) -> &[Column] {
        &self.features
    }

    /// The response.
    pub fn response(&self) -> &Column {
        &self.raw.model.response.column
    }

    /// What one person spends.
    pub fn epsilon(&self) -> f64 {
        self.raw.privacy.epsilon
    }

    /// How devices randomize.
    pub fn randomizer(&self) -> Kind {
        self.raw.privacy.randomizer
    }

    /// Reports wanted in all.
    pub fn reports(&self) -> u64 {
        self.raw.rounds.reports
    }

    /// Reports below which a round is not closed.
    pub fn minimum(&self) -> u64 {
        self.raw.rounds.minimum
    }

    /// How long a round waits, in seconds.
    pub fn seconds(&self) -> u64 {
        // At most a hundred years of hours, so the product is exact enough and in range.
        (self.raw.rounds.hours * 3600.0).ceil() as u64
    }

    /// How often a round waits again.
    pub fn extensions(&self) -> u32 {
        self.raw.rounds.extensions
    }
}
