//! Key pairs: Ed25519.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::{Error, Signature, hex, signed_bytes};

/// A curator's secret key: 32 random bytes, written as 64 hexadecimal digits.
pub struct SigningKey {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// A fresh key from the operating system's randomness.
    pub fn fresh() -> Result<Self, Error> {
        let mut seed = [0; 32];
        SystemRandom::new()
            .fill(&mut seed)
            .map_err(|_| Error("the operating system's random source is not available".into()))?;
        Self::from_seed(seed)
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let seed = hex::decode(text.trim()).and_then(|bytes| bytes.try_into().ok());
        Self::from_seed(seed.ok_or_else(|| {
            Error("a secret key is 64 hexadecimal digits: make one with `dpglm keygen`".into())
        })?)
    }

    fn from_seed(seed: [u8; 32]) -> Result<Self, Error> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .map_err(|_| Error("the secret key cannot be used: make a new one".into()))?;
        Ok(Self { seed, pair })
    }

    /// The 64 digits: for the curator's own file, and nobody else.
    pub fn reveal(&self) -> String {
        hex::encode(&self.seed)
    }

    /// The key by which others know its holder.
    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        PublicKey(bytes)
    }

    /// Signs a document of this kind.
    pub fn sign(&self, kind: &str, document: &[u8]) -> Signature {
        self.sign_bytes(&signed_bytes(kind, document))
    }

    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> Signature {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.pair.sign(bytes).as_ref());
        Signature(signature)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey(public {})", self.public())
    }
}

/// The key by which others know the curator: 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bytes = hex::decode(text.trim()).and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Self)
            .ok_or_else(|| Error("a public key is 64 hexadecimal digits: ask the curator for it".into()))
    }

    /// Whether the signature is by this key, of exactly this document of this kind.
    pub fn verifies(&self, kind: &str, document: &[u8], signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(&signed_bytes(kind, document), &signature.0).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}
