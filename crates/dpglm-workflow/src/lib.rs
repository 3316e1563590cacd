//! From a table, a model and a budget to an artefact.
//!
//! The command and the Python package fit the same models to the same tables and leave the same artefacts behind. What
//! they share is here: what fits together and what is refused, in which words, how noise is calibrated, and what an
//! artefact holds. What differs is where a table comes from and how results are shown.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`failure`] | why there is no result |
//! | [`public_facts`] | what is publicly known of a table: a schema, or one pair of bounds |
//! | [`model`], [`tune`] | which model is fitted, by which method, and what is chosen privately |
//! | [`means`] | which means are taken |
//! | [`describe`] | the description of a table, its artefact and drawings |
//! | [`search`] | private bounds: which columns need them |
//! | [`budget`] | the privacy granted: no number has a default |
//! | [`ledger`] | what is paid from a ledger, and what would fit |
//! | [`fit`] | from an encoded table to the artefact of a fit or of means |
//! | [`document`] | the artefacts: self-describing JSON |
//! | [`signed`] | artefacts with a signature beside them |
//! | [`predict`] | what a fitted model says about other rows |
//! | [`inference`] | tests, ratios, contrasts, intervals of predictions: what follows from an artefact alone |
//! | [`planned`] | what a dry run promises |
//! | [`study`] | plans of studies, by simulation |
//! | [`audit`] | attacks on a method, beside its claim |
//! | [`packed`] | rows that somebody else holds, and what they answer |
//! | [`notes`] | what is said beside a result |
//! | [`render`], [`table`] | numbers and tables for people |

#![warn(unreachable_pub)]

pub mod audit;
pub mod budget;
mod data;
pub mod describe;
pub mod document;
pub mod failure;
pub mod fit;
pub mod inference;
mod large;
pub mod ledger;
pub mod means;
pub mod model;
pub mod notes;
pub mod packed;
pub mod planned;
pub mod predict;
pub mod public_facts;
pub mod render;
pub mod search;
pub mod signed;
pub mod study;
pub mod survival;
pub mod table;
pub mod tune;

pub use failure::Failure;
pub use large::WatchRows;
pub use public_facts::PublicFacts;
