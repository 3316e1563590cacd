//! SQLite: one file beside one server.
//!
//! Write-ahead log with `synchronous = FULL`: a commit returns after the log is on the disk, so neither a killed process nor
//! a power failure takes back what was acknowledged. `BEGIN IMMEDIATE` takes the file's one write lock first.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::decide::{Answer, Known, decide};
use super::{
    Expiry, Opening, Outcome, Phase, Round, Rule, Storage, StoredStudy, Submission, TokenHash, check_same,
    expiry,
};
use crate::error::{Error, Result};

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS study (
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, signature TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS rounds (
    number INTEGER PRIMARY KEY, phase TEXT NOT NULL, count INTEGER NOT NULL, deadline INTEGER NOT NULL,
    extensions INTEGER NOT NULL, state TEXT NOT NULL, result TEXT) STRICT;
CREATE TABLE IF NOT EXISTS devices (
    token BLOB PRIMARY KEY, round INTEGER REFERENCES rounds, report BLOB UNIQUE,
    CHECK ((round IS NULL) = (report IS NULL))) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS enrolment (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO enrolment VALUES (1, 0);";

/// A study in an SQLite file.
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Opens or creates the file.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)
            .map_err(|error| Error::Storage(format!("cannot open {}: {error}", path.display())))?;
        connection.busy_timeout(Duration::from_secs(30))?;
        let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Err(Error::Storage(format!(
                "{}: the write-ahead log cannot be used here (journal mode {mode}): choose a local disk",
                path.display()
            )));
        }
        // `fullfsync` makes macOS flush its disk cache too; elsewhere it changes nothing.
        connection.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536;
             PRAGMA wal_autocheckpoint = 4000;",
        )?;
        let synchronous: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
        if synchronous < 2 {
            return Err(Error::Storage(
                "SQLite refuses synchronous = FULL: reports would not be durable".into(),
            ));
        }
        connection.execute_batch(SCHEMA)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(Self { connection })
    }

    /// A transaction that holds the write lock from its first statement.
    fn locked(&mut self) -> Result<Transaction<'_>> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

const ROUND: &str = "SELECT number, phase, count, deadline, extensions, state, result FROM rounds";

fn round(row: &Row<'_>) -> rusqlite::Result<(Round, String)> {
    let phase: String = row.get(1)?;
    let round = Round {
        number: row.get(0)?,
        phase: Phase::Abandoned,
        count: unsigned(row.get(2)?),
        deadline: unsigned(row.get(3)?),
        extensions: row.get(4)?,
        state: row.get(5)?,
        result: row.get(6)?,
    };
    Ok((round, phase))
}

