//! The native half of the R package: conversions between R and the library, and nothing else.
//!
//! | module | what it converts |
//! | --- | --- |
//! | `words` | failures to what R makes conditions of, parameters as R's arguments |
//! | `values` | R's lists to JSON and back |
//! | `running` | a long computation to one that R can interrupt |
//! | `table` | columns and matrices to encoded tables |
//! | `fit` | what a user asks for to a model or means, and its artefact to JSON |
//! | `describe`, `study`, `audit` | the same for descriptions, plans and audits |
//! | `ledger` | ledgers that pay |
//! | `artefact` | artefacts and documents to what is shown, predicted and reported |
//! | `accounting` | events |

#![cfg(feature = "r")]

mod accounting;
mod artefact;
mod audit;
mod describe;
mod entries;
mod fit;
mod ledger;
mod running;
mod study;
mod table;
mod values;
mod words;
