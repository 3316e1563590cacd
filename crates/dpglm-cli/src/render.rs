//! Numbers and tables for people, JSON for programs.

use crate::failure::Failure;
use serde::Serialize;

pub use dpglm_io::assembly::render::{
    bound, events, guarantee, parts, plain, releases, rounded, rounded_up, sentence, table,
};

/// A document as indented JSON with a final newline.
pub fn json(document: &impl Serialize) -> Result<String, Failure> {
    Ok(dpglm_io::assembly::render::json(document)?)
}
