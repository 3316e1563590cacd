//! PostgreSQL: many servers behind one study.
//!
//! Every change locks the study's one row first, so servers take turns; a turn is one batch of reports. What several servers
//! must agree on is also a constraint of the tables: one report in a device's row, unique report bytes, one row for each round.
//! The session asks for `synchronous_commit = on`, and a cluster with `fsync = off` is refused. A lost connection is opened
//! again at the next call; what was in flight was not acknowledged.

use std::collections::BTreeMap;

use postgres::{Client, Row, Statement, Transaction};

use super::decide::{Device, Known, active, decide};
use super::tables::postgres::{FROM_1_TO_2, SCHEMA_1};
use super::{
    Access, Assignment, Expiry, Opening, Outcome, Phase, Request, Round, Rule, Storage, StoredStudy, Terms,
    TokenHash, check_same, check_version, connect, expiry,
};
use crate::error::{Error, Result};

/// Two servers that start together must not create the tables at once. The number is the study tables' own.
const CREATION_LOCK: i64 = 0x6470_676c_6d00_0001;

/// A study in a PostgreSQL database.
pub(crate) struct Postgres {
    place: connect::Place,
    access: Access,
    open: Option<Connection>,
}

/// A connection with the statements that every batch needs, prepared once.
struct Connection {
    client: Client,
    statements: Statements,
}

/// Every statement is a way to the server and back, and others wait meanwhile: few, and small.
struct Statements {
    lock: Statement,
    last: Statement,
    brief: Statement,
    known: Statement,
    answer: Statement,
    hold: Statement,
    change: Statement,
}

