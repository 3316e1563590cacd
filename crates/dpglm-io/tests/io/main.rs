//! What the crate promises, seen from outside: files in, tables out, and a message a person can act on otherwise.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its files should stop")]

mod artefacts;
mod declared;
mod drafts;
mod encoding;
mod formats;
mod formulas;
mod hostile;
mod large;
mod memory;
mod missing;
mod real_data;
mod sparse;
mod support;
mod wrong_files;
mod wrong_schemas;
