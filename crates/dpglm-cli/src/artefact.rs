//! The files that commands leave behind.

use crate::Format;
use crate::failure::Failure;
use std::path::Path;

pub use dpglm_io::assembly::document::{Artefact, read};

/// Room that is asked for before the budget is spent.
pub const SIZE: usize = 1 << 20;

/// Writes the artefact where it was asked for, then gives what is printed.
pub fn release(artefact: &Artefact, output: Option<&Path>, format: Format) -> Result<String, Failure> {
    let json = artefact.json()?;
    if let Some(path) = output {
        dpglm_io::write_atomically(path, json.as_bytes())?;
    }
    Ok(match format {
        Format::Json => json,
        Format::Table => format!("{}\n{}\n", artefact.table(), artefact.certificate()),
    })
}
