//! What a curator says about their own key: that another replaces it, or that it is no longer good.
//!
//! A statement is one line of text, and is signed by the key that it is about:
//!
//! ```text
//! replace OLD NEW SIGNATURE
//! revoke KEY SIGNATURE
//! ```
//!
//! The signature is over the line `dpglm key v1`, its newline, and the line without its last word. Whoever pinned the old key
//! follows replacements from it. A revoked key counts for nothing, and neither does what it said about a successor: its thief
//! could have said the same.

use crate::{PublicKey, Signature, SigningKey};

/// The first line of what is signed of a statement about a key.
pub const KEY: &str = "dpglm key v1";

/// The line by which a key hands over to another.
pub fn replace(old: &SigningKey, new: &PublicKey) -> String {
    signed(old, format!("replace {} {new}", old.public()))
}

/// The line by which a key is withdrawn.
pub fn revoke(key: &SigningKey) -> String {
    signed(key, format!("revoke {}", key.public()))
}

fn signed(key: &SigningKey, line: String) -> String {
    let signature = key.sign(KEY, line.as_bytes());
    format!("{line} {signature}\n")
}

/// A statement whose signature was checked.
#[derive(PartialEq, Eq)]
enum Said {
    Replace(PublicKey, PublicKey),
    Revoke(PublicKey),
}

/// Reads a line; `None` if it is no statement, or not by the key that it is about.
fn read(line: &str) -> Option<Said> {
    let (said, signature) = line.trim().rsplit_once(' ')?;
    let words: Vec<&str> = said.split(' ').collect();
    let key = PublicKey::parse(words.get(1)?).ok()?;
    let statement = match (words.as_slice(), words.first()?) {
        ([_, _, new], &"replace") => Said::Replace(key, PublicKey::parse(new).ok()?),
        ([_, _], &"revoke") => Said::Revoke(key),
        _ => return None,
    };
    key.verifies(KEY, said.as_bytes(), &Signature::parse(signature).ok()?).then_some(statement)
}

/// The keys that stand for a pinned one: itself and its successors, by these statements. Lines that are no statements, or not
/// properly signed, say nothing. `None` if the pinned key was revoked.
pub fn successors(pinned: &PublicKey, statements: &str) -> Option<Vec<PublicKey>> {
    let said: Vec<Said> = statements.lines().filter_map(read).collect();
    let revoked = |key: &PublicKey| said.contains(&Said::Revoke(*key));
    if revoked(pinned) {
        return None;
    }
    let mut keys = vec![*pinned];
    let mut at = 0;
    while let Some(current) = keys.get(at).copied() {
        for statement in &said {
            if let Said::Replace(old, new) = statement
                && *old == current
                && !keys.contains(new)
                && !revoked(new)
            {
                keys.push(*new);
            }
        }
        at += 1;
    }
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_are_followed_and_revoked_keys_are_not() {
        let keys: Vec<SigningKey> = (0..4).map(|_| SigningKey::fresh().unwrap()).collect();
        let public = |at: usize| keys[at].public();
        let chain = replace(&keys[0], &public(1)) + &replace(&keys[1], &public(2));
        assert_eq!(successors(&public(0), &chain).unwrap(), [public(0), public(1), public(2)]);
        assert_eq!(successors(&public(1), &chain).unwrap(), [public(1), public(2)]);
        assert_eq!(successors(&public(3), &chain).unwrap(), [public(3)]);
        // A key in the middle is withdrawn: nothing that it said counts.
        let withdrawn = chain.clone() + &revoke(&keys[1]);
        assert_eq!(successors(&public(0), &withdrawn).unwrap(), [public(0)]);
        assert_eq!(successors(&public(1), &withdrawn), None);
        // A circle ends.
        let circle = chain.clone() + &replace(&keys[2], &public(0));
        assert_eq!(successors(&public(0), &circle).unwrap().len(), 3);
        // Nobody speaks for another, and an edited line says nothing.
        let forged = format!("replace {} {}", public(0), public(3));
        let forged = format!("{forged} {}\n", keys[3].sign(KEY, forged.as_bytes()));
        let stolen = format!("revoke {} {}\n", public(0), keys[3].sign(KEY, b"revoke"));
        for line in [forged, stolen, "replace\nrevoke \n\nx y z".into(), chain.replace("replace", "revoke")] {
            assert_eq!(successors(&public(0), &line).unwrap(), [public(0)], "{line}");
        }
    }
}
