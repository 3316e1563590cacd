//! SVG drawings, one file per kind.
//!
//! | module | what it draws |
//! | --- | --- |
//! | [`privacy_curve()`] | epsilon against delta |
//! | [`planned_error()`] | the expected error of a planned study |
//! | [`roc()`] | how well attacks tell members from others |
//! | [`trade_off()`] | how well any attack could, by a privacy curve |
//! | [`forest`] | estimates with their intervals |
//! | [`bars`] | histograms and levels with error bars |
//! | [`chart`] | lines with error bars and a legend |
//! | `svg`, `axis`, `frame` | what they are drawn with |
//!
//! Written by hand and not with a plotting crate, because those place text by a font's measures, give marks no `<title>` that a
//! reader can point at, and know no name for the whole drawing that a screen reader says.

#![warn(unreachable_pub)]

mod axis;
pub mod bars;
pub mod chart;
pub mod forest;
mod frame;
mod planned_error;
mod privacy_curve;
mod roc;
mod svg;
mod trade_off;

pub use planned_error::planned_error;
pub use privacy_curve::privacy_curve;
pub use roc::roc;
pub use svg::{escaped, themed};
pub use trade_off::trade_off;

/// Okabe and Ito's colours, without the yellow that fades on white: they stay apart for colour-blind readers.
pub const COLOURS: [&str; 7] = [BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", BLACK];
const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";
const BLACK: &str = "#000000";
/// What says nothing.
const GREY: &str = "#6b6b6b";
/// Text and axes.
const DARK: &str = "#222";
/// Lines that lead the eye.
const GRID: &str = "#e4e4e4";
