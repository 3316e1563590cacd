//! Real data, from the folder that `DPGLM_DATA` names.

pub(crate) mod covertype;
pub mod text;

use crate::Result;
use dpglm::data::{Design, design::Storage};
use std::path::PathBuf;

/// A file of the data folder.
pub fn file(name: &str) -> Result<PathBuf> {
    let Some(folder) = std::env::var_os("DPGLM_DATA") else {
        return Err("this figure reads real data: set DPGLM_DATA to the folder that holds it".into());
    };
    let path = PathBuf::from(folder).join(name);
    if path.exists() { Ok(path) } else { Err(format!("{}: there is no such file", path.display()).into()) }
}

/// The entries of a dense design, row after row; empty for a sparse one.
pub fn entries(design: &Design) -> Vec<f64> {
    match design.storage() {
        Storage::F64(entries) => entries.clone(),
        Storage::F32(entries) => entries.iter().map(|&x| f64::from(x)).collect(),
        Storage::I8 { entries, scale } => entries.iter().map(|&x| f64::from(x) * scale).collect(),
        Storage::Csr(_) => Vec::new(),
    }
}
