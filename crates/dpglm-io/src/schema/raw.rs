//! The schema as it is written, before validation.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Missing, Undeclared};
use crate::bounds::Scale;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSchema {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default = "yes")]
    pub intercept: bool,
    #[serde(default)]
    pub missing: Missing,
    #[serde(default)]
    pub undeclared: Undeclared,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_values: Option<Vec<String>>,
    #[serde(default)]
    pub scale: Scale,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What separates the cells of a text file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// A line that starts with this is skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<char>,
    /// Whether a text file begins with a line of column names; without this it does, unless `names` are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// The column names of a text file that has no header line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Which columns of the model are made of which of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    pub columns: IndexMap<String, RawColumn>,
}

impl RawSchema {
    /// Nothing is declared.
    pub(crate) fn empty() -> Self {
        Self {
            target: None,
            intercept: true,
            missing: Missing::default(),
            undeclared: Undeclared::default(),
            missing_values: None,
            scale: Scale::default(),
            exposure: None,
            weight: None,
            unit: None,
            delimiter: None,
            comment: None,
            header: None,
            names: None,
            formula: None,
            columns: IndexMap::new(),
        }
    }
}

/// One column's declaration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawColumn {
    pub kind: RawKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    /// In place of bounds: the largest size that values can have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub magnitude: Option<f64>,
    /// With a magnitude: the smallest difference that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<RawLevel>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Scalar>,
}

impl RawColumn {
    /// Nothing but the kind.
    pub(crate) fn of(kind: RawKind) -> Self {
        Self {
            kind,
            bounds: None,
            magnitude: None,
            resolution: None,
            levels: None,
            reference: None,
            fill: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawKind {
    Real,
    Count,
    Binary,
    Category,
    Ignore,
}

impl RawKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Count => "count",
            Self::Binary => "binary",
            Self::Category => "category",
            Self::Ignore => "ignore",
        }
    }
}

/// A level: one spelling or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum RawLevel {
    One(Scalar),
    Several(Vec<Scalar>),
}

impl RawLevel {
    pub(crate) fn spellings(&self) -> Vec<String> {
        match self {
            Self::One(scalar) => vec![scalar.text()],
            Self::Several(scalars) => scalars.iter().map(Scalar::text).collect(),
        }
    }
}

/// A value that may be written with or without quotes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Integer(i64),
    Float(f64),
    Truth(bool),
    Text(String),
}

impl Scalar {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Integer(x) => x.to_string(),
            Self::Float(x) => x.to_string(),
            Self::Truth(x) => x.to_string(),
            Self::Text(x) => x.clone(),
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(x) => Some(*x as f64),
            Self::Float(x) => Some(*x),
            Self::Truth(_) => None,
            Self::Text(x) => x.trim().parse().ok(),
        }
    }
}

fn yes() -> bool {
    true
}