impl Postgres {
    /// Connects; a service may create the tables.
    pub(crate) fn open(url: &str, access: Access) -> Result<Self> {
        let mut storage = Self { place: connect::Place::parse(url)?, access, open: None };
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
            empty => Ok(empty.insert(prepare(self.place.connect()?, self.access)?)),
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

/// The version of the tables; none if there are no tables.
fn version(client: &mut impl postgres::GenericClient) -> Result<Option<u32>> {
    let row = client.query_one(
        "SELECT to_regclass('dpglm_schema') IS NOT NULL, to_regclass('dpglm_study') IS NOT NULL",
        &[],
    )?;
    match (row.get(0), row.get(1)) {
        (true, _) => {
            let version: i32 = client.query_one("SELECT version FROM dpglm_schema", &[])?.get(0);
            Ok(Some(version.unsigned_abs()))
        }
        (false, true) => Ok(Some(1)),
        (false, false) => Ok(None),
    }
}

/// Creates the tables or brings them to this version, in one transaction, and prepares the statements.
fn prepare(mut client: Client, access: Access) -> Result<Connection> {
    let fsync: String = client.query_one("SHOW fsync", &[])?.get(0);
    if fsync != "on" {
        return Err(Error::Storage(
            "PostgreSQL runs with fsync = off: reports would not be durable; turn it on".into(),
        ));
    }
    client.batch_execute(
        "SET synchronous_commit = on; SET lock_timeout = '10s'; SET statement_timeout = '30s';
         SET client_min_messages = warning",
    )?;
    if check_version(version(&mut client)?, access)? {
        let mut transaction = client.transaction()?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&CREATION_LOCK])?;
        // Another server may have been faster.
        let found = version(&mut transaction)?;
        if check_version(found, access)? {
            if found.is_none() {
                transaction.batch_execute(SCHEMA_1)?;
            }
            transaction.batch_execute(FROM_1_TO_2)?;
            // Devices that have not answered are spread over the rounds that are left.
            let first: Option<i32> =
                transaction.query_one("SELECT max(number) FROM dpglm_rounds", &[])?.get(0);
            let assignment = Assignment::fresh(first.unwrap_or(1).unsigned_abs())?;
            transaction.execute(
                "INSERT INTO dpglm_assignment VALUES (1, $1, $2)",
                &[&assignment.key(), &number(assignment.first())],
            )?;
            transaction.commit()?;
        }
    }
    let statements = Statements {
        lock: client.prepare("SELECT one FROM dpglm_study FOR UPDATE")?,
        last: client.prepare(&format!("{ROUND} ORDER BY number DESC LIMIT 1"))?,
        // The last round without its states, which may be long, and its held places.
        brief: client.prepare(
            "SELECT number, phase, count, deadline, extensions, '', NULL::text,
                ARRAY(SELECT until FROM dpglm_holds WHERE round = number AND until > $1 ORDER BY until),
                ARRAY(SELECT held.count FROM dpglm_holds AS held WHERE round = number AND until > $1 ORDER BY until)
             FROM dpglm_rounds ORDER BY number DESC LIMIT 1",
        )?,
        // Devices by their tokens, and reports that are stored already.
        known: client.prepare(
            "SELECT token, round, report, held, revoked FROM dpglm_devices WHERE token = ANY($1)
             UNION ALL SELECT NULL, NULL, report, NULL, FALSE FROM dpglm_devices WHERE report = ANY($2)",
        )?,
        answer: client.prepare(
            "WITH answered AS (
                UPDATE dpglm_devices AS device SET round = $1, report = new.report, held = NULL
                FROM (SELECT unnest($2::bytea[]) AS token, unnest($3::bytea[]) AS report) AS new
                WHERE device.token = new.token AND device.report IS NULL RETURNING 1)
             UPDATE dpglm_rounds SET count = $4 WHERE number = $1 RETURNING (SELECT count(*) FROM answered)",
        )?,
        hold: client.prepare(
            "UPDATE dpglm_devices AS device SET held = new.held
             FROM (SELECT unnest($1::bytea[]) AS token, unnest($2::bigint[]) AS held) AS new
             WHERE device.token = new.token",
        )?,
        change: client.prepare(
            "INSERT INTO dpglm_holds SELECT $1::integer, unnest($2::bigint[]), unnest($3::bigint[])
             ON CONFLICT (round, until) DO UPDATE SET count = excluded.count",
        )?,
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

/// The last round, without its states, and its held places.
fn brief(
    client: &mut impl postgres::GenericClient,
    statements: &Statements,
    now: u64,
) -> Result<(Round, BTreeMap<u64, u64>)> {
    let row = client.query_opt(&statements.brief, &[&signed(now)])?;
    let row = row.ok_or_else(|| Error::Storage("no study has begun here: serve one first".into()))?;
    let (until, counts): (Vec<i64>, Vec<i64>) = (row.get(7), row.get(8));
    let holds = until.into_iter().map(unsigned).zip(counts.into_iter().map(unsigned)).collect();
    Ok((round(&row)?, holds))
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

/// Token and report of a submission.
fn submitted(request: &Request) -> Option<(&[u8], &[u8])> {
    match request {
        Request::Report(submission) => Some((submission.token.bytes(), &submission.report)),
        Request::Reserve(_) => None,
    }
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

    fn assignment(&mut self) -> Result<Assignment> {
        let row = self.client()?.query_one("SELECT key, first FROM dpglm_assignment", &[])?;
        Assignment::new(row.get(0), row.get::<_, i32>(1).unsigned_abs())
    }

    fn revoke(&mut self, tokens: &[TokenHash]) -> Result<u64> {
        let (mut transaction, _) = self.locked()?;
        let hashes: Vec<&[u8]> = tokens.iter().map(TokenHash::bytes).collect();
        let changed = transaction
            .execute("UPDATE dpglm_devices SET revoked = TRUE WHERE token = ANY($1)", &[&hashes])?;
        transaction.commit()?;
        Ok(changed)
    }

    fn take_gathered(
        &mut self,
        gather: &mut dyn FnMut() -> Vec<Request>,
        terms: &Terms<'_>,
    ) -> Result<Vec<Outcome>> {
        let (mut transaction, statements) = self.locked()?;
        let batch = &gather()[..];
        let (current, holds) = brief(&mut transaction, statements, terms.now)?;
        let tokens: Vec<&[u8]> = batch.iter().map(|request| request.token().bytes()).collect();
        let reports: Vec<&[u8]> =
            batch.iter().filter_map(|request| submitted(request).map(|(_, report)| report)).collect();
        let mut known = Known { holds, ..Known::default() };
        for row in &transaction.query(&statements.known, &[&tokens, &reports])? {
            let Some(token) = row.get::<_, Option<&[u8]>>(0) else {
                known.reports.insert(row.get(2));
                continue;
            };
            let device = Device {
                answer: row.get::<_, Option<i32>>(1).map(i32::unsigned_abs).zip(row.get(2)),
                held: row.get::<_, Option<i64>>(3).map(unsigned),
                revoked: row.get(4),
            };
            known.devices.insert(TokenHash::from_slice(token)?, device);
        }

        let decision = decide(known, &current, terms, batch);
        if decision.count == current.count && decision.places.is_empty() {
            return Ok(decision.outcomes);
        }
        let accepted =
            batch.iter().zip(&decision.outcomes).filter(|(_, outcome)| **outcome == Outcome::Accepted);
        let (tokens, reports): (Vec<&[u8]>, Vec<&[u8]>) =
            accepted.filter_map(|(request, _)| submitted(request)).unzip();
        if !tokens.is_empty() {
            let counted: i64 = transaction
                .query_one(
                    &statements.answer,
                    &[&number(current.number), &tokens, &reports, &signed(decision.count)],
                )?
                .get(0);
            if unsigned(counted) != tokens.len() as u64 {
                return Err(Error::Storage("a device changed under the study's lock".into()));
            }
        }
        if !decision.places.is_empty() {
            let (tokens, until): (Vec<&[u8]>, Vec<i64>) =
                decision.places.iter().map(|(token, until)| (token.bytes(), signed(*until))).unzip();
            transaction.execute(&statements.hold, &[&tokens, &until])?;
        }
        if !decision.holds.is_empty() {
            let (until, counts): (Vec<i64>, Vec<i64>) =
                decision.holds.iter().map(|(until, count)| (signed(*until), signed(*count))).unzip();
            transaction.execute(&statements.change, &[&number(current.number), &until, &counts])?;
        }
        if decision.seal {
            set_phase(&mut transaction, current.number, Phase::Open, Phase::Closing)?;
        }
        transaction.commit()?;
        Ok(decision.outcomes)
    }

    fn held(&mut self, now: u64) -> Result<u64> {
        let Connection { client, statements } = self.connection()?;
        Ok(active(&brief(client, statements, now)?.1, now))
    }

    fn rounds(&mut self) -> Result<Vec<Round>> {
        self.client()?.query(&format!("{ROUND} ORDER BY number"), &[])?.iter().map(round).collect()
    }

    fn current(&mut self) -> Result<Round> {
        let Connection { client, statements } = self.connection()?;
        last(client, statements)
    }

    fn reports(&mut self, round: u32, after: &[u8], limit: usize) -> Result<Vec<Vec<u8>>> {
        let rows = self.client()?.query(
            "SELECT report FROM dpglm_devices WHERE report > $1 AND round = $2 ORDER BY report LIMIT $3",
            &[&after, &number(round), &signed(limit as u64)],
        )?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn expire(&mut self, now: u64, rule: &dyn Fn(u32) -> Rule) -> Result<Expiry> {
        let (mut transaction, statements) = self.locked()?;
        let (current, holds) = brief(&mut transaction, statements, now)?;
        let rule = rule(current.number);
        let held = active(&holds, now);
        let expiry = expiry(&current, rule, held, now);
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

    fn finish(&mut self, round: u32, now: u64) -> Result<bool> {
        let (mut transaction, _) = self.locked()?;
        let changed = transaction.execute(
            "UPDATE dpglm_rounds SET deadline = least(deadline, $1) WHERE number = $2 AND phase = 'open'",
            &[&signed(now), &number(round)],
        )?;
        transaction.commit()?;
        Ok(changed == 1)
    }

    fn extend(&mut self, round: u32, deadline: u64) -> Result<bool> {
        let (mut transaction, _) = self.locked()?;
        let changed = transaction.execute(
            "UPDATE dpglm_rounds SET deadline = $1, phase = 'open' WHERE number = $2 AND phase IN ('open', 'abandoned')",
            &[&signed(deadline), &number(round)],
        )?;
        transaction.commit()?;
        Ok(changed == 1)
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
