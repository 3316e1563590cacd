//! Artefacts with a signature beside them.
//!
//! A certificate can be checked for its arithmetic only: its numbers follow from the releases it lists, but that these were the releases,
//! that the noise was secret and that the grade is true rests on who wrote it. So an artefact may be signed by its curator (Ed25519,
//! [`dpglm_sign`]): the signature is of the file's bytes as they are, and lies beside it, `fit.json.sig`. Readers who know the curator's
//! public key see any edit.

use super::document::{Artefact, parse};
use super::failure::Failure;
use dpglm::error::{Message, Parameter};
use dpglm_io::{check_writable, write_atomically, write_secret};
use dpglm_sign::{ARTEFACT, PublicKey, Signature, SigningKey, signature_path};
use std::path::Path;

/// Room that is asked for before the budget is spent.
const SIZE: usize = 1 << 20;

/// Makes a key pair. The secret key goes to a new file that only its owner can read.
pub fn keygen(path: &Path) -> Result<PublicKey, Failure> {
    let key = SigningKey::fresh().map_err(|error| Failure::Failed(error.to_string().into()))?;
    write_secret(path, &format!("{}\n", key.reveal()))?;
    Ok(key.public())
}

/// Reads a secret key from its file.
pub fn signing_key(path: &Path) -> Result<SigningKey, Failure> {
    let refuse = |what: String| Failure::Failed(format!("{}: {what}", path.display()).into());
    let text = std::fs::read_to_string(path)
        .map_err(|e| refuse(format!("cannot be read ({e}): give a file that `dpglm keygen` wrote")))?;
    SigningKey::parse(&text).map_err(|error| refuse(error.to_string()))
}

/// Finds out whether an artefact, and its signature if there will be one, can be written: asked before a budget is spent.
pub fn require_writable(path: &Path, key: Option<&SigningKey>) -> Result<(), Failure> {
    check_writable(path, SIZE)?;
    if key.is_some() {
        check_writable(&signature_path(path), SIZE)?;
    }
    Ok(())
}

/// Writes an artefact's JSON, and its signature beside it if there is a key.
pub fn write(path: &Path, json: &str, key: Option<&SigningKey>) -> Result<(), Failure> {
    write_atomically(path, json.as_bytes())?;
    if let Some(key) = key {
        let signature = key.sign(ARTEFACT, json.as_bytes());
        write_atomically(&signature_path(path), format!("{signature}\n").as_bytes())?;
    }
    Ok(())
}

/// Reads an artefact, and refuses it unless the signature beside it is by this key and of exactly these bytes.
pub fn read(path: &Path, key: &PublicKey) -> Result<Artefact, Failure> {
    let refuse = |path: &Path, what: Message| {
        Failure::Failed(Message::new("{}: {}", &[&path.display().to_string(), &what]))
    };
    let bytes = std::fs::read(path).map_err(|e| {
        refuse(
            path,
            Message::new(
                "cannot be read ({}): give a file that `dpglm fit {}` wrote",
                &[&e.to_string(), &Parameter::Output],
            ),
        )
    })?;
    let beside = signature_path(path);
    let signature = std::fs::read_to_string(&beside).map_err(|e| {
        refuse(
            &beside,
            format!("cannot be read ({e}): a signed artefact comes with its signature; ask for both files")
                .into(),
        )
    })?;
    let signature = Signature::parse(&signature).map_err(|error| {
        refuse(
            &beside,
            Message::new("{}: ask for the file that `{}` wrote", &[&error.to_string(), &Parameter::Sign]),
        )
    })?;
    if !key.verifies(ARTEFACT, &bytes, &signature) {
        return Err(refuse(
            path,
            format!(
                "the signature is not by the key {key}, or the file was changed after signing: do not trust it; ask the curator \
                 for file and key over a way you trust"
            )
            .into(),
        ));
    }
    // What was checked is what is read: the file is not opened again.
    let text = String::from_utf8(bytes)
        .map_err(|error| refuse(path, format!("not a valid artefact ({error})").into()))?;
    parse(&text).map_err(|what| refuse(path, what))
}
