//! Does a paper's claim hold? Decided from the numbers.

use serde::{Deserialize, Serialize};

/// A verdict with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it comes to.
    pub outcome: Outcome,
    /// Why, with the numbers.
    pub because: String,
}

/// What a verdict comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The literal algorithm shows what the paper says.
    Holds,
    /// The certified method shows it, the literal one does not.
    OnlyCertified,
    /// Neither does.
    DoesNotHold,
}

impl Outcome {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::OnlyCertified => "holds only with the certified method",
            Outcome::DoesNotHold => "does not hold",
        }
    }
}

impl Verdict {
    /// From whether the claim is seen on the literal lines, and on the certified ones.
    pub fn of(literal: bool, certified: bool, because: impl Into<String>) -> Self {
        let outcome = match (literal, certified) {
            (true, _) => Outcome::Holds,
            (false, true) => Outcome::OnlyCertified,
            (false, false) => Outcome::DoesNotHold,
        };
        Self { outcome, because: because.into() }
    }
}

/// Whether each value is above the one before, up to their standard errors (two of them).
pub fn rising(values: &[(f64, f64)]) -> bool {
    values.windows(2).all(|w| w[1].0 + 2.0 * w[1].1.hypot(w[0].1) > w[0].0)
        && values.first().zip(values.last()).is_some_and(|(a, b)| b.0 > a.0)
}

/// Whether each value is below the one before, up to their standard errors (two of them).
pub fn falling(values: &[(f64, f64)]) -> bool {
    let turned: Vec<(f64, f64)> = values.iter().map(|v| (-v.0, v.1)).collect();
    rising(&turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions() {
        assert!(rising(&[(1.0, 0.0), (2.0, 0.0), (3.0, 0.1)]));
        assert!(rising(&[(1.0, 0.1), (2.0, 0.5), (1.9, 0.5)]), "within its standard errors");
        assert!(!rising(&[(1.0, 0.0), (3.0, 0.01), (2.0, 0.01)]));
        assert!(!rising(&[(1.0, 1.0), (0.9, 1.0)]), "ends below where it starts");
        assert!(falling(&[(3.0, 0.0), (2.0, 0.0)]) && !falling(&[(1.0, 0.0), (2.0, 0.0)]));
        assert!(!rising(&[]));
    }

    #[test]
    fn outcomes() {
        assert_eq!(Verdict::of(true, false, "").outcome, Outcome::Holds);
        assert_eq!(Verdict::of(false, true, "").outcome, Outcome::OnlyCertified);
        assert_eq!(Verdict::of(false, false, "").outcome, Outcome::DoesNotHold);
    }
}
