//! The papers' experiments again: as printed, and with the certified methods, side by side.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`figure`] | what a figure is: claim, choices, points, lines, how one repetition is computed |
//! | [`figures`] | the list of all figures |
//! | [`task`] | one repetition at one point: its seeds and its values |
//! | [`journal`], [`runner`], [`progress`] | finished tasks on disk; all cores, within a limit of memory |
//! | [`results`], [`verdict`] | means and standard errors; does the paper's claim hold? |
//! | [`plot`], [`page`] | SVG drawings, the Markdown table and the HTML page |
//! | [`draw`], [`data`] | simulated data; real data from a folder |
//! | [`literal`] | the papers' algorithms exactly as printed |
//! | [`c20`], [`c21`], [`attacks`] | the figures |
//! | [`wg`], [`nl`], [`wx`] | those of sparse and local models |
//!
//! To add a figure: one file with a `pub fn figure() -> Figure`, and its line in [`figures::all`].
//!
//! Nothing here is private: every run has a fixed seed. The literal algorithms draw ordinary floating-point noise.

#![warn(unreachable_pub)]

pub mod attacks;
pub mod c20;
pub mod c21;
pub mod data;
pub mod draw;
pub mod figure;
pub mod figures;
pub mod journal;
pub mod literal;
pub mod nl;
pub mod page;
pub mod plot;
pub mod progress;
pub mod results;
pub mod runner;
pub mod task;
pub mod verdict;
pub mod wg;
pub mod wx;

/// What can go wrong in the lab, in words.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
/// The lab's result type.
pub type Result<T> = std::result::Result<T, Failure>;
