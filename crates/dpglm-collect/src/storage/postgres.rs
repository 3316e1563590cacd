//! PostgreSQL: many servers behind one study.
//!
//! Every change locks the study's one row first, so servers take turns; a turn is one batch of reports. What several servers
//! must agree on is also a constraint of the tables: one report in a device's row, unique report bytes, one row for each round.
//! The session asks for `synchronous_commit = on`, and a cluster with `fsync = off` is refused. A lost connection is opened
//! again at the next call; what was in flight was not acknowledged.

use postgres::{Client, NoTls, Row, Statement, Transaction};

use super::decide::{Known, decide};
use super::{
    Expiry, Opening, Outcome, Phase, Round, Rule, Storage, StoredStudy, Submission, TokenHash, check_same,
    expiry,
};
use crate::error::{Error, Result};

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS dpglm_study (
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, signature TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS dpglm_rounds (
    number INTEGER PRIMARY KEY, phase TEXT NOT NULL, count BIGINT NOT NULL, deadline BIGINT NOT NULL,
    extensions INTEGER NOT NULL, state TEXT NOT NULL, result TEXT);
CREATE TABLE IF NOT EXISTS dpglm_devices (
    token BYTEA PRIMARY KEY, round INTEGER REFERENCES dpglm_rounds, report BYTEA UNIQUE,
    CHECK ((round IS NULL) = (report IS NULL)));
CREATE TABLE IF NOT EXISTS dpglm_enrolment (one INTEGER PRIMARY KEY CHECK (one = 1), count BIGINT NOT NULL);
INSERT INTO dpglm_enrolment VALUES (1, 0) ON CONFLICT DO NOTHING;";

/// Two servers that start together must not create the tables at once. The number is the study tables' own.
const CREATION_LOCK: i64 = 0x6470_676c_6d00_0001;

/// A study in a PostgreSQL database.
pub struct Postgres {
    url: String,
    open: Option<Connection>,
}

/// A connection with the statements that every batch needs, prepared once.
struct Connection {
    client: Client,
    statements: Statements,
}

struct Statements {
    lock: Statement,
    last: Statement,
    devices: Statement,
    twins: Statement,
    answer: Statement,
    count: Statement,
}

impl Postgres {
    /// Connects and creates the tables.
    pub fn open(url: &str) -> Result<Self> {
        let mut storage = Self { url: url.into(), open: None };
        storage.connection()?;
        Ok(storage)
    }

    /// The open connection, or a new one.
    fn connection(&mut self) -> Result<&mut Connection> {
        if self.open.as_ref().is_some_and(|connection| connection.client.is_closed()) {
            self.open = None;
        }
        match &mut self.open {
            Some(connection) => Ok(connection),
            empty => Ok(empty.insert(connect(&self.url)?)),
        }
    }

    fn client(&mut self) -> Result<&mut Client> {
        Ok(&mut self.connection()?.client)
    }

    /// A transaction that holds the study's lock from its first statement.
    fn locked(&mut self) -> Result<(Transaction<'_>, &Statements)> {
        let Connection { client, statements } = self.connection()?;
        let mut transaction = client.transaction()?;
        transaction.execute(&statements.lock, &[])?;
        Ok((transaction, statements))
    }
}

fn connect(url: &str) -> Result<Connection> {
    // The URL may hold a password: it is not part of the message.
    let mut client = Client::connect(url, NoTls).map_err(|error| {
        Error::Storage(format!("PostgreSQL: cannot connect ({error}): check the URL; TLS is not supported, use a socket or a private network"))
    })?;
    let fsync: String = client.query_one("SHOW fsync", &[])?.get(0);
    if fsync != "on" {
        return Err(Error::Storage(
            "PostgreSQL runs with fsync = off: reports would not be durable; turn it on".into(),
        ));
    }
    client.batch_execute(
        "SET synchronous_commit = on; SET lock_timeout = '60s'; SET client_min_messages = warning",
    )?;
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&CREATION_LOCK])?;
    transaction.batch_execute(SCHEMA)?;
    transaction.commit()?;
    let statements = Statements {
        lock: client.prepare("SELECT one FROM dpglm_study FOR UPDATE")?,
        last: client.prepare(&format!("{ROUND} ORDER BY number DESC LIMIT 1"))?,
        devices: client.prepare("SELECT token, round, report FROM dpglm_devices WHERE token = ANY($1)")?,
        twins: client.prepare("SELECT report FROM dpglm_devices WHERE report = ANY($1)")?,
        answer: client.prepare(
            "UPDATE dpglm_devices AS device SET round = $1, report = new.report
             FROM (SELECT unnest($2::bytea[]) AS token, unnest($3::bytea[]) AS report) AS new
             WHERE device.token = new.token AND device.report IS NULL",
        )?,
        count: client.prepare("UPDATE dpglm_rounds SET count = $1 WHERE number = $2")?,
    };
    Ok(Connection { client, statements })
}

