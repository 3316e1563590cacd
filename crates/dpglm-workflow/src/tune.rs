//! What `--tune` asks for: parameters that are chosen privately, from the same budget.

use super::failure::Failure;
use dpglm::error::{Message, Parameter};

/// The largest sparsity that is tried where the user names none.
const LARGEST: usize = 40;
/// Penalties, for columns scaled to [-1, 1] and mean losses.
const PENALTIES: [f64; 5] = [0.0, 1e-3, 1e-2, 1e-1, 1.0];

/// Parameters to be chosen privately.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tune {
    /// The number of coefficients, up to this many.
    pub sparsity: Option<usize>,
    /// The ridge penalty, among these.
    pub ridge: Option<Vec<f64>>,
    /// Where rows and residuals are clipped.
    pub clip: bool,
}

/// Reads `sparsity=auto,clip=auto`.
pub fn parse(text: &str) -> Result<Tune, Message> {
    let mut tune = Tune::default();
    for word in text.split(',') {
        let Some((name, value)) = word.trim().split_once('=') else {
            return Err(format!(
                "`{word}` is not of the form NAME=auto: write it like sparsity=auto,clip=auto"
            )
            .into());
        };
        match (name, value) {
            ("sparsity", "auto") => tune.sparsity = Some(LARGEST),
            ("sparsity", value) => {
                let largest = value.strip_prefix("auto:").and_then(|n| n.parse().ok()).filter(|n| *n > 0);
                let Some(largest) = largest else {
                    return Err(Message::new(
                        "sparsity must be auto, or auto:MAX with the largest number of columns, got {}; a known number \
                         goes to {}",
                        &[&value, &Parameter::Sparsity],
                    ));
                };
                tune.sparsity = Some(largest);
            }
            ("ridge", "auto") => tune.ridge = Some(PENALTIES.to_vec()),
            ("clip", "auto") => tune.clip = true,
            ("clip", "none") => {
                return Err("without a clip one row can change the fit by any amount, so nothing could be promised: write \
                            clip=auto"
                    .into());
            }
            ("ridge" | "clip", value) => return Err(format!("{name} must be auto, got {value}").into()),
            _ => return Err(format!("`{name}` is nothing that can be tuned: sparsity, ridge or clip").into()),
        }
    }
    Ok(tune)
}

impl Tune {
    /// Whether a fit sets rows aside to choose by.
    pub(crate) fn divides_rows(&self) -> bool {
        self.sparsity.is_some() || self.ridge.is_some()
    }

    /// Refuses what is both given and to be chosen.
    pub fn validate(&self, sparsity: bool, ridge: bool) -> Result<(), Failure> {
        let refuse = |message: Message| Err(Failure::Usage(message));
        if self.sparsity.is_some() && sparsity {
            return refuse(Message::new(
                "{} gives the number that {} sparsity=auto would choose: leave out one of them",
                &[&Parameter::Sparsity, &Parameter::Tune],
            ));
        }
        if self.ridge.is_some() && ridge {
            return refuse(Message::new(
                "{} gives the penalty that {} ridge=auto would choose: leave out one of them",
                &[&Parameter::Ridge, &Parameter::Tune],
            ));
        }
        if self.ridge.is_some() && (self.sparsity.is_some() || sparsity) {
            return refuse(Message::new(
                "{} ridge=auto is for dense models: choose the sparsity or the penalty, not both",
                &[&Parameter::Tune],
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read() {
        let tune = parse("sparsity=auto,clip=auto").unwrap();
        assert_eq!((tune.sparsity, tune.clip), (Some(40), true));
        assert!(tune.ridge.is_none());
        assert_eq!(parse("sparsity=auto:7").unwrap().sparsity, Some(7));
        assert_eq!(parse("ridge=auto").unwrap().ridge.map(|r| r.len()), Some(5));
        for wrong in ["", "sparsity", "sparsity=3", "sparsity=auto:0", "ridge=1", "clip=none", "steps=auto"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(tune.validate(true, false).is_err() && tune.validate(false, true).is_ok());
    }
}
