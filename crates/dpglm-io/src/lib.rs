//! Tables in, artefacts out.
//!
//! A file is read under a [`schema`] that declares each column's kind and *public* bounds or levels. Bounds come from
//! public knowledge, never from the rows, and decide the scaling; a cell that does not keep to them is mapped by a
//! public rule, so that no single row can stop a fit or change its shape:
//!
//! | cell | rule |
//! | --- | --- |
//! | number outside its bounds | clamped to them |
//! | missing, not a number, NaN, infinite | the column's fill value; under `missing = "drop"` the row's weight is 0; under `"indicator"` also a 1 in the column `NAME=missing` |
//! | undeclared level of a feature | the reference level; under `undeclared = "missing"` as a missing cell |
//! | undeclared level of the target | as a missing cell |
//! | exposure at or below zero | raised to its lower bound, which is above zero |
//! | row without a unit's id | such rows are together one unit |
//!
//! The number of rows never changes. Faults of the file itself (unreadable, ragged, a column missing or not declared)
//! are errors for the curator, and so is the first bad cell in strict mode; then nothing may be released.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`error`] | one error type: file, place, problem, way out |
//! | [`bounds`] | public bounds and the scaling they imply |
//! | [`schema`] | the TOML schema, its validation and its draft |
//! | [`uniform`] | one pair of bounds in place of a schema |
//! | [`encode`] | the encoded table and the way back to the user's units |
//! | [`read`] | CSV, Parquet, JSON-lines, NumPy, SciPy and LIBSVM files |
//! | [`memory`] | matrices, sparse rows and columns that are in memory already |
//! | [`large`] | tables larger than memory, in blocks |
//! | [`packing`] | rows in few bytes, for somebody else to hold |
//! | [`text`] | tables of words for people |
//! | [`artefact`] | writing a file whole or not at all |
//!
//! # Example
//!
//! ```
//! use dpglm_io::{ReadOptions, Schema, read_table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("people.csv");
//! std::fs::write(&file, "age,sex,income\n39,Male,52\n,Female,61\n120,Male,38\n")?;
//! let schema = Schema::parse(
//!     r#"
//!     target = "income"
//!     [columns]
//!     age = { kind = "real", bounds = [18, 98], fill = 40 }
//!     sex = { kind = "binary", levels = ["Female", "Male"] }
//!     income = { kind = "real", bounds = [0, 200] }
//!     "#,
//! )?;
//! let table = read_table(&file, &schema, &ReadOptions::default())?;
//! assert_eq!(table.rows(), 3);
//! assert_eq!(table.response, [52.0, 61.0, 38.0]);
//!
//! // A slope of 0.8 for the stored age is 0.02 for a year.
//! let (slopes, _) = table.to_user_units(&[0.8, 0.0], Some(0.0));
//! assert!(slopes[0].0 == "age" && (slopes[0].1 - 0.02).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(unreachable_pub)]

pub mod artefact;
pub mod bounds;
mod cell;
pub mod encode;
pub mod error;
mod formula;
pub mod large;
mod levels;
pub mod memory;
pub mod packing;
pub mod read;
pub mod schema;
pub mod text;
pub mod uniform;

pub use artefact::{check_writable, write_atomically, write_secret};
pub use bounds::{Bounds, Scale, Scaling};
pub use encode::{
    CuratorNotes, Domain, Encoded, EncodedColumn, Precision, RowBlock, Target, Touched, Units, UserUnits,
    norm_bound,
};
pub use error::{Error, Place, Result};
pub use large::LargeTable;
pub use levels::Levels;
pub use read::{Declared, Format, ReadOptions, Shape, read_table, read_uniform, shape, uniform_of_file};
pub use schema::{Schema, check, draft};
pub use uniform::{Response, TableBounds, UniformBounds};
