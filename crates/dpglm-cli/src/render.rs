//! Numbers and tables for people, JSON for programs.

use crate::failure::Failure;
use dpglm::accounting::Certificate;
use serde::Serialize;

pub use dpglm_workflow::render::{
    Digits, bound, events, guarantee, parts, plain, releases, rounded_up, sentence, table,
};

/// One line that says how many conditions of use a promise has, and where they stand; nothing without a promise.
pub fn conditions(certificate: &Certificate, place: &str) -> String {
    match certificate.conditions().len() {
        0 => String::new(),
        count => format!("The promise has {count} conditions of use: {place}.\n"),
    }
}

/// A document as indented JSON with a final newline.
pub fn json(document: &impl Serialize) -> Result<String, Failure> {
    Ok(dpglm_workflow::render::json(document)?)
}
