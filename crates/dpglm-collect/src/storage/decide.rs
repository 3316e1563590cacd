//! What becomes of each request of a batch. Pure: the storages fetch what it needs and write what it says.
//!
//! A device asks for a *place* in its round before it makes its report, and spends nothing if there is none. A place is held
//! for a while. Reports and held places together never exceed the round's target, a round with places out is not sealed, and
//! a report with a place is counted while its round is open, so nobody who spent in time is turned away.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Phase, Request, Round, Terms, TokenHash};

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A report: counted now.
    Accepted,
    /// A report: the identical one of this device is counted already, a retry. Nothing changed.
    AlreadyCounted,
    /// No such token, or it was revoked.
    UnknownToken,
    /// The device has already given another report.
    Duplicate,
    /// The bytes are another device's report.
    Replayed,
    /// The round is over.
    Late,
    /// Not this device's round, or it has not begun.
    WrongRound,
    /// A place in this round, the device's own, is held for so many seconds.
    Reserved(u32, u64),
    /// The device's round has no place now: nothing is spent by waiting.
    Wait(u32),
    /// The device's round is over, and it took no part: nothing was spent.
    Missed(u32),
}

/// What the storage knew about a device.
#[derive(Default, Clone)]
pub(super) struct Device {
    /// The answer it has given: round and report.
    pub answer: Option<(u32, Vec<u8>)>,
    /// Until when its place is held.
    pub held: Option<u64>,
    pub revoked: bool,
}

/// What the storage knew before the batch.
#[derive(Default)]
pub(super) struct Known {
    /// The devices of the batch that are enrolled.
    pub devices: HashMap<TokenHash, Device>,
    /// The batch's reports that are stored already.
    pub reports: HashSet<Vec<u8>>,
    /// How many places of the current round are held until when.
    pub holds: BTreeMap<u64, u64>,
}

/// What to write.
pub(super) struct Decision {
    pub outcomes: Vec<Outcome>,
    /// The round's count after the batch.
    pub count: u64,
    /// Whether the round is now complete.
    pub seal: bool,
    /// The places that were given, by device.
    pub places: HashMap<TokenHash, u64>,
    /// The numbers of held places that changed.
    pub holds: BTreeMap<u64, u64>,
}

/// Places that are still held.
pub(super) fn active(holds: &BTreeMap<u64, u64>, now: u64) -> u64 {
    holds.range(now + 1..).map(|(_, count)| count).sum()
}

/// Decides a batch in order of arrival.
///
/// A retry is recognised before anything else, so that a device whose acknowledgement was lost learns the truth even after
/// the round.
pub(super) fn decide(mut known: Known, round: &Round, terms: &Terms<'_>, batch: &[Request]) -> Decision {
    let rule = (terms.rule)(round.number);
    let open = round.phase == Phase::Open;
    let until = terms.held_until();
    let before = known.holds.clone();
    let (mut count, mut held) = (round.count, active(&known.holds, terms.now));
    let mut places = HashMap::new();
    let outcomes = batch
        .iter()
        .map(|request| {
            let token = request.token();
            let Some(device) = known.devices.get_mut(token) else { return Outcome::UnknownToken };
            if let (Some((given_for, given)), Request::Report(submission)) = (&device.answer, request) {
                let identical = *given_for == submission.round && *given == submission.report;
                return if identical { Outcome::AlreadyCounted } else { Outcome::Duplicate };
            }
            if device.revoked {
                return Outcome::UnknownToken;
            }
            if device.answer.is_some() {
                return Outcome::Duplicate;
            }
            let own = (terms.assigned)(token);
            let holds_place = device.held.is_some_and(|held| held > terms.now);
            match request {
                Request::Reserve(_) => {
                    if own > round.number {
                        return Outcome::Wait(own);
                    }
                    if own < round.number || !open || !terms.current {
                        return Outcome::Missed(own);
                    }
                    // A place is renewed as long as it would be given: nobody keeps a round open by asking again.
                    let room =
                        count + held - u64::from(holds_place) < rule.target && terms.now < round.deadline;
                    let Some(old) = device.held.filter(|_| holds_place) else {
                        if !room {
                            return Outcome::Wait(own);
                        }
                        device.held = Some(until);
                        *known.holds.entry(until).or_default() += 1;
                        held += 1;
                        places.insert(*token, until);
                        return Outcome::Reserved(own, terms.hold);
                    };
                    if !room {
                        let left = (old - terms.now).saturating_sub(terms.grace()).min(terms.hold);
                        return if left > 0 { Outcome::Reserved(own, left) } else { Outcome::Wait(own) };
                    }
                    device.held = Some(until);
                    release(&mut known.holds, old);
                    *known.holds.entry(until).or_default() += 1;
                    places.insert(*token, until);
                    Outcome::Reserved(own, terms.hold)
                }
                Request::Report(submission) => {
                    if submission.round != own || own > round.number {
                        return Outcome::WrongRound;
                    }
                    // A place that has lapsed still counts for something while its round is open.
                    let room = device.held.is_some() || count + held < rule.target;
                    if own < round.number || !open || !room {
                        return Outcome::Late;
                    }
                    if !known.reports.insert(submission.report.clone()) {
                        return Outcome::Replayed;
                    }
                    device.answer = Some((submission.round, submission.report.clone()));
                    if let Some(old) = device.held.take().filter(|_| holds_place) {
                        release(&mut known.holds, old);
                        held -= 1;
                    }
                    places.remove(token);
                    count += 1;
                    Outcome::Accepted
                }
            }
        })
        .collect();
    let changed = known.holds.iter().filter(|(until, count)| before.get(until) != Some(count));
    Decision {
        outcomes,
        count,
        seal: open && count >= rule.target && held == 0,
        places,
        holds: changed.map(|(until, count)| (*until, *count)).collect(),
    }
}

fn release(holds: &mut BTreeMap<u64, u64>, until: u64) {
    if let Some(count) = holds.get_mut(&until) {
        *count = count.saturating_sub(1);
    }
}
