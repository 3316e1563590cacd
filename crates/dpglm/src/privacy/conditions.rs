//! On what every promise rests that no program can enforce: the one list of conditions of use.
//!
//! A certificate takes its list from here when it is made, by its adjacency and by where its noise came from, so every
//! estimator inherits it. What an estimator adds to it ([`crate::accounting::Certificate::provided`]) is about that estimator alone.
//!
//! | condition | why a program cannot see to it |
//! | --- | --- |
//! | what was declared is public | it is given the bounds, not where they came from |
//! | numbers of rows, of units, of those who take part are public | neighbours have equally many; the artefact states them |
//! | rows of one person carry one id | it knows people by that column only |
//! | one report a user | it does not see what a device sent elsewhere |
//! | the order of the rows | where places are used, it is given the rows in some order, not why in that one |
//! | losses and families of the caller's own are functions | it calls code that it cannot read |
//! | randomness is computational | exact noise is drawn from a cipher's output, and no cipher is proved to be secure |
//! | time and memory are not observed | both depend on the rows |
//! | failed runs are not released | whether and where a run fails may depend on the rows |

use super::adjacency::Adjacency;
use crate::noise::RandomSource;

/// Of a table: what is declared beside the rows.
pub(crate) const DECLARED: &str = "the declared bounds and levels, the names of the columns and whether there is a header line are public: \
                            none was chosen by looking at private rows";
/// Of a table protected row by row.
pub const ROWS: &str = "the number of rows is public";
/// Of a program that runs where the rows are.
pub(crate) const COMPUTATIONAL: &str = "the randomness is computational: nobody can tell the output of ChaCha20, seeded by the operating system, \
                                 from random bits";
/// Of every program.
pub(crate) const TIMING: &str =
    "nobody observes how long the run takes or how much memory it uses: neither is part of the promise";
/// Of every program.
pub(crate) const FAILED: &str = "a failed run is not released";
/// Of a release that goes by the places of rows in the table.
pub const ORDER: &str = "the order of the rows does not depend on their private cells: a table sorted by one must be shuffled first";
/// Of a table whose rows were cut into several: enforced, not a condition.
pub const MADE_OF_ONE: &str = "all rows that are made of one row of the table are replaced with it, and what they add together is bounded";
/// Of a loss or a family that the caller wrote.
pub const OWN_CODE: &str = "the loss or family that the caller wrote computes its answer for a row from that row alone: it remembers no other";

/// In the local model: what is declared, and who answers.
pub(crate) const LOCAL_DECLARED: &str =
    "the declared bounds and levels are public, and so is who takes part and how many they are";
/// In the local model with private labels.
pub(crate) const LOCAL_FEATURES: &str = "the users' features are public: the promise is for the label alone";
/// In the local model.
pub(crate) const LOCAL_ONCE: &str = "each user sends one report, and a repetition sends the same bytes";
/// In the local model.
pub(crate) const LOCAL_COMPUTATIONAL: &str = "the randomness is computational: each device draws it from its own operating system, and nobody can tell it \
                                       from random bits";
/// In the local model.
pub(crate) const LOCAL_TIMING: &str =
    "nobody observes how long a device takes or how much memory it uses: neither is part of the promise";
/// In the local model.
pub(crate) const LOCAL_FAILED: &str = "a device whose run fails sends nothing";

/// Of a table protected unit by unit, with the name of the column that says whose row it is.
pub fn units(column: &str) -> String {
    format!("the number of units is public, and all rows of one person carry the same `{column}`")
}

/// Where the noise of a certificate comes from. No certificate is made without saying so.
#[derive(Debug, Clone, Copy)]
pub enum Randomness<'a> {
    /// This source. One with a fixed seed takes the promise back.
    Source(&'a RandomSource),
    /// Devices that are not here, each with a source of its own: for a server or a plan in the local model. That the
    /// sources are good is then a condition.
    Devices,
}

impl<'a> From<&'a RandomSource> for Randomness<'a> {
    fn from(source: &'a RandomSource) -> Self {
        Self::Source(source)
    }
}

impl<'a> From<&'a mut RandomSource> for Randomness<'a> {
    fn from(source: &'a mut RandomSource) -> Self {
        Self::Source(source)
    }
}

/// The conditions of every promise about such neighbours, in the order in which they are shown.
pub(crate) fn of_use(adjacency: &Adjacency) -> Vec<String> {
    match adjacency {
        Adjacency::ReplaceRow | Adjacency::ReplacePair => {
            [DECLARED, ROWS, COMPUTATIONAL, TIMING, FAILED].map(String::from).to_vec()
        }
        Adjacency::ReplaceUnit(column) => {
            vec![DECLARED.into(), units(column), COMPUTATIONAL.into(), TIMING.into(), FAILED.into()]
        }
        Adjacency::ReplaceUserRecord => {
            [LOCAL_DECLARED, LOCAL_ONCE, LOCAL_COMPUTATIONAL, LOCAL_TIMING, LOCAL_FAILED]
                .map(String::from)
                .to_vec()
        }
        Adjacency::ReplaceUserLabel => {
            [LOCAL_DECLARED, LOCAL_FEATURES, LOCAL_ONCE, LOCAL_COMPUTATIONAL, LOCAL_TIMING, LOCAL_FAILED]
                .map(String::from)
                .to_vec()
        }
    }
}
