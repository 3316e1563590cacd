//! The tables, as the first version made them and as each later one changes them. What is written here is never edited: another
//! version gets another step.

/// In SQLite.
pub(super) mod sqlite {
    /// The tables as the first version made them.
    pub(crate) const SCHEMA_1: &str = "
CREATE TABLE study (
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, signature TEXT NOT NULL) STRICT;
CREATE TABLE rounds (
    number INTEGER PRIMARY KEY, phase TEXT NOT NULL, count INTEGER NOT NULL, deadline INTEGER NOT NULL,
    extensions INTEGER NOT NULL, state TEXT NOT NULL, result TEXT) STRICT;
CREATE TABLE devices (
    token BLOB PRIMARY KEY, round INTEGER REFERENCES rounds, report BLOB UNIQUE,
    CHECK ((round IS NULL) = (report IS NULL))) STRICT, WITHOUT ROWID;
CREATE TABLE enrolment (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL) STRICT;
INSERT INTO enrolment VALUES (1, 0);";

    /// Places in a round, rounds drawn from tokens, revoked tokens, and the version itself.
    pub(crate) const FROM_1_TO_2: &str = "
CREATE TABLE schema (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
INSERT INTO schema VALUES (1, 2);
CREATE TABLE assignment (
    one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL, first INTEGER NOT NULL) STRICT;
CREATE TABLE holds (
    round INTEGER NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (round, until)) STRICT, WITHOUT ROWID;
ALTER TABLE devices ADD COLUMN held INTEGER;
ALTER TABLE devices ADD COLUMN revoked INTEGER NOT NULL DEFAULT 0;";
}

/// In PostgreSQL.
pub(super) mod postgres {
    /// The tables as the first version made them.
    pub(crate) const SCHEMA_1: &str = "
CREATE TABLE dpglm_study (
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, signature TEXT NOT NULL);
CREATE TABLE dpglm_rounds (
    number INTEGER PRIMARY KEY, phase TEXT NOT NULL, count BIGINT NOT NULL, deadline BIGINT NOT NULL,
    extensions INTEGER NOT NULL, state TEXT NOT NULL, result TEXT);
CREATE TABLE dpglm_devices (
    token BYTEA PRIMARY KEY, round INTEGER REFERENCES dpglm_rounds, report BYTEA UNIQUE,
    CHECK ((round IS NULL) = (report IS NULL)));
CREATE TABLE dpglm_enrolment (one INTEGER PRIMARY KEY CHECK (one = 1), count BIGINT NOT NULL);
INSERT INTO dpglm_enrolment VALUES (1, 0);";

    /// Places in a round, rounds drawn from tokens, revoked tokens, and the version itself.
    pub(crate) const FROM_1_TO_2: &str = "
CREATE TABLE dpglm_schema (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
INSERT INTO dpglm_schema VALUES (1, 2);
CREATE TABLE dpglm_assignment (
    one INTEGER PRIMARY KEY CHECK (one = 1), key BYTEA NOT NULL, first INTEGER NOT NULL);
CREATE TABLE dpglm_holds (
    round INTEGER NOT NULL, until BIGINT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (round, until));
ALTER TABLE dpglm_devices ADD COLUMN held BIGINT;
ALTER TABLE dpglm_devices ADD COLUMN revoked BOOLEAN NOT NULL DEFAULT FALSE;";
}
