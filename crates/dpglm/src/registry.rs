//! One entry per public method: what it is, and how to try to break it.
//!
//! Each entry carries worst-case pairs of neighbouring inputs and weakened twins. The audit test runs all of them:
//! the honest mechanism must stay within its claim, and every weakened twin must be caught.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `entries` | the list |
//! | `mechanisms`, `labels`, `reports` | mechanisms and the local model: pairs made by hand |
//! | `dense`, `means`, `sparse`, `clamped`, `tuning` | estimators for a trusted curator: every way to call them |
//! | `releases` | the audit of an estimator, release by release |
//! | `search`, `tables`, `evidence` | the neighbours that tell most about a release, and how much they tell |
//!
//! A new estimator needs its line in the list and its ways to be called; everything else follows from the session that it releases
//! through.

mod clamped;
mod dense;
mod describe;
mod entries;
mod evidence;
mod labels;
mod means;
mod mechanisms;
mod method;
mod releases;
mod reports;
mod search;
mod sparse;
mod tables;
mod tuning;

pub use entries::entries;

use crate::audit::Claim;
use crate::error::Result;
use crate::noise::RandomSource;
use crate::privacy::Event;

/// A registered mechanism or estimator.
pub struct Entry {
    /// Its name, as people type it.
    pub name: &'static str,
    /// The public types that it is about.
    pub types: &'static [&'static str],
    /// What it releases, in one line.
    pub summary: &'static str,
    /// What kind of guarantee it gives.
    pub guarantee: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The honest mechanism and its weakened twins, ready to be audited.
    pub audit: fn() -> Result<AuditCase>,
}

/// What the audit of one mechanism or estimator needs.
pub struct AuditCase {
    /// The mechanism as it is: it must stay within its claim.
    pub honest: Subject,
    /// The mechanism broken on purpose, under the honest claim: each must be caught.
    pub weakened: Vec<Subject>,
    /// How far a search for the worst neighbours moved each release of an estimator.
    pub attacks: Vec<Attack>,
    /// Releases at which a twin cannot be caught, because the claim has room to spare.
    pub slack: Vec<Slack>,
    /// Kinds of tables that an estimator takes and that no way to call it tries. There should be none.
    pub untried: Vec<&'static str>,
}

impl AuditCase {
    /// A mechanism, and its twins.
    fn of(honest: Subject, weakened: Vec<Subject>) -> Self {
        Self { honest, weakened, attacks: Vec::new(), slack: Vec::new(), untried: Vec::new() }
    }
}

/// Something that runs on neighbouring inputs.
pub struct Subject {
    /// What it is, or how it is broken.
    pub name: &'static str,
    /// What it is tried with; the claim must hold in every one of them.
    pub trials: Vec<Trial>,
}

/// One pair of neighbours, and the claim that is held against it.
pub struct Trial {
    /// What is looked at: a release and the variant that makes it, all releases, or the result.
    pub of: String,
    /// What is claimed of it.
    pub claim: Claim,
    /// Runs on either side that tell noise from half of it.
    pub runs: u64,
    /// Runs it once.
    pub run: Run,
    /// Whether a broken twin must show here.
    pub telling: bool,
}

/// How far the worst neighbours found move a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Attack {
    /// The way in which the estimator is called.
    pub variant: &'static str,
    /// The release.
    pub release: String,
    /// The largest difference found, as a share of the claimed sensitivity: above 1 the claim is refuted.
    pub share: f64,
    /// Whether a release with half the noise can be told from an honest one on the worst neighbours found.
    pub told: bool,
}

/// A release whose claim has room to spare, however the estimator is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slack {
    /// The release, or "all releases".
    pub release: &'static str,
    /// Why no neighbours come near the claim.
    pub why: &'static str,
}

impl Subject {
    /// A mechanism tried on pairs of its own, each held against the claim of these events.
    fn of(name: &'static str, events: &[Event], runs: u64, pairs: Vec<Run>) -> Result<Self> {
        let claim = Claim::of(events)?;
        let trial = |(place, run): (usize, Run)| Trial {
            of: format!("pair {place}"),
            claim: claim.clone(),
            runs,
            run,
            telling: false,
        };
        Ok(Self { name, trials: pairs.into_iter().enumerate().map(trial).collect() })
    }
}

/// Enough to tell a mechanism from one with half its noise, with room to spare.
const RUNS: u64 = 200_000;

/// Runs on one of two neighbouring inputs and gives the statistics of the output.
pub type Run = Box<dyn FnMut(bool, &mut RandomSource) -> Result<Vec<f64>>>;
