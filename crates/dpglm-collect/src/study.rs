//! The study file: everything a person must know before their device answers, signed by the curator.
//!
//! ```toml
//! version = 1
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
//! they are: there is one way only to write what was signed. The *fingerprint* is the SHA-256 of the same bytes. The signature
//! lies beside the file, `study.toml.sig`, as 128 hexadecimal digits. Devices know the curator's public key beforehand; the key
//! is not part of the study.

mod raw;

use std::fmt;
use std::path::Path;

use dpglm::local::randomizer::Kind;
use dpglm_sign::{STUDY, Signature, hex, signed_bytes};
use ring::digest::{SHA256, digest};

use serde::Serialize;

pub use dpglm_sign::{PublicKey, SigningKey, signature_path};
pub use raw::Family;

use crate::error::{Error, Result};
use raw::RawStudy;

/// The protocol version this crate speaks.
pub const VERSION: u32 = 1;
/// Largest study file: far above any real one.
pub const MAX_LENGTH: usize = 1 << 20;

/// A validated study.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    raw: RawStudy,
    features: Vec<Column>,
    text: String,
    fingerprint: Fingerprint,
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
        Ok(Self { raw, features, text: text.into(), fingerprint: Fingerprint::of(text) })
    }

    /// Reads and validates a study file.
    pub fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(Error::file(path, "give the path of a study file"))?;
        Self::parse(&text)
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

/// A study as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredStudy {
    /// The study file's text.
    pub text: String,
    /// The curator's signature, hexadecimal.
    pub signature: String,
}

/// A study with a signature that may or may not be the curator's.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedStudy {
    study: Study,
    signature: Signature,
}

impl SignedStudy {
    /// Signs a study.
    pub fn sign(study: Study, key: &SigningKey) -> Self {
        let signature = key.sign(STUDY, study.text().as_bytes());
        Self { study, signature }
    }

    /// A study and the signature that came with it, 128 hexadecimal digits.
    pub fn new(text: &str, signature: &str) -> Result<Self> {
        let signature = Signature::parse(signature)
            .map_err(|error| Error::study(error.to_string(), "sign it: `dpglm collect sign`"))?;
        Ok(Self { study: Study::parse(text)?, signature })
    }

    /// Reads a study file and the signature beside it.
    pub fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(Error::file(path, "give the path of a study file"))?;
        let beside = signature_path(path);
        let signature = std::fs::read_to_string(&beside)
            .map_err(Error::file(&beside, "sign the study first: `dpglm collect sign`"))?;
        Self::new(&text, &signature)
    }

    /// The study, if the signature is by this key.
    pub fn verify(&self, key: &PublicKey) -> Result<&Study> {
        if key.verifies(STUDY, self.study.text().as_bytes(), &self.signature) {
            return Ok(&self.study);
        }
        Err(Error::study(
            "the signature is not by the curator's key, or the study was changed after signing",
            "ask the curator for the study and the key over a way you trust",
        ))
    }

    /// The study, whoever signed it.
    pub fn unverified(&self) -> &Study {
        &self.study
    }

    /// The signature, hexadecimal.
    pub fn signature(&self) -> String {
        self.signature.to_string()
    }

    /// As the storage keeps it.
    pub fn stored(&self) -> StoredStudy {
        StoredStudy { text: self.study.text.clone(), signature: self.signature() }
    }
}
