//! The files that commands leave behind.

use crate::failure::Failure;
use crate::{Format, render};
use dpglm_sign::SigningKey;
use dpglm_workflow::signed;
use std::path::Path;

pub use dpglm_workflow::document::{Artefact, read};

/// Where an artefact goes, and who signs it.
pub struct Destination<'a> {
    path: Option<&'a Path>,
    key: Option<SigningKey>,
}

impl<'a> Destination<'a> {
    /// Reads the key and finds out whether the files can be written: before the budget is spent. A file that holds something is
    /// overwritten only by `force`: a budget may have paid for it.
    pub fn new(output: Option<&'a Path>, key_file: Option<&Path>, force: bool) -> Result<Self, Failure> {
        let key = key_file.map(signed::signing_key).transpose()?;
        if let Some(path) = output {
            let holds_something = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0);
            if holds_something && !force {
                return Err(Failure::Failed(format!(
                    "{} exists, and may hold a result that a budget has paid for: name another file, or overwrite it with --force",
                    path.display()
                )));
            }
            signed::require_writable(path, key.as_ref())?;
        }
        Ok(Self { path: output, key })
    }

    /// Writes the artefact where it was asked for, then gives what is printed.
    pub fn release(&self, artefact: &Artefact, format: Format) -> Result<String, Failure> {
        let json = artefact.json()?;
        if let Some(path) = self.path {
            signed::write(path, &json, self.key.as_ref())?;
        }
        if format == Format::Json {
            return Ok(json);
        }
        let certificate = artefact.certificate();
        let place = match self.path {
            Some(path) => format!("`dpglm show {}` lists them", path.display()),
            None => "write the artefact with --output FILE, and `dpglm show FILE` lists them".into(),
        };
        Ok(format!("{}\n{certificate}\n{}", artefact.table(), render::conditions(certificate, &place)))
    }
}
