//! The device's own storage: a folder with a ledger of what was spent and the reports it was spent on.
//!
//! `ledger.json` is replaced whole: written beside, flushed to the disk, renamed, and the folder flushed. A lock file keeps two
//! processes from spending at once. The ledger holds the enrolment token and the report, both the device's own secrets: it
//! is readable by its owner only.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use dpglm::noise::RandomSource;
use dpglm::privacy::decimal;
use serde::{Deserialize, Serialize};

use super::{Accepted, Record, check_limit};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::token::Token;
use crate::{hex, message};

const SCHEMA: &str = "dpglm.device/1";

/// A device's storage, locked while this lives.
pub struct Device {
    folder: PathBuf,
    ledger: Ledger,
    _lock: File,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ledger {
    schema: String,
    answers: Vec<Entry>,
}

#[derive(Serialize, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Entry {
    study: String,
    name: String,
    epsilon: f64,
    token: String,
    message: String,
    standing: Standing,
}

/// What is known of a report that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Made, and perhaps sent: no final answer yet.
    Made,
    /// The service has acknowledged it.
    Counted,
    /// The service has refused it for good. Its epsilon stays spent.
    Refused,
}

/// A report that may be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// The token to send it with.
    pub token: Token,
    /// The bytes to send.
    pub message: Vec<u8>,
    /// What is known of it.
    pub standing: Standing,
}

impl std::fmt::Debug for Answered {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Answered").field("standing", &self.standing).finish_non_exhaustive()
    }
}

const WRITABLE: &str = "give the device a folder of its own that can be written";

impl Device {
    /// Opens or creates a device's folder, and waits for another process that uses it.
    pub fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::file(folder, WRITABLE))?;
        let lock_path = folder.join("lock");
        let lock = private(OpenOptions::new().write(true).create(true))
            .open(&lock_path)
            .map_err(Error::file(&lock_path, WRITABLE))?;
        lock.lock().map_err(Error::file(&lock_path, "another process holds the device: wait for it"))?;
        let path = folder.join("ledger.json");
        let ledger = match fs::read_to_string(&path) {
            Ok(text) => read_ledger(&text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ledger { schema: SCHEMA.into(), answers: Vec::new() }
            }
            Err(error) => return Err(Error::file(&path, WRITABLE)(error)),
        };
        Ok(Self { folder: folder.into(), ledger, _lock: lock })
    }

    /// What was spent in all, rounded upward.
    pub fn spent(&self) -> f64 {
        spent(&self.ledger.answers)
    }

    /// The report made for a study, if there is one.
    pub fn made(&self, accepted: &Accepted) -> Result<Option<Answered>> {
        let study = accepted.study.fingerprint().to_string();
        self.ledger.answers.iter().find(|entry| entry.study == study).map(answered).transpose()
    }

    /// The report for a study: the one made before, or a new one, spent and on the disk when this returns.
    ///
    /// `limit` bounds what the device spends in all its studies together.
    pub fn answer(
        &mut self,
        accepted: &Accepted,
        limit: f64,
        token: &Token,
        (round, state): (u32, &str),
        record: &Record,
        rng: &mut RandomSource,
    ) -> Result<Answered> {
        // Asked first: a second report for the same study must never be drawn.
        if let Some(before) = self.made(accepted)? {
            return Ok(before);
        }
        check_limit(limit)?;
        if !rng.is_private() {
            return Err(Error::refused("the random source has a fixed seed", "use the operating system's"));
        }
        let study = accepted.study();
        let mut entry = Entry {
            study: study.fingerprint().to_string(),
            name: study.name().into(),
            epsilon: study.epsilon(),
            token: token.reveal(),
            message: String::new(),
            standing: Standing::Made,
        };
        self.ledger.answers.push(entry.clone());
        let total = self.spent();
        self.ledger.answers.pop();
        if total > limit {
            return Err(Error::refused(
                format!(
                    "with epsilon {} for this study the device would have spent {} in all, above the user's limit of {limit}",
                    decimal::rounded_up(study.epsilon()),
                    decimal::rounded_up(total)
                ),
                "leave the study out, or raise the limit knowingly",
            ));
        }
        let message = accepted.randomize(round, state, record, rng)?;
        entry.message = hex::encode(&message.to_bytes());
        let answered = answered(&entry)?;
        self.ledger.answers.push(entry);
        if let Err(error) = self.save() {
            // The report is forgotten: it has been seen by nobody.
            self.ledger.answers.pop();
            return Err(error);
        }
        Ok(answered)
    }

    /// Gives a report that was made under a mistyped token the right one. The bytes stay the same, so nothing more is spent.
    pub(crate) fn correct_token(&mut self, accepted: &Accepted, token: &Token) -> Result<Option<Answered>> {
        let study = accepted.study.fingerprint().to_string();
        let open = |entry: &&mut Entry| entry.study == study && entry.standing != Standing::Counted;
        if let Some(entry) = self.ledger.answers.iter_mut().find(open)
            && entry.token != token.reveal()
        {
            entry.token = token.reveal();
            entry.standing = Standing::Made;
            self.save()?;
        }
        self.made(accepted)
    }

    /// Notes the service's answer. A report stays spent whatever it is.
    pub fn settle(&mut self, accepted: &Accepted, answer: Answer) -> Result<Standing> {
        let standing = match answer {
            Answer::Accepted | Answer::AlreadyCounted => Standing::Counted,
            answer if answer.retry() => Standing::Made,
            _ => Standing::Refused,
        };
        let study = accepted.study.fingerprint().to_string();
        for entry in self.ledger.answers.iter_mut().filter(|entry| entry.study == study) {
            // An acknowledgement is final.
            if entry.standing != Standing::Counted {
                entry.standing = standing;
            }
        }
        self.save()?;
        Ok(standing)
    }

    /// Replaces the ledger; when this returns it is on the disk.
    fn save(&self) -> Result<()> {
        let path = self.folder.join("ledger.json");
        let text = serde_json::to_string_pretty(&self.ledger)
            .map_err(|error| Error::Argument(format!("the ledger cannot be written: {error}")))?;
        let written = || -> std::io::Result<()> {
            // Readable by its owner only, as all such files are made.
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            File::open(&self.folder)?.sync_all()
        };
        written().map_err(Error::file(&path, "nothing was sent; free some space or fix the folder's rights"))
    }
}

