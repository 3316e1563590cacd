//! A signature over the state of a ledger: kept elsewhere it shows later that nothing before it was changed or cut off.
//!
//! A seal is one line: the index of a line of the ledger, its hash, and the Ed25519 signature over both. Later lines may follow it; those
//! before it are all fixed by the hash.

use crate::chain::Chain;
use dpglm_sign::{PublicKey, Signature, SigningKey};

/// The first line of what is signed of a ledger.
pub const LEDGER: &str = "dpglm ledger v1";

/// Signs the ledger as it is now.
pub fn seal(chain: &Chain, key: &SigningKey) -> String {
    let state = format!("{} {}", chain.records().len() - 1, chain.head());
    let signature = key.sign(LEDGER, state.as_bytes());
    format!("{state} {signature}\n")
}

/// The index of the last line that a seal fixes. On failure says why the seal does not fit.
pub fn verify(chain: &Chain, seal: &str, key: &PublicKey) -> Result<usize, String> {
    let malformed = || "the seal is not an index, a hash and a signature".to_owned();
    let (state, signature) = seal.trim().rsplit_once(' ').ok_or_else(malformed)?;
    let signature = Signature::parse(signature).map_err(|error| error.to_string())?;
    if !key.verifies(LEDGER, state.as_bytes(), &signature) {
        return Err(format!("the seal is not by the key {key}, or was changed"));
    }
    let (index, hash) = state.split_once(' ').ok_or_else(malformed)?;
    let index: usize = index.parse().map_err(|_| malformed())?;
    match chain.hashes().get(index) {
        Some(known) if known == hash => Ok(index),
        Some(_) => {
            Err(format!("line {} is not the one that was sealed: the ledger was written again", index + 1))
        }
        None => Err(format!(
            "the ledger has {} lines, and {} were sealed: its end was cut off",
            chain.hashes().len(),
            index + 1
        )),
    }
}
