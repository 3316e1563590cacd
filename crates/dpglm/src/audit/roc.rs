//! How well an attack tells members of a table from others: the receiver operating characteristic.

use crate::error::{Error, Result};

/// The trade-off between members found and others taken for members, at every threshold of a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Roc {
    /// (false positive rate, true positive rate), from (0, 0) to (1, 1).
    points: Vec<(f64, f64)>,
}

impl Roc {
    /// From scores that are to be large for members. Scores that are no numbers count as the smallest.
    pub fn of(members: &[f64], others: &[f64]) -> Result<Self> {
        if members.is_empty() || others.is_empty() {
            return Err(Error::Conflict(format!(
                "{} members and {} others: an attack is measured on at least one of each",
                members.len(),
                others.len()
            )));
        }
        let number = |&score: &f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
        let mut all: Vec<(f64, bool)> = members.iter().map(|s| (number(s), true)).collect();
        all.extend(others.iter().map(|s| (number(s), false)));
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut found, mut wrong) = (0_u64, 0_u64);
        let mut points = vec![(0.0, 0.0)];
        for (i, &(score, is_member)) in all.iter().enumerate() {
            if is_member {
                found += 1
            } else {
                wrong += 1
            }
            // Equal scores fall together: no threshold parts them.
            if all.get(i + 1).is_none_or(|next| next.0 != score) {
                points.push((wrong as f64 / others.len() as f64, found as f64 / members.len() as f64));
            }
        }
        Ok(Self { points })
    }

    /// (false positive rate, true positive rate), both ascending.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The area under the curve: the probability that a random member scores above a random other, ties half.
    pub fn area(&self) -> f64 {
        self.points.windows(2).map(|w| 0.5 * (w[1].0 - w[0].0) * (w[0].1 + w[1].1)).sum()
    }

    /// The largest share of members found while at most this share of the others is taken for members.
    pub fn found_at(&self, false_positives: f64) -> f64 {
        self.points.iter().take_while(|p| p.0 <= false_positives).map(|p| p.1).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_curves() {
        let perfect = Roc::of(&[3.0, 2.0], &[1.0, 0.0]).unwrap();
        assert_eq!((perfect.area(), perfect.found_at(0.0)), (1.0, 1.0));
        let reversed = Roc::of(&[0.0, 1.0], &[2.0, 3.0]).unwrap();
        assert_eq!((reversed.area(), reversed.found_at(0.4)), (0.0, 0.0));
        let tied = Roc::of(&[1.0; 5], &[1.0; 7]).unwrap();
        assert_eq!((tied.area(), tied.points().len(), tied.found_at(0.999)), (0.5, 2, 0.0));
        let mixed = Roc::of(&[4.0, 2.0], &[3.0, 1.0]).unwrap();
        assert_eq!((mixed.area(), mixed.found_at(0.001), mixed.found_at(0.5)), (0.75, 0.5, 1.0));
        let unknown = Roc::of(&[f64::NAN], &[0.0]).unwrap();
        assert_eq!(unknown.area(), 0.0);
        assert!(Roc::of(&[], &[1.0]).is_err() && Roc::of(&[1.0], &[]).is_err());
    }
}
