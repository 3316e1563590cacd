//! Where a study is stored, as the commands are told.

use super::read;
use crate::failure::Failure;
use clap::Args;
use dpglm_collect::storage::{self, Access, Storage, is_postgres};
use std::path::PathBuf;

/// The study's storage.
#[derive(Args)]
pub struct Place {
    /// The study's storage: an SQLite file, or a PostgreSQL URL without a password
    #[arg(long, value_name = "PLACE", conflicts_with = "storage_file")]
    storage: Option<String>,
    /// A file that holds the storage's place: for a URL with a password, which others could read off the command line.
    /// The variable DPGLM_STORAGE serves too
    #[arg(long, value_name = "FILE")]
    storage_file: Option<PathBuf>,
}

impl Place {
    /// The place that was named, if one was.
    pub fn named(&self) -> Result<Option<String>, Failure> {
        if let Some(place) = &self.storage {
            if is_postgres(place) && has_password(place) {
                return Err(Failure::Usage(
                    "a password on the command line can be read by every user of this machine: write the URL to a file and \
                     name it with --storage-file, or set DPGLM_STORAGE"
                        .into(),
                ));
            }
            return Ok(Some(place.clone()));
        }
        if let Some(file) = &self.storage_file {
            return Ok(Some(read(file)?.trim().to_owned()));
        }
        Ok(std::env::var("DPGLM_STORAGE").ok().filter(|place| !place.is_empty()))
    }

    /// Opens the storage of a study that has begun.
    pub fn open(&self) -> Result<Box<dyn Storage>, Failure> {
        let place = self.named()?.ok_or_else(|| {
            Failure::Usage("name the study's storage: --storage, --storage-file or DPGLM_STORAGE".into())
        })?;
        let mut storage = storage::open(&place, Access::Existing)?;
        if storage.study()?.is_none() {
            return Err(Failure::Failed(
                "no study has begun in this storage: name the storage of `dpglm collect serve`".into(),
            ));
        }
        Ok(storage)
    }
}

fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || rest.split(['?', '&']).any(|part| part.starts_with("password="))
}
