//! SQLite: one file beside one server.
//!
//! Write-ahead log with `synchronous = FULL`: a commit returns after the log is on the disk, so neither a killed process nor
//! a power failure takes back what was acknowledged. `BEGIN IMMEDIATE` takes the file's one write lock first.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::decide::{Device, Known, active, decide};
use super::tables::sqlite::{FROM_1_TO_2, SCHEMA_1};
use super::{
    Access, Assignment, Expiry, Opening, Outcome, Phase, Request, Round, Rule, SCHEMA_VERSION, Storage,
    StoredStudy, Terms, TokenHash, check_same, check_version, expiry,
};
use crate::error::{Error, Result};

/// A study in an SQLite file.
pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Opens the file; a service may create it.
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Storage(format!("cannot open {}: {error}", path.display()))
        };
        if access == Access::Serve {
            // Created empty and readable by its owner alone; SQLite gives its other files the same rights.
            private(OpenOptions::new().write(true).create(true))
                .open(path)
                .map_err(|error| failed(&error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(|error| failed(&error))?;
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
        prepare(&mut connection, access)
            .map_err(|error| Error::Storage(format!("{}: {error}", path.display())))?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(Self { connection })
    }

    /// A transaction that holds the write lock from its first statement.
    fn locked(&mut self) -> Result<Transaction<'_>> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

/// The version of the tables; none if there are no tables.
fn version(connection: &Connection) -> Result<Option<u32>> {
    let table = |name: &str| {
        connection
            .query_row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", [name], |_| Ok(()))
            .optional()
    };
    if table("schema")?.is_some() {
        return Ok(Some(connection.query_row("SELECT version FROM schema", [], |row| row.get(0))?));
    }
    Ok(table("study")?.map(|()| 1))
}

/// Creates the tables, or brings them to this version, in one transaction.
fn prepare(connection: &mut Connection, access: Access) -> Result<()> {
    if !check_version(version(connection)?, access)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let found = version(&transaction)?;
    if !check_version(found, access)? {
        return Ok(());
    }
    if found.is_none() {
        transaction.execute_batch(SCHEMA_1)?;
    }
    transaction.execute_batch(FROM_1_TO_2)?;
    // Devices that have not answered are spread over the rounds that are left.
    let first: Option<u32> = transaction.query_row("SELECT max(number) FROM rounds", [], |row| row.get(0))?;
    let assignment = Assignment::fresh(first.unwrap_or(1))?;
    transaction.execute(
        "INSERT INTO assignment VALUES (1, ?1, ?2)",
        params![assignment.key(), assignment.first()],
    )?;
    debug_assert_eq!(version(&transaction)?, Some(SCHEMA_VERSION));
    Ok(transaction.commit()?)
}

/// Readable by its owner only, where the system knows that.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
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

/// The last round without its states, which may be long.
fn brief(connection: &Connection) -> Result<Round> {
    let mut statement = connection.prepare_cached(
        "SELECT number, phase, count, deadline, extensions, '', NULL FROM rounds ORDER BY number DESC LIMIT 1",
    )?;
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

fn holds(connection: &Connection, round: u32, now: u64) -> Result<BTreeMap<u64, u64>> {
    let mut statement =
        connection.prepare_cached("SELECT until, count FROM holds WHERE round = ?1 AND until > ?2")?;
    let rows = statement
        .query_map(params![round, signed(now)], |row| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What the storage knows of the devices and reports of a batch.
fn known(connection: &Connection, round: &Round, batch: &[Request], now: u64) -> Result<Known> {
    let mut known = Known { holds: holds(connection, round.number, now)?, ..Known::default() };
    let mut device =
        connection.prepare_cached("SELECT round, report, held, revoked FROM devices WHERE token = ?1")?;
    let mut twin = connection.prepare_cached("SELECT 1 FROM devices WHERE report = ?1")?;
    for request in batch {
        let read = |row: &Row<'_>| -> rusqlite::Result<Device> {
            Ok(Device {
                answer: row.get::<_, Option<u32>>(0)?.zip(row.get(1)?),
                held: row.get::<_, Option<i64>>(2)?.map(unsigned),
                revoked: row.get(3)?,
            })
        };
        if let Some(found) = device.query_row([request.token().bytes()], read).optional()? {
            known.devices.insert(*request.token(), found);
        }
        if let Request::Report(submission) = request
            && twin.exists([&submission.report])?
        {
            known.reports.insert(submission.report.clone());
        }
    }
    Ok(known)
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

    fn assignment(&mut self) -> Result<Assignment> {
        let read = |row: &Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?));
        let (key, first) = self.connection.query_row("SELECT key, first FROM assignment", [], read)?;
        Assignment::new(&key, first)
    }

    fn revoke(&mut self, tokens: &[TokenHash]) -> Result<u64> {
        let transaction = self.locked()?;
        let mut changed = 0;
        {
            let mut update = transaction.prepare_cached("UPDATE devices SET revoked = 1 WHERE token = ?1")?;
            for token in tokens {
                changed += update.execute([token.bytes()])? as u64;
            }
        }
        transaction.commit()?;
        Ok(changed)
    }

    fn take_gathered(
        &mut self,
        gather: &mut dyn FnMut() -> Vec<Request>,
        terms: &Terms<'_>,
    ) -> Result<Vec<Outcome>> {
        let transaction = self.locked()?;
        let batch = &gather()[..];
        let current = brief(&transaction)?;
        let decision = decide(known(&transaction, &current, batch, terms.now)?, &current, terms, batch);
        if decision.count == current.count && decision.places.is_empty() {
            // Nothing to write: no commit to wait for.
            return Ok(decision.outcomes);
        }
        {
            let mut update = transaction.prepare_cached(
                "UPDATE devices SET round = ?1, report = ?2, held = NULL WHERE token = ?3 AND report IS NULL",
            )?;
            for (request, outcome) in batch.iter().zip(&decision.outcomes) {
                if let (Request::Report(submission), Outcome::Accepted) = (request, outcome)
                    && update.execute(params![
                        submission.round,
                        submission.report,
                        submission.token.bytes()
                    ])? != 1
                {
                    return Err(Error::Storage("a device changed under the write lock".into()));
                }
            }
            let mut hold = transaction.prepare_cached("UPDATE devices SET held = ?1 WHERE token = ?2")?;
            for (token, until) in &decision.places {
                hold.execute(params![signed(*until), token.bytes()])?;
            }
            let mut change =
                transaction.prepare_cached("INSERT OR REPLACE INTO holds VALUES (?1, ?2, ?3)")?;
            for (until, count) in &decision.holds {
                change.execute(params![current.number, signed(*until), signed(*count)])?;
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

    fn held(&mut self, now: u64) -> Result<u64> {
        let current = brief(&self.connection)?;
        Ok(active(&holds(&self.connection, current.number, now)?, now))
    }

    fn rounds(&mut self) -> Result<Vec<Round>> {
        let mut statement = self.connection.prepare_cached(&format!("{ROUND} ORDER BY number"))?;
        let rows = statement.query_map([], round)?.collect::<rusqlite::Result<Vec<_>>>()?;
        rows.into_iter().map(with_phase).collect()
    }

    fn current(&mut self) -> Result<Round> {
        last(&self.connection)
    }

    fn reports(&mut self, round: u32, after: &[u8], limit: usize) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT report FROM devices WHERE report > ?1 AND round = ?2 ORDER BY report LIMIT ?3",
        )?;
        let rows = statement.query_map(params![after, round, signed(limit as u64)], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn expire(&mut self, now: u64, rule: &dyn Fn(u32) -> Rule) -> Result<Expiry> {
        let transaction = self.locked()?;
        let current = brief(&transaction)?;
        let rule = rule(current.number);
        let held = active(&holds(&transaction, current.number, now)?, now);
        let expiry = expiry(&current, rule, held, now);
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

    fn finish(&mut self, round: u32, now: u64) -> Result<bool> {
        let changed = self.connection.execute(
            "UPDATE rounds SET deadline = min(deadline, ?1) WHERE number = ?2 AND phase = 'open'",
            params![signed(now), round],
        )?;
        Ok(changed == 1)
    }

    fn abandon(&mut self, round: u32) -> Result<bool> {
        set_phase(&self.connection, round, Phase::Open, Phase::Abandoned)
    }

    fn extend(&mut self, round: u32, deadline: u64) -> Result<bool> {
        let changed = self.connection.execute(
            "UPDATE rounds SET deadline = ?1, phase = 'open' WHERE number = ?2 AND phase IN ('open', 'abandoned')",
            params![signed(deadline), round],
        )?;
        Ok(changed == 1)
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
