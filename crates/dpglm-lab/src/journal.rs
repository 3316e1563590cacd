//! Finished tasks on disk: one line of JSON each, so that stopping loses nothing but what was under way.

use crate::Result;
use crate::task::{Record, VERSION};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The journal of one figure.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

/// Where the journal of a figure lies.
pub fn path(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.jsonl"))
}

impl Journal {
    /// Opens the journal of a figure for appending.
    pub(crate) fn open(folder: &Path, key: &str) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("{}: cannot make this folder: {e}", folder.display()))?;
        let path = path(folder, key);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|e| format!("{}: cannot open: {e}", path.display()))?;
        Ok(Self { path, file })
    }

    /// Appends a finished task, whole, with the line's end before it: a line that a crash cut short stays alone.
    pub(crate) fn append(&mut self, record: &Record) -> Result<()> {
        let line = format!("\n{}", serde_json::to_string(record)?);
        self.file
            .write_all(line.as_bytes())
            .map_err(|e| format!("{}: cannot write: {e}", self.path.display()).into())
    }
}

/// The finished tasks of a figure by this version. Lines that were cut short, and other versions', are skipped.
pub fn read(folder: &Path, key: &str) -> Result<Vec<Record>> {
    let path = path(folder, key);
    let file = match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(|e| format!("{}: cannot open: {e}", path.display()))?,
    };
    let mut records = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|e| format!("{}: cannot read: {e}", path.display()))?;
        records.extend(serde_json::from_str::<Record>(&line).ok().filter(|r| r.version == VERSION));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn survives_a_line_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let record = |repetition| Record {
            point: "n = 1".into(),
            repetition,
            version: VERSION.into(),
            seconds: 0.5,
            values: BTreeMap::from([("literal".to_owned(), Some(0.25)), ("broken".to_owned(), None)]),
            paths: BTreeMap::new(),
        };
        Journal::open(folder.path(), "x").unwrap().append(&record(0)).unwrap();
        let mut journal = Journal::open(folder.path(), "x").unwrap();
        journal.file.write_all(b"\n{\"point\":\"n = 1\",\"repe").unwrap();
        journal.append(&record(1)).unwrap();
        assert_eq!(read(folder.path(), "x").unwrap(), [record(0), record(1)]);
        assert!(read(folder.path(), "none").unwrap().is_empty());
    }
}
