//! `dpglm collect` as its users meet it: real processes, killed and restarted; a real browser; the commands.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "collect/browser.rs"]
#[allow(dead_code, reason = "reports ask the browser for more")]
mod browser;
#[path = "collect/commands.rs"]
mod commands;
#[path = "collect/crash.rs"]
mod crash;
#[path = "collect/measures.rs"]
mod measures;
#[path = "collect/page.rs"]
mod page;
#[path = "../../dpglm-collect/tests/service/postgres.rs"]
mod postgres;
#[path = "collect/process.rs"]
mod process;
