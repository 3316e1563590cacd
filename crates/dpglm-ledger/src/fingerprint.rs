//! Hashes of what a line speaks of: data, under a key, and certificates.

use crate::record::hash;
use crate::{Error, Result};
use dpglm::accounting::Certificate;
use dpglm_sign::hex;
use ring::hmac::{Context, HMAC_SHA256, Key};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The shortest key that is worth its name, in bytes.
const SHORTEST: usize = 16;

/// A way to recognise data later, for those who hold the key: HMAC-SHA256 of the files' bytes. To others it says only which lines speak of
/// the same bytes.
pub struct Fingerprint(Key);

impl Fingerprint {
    /// With this secret key.
    pub fn new(key: &[u8]) -> Result<Self> {
        if key.trim_ascii().len() < SHORTEST {
            return Err(Error::Refused(
                "a key for fingerprints has at least 16 bytes: whoever can try all keys can try all tables; `dpglm keygen` makes one".into(),
            ));
        }
        Ok(Self(Key::new(HMAC_SHA256, key.trim_ascii())))
    }

    /// Of files, one after the other.
    pub fn of(&self, files: &[&Path]) -> Result<String> {
        let mut context = Context::with_key(&self.0);
        for path in files {
            let unread = |source| Error::Io {
                action: "given a fingerprint of the data",
                source,
                remedy: "name a file that you may read",
            };
            let mut file = File::open(path).map_err(unread)?;
            let mut buffer = vec![0; 1 << 16];
            let mut length = 0_u64;
            loop {
                let read = file.read(&mut buffer).map_err(unread)?;
                if read == 0 {
                    break;
                }
                length += read as u64;
                context.update(&buffer[..read]);
            }
            // Where a file ends counts: two files are not their concatenation.
            context.update(&length.to_le_bytes());
        }
        Ok(hex::encode(context.sign().as_ref()))
    }
}

/// The hash of an artefact's text, by which it finds its line.
pub fn of_artefact(json: &str) -> String {
    hash(json.as_bytes())
}

/// The hash of a certificate.
pub fn of_certificate(certificate: &Certificate) -> String {
    hash(certificate.to_json().as_bytes())
}
