//! How many numbers count as each of the candidates of a quantile.
//!
//! All that a private quantile needs of its numbers. Tallies of parts of a table add up to that of the whole.

use super::Candidates;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Candidates are listed, and counted in an array, up to this many: others are counted one by one.
const LISTED: u64 = 1 << 16;

/// Counts of numbers by candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    candidates: Candidates,
    /// By the place of the candidate; those that no number counts as are left out.
    counts: BTreeMap<u64, u64>,
}

impl Tally {
    /// Of these numbers.
    pub(crate) fn of(candidates: Candidates, values: &[f64]) -> Self {
        let count = candidates.count();
        let mut counts = BTreeMap::new();
        if count <= LISTED.min(values.len() as u64) {
            // Each candidate is computed once.
            let listed: Vec<f64> = (0..count).map(|index| candidates.value(index)).collect();
            let mut found = vec![0; listed.len()];
            for &x in values {
                let place = if x.is_nan() { 0 } else { listed.partition_point(|&c| c < x) };
                found[place.min(listed.len() - 1)] += 1;
            }
            counts.extend((0..).zip(found).filter(|(_, count)| *count > 0));
        } else {
            let mut places: Vec<u64> = values.iter().map(|&x| candidates.place_of(x)).collect();
            places.sort_unstable();
            counts.extend(places.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)));
        }
        Self { candidates, counts }
    }

    pub(crate) fn candidates(&self) -> Candidates {
        self.candidates
    }

    /// The places that numbers count as, ascending, and how many do.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().map(|(&place, &count)| (place, count))
    }

    /// How many numbers there are.
    pub(crate) fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Adds the counts of other numbers; false, and nothing done, if those were counted by other candidates.
    #[must_use]
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        let places = self.candidates.count();
        if self.candidates != other.candidates || other.counts().any(|(place, _)| place >= places) {
            return false;
        }
        for (place, count) in other.counts() {
            let sum = self.counts.entry(place).or_insert(0);
            *sum = sum.saturating_add(count);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 997) / 100.0 - 3.0).collect();
        for candidates in [Candidates::even(-1.0, 5.0, 51), Candidates::geometric(1e-3, 1e9, 1024)] {
            let candidates = candidates.unwrap();
            let whole = Tally::of(candidates, &values);
            let mut parts = Tally::of(candidates, &[]);
            assert!(values.chunks(7).all(|part| parts.merge(&Tally::of(candidates, part))));
            assert_eq!(parts, whole);
            assert_eq!(whole.total(), 1000);
        }
    }

    #[test]
    fn numbers_count_as_the_next_candidate() {
        let candidates = Candidates::even(0.0, 2.0, 3).unwrap();
        let values = [f64::NAN, f64::NEG_INFINITY, 0.0, 0.5, 1.0, 1.5, 9.0];
        let tally = Tally::of(candidates, &values);
        assert_eq!(tally.counts().collect::<Vec<_>>(), [(0, 3), (1, 2), (2, 2)]);
    }
}