fn unsigned(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn with_phase((round, phase): (Round, String)) -> Result<Round> {
    Ok(Round { phase: Phase::parse(&phase)?, ..round })
}

fn last(connection: &Connection) -> Result<Round> {
    let mut statement = connection.prepare_cached(&format!("{ROUND} ORDER BY number DESC LIMIT 1"))?;
    let found = statement.query_row([], round).optional()?;
    with_phase(found.ok_or_else(|| Error::Storage("no study has begun here: serve one first".into()))?)
}

fn insert_round(connection: &Connection, opening: &Opening) -> Result<()> {
    connection.execute(
        "INSERT INTO rounds VALUES (?1, 'open', 0, ?2, 0, ?3, NULL)",
        params![opening.number, signed(opening.deadline), opening.state],
    )?;
    Ok(())
}

fn set_phase(connection: &Connection, number: u32, from: Phase, to: Phase) -> Result<bool> {
    let changed = connection.execute(
        "UPDATE rounds SET phase = ?1 WHERE number = ?2 AND phase = ?3",
        params![to.name(), number, from.name()],
    )?;
    Ok(changed == 1)
}

fn stored_study(connection: &Connection) -> Result<Option<StoredStudy>> {
    let read = |row: &Row<'_>| Ok(StoredStudy { text: row.get(0)?, signature: row.get(1)? });
    Ok(connection.query_row("SELECT text, signature FROM study", [], read).optional()?)
}

impl Storage for Sqlite {
    fn begin(&mut self, study: &StoredStudy, first: &Opening) -> Result<()> {
        let transaction = self.locked()?;
        if let Some(stored) = stored_study(&transaction)? {
            return check_same(&stored, study);
        }
        transaction.execute("INSERT INTO study VALUES (1, ?1, ?2)", params![study.text, study.signature])?;
        insert_round(&transaction, first)?;
        Ok(transaction.commit()?)
    }

    fn study(&mut self) -> Result<Option<StoredStudy>> {
        stored_study(&self.connection)
    }

    fn enroll(&mut self, tokens: &[TokenHash]) -> Result<()> {
        let transaction = self.locked()?;
        {
            let mut insert = transaction.prepare_cached("INSERT INTO devices (token) VALUES (?1)")?;
            for token in tokens {
                insert.execute([token.bytes()])?;
            }
        }
        let more = signed(tokens.len() as u64);
        transaction.execute("UPDATE enrolment SET count = count + ?1", [more])?;
        Ok(transaction.commit()?)
    }

    fn enrolled(&mut self) -> Result<u64> {
        Ok(unsigned(self.connection.query_row("SELECT count FROM enrolment", [], |row| row.get(0))?))
    }

    fn accept(&mut self, batch: &[Submission], rule: &dyn Fn(u32) -> Rule) -> Result<Vec<Outcome>> {
        let transaction = self.locked()?;
        let current = last(&transaction)?;
        let mut known = Known::default();
        {
            let mut device =
                transaction.prepare_cached("SELECT round, report FROM devices WHERE token = ?1")?;
            let mut twin = transaction.prepare_cached("SELECT 1 FROM devices WHERE report = ?1")?;
            for submission in batch {
                let answer = |row: &Row<'_>| -> rusqlite::Result<Answer> {
                    Ok(row.get::<_, Option<u32>>(0)?.zip(row.get(1)?))
                };
                if let Some(answer) = device.query_row([submission.token.bytes()], answer).optional()? {
                    known.devices.insert(submission.token, answer);
                }
                if twin.exists([&submission.report])? {
                    known.reports.insert(submission.report.clone());
                }
            }
        }
        let decision = decide(known, &current, rule(current.number), batch);
        if decision.count == current.count {
            // Nothing to write: no commit to wait for.
            return Ok(decision.outcomes);
        }
        {
            let mut update = transaction.prepare_cached(
                "UPDATE devices SET round = ?1, report = ?2 WHERE token = ?3 AND report IS NULL",
            )?;
            for (submission, outcome) in batch.iter().zip(&decision.outcomes) {
                if *outcome == Outcome::Accepted
                    && update.execute(params![
                        submission.round,
                        submission.report,
                        submission.token.bytes()
                    ])? != 1
                {
                    return Err(Error::Storage("a device changed under the write lock".into()));
                }
            }
            transaction
                .prepare_cached("UPDATE rounds SET count = ?1 WHERE number = ?2")?
                .execute(params![signed(decision.count), current.number])?;
        }
        if decision.seal {
            set_phase(&transaction, current.number, Phase::Open, Phase::Closing)?;
        }
        transaction.commit()?;
        Ok(decision.outcomes)
    }

    fn rounds(&mut self) -> Result<Vec<Round>> {
        let mut statement = self.connection.prepare_cached(&format!("{ROUND} ORDER BY number"))?;
        let rows = statement.query_map([], round)?.collect::<rusqlite::Result<Vec<_>>>()?;
        rows.into_iter().map(with_phase).collect()
    }

    fn current(&mut self) -> Result<Round> {
        last(&self.connection)
    }

    fn reports(&mut self, round: u32) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT report FROM devices WHERE round = ?1 AND report IS NOT NULL ORDER BY report",
        )?;
        let rows = statement.query_map([round], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn expire(&mut self, now: u64, rule: &dyn Fn(u32) -> Rule) -> Result<Expiry> {
        let transaction = self.locked()?;
        let current = last(&transaction)?;
        let rule = rule(current.number);
        let expiry = expiry(&current, rule, now);
        match expiry {
            Expiry::NotDue => return Ok(expiry),
            Expiry::Sealed => {
                set_phase(&transaction, current.number, Phase::Open, Phase::Closing)?;
            }
            Expiry::Abandoned => {
                set_phase(&transaction, current.number, Phase::Open, Phase::Abandoned)?;
            }
            Expiry::Extended => {
                transaction.execute(
                    "UPDATE rounds SET deadline = ?1, extensions = extensions + 1 WHERE number = ?2",
                    params![signed(now.saturating_add(rule.seconds)), current.number],
                )?;
            }
        }
        transaction.commit()?;
        Ok(expiry)
    }

    fn seal(&mut self, round: u32) -> Result<bool> {
        set_phase(&self.connection, round, Phase::Open, Phase::Closing)
    }

    fn abandon(&mut self, round: u32) -> Result<bool> {
        set_phase(&self.connection, round, Phase::Open, Phase::Abandoned)
    }

    fn close(&mut self, round: u32, result: &str, next: Option<&Opening>) -> Result<bool> {
        let transaction = self.locked()?;
        if !set_phase(&transaction, round, Phase::Closing, Phase::Closed)? {
            return Ok(false);
        }
        transaction.execute("UPDATE rounds SET result = ?1 WHERE number = ?2", params![result, round])?;
        if let Some(opening) = next {
            insert_round(&transaction, opening)?;
        }
        transaction.commit()?;
        Ok(true)
    }
}
