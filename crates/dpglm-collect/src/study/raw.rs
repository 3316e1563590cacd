//! The study file as written, and what is refused in it.

use dpglm::local::randomizer::Kind;
use serde::Deserialize;

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
    /// Read before the rest, to name an unknown version.
    #[serde(rename = "version")]
    _version: u32,
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
    pub fn columns(&self) -> Result<Vec<Column>> {
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
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_LENGTH {
            return Err(Error::study("the file is larger than 1 MiB", "declare features alike together"));
        }
        let malformed = |error: toml::de::Error| {
            Error::study(error.to_string().trim_end().to_owned(), "correct the line shown")
        };
        let Version { version } = toml::from_str(text).map_err(malformed)?;
        if version != VERSION {
            return Err(Error::study(
                format!("the protocol version must be {VERSION}, got {version}"),
                "update this program, or ask for a study in its version",
            ));
        }
        toml::from_str(text).map_err(malformed)
    }

    pub fn validate(&self, features: &[Column]) -> Result<()> {
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

fn check(key: &str, value: f64, low: f64, high: f64) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::study(format!("`{key}` must lie in {low} to {high}, got {value}"), "correct the study file"))
}
