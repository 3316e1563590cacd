//! What a device sends, byte by byte. The same 33 bytes whatever the number of features.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 | version of this message: 1 |
//! | 1..9 | the first 8 bytes of the study's fingerprint |
//! | 9..11 | the round, from 1, little endian |
//! | 11..33 | the report of [`dpglm::local`], 22 bytes, whose layout is documented there |
//!
//! The enrolment token travels beside it, in the header `Authorization: Bearer`, so that a message by itself names nobody.

use std::fmt;

use crate::study::Fingerprint;
use dpglm::local::randomizer::{REPORT_BYTES, Report};

/// A report in its envelope.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The study, by the beginning of its fingerprint.
    pub study: [u8; 8],
    /// The round the report was made for.
    pub round: u16,
    /// The report's bytes.
    pub report: [u8; REPORT],
}

const VERSION: u8 = 1;
/// Bytes of a report.
pub(crate) const REPORT: usize = REPORT_BYTES;
/// Bytes of a message.
pub const LENGTH: usize = 11 + REPORT;

impl Message {
    /// The message of a report.
    pub fn new(study: &Fingerprint, round: u16, report: &Report) -> Self {
        Self { study: study.prefix(), round, report: report.to_bytes() }
    }

    /// The bytes on the wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.push(VERSION);
        bytes.extend(self.study);
        bytes.extend(self.round.to_le_bytes());
        bytes.extend(self.report);
        bytes
    }

    /// Reads exactly one message; `None` for any other length, version or report.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let (&version, rest) = bytes.split_first()?;
        let (study, rest) = rest.split_first_chunk()?;
        let (round, report) = rest.split_first_chunk()?;
        let report = report.try_into().ok()?;
        let message = Self { study: *study, round: u16::from_le_bytes(*round), report };
        (version == VERSION && message.round > 0 && Report::from_bytes(&message.report).is_ok())
            .then_some(message)
    }
}

impl fmt::Debug for Message {
    /// What a device said belongs in no log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Message").field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;
    use dpglm::local::randomizer::Kind;

    #[test]
    fn byte_by_byte() {
        let report = Report { kind: Kind::Duchi, seed: [0xab; 16], index: 1 };
        let message = Message { study: [1, 2, 3, 4, 5, 6, 7, 8], round: 0x0102, report: report.to_bytes() };
        let bytes = message.to_bytes();
        let seed = "ab".repeat(16);
        assert_eq!(hex::encode(&bytes), format!("01010203040506070802010101{seed}01000000"));
        assert_eq!(bytes.len(), LENGTH);
        assert_eq!(Message::from_bytes(&bytes), Some(message));
        for (place, value) in [(0, 0), (0, 2), (11, 0), (12, 0), (12, 3)] {
            let mut wrong = bytes.clone();
            wrong[place] = value;
            assert_eq!(Message::from_bytes(&wrong), None, "{place}");
        }
        let mut no_round = bytes.clone();
        no_round[9..11].fill(0);
        assert_eq!(Message::from_bytes(&no_round), None);
        assert_eq!(Message::from_bytes(&bytes[..32]), None);
        assert_eq!(Message::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }
}
