//! The service as its users meet it: over HTTP, killed and restarted, with SQLite and with PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "service/postgres.rs"]
mod postgres;
#[path = "service/storages.rs"]
mod storages;
