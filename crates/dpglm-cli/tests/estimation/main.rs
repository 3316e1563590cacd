//! The commands that read tables, run as a user runs them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod audit;
mod descriptions;
mod estimates;
mod families;
mod formulas;
mod golden;
mod interrupted;
mod large;
mod ledgers;
mod means;
mod outputs;
mod parquet_files;
mod planning;
mod printing;
mod reports;
mod signed;
mod sites;
mod sparse;
mod support;
mod tuning;
mod units;
mod wrong_input;

/// Help and messages, word for word.
#[test]
fn help_and_messages() {
    trycmd::TestCases::new().case("tests/estimation/cmd/*.trycmd");
}
