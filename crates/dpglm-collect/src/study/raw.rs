//! The study file as written, and what is refused in it.

use dpglm::families;
use dpglm::local::randomizer::Kind;
use serde::Deserialize;
use toml::value::Datetime;

use super::origin::Origin;
use super::{Column, MAX_LENGTH, VERSION};
use crate::error::{Error, Result};

/// The response family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// A real response.
    Linear,
    /// A response of two values, the ends of its bounds.
    Logistic,
}

impl Family {
    /// How the response depends on the predictor, and the bounds of a response in the fit's units.
    pub(crate) fn model(self) -> (families::Family, (f64, f64)) {
        match self {
            Family::Linear => (families::Family::gaussian(), (-1.0, 1.0)),
            Family::Logistic => (families::Family::logistic(), (0.0, 1.0)),
        }
    }

    /// The name, as in the file.
    pub fn name(self) -> &'static str {
        match self {
            Family::Linear => "linear",
            Family::Logistic => "logistic",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStudy {
    pub version: u32,
    /// From version 2: where the study is served.
    pub service: Option<Services>,
    /// From version 2: the last day on which it may be answered.
    pub expires: Option<Datetime>,
    pub name: String,
    pub purpose: String,
    pub participants: String,
    pub model: RawModel,
    pub privacy: RawPrivacy,
    pub rounds: RawRounds,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawModel {
    pub family: Family,
    pub sparsity: usize,
    #[serde(default = "yes")]
    pub intercept: bool,
    pub second_moment: Option<f64>,
    pub response: RawColumn,
    pub features: RawFeatures,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPrivacy {
    pub epsilon: f64,
    pub randomizer: Kind,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRounds {
    pub reports: u64,
    pub minimum: u64,
    pub hours: f64,
    pub extensions: u32,
}

/// One address, or several by which the same service is reached.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Services {
    One(String),
    Several(Vec<String>),
}

/// A model has an intercept unless the study says otherwise.
fn yes() -> bool {
    true
}

/// A column. That its bounds are missing is found by serde, in words about a field; here it is a broken promise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "ColumnTable")]
pub(super) struct RawColumn {
    pub column: Column,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnTable {
    name: String,
    bounds: Option<[f64; 2]>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum RawFeatures {
    Listed(Vec<RawColumn>),
    Alike(Alike),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alike {
    count: usize,
    bounds: [f64; 2],
}

/// Largest number of features: a device must hold its gradient.
const MAX_FEATURES: usize = 10_000;
/// A bound beyond this leaves no room for arithmetic.
const LARGEST: f64 = 1e100;

impl TryFrom<ColumnTable> for RawColumn {
    type Error = String;

    fn try_from(table: ColumnTable) -> std::result::Result<Self, String> {
        let Some(bounds) = table.bounds else {
            return Err(format!(
                "the bounds of `{}` are missing: declare bounds = [lowest, highest]",
                table.name
            ));
        };
        Ok(Self { column: column(table.name, bounds)? })
    }
}

fn column(name: String, bounds: [f64; 2]) -> std::result::Result<Column, String> {
    let [low, high] = bounds;
    if !(low.abs() <= LARGEST && high.abs() <= LARGEST && low < high)
        || (high - low) < 1e-9 * high.abs().max(low.abs())
    {
        return Err(format!(
            "the bounds of `{name}` must be two finite numbers, the lower first and apart from the upper, got [{low}, {high}]"
        ));
    }
    Ok(Column { name, bounds })
}

impl RawFeatures {
    pub(super) fn columns(&self) -> Result<Vec<Column>> {
        match self {
            RawFeatures::Listed(list) => Ok(list.iter().map(|raw| raw.column.clone()).collect()),
            RawFeatures::Alike(alike) => {
                check("features.count", alike.count as f64, 1.0, MAX_FEATURES as f64)?;
                (1..=alike.count)
                    .map(|j| column(format!("x{j}"), alike.bounds))
                    .collect::<std::result::Result<_, String>>()
                    .map_err(|problem| Error::study(problem, "correct the study file"))
            }
        }
    }
}

/// The version alone, whatever else a newer file may hold.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl RawStudy {
    pub(super) fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_LENGTH {
            return Err(Error::study("the file is larger than 1 MiB", "declare features alike together"));
        }
        let malformed = |error: toml::de::Error| {
            Error::study(error.to_string().trim_end().to_owned(), "correct the line shown")
        };
        let Version { version } = toml::from_str(text).map_err(malformed)?;
        if !(1..=VERSION).contains(&version) {
            return Err(Error::study(
                format!(
                    "the protocol version must be {VERSION}, or 1 for a study begun before, got {version}"
                ),
                "update this program, or ask for a study in its version",
            ));
        }
        toml::from_str(text).map_err(malformed)
    }

    /// Where the study is served. Version 1 did not say.
    pub(super) fn origins(&self) -> Result<Vec<Origin>> {
        let named: &[String] = match &self.service {
            Some(Services::One(one)) => std::slice::from_ref(one),
            Some(Services::Several(several)) => several,
            None => &[],
        };
        if named.is_empty() != (self.version == 1) {
            return Err(Error::study(
                "the study does not name its service",
                "write service = \"https://...\", the address that devices will use, and version = 2",
            ));
        }
        let read = |text: &String| {
            Origin::parse(text).ok_or_else(|| {
                Error::study(
                    format!("`service` must be an address like https://study.example.org, got `{text}`"),
                    "give scheme, host and port alone, without a path",
                )
            })
        };
        named.iter().map(read).collect()
    }

    /// When the study expires, in seconds since 1970: the end of its last day, in UTC. Version 1 did not say.
    pub(crate) fn expiry(&self) -> Result<Option<u64>> {
        let last = match (&self.expires, self.version) {
            (None, 1) => return Ok(None),
            (Some(Datetime { date: Some(date), time: None, offset: None }), 2..) => date,
            _ => {
                return Err(Error::study(
                    "the study does not say when it expires",
                    "write expires = 2027-01-31, the last day on which it may be answered, and version = 2",
                ));
            }
        };
        Ok(Some(86_400 * (days(i64::from(last.year), i64::from(last.month), i64::from(last.day)) + 1)))
    }

    pub(super) fn validate(&self, features: &[Column]) -> Result<()> {
        for (key, text) in
            [("name", &self.name), ("purpose", &self.purpose), ("participants", &self.participants)]
        {
            if text.trim().is_empty() || text.chars().any(char::is_control) {
                return Err(Error::study(
                    format!("`{key}` must be one line of text"),
                    "write what the person who answers is to read",
                ));
            }
        }
        check("features", features.len() as f64, 1.0, MAX_FEATURES as f64)?;
        let mut names: Vec<&str> = features.iter().map(|column| column.name.as_str()).collect();
        names.push(&self.model.response.column.name);
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) || names[0].is_empty() {
            return Err(Error::study(
                "every feature and the response need a name of their own",
                "rename them",
            ));
        }
        check("model.sparsity", self.model.sparsity as f64, 1.0, features.len() as f64)?;
        if !(self.privacy.epsilon > 0.0 && self.privacy.epsilon <= 20.0) {
            return Err(Error::study(
                format!(
                    "privacy.epsilon must be a number above 0 and at most 20, got {}",
                    self.privacy.epsilon
                ),
                "choose what one person spends; more than 20 protects nobody",
            ));
        }
        if let Some(square) = self.model.second_moment
            && !(1e-6..=1.0).contains(&square)
        {
            return Err(Error::study(
                format!("model.second_moment must lie in 1e-6 to 1, got {square}"),
                "give the mean square of a feature scaled to [-1, 1], from public knowledge, or leave it out",
            ));
        }
        check("rounds.reports", self.rounds.reports as f64, 1.0, 1e9)?;
        check("rounds.minimum", self.rounds.minimum as f64, 1.0, self.rounds.reports as f64)?;
        check("rounds.extensions", f64::from(self.rounds.extensions), 0.0, 1000.0)?;
        if !(self.rounds.hours > 0.0 && self.rounds.hours <= 876_000.0) {
            return Err(Error::study(
                format!("rounds.hours must be above 0 and at most 876000, got {}", self.rounds.hours),
                "say how long a round waits",
            ));
        }
        Ok(())
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; none before.
fn days(year: i64, month: i64, day: i64) -> u64 {
    // Years begin in March, so that the day of a leap year is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    u64::try_from(days - 719_468).unwrap_or(0)
}

fn check(key: &str, value: f64, low: f64, high: f64) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::study(format!("`{key}` must lie in {low} to {high}, got {value}"), "correct the study file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_since_1970() {
        assert_eq!((days(1970, 1, 1), days(1970, 12, 31), days(1972, 3, 1)), (0, 364, 790));
        assert_eq!((days(2000, 2, 29), days(2026, 11, 16), days(1900, 1, 1)), (11_016, 20_773, 0));
    }
}
