//! What a device is told about its report, or about a place in its round: one HTTP status and one machine-readable code for each case.
//!
//! A retry of the identical report is answered 200 `already-counted`, before and after the end of its round: a device whose
//! acknowledgement was lost must be able to learn the truth without spending more. Anything else changes nothing and says why.

/// The answer to a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Counted, and durable.
    Accepted,
    /// The identical report is counted already.
    AlreadyCounted,
    /// Not a message of this protocol, or not a report of this study's kind.
    Malformed,
    /// No enrolment token, or one that is not enrolled.
    Token,
    /// The device has already given another report.
    Duplicate,
    /// The round is over.
    Late,
    /// Not this device's round, or it has not begun.
    WrongRound,
    /// The body is longer than any report.
    Oversized,
    /// Made for another study, or another version of it.
    WrongStudy,
    /// The bytes are another device's report.
    Replayed,
    /// Too many requests from this address.
    TooMany,
    /// The body did not arrive in time.
    Slow,
    /// Too many reports are waiting, or the storage failed: not acknowledged, send the identical bytes again.
    Unavailable,
    /// A place in the device's round is held: it may make its report now.
    Reserved,
    /// The device's round has no place now. Nothing was spent.
    Wait,
    /// The device's round is over. Nothing was spent.
    Missed,
}

impl Answer {
    /// All answers.
    pub const ALL: [Answer; 16] = [
        Answer::Accepted,
        Answer::AlreadyCounted,
        Answer::Malformed,
        Answer::Token,
        Answer::Duplicate,
        Answer::Late,
        Answer::WrongRound,
        Answer::Oversized,
        Answer::WrongStudy,
        Answer::Replayed,
        Answer::TooMany,
        Answer::Slow,
        Answer::Unavailable,
        Answer::Reserved,
        Answer::Wait,
        Answer::Missed,
    ];

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Answer::Accepted => 201,
            Answer::AlreadyCounted => 200,
            Answer::Malformed => 400,
            Answer::Token => 401,
            Answer::Slow => 408,
            Answer::Duplicate => 409,
            Answer::Late => 410,
            Answer::WrongRound => 412,
            Answer::Oversized => 413,
            Answer::WrongStudy => 421,
            Answer::Replayed => 422,
            Answer::TooMany => 429,
            Answer::Unavailable => 503,
            Answer::Reserved => 200,
            Answer::Wait => 202,
            Answer::Missed => 410,
        }
    }

    /// The code, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Answer::Accepted => "accepted",
            Answer::AlreadyCounted => "already-counted",
            Answer::Malformed => "malformed",
            Answer::Token => "token",
            Answer::Duplicate => "duplicate",
            Answer::Late => "late",
            Answer::WrongRound => "wrong-round",
            Answer::Oversized => "oversized",
            Answer::WrongStudy => "wrong-study",
            Answer::Replayed => "replayed",
            Answer::TooMany => "too-many-requests",
            Answer::Slow => "slow",
            Answer::Unavailable => "unavailable",
            Answer::Reserved => "reserved",
            Answer::Wait => "wait",
            Answer::Missed => "missed",
        }
    }

    /// One sentence for people.
    pub fn message(self) -> &'static str {
        match self {
            Answer::Accepted => "counted",
            Answer::AlreadyCounted => "this report is counted already",
            Answer::Malformed => "not a report of this study: see the message format",
            Answer::Token => "send an enrolment token of this study as Authorization: Bearer",
            Answer::Duplicate => "this device has already answered: a device answers once",
            Answer::Late => "the round is over: the report was not counted",
            Answer::WrongRound => "the round has not begun, or is not this device's: ask for a place first",
            Answer::Oversized => "the body is longer than a report",
            Answer::WrongStudy => "the report was made for another study",
            Answer::Replayed => "these bytes are another device's report",
            Answer::TooMany => "too many requests from this address: wait a little",
            Answer::Slow => "the body did not arrive in time",
            Answer::Unavailable => "not counted yet: send the identical report again a little later",
            Answer::Reserved => "a place is held: make the report now",
            Answer::Wait => "no place in this device's round now: nothing was spent, come back later",
            Answer::Missed => "this device's round is over: nothing was spent",
        }
    }

    /// The answer with this code, for clients.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.code() == code)
    }

    /// Whether sending the identical report again can help.
    pub fn retry(self) -> bool {
        matches!(self, Answer::TooMany | Answer::Slow | Answer::Unavailable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_a_status_and_a_code_of_its_own() {
        for (place, answer) in Answer::ALL.into_iter().enumerate() {
            assert_eq!(Answer::from_code(answer.code()), Some(answer));
            let others = &Answer::ALL[place + 1..];
            // A request for a place and a report never meet, so their answers may share a number.
            let places = |answer| matches!(answer, Answer::Reserved | Answer::Wait | Answer::Missed);
            let same =
                |other: &&Answer| places(**other) == places(answer) && other.status() == answer.status();
            assert!(others.iter().find(same).is_none(), "{answer:?}");
        }
        assert_eq!(Answer::from_code("?"), None);
    }
}
