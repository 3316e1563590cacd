//! The service as devices meet it: over HTTP, with SQLite and with PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "service/collusion.rs"]
mod collusion;
#[path = "service/devices.rs"]
mod devices;
#[path = "service/fuzz.rs"]
mod fuzz;
#[path = "service/postgres.rs"]
mod postgres;
#[path = "service/refusals.rs"]
mod refusals;
#[path = "service/rounds.rs"]
mod rounds;
#[path = "service/running.rs"]
mod running;
#[path = "service/storages.rs"]
mod storages;
#[path = "service/trouble.rs"]
mod trouble;
#[path = "service/versions.rs"]
mod versions;
