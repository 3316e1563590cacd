//! Real data, from the folder that `DPGLM_DATA` names.

pub mod covertype;
pub mod text;

use crate::Result;
use std::path::PathBuf;

/// A file of the data folder.
pub fn file(name: &str) -> Result<PathBuf> {
    let Some(folder) = std::env::var_os("DPGLM_DATA") else {
        return Err("this figure reads real data: set DPGLM_DATA to the folder that holds it".into());
    };
    let path = PathBuf::from(folder).join(name);
    if path.exists() { Ok(path) } else { Err(format!("{}: there is no such file", path.display()).into()) }
}
