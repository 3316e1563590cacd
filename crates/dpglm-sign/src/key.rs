//! The curator's key pair: Ed25519.

use std::fmt;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::error::{Error, Result};
use crate::{hex, token};

/// The curator's secret key: 32 random bytes, written as 64 hexadecimal digits.
pub struct SigningKey {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// A fresh key from the operating system's randomness.
    pub fn fresh() -> Result<Self> {
        let mut seed = [0; 32];
        token::fill(&mut seed)?;
        Self::from_seed(seed)
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self> {
        let seed = hex::decode(text.trim()).and_then(|bytes| bytes.try_into().ok());
        Self::from_seed(seed.ok_or_else(|| {
            Error::Argument(
                "a secret key is 64 hexadecimal digits: make one with `dpglm collect keygen`".into(),
            )
        })?)
    }

    fn from_seed(seed: [u8; 32]) -> Result<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .map_err(|_| Error::Argument("the secret key cannot be used: make a new one".into()))?;
        Ok(Self { seed, pair })
    }

    /// The 64 digits: for the curator's own file, and nobody else.
    pub fn reveal(&self) -> String {
        hex::encode(&self.seed)
    }

    /// The key that devices know.
    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        PublicKey(bytes)
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.pair.sign(bytes).as_ref());
        signature
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey(public {})", self.public())
    }
}

/// The key by which devices know the curator: 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self> {
        let bytes = hex::decode(text.trim()).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| {
            Error::Argument("a public key is 64 hexadecimal digits: ask the curator for it".into())
        })
    }

    pub(super) fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(bytes, signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}
