//! The report that leaves a user's device.
//!
//! A report names a direction: the seed from which public directions are generated ([`super::directions`]) and a small
//! number that says which of them, or which side, was chosen. It is 22 bytes long, whatever the dimension is:
//!
//! | bytes | meaning |
//! | --- | --- |
//! | 0 | version of this layout: 1 |
//! | 1 | kind of randomizer: 1 Duchi, 2 PrivUnit |
//! | 2 .. 18 | the seed, 16 bytes |
//! | 18 .. 22 | the index, least significant byte first |
//!
//! `docs/local-reports.md` says how a device arrives at these bytes; `tests/vectors/local_reports.json` has examples.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many bytes a report has.
pub const REPORT_BYTES: usize = 22;
/// The version of the layout.
const VERSION: u8 = 1;

/// Which randomizer made a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One random direction and on which side of it the vector lies ([`super::duchi`]).
    Duchi,
    /// One of many random directions, more often one near the vector ([`super::privunit`]).
    #[serde(rename = "privunit")]
    PrivUnit,
}

impl Kind {
    fn code(self) -> u8 {
        match self {
            Kind::Duchi => 1,
            Kind::PrivUnit => 2,
        }
    }
}

/// What a device sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The randomizer that made it.
    pub kind: Kind,
    /// The public seed of the candidate directions.
    pub seed: [u8; 16],
    /// PrivUnit: the chosen candidate. Duchi: 1 if the vector was said to lie on the direction's side, else 0.
    pub index: u32,
}

impl Report {
    /// The bytes that travel.
    pub fn to_bytes(&self) -> [u8; REPORT_BYTES] {
        let mut bytes = [0; REPORT_BYTES];
        bytes[0] = VERSION;
        bytes[1] = self.kind.code();
        bytes[2..18].copy_from_slice(&self.seed);
        bytes[18..].copy_from_slice(&self.index.to_le_bytes());
        bytes
    }

    /// Reads a report. Whether its kind and index fit the study is checked by [`super::Randomizer::estimate`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |reason: String| Error::Malformed { what: "report", reason };
        let Ok(bytes) = <&[u8; REPORT_BYTES]>::try_from(bytes) else {
            return Err(malformed(format!("it has {} bytes, a report has {REPORT_BYTES}", bytes.len())));
        };
        if bytes[0] != VERSION {
            return Err(malformed(format!("its version is {}, this program reads {VERSION}", bytes[0])));
        }
        let kind = match bytes[1] {
            1 => Kind::Duchi,
            2 => Kind::PrivUnit,
            other => return Err(malformed(format!("no randomizer has the number {other}"))),
        };
        let (mut seed, mut index) = ([0; 16], [0; 4]);
        seed.copy_from_slice(&bytes[2..18]);
        index.copy_from_slice(&bytes[18..]);
        Ok(Self { kind, seed, index: u32::from_le_bytes(index) })
    }
}

impl fmt::Debug for Report {
    /// Kind only: what a device said belongs in no log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reports_survive_their_bytes(seed in any::<[u8; 16]>(), index in any::<u32>(), duchi in any::<bool>()) {
            let report = Report { kind: if duchi { Kind::Duchi } else { Kind::PrivUnit }, seed, index };
            prop_assert_eq!(Report::from_bytes(&report.to_bytes()).unwrap(), report);
        }

        #[test]
        fn other_bytes_are_refused_or_read_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(report) = Report::from_bytes(&bytes) {
                prop_assert_eq!(report.to_bytes().to_vec(), bytes);
            }
        }
    }

    #[test]
    fn wrong_bytes_are_refused() {
        let good = Report { kind: Kind::PrivUnit, seed: [7; 16], index: 5 }.to_bytes();
        for (position, value) in [(0, 0), (0, 2), (1, 0), (1, 3)] {
            let mut bytes = good;
            bytes[position] = value;
            assert!(Report::from_bytes(&bytes).is_err());
        }
        assert!(Report::from_bytes(&good[..21]).is_err());
        assert!(Report::from_bytes(&[good.as_slice(), &[0]].concat()).is_err());
        assert!(Report::from_bytes(&[]).is_err());
    }

    #[test]
    fn debug_hides_the_answer() {
        let shown = format!("{:?}", Report { kind: Kind::Duchi, seed: [171; 16], index: 1 });
        assert_eq!(shown, "Report { kind: Duchi, .. }");
    }
}
