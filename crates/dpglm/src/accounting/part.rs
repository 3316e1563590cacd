//! Releases of one public part of the rows: a row lies in one part only, so it pays for one.
//!
//! If the rows are divided in advance, by a rule that no cell enters, a release that reads the rows of one part says nothing of
//! the others'. With the releases C of all rows and P_k of part k, replacing a row of part k costs what C and P_k cost
//! together, in whatever order they were made: the other parts' releases then are functions of what was released before.
//! What is promised to everybody is the largest of these costs, not their sum.

use super::Guarantee;
use crate::error::{Error, Result};
use crate::privacy::Event;
use serde::{Deserialize, Serialize};

/// What was released from one public part of the rows alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Which rows, by a rule that no cell enters.
    pub rows: String,
    /// What was released from them alone.
    pub events: Vec<Event>,
}

/// Everything a row of each part pays for: common events and its part's own; the common ones alone without parts.
pub(crate) fn paths(common: &[Event], parts: &[Part]) -> Vec<Vec<Event>> {
    if parts.is_empty() {
        return vec![common.to_vec()];
    }
    parts.iter().map(|part| [common, &part.events].concat()).collect()
}

/// The guarantee that every row has: the largest epsilon of any part.
pub(crate) fn guarantee(common: &[Event], parts: &[Part], delta: f64) -> Result<Guarantee> {
    let all: Vec<Guarantee> =
        paths(common, parts).iter().map(|path| super::account(path, delta)).collect::<Result<_>>()?;
    let worst = all.into_iter().max_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    worst.ok_or_else(|| Error::Conflict("there is nothing to account: give at least one event".into()))
}

/// The privacy curve that every row has. Deltas at which some part has no finite epsilon are left out.
pub(crate) fn curve(common: &[Event], parts: &[Part]) -> Result<Vec<(f64, f64)>> {
    let mut curves = paths(common, parts).into_iter().map(|path| super::curve(&path));
    let mut worst = curves.next().transpose()?.unwrap_or_default();
    for other in curves {
        let other = other?;
        worst.retain_mut(|(epsilon, delta)| {
            let Some(at) = other.iter().find(|point| point.1 == *delta) else { return false };
            *epsilon = epsilon.max(at.0);
            true
        });
    }
    Ok(worst)
}