/// Readable by its owner only, where the system knows that.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn spent(answers: &[Entry]) -> f64 {
    // The sum's rounding error never hides a loss.
    answers.iter().fold(0.0, |sum, entry| {
        let next = sum + entry.epsilon;
        // Exact additions, as of the first study or of whole numbers, are left alone.
        if next - sum == entry.epsilon && next - entry.epsilon == sum { next } else { next.next_up() }
    })
}

fn answered(entry: &Entry) -> Result<Answered> {
    let damaged = || {
        Error::refused(
            "the device's ledger is damaged",
            "restore it from a backup; do not delete it, it says what was spent",
        )
    };
    let token = Token::parse(&entry.token).ok_or_else(damaged)?;
    let message = hex::decode(&entry.message).ok_or_else(damaged)?;
    Ok(Answered { token, message, standing: entry.standing })
}

/// A ledger that cannot be read in full is not overwritten: it says what was spent.
fn read_ledger(text: &str) -> Result<Ledger> {
    let refuse = |problem: String| {
        Error::refused(
            format!("the device's ledger cannot be read ({problem})"),
            "restore it from a backup; do not delete it, it says what was spent",
        )
    };
    let ledger: Ledger =
        serde_json::from_str(text).map_err(|error| refuse(format!("line {}", error.line())))?;
    let sound = ledger.schema == SCHEMA
        && ledger.answers.iter().all(|entry| {
            entry.epsilon.is_finite()
                && entry.epsilon > 0.0
                && hex::decode(&entry.message).is_some_and(|bytes| bytes.len() == message::LENGTH)
        });
    if sound { Ok(ledger) } else { Err(refuse("unknown version or impossible entry".into())) }
}
