//! A study and its signatures.

use std::path::Path;

use dpglm_sign::{PAGE, STUDY, Signature};

use super::{PublicKey, SigningKey, Study, signature_path};
use crate::error::{Error, Result};

/// A study as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredStudy {
    /// The study file's text.
    pub text: String,
    /// What lies beside it: the curator's signatures.
    pub signature: String,
}

/// A study with signatures that may or may not be the curator's.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedStudy {
    study: Study,
    /// The key that is said to have signed. Studies signed before version 2 do not say.
    key: Option<PublicKey>,
    signature: Signature,
    page: Option<Signature>,
}

impl SignedStudy {
    /// Signs a study.
    pub fn sign(study: Study, key: &SigningKey) -> Self {
        let signature = key.sign(STUDY, study.text().as_bytes());
        let page = Some(key.sign(PAGE, study.facts().as_bytes()));
        Self { study, key: Some(key.public()), signature, page }
    }

    /// A study and what came with it: the lines of [`SignedStudy::signature`], or 128 hexadecimal digits alone.
    pub fn new(text: &str, signature: &str) -> Result<Self> {
        let unsigned =
            |error: dpglm_sign::Error| Error::study(error.to_string(), "sign it: `dpglm collect sign`");
        let study = Study::parse(text)?;
        let (mut key, mut own, mut page) = (None, None, None);
        for line in signature.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once(' ') {
                Some(("key", digits)) => key = Some(PublicKey::parse(digits).map_err(unsigned)?),
                Some(("study", digits)) => own = Some(Signature::parse(digits).map_err(unsigned)?),
                Some(("page", digits)) => page = Some(Signature::parse(digits).map_err(unsigned)?),
                _ => own = Some(Signature::parse(line).map_err(unsigned)?),
            }
        }
        let signature =
            own.ok_or_else(|| Error::study("there is no signature", "sign it: `dpglm collect sign`"))?;
        Ok(Self { study, key, signature, page })
    }

    /// Reads a study file and the signatures beside it.
    pub fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(Error::file(path, "give the path of a study file"))?;
        let beside = signature_path(path);
        let signature = std::fs::read_to_string(&beside)
            .map_err(Error::file(&beside, "sign the study first: `dpglm collect sign`"))?;
        Self::new(&text, &signature)
    }

    /// The study, if the signatures are by this key.
    pub fn verify(&self, key: &PublicKey) -> Result<&Study> {
        let page = self.page.is_none_or(|page| key.verifies(PAGE, self.study.facts().as_bytes(), &page));
        if page && key.verifies(STUDY, self.study.text().as_bytes(), &self.signature) {
            return Ok(&self.study);
        }
        Err(Error::study(
            "the signature is not by the curator's key, or the study was changed after signing",
            "ask the curator for the study and the key over a way you trust",
        ))
    }

    /// The study, if its signatures are by the key that they name: nobody is trusted, damage is noticed.
    pub fn verify_own(&self) -> Result<&Study> {
        let key = self.key.ok_or_else(|| {
            Error::study(
                "the signature does not say whose it is",
                "give the curator's public key, or sign the study again with this version",
            )
        })?;
        self.verify(&key)
    }

    /// The study, whoever signed it.
    pub fn unverified(&self) -> &Study {
        &self.study
    }

    /// What is written beside the study.
    pub fn signature(&self) -> String {
        let mut lines = String::new();
        if let Some(key) = &self.key {
            lines += &format!("key {key}\n");
        }
        lines += &format!("study {}\n", self.signature);
        if let Some(page) = &self.page {
            lines += &format!("page {page}\n");
        }
        lines
    }

    /// The signature of the page's facts, hexadecimal.
    pub(crate) fn page_signature(&self) -> Option<String> {
        self.page.map(|page| page.to_string())
    }

    /// As the storage keeps it.
    pub fn stored(&self) -> StoredStudy {
        StoredStudy { text: self.study.text.clone(), signature: self.signature() }
    }
}
