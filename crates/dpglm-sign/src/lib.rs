//! Who wrote a document, and that nobody changed it: Ed25519 signatures over exact bytes.
//!
//! A document is signed as the bytes it has on disk, so there is one way only to write what was signed: another order of fields, another
//! space, a byte more or less is another document. The signature lies beside the file, `fit.json.sig`, as 128 hexadecimal digits.
//!
//! What is signed begins with a line that says what kind of document it is ([`ARTEFACT`], [`STUDY`], [`PAGE`]). One key may serve for all kinds, and
//! a signature of one is none of another.
//!
//! A signature says who wrote the bytes. It does not say that they are true: a reader trusts the holder of the key for that.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod hex;
mod key;
pub mod statement;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use key::{PublicKey, SigningKey};

/// The first line of what is signed of a fitted model or of means.
pub const ARTEFACT: &str = "dpglm artefact v1";
/// The first line of what is signed of a study.
pub const STUDY: &str = "dpglm study v1";

/// The first line of what is signed of a study for the page that people answer by.
pub const PAGE: &str = "dpglm study page v1";

/// A key or a signature that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub(crate) String);

/// The bytes that are signed: the line that says what they are, with its newline, and the document as it is.
pub fn signed_bytes(kind: &str, document: &[u8]) -> Vec<u8> {
    [kind.as_bytes(), b"\n", document].concat()
}

/// Where a file's signature lies.
pub fn signature_path(file: &Path) -> PathBuf {
    let mut name: OsString = file.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// A signature, which may or may not be by the right key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// Reads 128 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bytes = hex::decode(text.trim()).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| Error("the signature is not 128 hexadecimal digits".into()))
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_kind_of_document_and_of_these_bytes() {
        let (key, other) = (SigningKey::fresh().unwrap(), SigningKey::fresh().unwrap());
        let document = b"{\"grade\": \"certified\"}\n";
        let signature = key.sign(ARTEFACT, document);
        assert_eq!(Signature::parse(&format!("{signature}\n")).unwrap(), signature);
        assert!(key.public().verifies(ARTEFACT, document, &signature));
        assert!(!key.public().verifies(STUDY, document, &signature));
        assert!(!other.public().verifies(ARTEFACT, document, &signature));
        // Every single byte counts, and so does every bit of the signature.
        for i in 0..document.len() {
            let mut edited = document.to_vec();
            edited[i] ^= 1;
            assert!(!key.public().verifies(ARTEFACT, &edited, &signature), "{i}");
            assert!(!key.public().verifies(ARTEFACT, &document[..i], &signature), "{i}");
        }
        for bit in 0..512 {
            let mut edited = signature;
            edited.0[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.public().verifies(ARTEFACT, document, &edited), "{bit}");
        }
    }

    /// RFC 8032, section 7.1, test 2: the key pair and the algorithm are the standard's.
    #[test]
    fn keys_are_those_of_the_standard() {
        let key =
            SigningKey::parse("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").unwrap();
        let public = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
        assert_eq!(key.public().to_string(), public);
        assert_eq!(PublicKey::parse(&format!(" {}\n", public.to_uppercase())).unwrap(), key.public());
        let signature = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                         085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
        assert_eq!(key.sign_bytes(&[0x72]).to_string(), signature);
    }

    #[test]
    fn what_is_no_key_or_signature_is_refused() {
        for wrong in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)] {
            assert!(SigningKey::parse(wrong).is_err() && PublicKey::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", &"0".repeat(127), &"0".repeat(129), &"x".repeat(128)] {
            assert!(Signature::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(signature_path(Path::new("a/fit.json")), Path::new("a/fit.json.sig"));
    }

    #[test]
    fn secrets_are_not_shown() {
        let key = SigningKey::fresh().unwrap();
        assert!(!format!("{key:?}").contains(&key.reveal()[..8]));
        assert_eq!(SigningKey::parse(&key.reveal()).unwrap().public(), key.public());
    }
}