const ROUND: &str = "SELECT number, phase, count, deadline, extensions, state, result FROM dpglm_rounds";

fn unsigned(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Round numbers are small; one that is not matches no row.
fn number(round: u32) -> i32 {
    i32::try_from(round).unwrap_or(-1)
}

fn round(row: &Row) -> Result<Round> {
    Ok(Round {
        number: row.get::<_, i32>(0).unsigned_abs(),
        phase: Phase::parse(row.get(1))?,
        count: unsigned(row.get(2)),
        deadline: unsigned(row.get(3)),
        extensions: row.get::<_, i32>(4).unsigned_abs(),
        state: row.get(5),
        result: row.get(6),
    })
}

fn last(client: &mut impl postgres::GenericClient, statements: &Statements) -> Result<Round> {
    let row = client.query_opt(&statements.last, &[])?;
    round(&row.ok_or_else(|| Error::Storage("no study has begun here: serve one first".into()))?)
}

fn insert_round(transaction: &mut Transaction<'_>, opening: &Opening) -> Result<()> {
    transaction.execute(
        "INSERT INTO dpglm_rounds VALUES ($1, 'open', 0, $2, 0, $3, NULL)",
        &[&number(opening.number), &signed(opening.deadline), &opening.state],
    )?;
    Ok(())
}

fn set_phase(transaction: &mut Transaction<'_>, round: u32, from: Phase, to: Phase) -> Result<bool> {
    let changed = transaction.execute(
        "UPDATE dpglm_rounds SET phase = $1 WHERE number = $2 AND phase = $3",
        &[&to.name(), &number(round), &from.name()],
    )?;
    Ok(changed == 1)
}

fn stored_study(client: &mut impl postgres::GenericClient) -> Result<Option<StoredStudy>> {
    let row = client.query_opt("SELECT text, signature FROM dpglm_study", &[])?;
    Ok(row.map(|row| StoredStudy { text: row.get(0), signature: row.get(1) }))
}

impl Storage for Postgres {
    fn begin(&mut self, study: &StoredStudy, first: &Opening) -> Result<()> {
        let mut transaction = self.client()?.transaction()?;
        // There is no row to lock yet.
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&CREATION_LOCK])?;
        if let Some(stored) = stored_study(&mut transaction)? {
            return check_same(&stored, study);
        }
        transaction
            .execute("INSERT INTO dpglm_study VALUES (1, $1, $2)", &[&study.text, &study.signature])?;
        insert_round(&mut transaction, first)?;
        Ok(transaction.commit()?)
    }

    fn study(&mut self) -> Result<Option<StoredStudy>> {
        stored_study(self.client()?)
    }

    fn enroll(&mut self, tokens: &[TokenHash]) -> Result<()> {
        let (mut transaction, _) = self.locked()?;
        let hashes: Vec<&[u8]> = tokens.iter().map(TokenHash::bytes).collect();
        transaction.execute("INSERT INTO dpglm_devices (token) SELECT unnest($1::bytea[])", &[&hashes])?;
        transaction
            .execute("UPDATE dpglm_enrolment SET count = count + $1", &[&signed(tokens.len() as u64)])?;
        Ok(transaction.commit()?)
    }

    fn enrolled(&mut self) -> Result<u64> {
        Ok(unsigned(self.client()?.query_one("SELECT count FROM dpglm_enrolment", &[])?.get(0)))
    }

    fn accept(&mut self, batch: &[Submission], rule: &dyn Fn(u32) -> Rule) -> Result<Vec<Outcome>> {
        let (mut transaction, statements) = self.locked()?;
        let current = last(&mut transaction, statements)?;
        let tokens: Vec<&[u8]> = batch.iter().map(|submission| submission.token.bytes()).collect();
        let reports: Vec<&[u8]> = batch.iter().map(|submission| &submission.report[..]).collect();
        let mut known = Known::default();
        let devices = transaction.query(&statements.devices, &[&tokens])?;
        for row in &devices {
            let answer = row.get::<_, Option<i32>>(1).map(i32::unsigned_abs).zip(row.get(2));
            known.devices.insert(TokenHash::from_slice(row.get(0))?, answer);
        }
        let twins = transaction.query(&statements.twins, &[&reports])?;
        known.reports.extend(twins.iter().map(|row| row.get::<_, Vec<u8>>(0)));

        let decision = decide(known, &current, rule(current.number), batch);
        if decision.count == current.count {
            return Ok(decision.outcomes);
        }
        let accepted = |list: &[&[u8]]| -> Vec<Vec<u8>> {
            let pairs = list.iter().zip(&decision.outcomes);
            pairs
                .filter(|(_, outcome)| **outcome == Outcome::Accepted)
                .map(|(item, _)| item.to_vec())
                .collect()
        };
        let (tokens, reports) = (accepted(&tokens), accepted(&reports));
        let changed =
            transaction.execute(&statements.answer, &[&number(current.number), &tokens, &reports])?;
        if changed != tokens.len() as u64 {
            return Err(Error::Storage("a device changed under the study's lock".into()));
        }
        transaction.execute(&statements.count, &[&signed(decision.count), &number(current.number)])?;
        if decision.seal {
            set_phase(&mut transaction, current.number, Phase::Open, Phase::Closing)?;
        }
        transaction.commit()?;
        Ok(decision.outcomes)
    }

    fn rounds(&mut self) -> Result<Vec<Round>> {
        self.client()?.query(&format!("{ROUND} ORDER BY number"), &[])?.iter().map(round).collect()
    }

    fn current(&mut self) -> Result<Round> {
        let Connection { client, statements } = self.connection()?;
        last(client, statements)
    }

    fn reports(&mut self, round: u32) -> Result<Vec<Vec<u8>>> {
        let rows = self.client()?.query(
            "SELECT report FROM dpglm_devices WHERE round = $1 AND report IS NOT NULL ORDER BY report",
            &[&number(round)],
        )?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn expire(&mut self, now: u64, rule: &dyn Fn(u32) -> Rule) -> Result<Expiry> {
        let (mut transaction, statements) = self.locked()?;
        let current = last(&mut transaction, statements)?;
        let rule = rule(current.number);
        let expiry = expiry(&current, rule, now);
        match expiry {
            Expiry::NotDue => return Ok(expiry),
            Expiry::Sealed => {
                set_phase(&mut transaction, current.number, Phase::Open, Phase::Closing)?;
            }
            Expiry::Abandoned => {
                set_phase(&mut transaction, current.number, Phase::Open, Phase::Abandoned)?;
            }
            Expiry::Extended => {
                transaction.execute(
                    "UPDATE dpglm_rounds SET deadline = $1, extensions = extensions + 1 WHERE number = $2",
                    &[&signed(now.saturating_add(rule.seconds)), &number(current.number)],
                )?;
            }
        }
        transaction.commit()?;
        Ok(expiry)
    }

    fn seal(&mut self, round: u32) -> Result<bool> {
        let (mut transaction, _) = self.locked()?;
        let sealed = set_phase(&mut transaction, round, Phase::Open, Phase::Closing)?;
        transaction.commit()?;
        Ok(sealed)
    }

    fn abandon(&mut self, round: u32) -> Result<bool> {
        let (mut transaction, _) = self.locked()?;
        let abandoned = set_phase(&mut transaction, round, Phase::Open, Phase::Abandoned)?;
        transaction.commit()?;
        Ok(abandoned)
    }

    fn close(&mut self, round: u32, result: &str, next: Option<&Opening>) -> Result<bool> {
        let (mut transaction, _) = self.locked()?;
        if !set_phase(&mut transaction, round, Phase::Closing, Phase::Closed)? {
            return Ok(false);
        }
        transaction
            .execute("UPDATE dpglm_rounds SET result = $1 WHERE number = $2", &[&result, &number(round)])?;
        if let Some(opening) = next {
            insert_round(&mut transaction, opening)?;
        }
        transaction.commit()?;
        Ok(true)
    }
}
