//! Secrets that are told once: enrolment tokens of devices, and the administrator's token.

use std::fmt;

use ring::digest::{SHA256, digest};

use crate::error::{Error, Result};
use crate::hex;

/// 160 random bits, written as 40 hexadecimal digits. The service keeps its hash alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; Self::LENGTH]);

impl Token {
    /// Bytes of a token.
    pub const LENGTH: usize = 20;

    /// A fresh token from the operating system's randomness.
    pub fn fresh() -> Result<Self> {
        let mut bytes = [0; Self::LENGTH];
        fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Reads 40 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self(hex::decode(text)?.try_into().ok()?))
    }

    /// The 40 digits: to be given to the device, and to nobody else.
    pub fn reveal(&self) -> String {
        hex::encode(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

/// What is kept of an enrolment token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of a token. Tokens are 160 random bits, so a plain hash hides them.
    pub fn of(token: &Token) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, &token.0).as_ref());
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads the 32 bytes.
    pub fn from_slice(slice: &[u8]) -> Result<Self> {
        let bytes =
            slice.try_into().map_err(|_| Error::Storage("a stored token has a wrong length".into()))?;
        Ok(Self(bytes))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenHash(..)")
    }
}

/// Random bytes from the operating system.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    use ring::rand::{SecureRandom, SystemRandom};
    SystemRandom::new().fill(bytes).map_err(|_| {
        Error::Core(dpglm::Error::NoRandomness(
            "the operating system's random source is not available".into(),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_once_and_never_shown() {
        let token = Token::fresh().unwrap();
        assert_eq!(Token::parse(&token.reveal()), Some(token.clone()));
        assert_ne!(token, Token::fresh().unwrap());
        assert!(!format!("{token:?}").contains(&token.reveal()[..4]));
        for wrong in ["", "00", &"0".repeat(41), &"g".repeat(40), &"é".repeat(20)] {
            assert_eq!(Token::parse(wrong), None);
        }
    }
}
