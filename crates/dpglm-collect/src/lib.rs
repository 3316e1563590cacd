//! Private regression from people's devices.
//!
//! A *study* is a signed file: model, bounds, epsilon, rounds, who may answer. Devices fetch the current round, randomize on
//! their side and send one report of 33 bytes. The service adds reports up and takes one step of the fit after each round.
//!
//! | module | role |
//! | --- | --- |
//! | [`study`] | the study file, its signature, its fingerprint |
//! | [`message`] | what a device sends, byte by byte |
//! | [`client`] | the device: check, randomize, keep, send |
//! | [`protocol`] | what device and curator compute alike: rounds, reports, sums, the estimate |
//! | [`influence`] | what people who act together can do to a study; what shuffled reports cost |
//! | [`storage`] | where it lives: SQLite or PostgreSQL |
//! | [`server`] | HTTP around it |
//! | [`simulate`] | many devices against a real service |
//!
//! Roles are apart: the client never sees a storage, the protocol never sees HTTP, and only the client sees data.

#![warn(unreachable_pub)]

pub mod answer;
#[cfg(feature = "client")]
pub mod client;
pub mod error;
pub mod influence;
pub mod message;
pub mod protocol;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "client")]
pub mod simulate;
#[cfg(feature = "server")]
pub mod storage;
pub mod study;
pub mod token;

pub use dpglm_sign::hex;
pub use error::{Error, Result};
