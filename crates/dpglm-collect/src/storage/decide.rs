//! What becomes of each report of a batch. Pure: the storages fetch what it needs and write what it says.

use std::collections::{HashMap, HashSet};

use super::{Phase, Round, Rule, Submission, TokenHash};

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Counted now.
    Accepted,
    /// The identical report of this device is counted already: a retry. Nothing changed.
    AlreadyCounted,
    /// No such token.
    UnknownToken,
    /// The device has already given another report.
    Duplicate,
    /// The bytes are another device's report.
    Replayed,
    /// The round is over.
    Late,
    /// The round has not begun.
    WrongRound,
}

/// The answer a device has given: round and report.
pub(super) type Answer = Option<(u32, Vec<u8>)>;

/// What the storage knew before the batch.
#[derive(Default)]
pub(super) struct Known {
    /// The devices of the batch that are enrolled.
    pub devices: HashMap<TokenHash, Answer>,
    /// The batch's reports that are stored already.
    pub reports: HashSet<Vec<u8>>,
}

/// What to write.
pub(super) struct Decision {
    pub outcomes: Vec<Outcome>,
    /// The round's count after the batch.
    pub count: u64,
    /// Whether the round is now complete.
    pub seal: bool,
}

/// Decides a batch in order of arrival.
///
/// A retry is recognised before anything else, so that a device whose acknowledgement was lost learns the truth even after
/// the round.
pub(super) fn decide(mut known: Known, round: &Round, rule: Rule, batch: &[Submission]) -> Decision {
    let mut count = round.count;
    let mut open = round.phase == Phase::Open;
    let outcomes = batch
        .iter()
        .map(|submission| {
            let Some(answer) = known.devices.get_mut(&submission.token) else { return Outcome::UnknownToken };
            if let Some((given_for, given)) = answer {
                let identical = *given_for == submission.round && *given == submission.report;
                return if identical { Outcome::AlreadyCounted } else { Outcome::Duplicate };
            }
            if submission.round > round.number {
                return Outcome::WrongRound;
            }
            if submission.round < round.number || !open {
                return Outcome::Late;
            }
            if !known.reports.insert(submission.report.clone()) {
                return Outcome::Replayed;
            }
            *answer = Some((submission.round, submission.report.clone()));
            count += 1;
            open = count < rule.target;
            Outcome::Accepted
        })
        .collect();
    Decision { outcomes, count, seal: round.phase == Phase::Open && !open }
}
