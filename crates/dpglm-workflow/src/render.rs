//! Numbers and tables for people, JSON for programs.

use super::failure::Failure;
use dpglm::accounting::Method;
use dpglm::accounting::Part;
use dpglm::privacy::Event;
use dpglm::privacy::decimal::{DIGITS, rounded_down};
pub use dpglm::privacy::decimal::{plain, rounded_down_to, rounded_up};
pub use dpglm_io::text::aligned as table;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Significant digits of a lower bound on epsilon: what attacks prove is no more exact.
pub(crate) const BOUND_DIGITS: usize = 4;

/// How the numbers of listed releases are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Every one: of what the user wrote, or shall use.
    All,
    /// Six, on the side that overstates the loss: noise is rounded down, all else up.
    Few,
}

/// A number to six digits, the nearest: for estimates, never for privacy numbers.
pub fn rounded(value: f64) -> String {
    plain(format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value))
}

/// The name of the bound, in words.
pub fn bound(method: Method) -> String {
    match method {
        Method::ExactGaussian => "exact Gaussian composition".into(),
        Method::PrivacyLossDistribution => "privacy-loss distribution".into(),
        Method::Renyi => "Rényi moments".into(),
        Method::Basic => "sum of losses".into(),
        other => format!("{other:?}"),
    }
}

/// "this release is" or "these 20 releases together are".
pub fn releases(events: &[Event]) -> String {
    match events.iter().map(Event::count).fold(0, u64::saturating_add) {
        1 => "this release is".into(),
        count => format!("these {count} releases together are"),
    }
}

/// What a value of an enumeration is called by users: `select-refine`.
pub fn name(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', "-")
}

/// The value of an enumeration that users call `given`.
pub fn named<T: DeserializeOwned>(parameter: &str, given: &str) -> Result<T, Failure> {
    let value = serde_json::Value::String(given.replace('-', "_"));
    serde_json::from_value(value).map_err(|error| {
        let message = error.to_string();
        // The names are listed by the enumeration itself.
        let names = message.split_once("expected one of ").map_or("", |(_, names)| names);
        let names = names.replace('`', "").replace('_', "-");
        Failure::Usage(format!("{parameter} must be one of {names}, got {given}: choose one of them").into())
    })
}

/// A sentence's first letter in upper case.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// "(0.5, 1e-5)-differentially private", from numbers already in words.
pub fn guarantee(epsilon: &str, delta: &str) -> String {
    if delta == "0" {
        format!("{epsilon}-differentially private (pure: delta is 0)")
    } else {
        format!("({epsilon}, {delta})-differentially private")
    }
}

/// The events, one line each.
pub fn events(events: &[Event], digits: Digits) -> Result<String, Failure> {
    let mut rows = vec![["release", "mechanism", "noise", "count"].map(String::from).to_vec()];
    for event in events {
        // Read from the event's own JSON, so that a new kind of noise needs no code here.
        let fields = serde_json::to_value(event).map_err(unprintable)?;
        let noise: Vec<String> = ["sensitivity", "sigma", "scale", "epsilon", "delta", "rho"]
            .iter()
            .filter_map(|&name| {
                let value = fields.get(name)?.as_f64()?;
                let written = match (digits, name) {
                    (Digits::All, _) => plain(value),
                    (Digits::Few, "sigma" | "scale") => rounded_down(value),
                    (Digits::Few, _) => rounded_up(value),
                };
                Some(format!("{name} {written}"))
            })
            .collect();
        rows.push(vec![
            event.release().to_string(),
            fields["mechanism"].as_str().unwrap_or_default().to_string(),
            noise.join(", "),
            event.count().to_string(),
        ]);
    }
    Ok(table(&rows))
}

/// The releases of public parts of the rows, one table each.
pub fn parts(parts: &[Part], digits: Digits) -> Result<String, Failure> {
    let mut text = String::new();
    for part in parts {
        text += &format!("\nFrom {} alone:\n\n{}", part.rows, events(&part.events, digits)?);
    }
    if !parts.is_empty() {
        text += "\nA row lies in one part and pays for that part and for what all rows release.\n\n";
    }
    Ok(text)
}

/// A document as indented JSON with a final newline.
pub fn json(document: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(unprintable)
}

fn unprintable(error: serde_json::Error) -> Failure {
    Failure::Failed(format!("cannot write the result as JSON: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_releases_never_look_better_than_they_are() {
        let noise = dpglm::privacy::Noise::Gaussian { sensitivity: 1.234_567_1, sigma: 9.876_543_9 };
        let listed = [Event::new("mean", noise, 1).unwrap()];
        let few = events(&listed, Digits::Few).unwrap();
        assert!(few.contains("sensitivity 1.23457, sigma 9.87654 "), "{few}");
        let all = events(&listed, Digits::All).unwrap();
        assert!(all.contains("sensitivity 1.2345671, sigma 9.8765439 "), "{all}");
        let pure = [Event::new("vote", dpglm::privacy::Noise::Pure { epsilon: 0.100_000_01 }, 1).unwrap()];
        assert!(events(&pure, Digits::Few).unwrap().contains("epsilon 0.100001 "));
    }

    #[test]
    fn estimates_are_rounded_to_the_nearest() {
        assert_eq!(rounded(37.702_614_9), "37.7026");
        assert_eq!(rounded(-1_234_567.0), "-1.23457e6");
    }
}
