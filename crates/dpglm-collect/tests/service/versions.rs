//! Tables of the first version are brought to this one, with what they hold; those of a later one are refused.

use crate::postgres::Cluster;
use crate::running::{Draft, Running, post};
use dpglm_collect::protocol::StudyProtocol;
use dpglm_collect::storage::{self, Access, Phase, TokenHash, all_reports};
use dpglm_collect::study::{PublicKey, SignedStudy, SigningKey, Study};
use dpglm_collect::token::Token;
use std::net::TcpListener;

/// The tables exactly as the first version created them; PostgreSQL's had the prefix and other names of types.
const SQLITE: &str = "
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
const POSTGRES: &str = "
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

/// A study of the first version in its second round, with one report in its first.
struct Old {
    study: SignedStudy,
    key: PublicKey,
    answered: Token,
    report: Vec<u8>,
}

impl Old {
    fn new() -> Self {
        let text = Draft::default().text();
        let text = text.replace("version = 2", "version = 1").replace("expires = 2099-12-31\n", "");
        let text = text.replace("service = \"http://127.0.0.1:9\"\n", "");
        let key = SigningKey::fresh().unwrap();
        let signed = SignedStudy::sign(Study::parse(&text).unwrap(), &key);
        // One line of digits, as signatures were written then.
        let digits = signed
            .signature()
            .lines()
            .find_map(|line| line.strip_prefix("study ").map(str::to_owned))
            .unwrap();
        let study = SignedStudy::new(&text, &digits).unwrap();
        let mut report = vec![7; 22];
        report[..2].copy_from_slice(&[1, 1]);
        report[18..].copy_from_slice(&[1, 0, 0, 0]);
        Self { study, key: key.public(), answered: Token::fresh().unwrap(), report }
    }

    /// The rows, in SQL that both databases understand but for the way bytes are written.
    fn rows(&self, prefix: &str, bytes: &dyn Fn(&[u8]) -> String) -> String {
        let protocol = StudyProtocol::new(self.study.unverified()).unwrap();
        let state = protocol.first().unwrap();
        let mut sum = protocol.sum(&state).unwrap();
        sum.add(&[&self.report]).unwrap();
        let second = protocol.close_round(&state, &sum).unwrap().result;
        let signature = self.study.signature().replace("study ", "");
        let text = self.study.unverified().text().replace('\'', "''");
        let token = bytes(TokenHash::of(&self.answered).bytes());
        format!(
            "INSERT INTO {prefix}study VALUES (1, '{text}', '{}');
             INSERT INTO {prefix}rounds VALUES (1, 'closed', 1, 1, 0, '{state}', '{second}');
             INSERT INTO {prefix}rounds VALUES (2, 'open', 0, 9999999999, 0, '{second}', NULL);
             INSERT INTO {prefix}devices VALUES ({token}, 1, {});
             UPDATE {prefix}enrolment SET count = 1;",
            signature.trim(),
            bytes(&self.report)
        )
    }

    fn check(&self, place: &str) {
        let refused = storage::open(place, Access::Existing).err().unwrap().to_string();
        assert!(refused.contains("version 1") && refused.contains("back it up"), "{refused}");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let running = Running::with(listener, self.study.clone(), self.key, place, |_| ());
        let mut storage = running.storage();
        let rounds = storage.rounds().unwrap();
        assert_eq!((rounds.len(), rounds[0].phase, rounds[1].phase), (2, Phase::Closed, Phase::Open));
        assert_eq!((rounds[0].count, storage.enrolled().unwrap()), (1, 1));
        assert_eq!(all_reports(&mut *storage, 1).unwrap(), std::slice::from_ref(&self.report));
        assert_eq!(
            storage.assignment().unwrap().first(),
            2,
            "who has not answered goes to the rounds that are left"
        );
        // The device that has answered is known, and another can answer.
        assert_eq!(running.reserve(&self.answered).1, "duplicate");
        let token = running.enroll_in(2, 1).remove(0);
        assert_eq!(running.reserve(&token), (200, "reserved".into(), 2));
        assert_eq!(post(running.address, Some(&token.reveal()), &running.message()).0, 201);
        assert!(
            running.client().accept(&self.key, "", 2.0).is_ok(),
            "a device still answers a study of version 1"
        );
    }
}

#[test]
fn sqlite_tables_of_the_first_version_are_brought_to_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    let old = Old::new();
    let hex = |bytes: &[u8]| format!("x'{}'", dpglm_collect::hex::encode(bytes));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(&format!("{SQLITE}{}", old.rows("", &hex))).unwrap();
    drop(connection);
    old.check(&path.display().to_string());
    // Of a later version.
    rusqlite::Connection::open(&path).unwrap().execute("UPDATE schema SET version = 3", []).unwrap();
    for access in [Access::Serve, Access::Existing] {
        let error = storage::open(&path.display().to_string(), access).err().unwrap().to_string();
        assert!(error.contains("version 3") && error.contains("update this program"), "{error}");
    }
}

#[test]
fn postgresql_tables_of_the_first_version_are_brought_to_this_one() {
    let cluster = Cluster::start();
    let url = cluster.database("old");
    let old = Old::new();
    let hex = |bytes: &[u8]| format!("'\\x{}'", dpglm_collect::hex::encode(bytes));
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    client.batch_execute(&format!("{POSTGRES}{}", old.rows("dpglm_", &hex))).unwrap();
    old.check(&url);
    client.batch_execute("UPDATE dpglm_schema SET version = 3").unwrap();
    assert!(storage::open(&url, Access::Serve).err().unwrap().to_string().contains("version 3"));
}
