//! Does the program keep its promise? Attacks on estimates, and what their success proves about epsilon.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`tracing`], [`score`] | the attacks of the papers: was this record in the table? |
//! | [`roc`] | how well an attack tells members from others |
//! | [`empirical`] | lower bounds on epsilon from many runs on two neighbours |
//! | [`one_run`], [`trade_off`] | what one run with many canaries proves, and of which promises |
//! | [`canaries`], [`table`], [`simulate`] | the rows that are planted, and those they are planted among |
//! | [`inspect`] | all of it together, for one estimator |
//!
//! An audit reads private rows and says things about them: its results are for the curator, never for publication.

pub mod binomial;
pub mod canaries;
pub mod empirical;
mod guesses;
pub mod inspect;
pub mod one_run;
pub mod roc;
pub mod score;
pub mod simulate;
pub mod table;
pub mod tracing;
pub mod trade_off;

pub use canaries::{Canaries, Opposite, PublicBox};
pub use empirical::{Audit, Claim, Finding, Report};
pub use inspect::{Findings, Fitter, Ground, Inspection};
pub use one_run::OneRun;
pub use roc::Roc;
pub use score::{Estimand, ScoreAttack};
pub use simulate::DataModel;
pub use table::Table;
pub use trade_off::TradeOff;
