//! The file of a ledger: locked, appended, on disk before anybody goes on.

use crate::chain::Chain;
use crate::record::{Charge, Entry, Finish, NOTHING_BEFORE, Record, Terms};
use crate::{Error, Result, time};
use dpglm::accounting::filter::Cost;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A ledger on disk. Nothing of it is kept in memory: every call reads the file again, under a lock.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

/// What a charge was entered as.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The place of its line.
    pub index: u64,
    /// The hash of its line: the ledger's head at that moment.
    pub head: String,
    /// What it cost.
    pub cost: Cost,
    /// What is left after it.
    pub left: Cost,
}

impl Ledger {
    /// Makes a new ledger. A file that exists is never overwritten.
    pub fn create(path: &Path, terms: &Terms) -> Result<Self> {
        let mut file =
            OpenOptions::new().write(true).create_new(true).open(path).map_err(|source| Error::Io {
                action: "made",
                remedy: match source.kind() {
                    io::ErrorKind::AlreadyExists => {
                        "it may hold what was spent, so it is left as it is; name a new file"
                    }
                    io::ErrorKind::NotFound => "create the folder first",
                    _ => "choose a folder you may write to",
                },
                source,
            })?;
        let (line, _) = record(0, NOTHING_BEFORE, Entry::Opened(terms.clone()))?;
        file.lock().map_err(unlocked)?;
        file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(unwritten)?;
        sync_folder(path);
        // Readers wait for the lock.
        drop(file);
        Self::open(path)
    }

    /// Opens a ledger and verifies it.
    pub fn open(path: &Path) -> Result<Self> {
        let ledger = Self { path: path.to_path_buf() };
        ledger.read()?;
        Ok(ledger)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads and verifies it.
    pub fn read(&self) -> Result<Chain> {
        let mut file = File::open(&self.path).map_err(unopened)?;
        file.lock_shared().map_err(unlocked)?;
        Chain::parse(&contents(&mut file)?)
    }

    /// Spends what a release costs, if there is room. When this comes back the charge is on disk, and the release may begin.
    pub fn charge(&self, charge: &Charge) -> Result<Receipt> {
        self.append(|chain| {
            let cost = chain.cost(charge)?;
            if !chain.filter().admits(chain.spent().and(cost)) {
                return Err(Error::Exceeds { cost, spent: chain.spent() });
            }
            Ok(Entry::Charged(charge.clone()))
        })
    }

    /// Spends once for what goes on over several processes: `None` if it is paid already ([`Chain::paid_for`]).
    pub fn charge_once(&self, charge: &Charge) -> Result<Option<Receipt>> {
        // Two that ask at the same time are both charged, which is never too little.
        match self.read()?.paid_for(charge) {
            Some(_) => Ok(None),
            None => self.charge(charge).map(Some),
        }
    }

    /// Notes the hashes of what a charge paid for, of its certificate and of all of it: before the result is shown to anybody.
    pub fn finish(&self, receipt: &Receipt, certificate: String, artefact: String) -> Result<Receipt> {
        let charge = receipt.index;
        self.append(|_| Ok(Entry::Finished(Finish { charge, certificate, artefact })))
    }

    /// Adds the line that is decided on what stands in the file, all under one lock.
    fn append(&self, decide: impl FnOnce(&Chain) -> Result<Entry>) -> Result<Receipt> {
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path).map_err(unopened)?;
        file.lock().map_err(unlocked)?;
        let mut chain = Chain::parse(&contents(&mut file)?)?;
        let entry = decide(&chain)?;
        let index = chain.records().len() as u64;
        let (line, record) = record(index, chain.head(), entry)?;
        let whole = chain.whole as u64;
        // The file never holds a line that it would not read again.
        let (read, hash) = Record::read(line.trim_end().as_bytes())
            .ok()
            .filter(|(read, _)| *read == record)
            .ok_or_else(|| Error::Refused("the entry cannot be written so that it reads the same".into()))?;
        chain
            .add(read, hash)
            .map_err(|reason| Error::Refused(format!("the entry has no place in the ledger: it {reason}")))?;
        let written = file
            .set_len(whole)
            .and_then(|()| file.seek(SeekFrom::Start(whole)))
            .and_then(|_| file.write_all(line.as_bytes()))
            .and_then(|()| file.sync_all());
        if let Err(error) = written {
            // A whole line may stand there: it is spent then. Half of one is not, and would go with the next charge.
            return Err(unwritten(error));
        }
        let cost = chain.costs().last().copied().unwrap_or_default();
        let left = chain.filter().left(chain.spent());
        Ok(Receipt { index, head: chain.head().to_owned(), cost, left })
    }
}

fn record(index: u64, previous: &str, entry: Entry) -> Result<(String, Record)> {
    let (time, version) = (time::now(), env!("CARGO_PKG_VERSION").into());
    let record = Record { index, previous: previous.into(), time, version, entry };
    let (line, _) = record
        .line()
        .map_err(|error| Error::Refused(format!("the entry cannot be written as JSON: {error}")))?;
    Ok((line + "\n", record))
}

fn contents(file: &mut File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map(|_| bytes).map_err(|source| Error::Io {
        action: "read",
        source,
        remedy: "name a file that you may read",
    })
}

fn unopened(source: io::Error) -> Error {
    let remedy = match source.kind() {
        io::ErrorKind::NotFound => "make one with `dpglm ledger init`",
        _ => "name a ledger that you may read and write",
    };
    Error::Io { action: "opened", source, remedy }
}

fn unlocked(source: io::Error) -> Error {
    Error::Io {
        action: "locked",
        source,
        remedy: "keep it on a file system that has locks: nothing was spent",
    }
}

fn unwritten(source: io::Error) -> Error {
    Error::Io {
        action: "written",
        source,
        remedy: "nothing is released; look with `dpglm ledger show` whether it was counted",
    }
}

/// Makes the new name itself durable, where the system can do that.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
