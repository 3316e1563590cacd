//! Which round is whose: drawn from tokens by a secret, so that nobody chooses.

use ring::hmac;

use crate::error::{Error, Result};
use crate::token::{self, TokenHash};
use dpglm_sign::hex;

/// How devices are spread over the rounds: a secret of the service, made when the study begins.
#[derive(Clone, PartialEq, Eq)]
pub struct Assignment {
    key: [u8; 32],
    first: u32,
}

impl Assignment {
    /// A fresh secret, for the rounds from `first` on.
    pub fn fresh(first: u32) -> Result<Self> {
        let mut key = [0; 32];
        token::fill(&mut key)?;
        Ok(Self { key, first })
    }

    /// As stored.
    pub fn new(key: &[u8], first: u32) -> Result<Self> {
        let key =
            key.try_into().map_err(|_| Error::Storage("the stored secret has a wrong length".into()))?;
        Ok(Self { key, first })
    }

    /// The secret, for the storage alone.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The first round that devices are spread over.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// What tells this beginning of a study from others, to be shown to anybody: it says nothing about where devices are.
    pub fn name(&self) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.key);
        // Tokens have another length.
        let tag = hmac::sign(&key, b"the name of this storage");
        hex::encode(&tag.as_ref()[..16])
    }

    /// A uniform number that only the holder of the secret can tell from the token.
    pub(super) fn draw(&self, token: &TokenHash) -> u64 {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.key);
        let tag = hmac::sign(&key, token.bytes());
        tag.as_ref().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

impl std::fmt::Debug for Assignment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Assignment").field("first", &self.first).finish_non_exhaustive()
    }
}
