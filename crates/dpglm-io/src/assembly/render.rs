//! Numbers and tables for people, JSON for programs.

use super::failure::Failure;
use dpglm::accounting::Method;
use dpglm::privacy::{Event, Part};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Significant digits of computed numbers in tables.
const DIGITS: usize = 6;

/// A number as a person writes it: 0.5, 20, 1e-5.
pub fn plain(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// A number to six digits, the nearest: to be read, not to be used.
pub fn rounded(value: f64) -> String {
    plain(format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value))
}

/// A positive number to six digits, rounded up: a larger epsilon, delta or noise is the safe side.
pub fn rounded_up(value: f64) -> String {
    let nearest = format!("{value:.*e}", DIGITS - 1);
    let (Ok(short), Some((mantissa, exponent))) = (nearest.parse::<f64>(), nearest.split_once('e')) else {
        return nearest;
    };
    if short >= value {
        return plain(short);
    }
    let up = mantissa.parse::<f64>().unwrap_or(f64::NAN) + 10f64.powi(1 - DIGITS as i32);
    plain(format!("{up:.*}e{exponent}", DIGITS - 1).parse().unwrap_or(value))
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
        Failure::Usage(format!("{parameter} must be one of {names}, got {given}: choose one of them"))
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

/// The events, one line each, with their numbers in these words.
pub fn events(events: &[Event], number: fn(f64) -> String) -> Result<String, Failure> {
    let mut rows = vec![["release", "mechanism", "noise", "count"].map(String::from).to_vec()];
    for event in events {
        // Read from the event's own JSON, so that a new kind of noise needs no code here.
        let fields = serde_json::to_value(event).map_err(unprintable)?;
        let noise: Vec<String> = ["sensitivity", "sigma", "scale", "epsilon", "delta", "rho"]
            .iter()
            .filter_map(|name| Some(format!("{name} {}", number(fields.get(name)?.as_f64()?))))
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
pub fn parts(parts: &[Part], number: fn(f64) -> String) -> Result<String, Failure> {
    let mut text = String::new();
    for part in parts {
        text += &format!("\nFrom {} alone:\n\n{}", part.rows, events(&part.events, number)?);
    }
    if !parts.is_empty() {
        text += "\nA row lies in one part and pays for that part and for what all rows release.\n\n";
    }
    Ok(text)
}

/// Columns of equal width, two spaces apart; a column that is empty but for its heading is left out.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let shown: Vec<usize> =
        (0..columns).filter(|&c| rows.len() == 1 || rows[1..].iter().any(|row| !row[c].is_empty())).collect();
    let width = |c: usize| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = shown.iter().map(|&c| format!("{:<1$}", row[c], width(c))).collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A document as indented JSON with a final newline.
pub fn json(document: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(unprintable)
}

fn unprintable(error: serde_json::Error) -> Failure {
    Failure::Failed(format!("cannot write the result as JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_goes_down() {
        for value in [0.1 + 0.2, 37.702_614_9, 9.999_999_9, 999_999.96, 1e-5, 3.000_000_1e-12, 5e-324, 1e300]
        {
            let back: f64 = rounded_up(value).parse().unwrap();
            assert!(back >= value && back <= value * (1.0 + 2e-5), "{value} {back}");
        }
        assert_eq!(rounded_up(0.5), "0.5");
        assert_eq!(rounded_up(37.702_614_9), "37.7027");
        assert_eq!(rounded_up(9.999_999_9), "10");
        assert_eq!(rounded_up(0.0), "0");
        assert_eq!(rounded(37.702_614_9), "37.7026");
        assert_eq!(rounded(-1_234_567.0), "-1.23457e6");
    }
}
